"""One verdict: commands on the same data print the same level and the same headline."""

import json

import numpy as np
import pandas as pd
import pytest

from poolwise.evaluation.verdict import ONE_TABLE
from tests.cli.entry import quick

pytestmark = pytest.mark.filterwarnings("ignore::poolwise.errors.PoolwiseWarning")
EXPECTED = {"fit": [], "plan": ["--draws", "1", "--rows", "40"]}
MEASURED = {
    "compare": ["--method", "bayes_pooling,offset"],
    "report": ["-o", "r.json", "--force"],
    "fit": ["--report", "r.json", "--force"],
}


def verdicts(folder, monkeypatch, commands, tables):
    """Return the verdict of each command in JSON, after a look at the text it prints."""
    found = {}
    for verb, options in commands.items():
        asked = [verb, *tables, "--label", "wear", *options]
        said = quick(folder, monkeypatch, *asked, "--json")
        assert said.exit_code == 0, said.output
        found[verb] = json.loads(said.stdout)["verdict"]
        shown = " ".join(quick(folder, monkeypatch, *asked).stdout.split())
        assert found[verb]["text"] in shown
        if "r.json" in options:
            assert json.loads((folder / "r.json").read_text())["verdict"] == found[verb]
    return found


@pytest.mark.parametrize("commands", [EXPECTED, MEASURED], ids=["expected", "measured"])
def test_commands_that_know_the_same_say_the_same(folder, monkeypatch, commands):
    found = verdicts(folder, monkeypatch, commands, ["history.csv", "recent.csv"])
    basis = "expected" if commands is EXPECTED else "measured"
    said = {(v["level"], v["basis"], v["method"], v["headline"]) for v in found.values()}
    ((level, *others, headline),) = said
    assert others == [basis, "bayes_pooling"]
    assert headline.startswith(basis.capitalize())
    assert level.replace("_", " ") in headline


def test_the_expectation_is_the_same_with_and_without_a_measurement(folder, monkeypatch):
    tables = ["history.csv", "recent.csv"]
    expected = verdicts(folder, monkeypatch, {"fit": []}, tables)["fit"]["headline"]
    begun = expected.partition(";")[0]
    for found in verdicts(folder, monkeypatch, MEASURED, tables).values():
        assert begun in found["text"]


def test_rows_with_missing_values_are_not_history_when_one_table_is_given(folder, monkeypatch):
    recent = pd.read_csv(folder / "recent.csv")
    recent.loc[:12, "load"] = np.nan
    recent.to_csv(folder / "recent.csv", index=False)
    commands = {**EXPECTED, "compare": ["--folds", "2"], "report": MEASURED["report"]}
    for found in verdicts(folder, monkeypatch, commands, ["recent.csv"]).values():
        assert (found["level"], found["headline"]) == ("no_history", ONE_TABLE)
