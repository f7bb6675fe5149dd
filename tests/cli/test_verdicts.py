"""One verdict: commands on the same data print the same level and the same headline."""

import json

import numpy as np
import pandas as pd
import pytest

from tests.cli.entry import quick

pytestmark = pytest.mark.filterwarnings("ignore::poolwise.errors.PoolwiseWarning")
EXPECTED = {"plan": ["--draws", "1", "--rows", "40"]}
MEASURED = {
    "compare": ["--method", "bayes_pooling,offset"],
    "report": ["-o", "r.json", "--force"],
    "fit": [],
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


def test_commands_that_know_the_same_say_the_same(folder, monkeypatch):
    tables, found = ["history.csv", "recent.csv"], {}
    for basis, commands in (("expected", EXPECTED), ("measured", MEASURED)):
        found[basis] = verdicts(folder, monkeypatch, commands, tables).values()
        said = {(v["level"], v["basis"], v["method"], v["headline"]) for v in found[basis]}
        ((level, *others, headline),) = said
        assert others == [basis, "bayes_pooling"]
        assert headline.startswith(basis.capitalize())
        assert level.replace("_", " ") in headline
    ((begun, *_),) = {v["headline"].partition(";") for v in found["expected"]}
    assert all(begun in v["text"] for v in found["measured"])  # with a measurement too


def test_rows_with_missing_values_of_the_only_table_are_history_for_every_command(
    folder, monkeypatch
):
    recent = pd.read_csv(folder / "recent.csv")
    recent.loc[:12, "load"] = np.nan
    recent.to_csv(folder / "recent.csv", index=False)
    commands = {**EXPECTED, "fit": [], "compare": ["--method", "bayes_pooling"]}
    found = verdicts(folder, monkeypatch, commands, ["recent.csv"])
    assert found["fit"]["headline"] == found["compare"]["headline"]
    assert found["compare"]["basis"] == "measured"
    said = quick(folder, monkeypatch, "fit", "recent.csv", "--label", "wear", "-o", "m.json")
    assert "13 rows of recent.csv without load: history" in " ".join(said.output.split())
    later = json.loads(quick(folder, monkeypatch, "plan", "m.json", "--json").stdout)["verdict"]
    assert later["headline"] == found["plan"]["headline"]
