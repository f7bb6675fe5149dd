"""--group and --time: how the recent rows are split into folds."""

import json
import warnings

import pandas as pd
import pytest

from poolwise import compare
from tests.cli.entry import quick
from tests.raw_tables import write

FEW = ["--label", "lwage", "--folds", "3", "--json"]


@pytest.fixture(scope="module")
def wages(tmp_path_factory):
    """Write the wages of the same men in several years; return the folder."""
    folder = tmp_path_factory.mktemp("wages")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write("wage", folder)
    return folder


def told(wages, monkeypatch, verb, *options):
    """Run a command; return its JSON and the hints of warnings about folds."""
    tables = "wage_history.csv", "wage_recent.csv"
    found = quick(wages, monkeypatch, verb, *tables, *FEW, *options)
    assert found.exit_code == 0, found.output
    said = json.loads(found.stdout)
    hints = [w["hint"] for w in said["warnings"]]
    return said, [h for h in hints if "--group" in h or "--time" in h]


def test_repeated_persons_are_warned_of_and_held_out_when_asked(wages, monkeypatch):
    method = "--method", "bayes_pooling"
    random, hints = told(wages, monkeypatch, "compare", *method)
    assert hints == ["Hold out whole groups with --group nr."]
    (note,) = random["columns"]["notes"]
    assert note.startswith("The 170 values of 'nr' repeat in the recent rows: ")
    assert note.endswith(hints[0])
    said, hints = told(wages, monkeypatch, "compare", *method, "--group", "nr")
    assert hints == said["columns"]["notes"] == []
    assert said["split"] == "Whole groups of nr were held out: 170 in all."
    rmse = [{x["method"]: x["rmse"] for x in s["methods"]} for s in (random, said)]
    assert rmse[0]["bayes_pooling"] < rmse[1]["bayes_pooling"]
    history, recent = (pd.read_csv(wages / f"wage_{t}.csv") for t in ("history", "recent"))
    apart = ["lwage", "nr"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = compare(
            recent.drop(columns=apart),
            recent["lwage"],
            sources=(history.drop(columns=apart), history["lwage"]),
            methods=["bayes_pooling"],
            groups=recent["nr"],
            cv=3,
        )
    assert rmse[1]["bayes_pooling"] == pytest.approx(found.scores["bayes_pooling"].mean())


def test_the_account_says_once_that_persons_repeat(wages, monkeypatch):
    tables = "wage_history.csv", "wage_recent.csv", "--label", "lwage", "--folds", "3"
    for verb, *more in (["compare", "--method", "data_pooling"], ["fit"]):
        found = quick(wages, monkeypatch, verb, *tables, *more)
        assert found.exit_code == 0, found.output
        said = " ".join(found.output.split())
        assert said.count("repeat in the recent rows") == 1
        assert "note The 170 values of 'nr' repeat" in said.partition("RMSE")[0]


def test_fit_and_report_hold_out_what_compare_does(wages, monkeypatch):
    commands = {
        "compare": ["--method", "bayes_pooling"],
        "report": ["-o", "made.json"],
    }
    for split, verbs in ((["--group", "nr"], ("report", "fit")), (["--time", "year"], ("fit",))):
        for verb in verbs:
            said = told(wages, monkeypatch, verb, *split, *commands.get(verb, []))[0]
            found = told(wages, monkeypatch, "compare", *split, *commands["compare"])[0]
            assert said["verdict"]["headline"] == found["verdict"]["headline"]


def test_a_column_of_groups_must_be_there_and_be_no_response(wages, monkeypatch):
    tables = ["compare", "wage_history.csv", "wage_recent.csv", "--label", "lwage"]
    found = quick(wages, monkeypatch, *tables, "--group", "Nr")
    assert found.exit_code == 1
    assert "Did you mean 'nr'?" in found.output
    found = quick(wages, monkeypatch, *tables, "--time", "lwage")
    assert found.exit_code == 2
    assert "'lwage' is the column to predict" in " ".join(found.output.split())
