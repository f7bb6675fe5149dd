"""Sources and columns of a command: of many kinds, chosen, weighed, and told when odd."""

import json

import numpy as np
import pandas as pd
import pytest

from poolwise import Moments, moments_of
from tests.cli.entry import OLD, QUIET, machines, quick


@QUIET
def test_sources_have_names_and_come_in_many_kinds(folder, monkeypatch):
    machines(100, 5, OLD).to_parquet(folder / "a.parquet", index=False)
    machines(100, 6, OLD).to_feather(folder / "b.feather")
    moments_of(folder / "history.csv", response="wear").save(folder / "h.moments.json")
    sources = ["--history", "early=a.parquet", "--history", "early=b.feather"]
    tables = ["h.moments.json", "history*.csv", *sources, "recent.csv", "--label", "wear"]
    told = quick(folder, monkeypatch, "fit", *tables, "-o", "m.json", "--json")
    assert told.exit_code == 0, told.output
    lines = json.loads(told.stdout)["summary"]["tables"]
    rows = {line["name"]: line["rows"] for line in lines}
    assert rows == {"target": 40, "h": 300, "history*.csv": 300, "early": 200}


@QUIET
@pytest.mark.parametrize("order", ["history first", "recent last"])
def test_one_table_may_come_from_standard_input(folder, monkeypatch, order):
    plain = quick(
        folder, monkeypatch, "fit", "history.csv", "recent.csv", "--label", "wear", "--json"
    )
    tables = ["-", "recent.csv"] if order == "history first" else ["history.csv", "-"]
    text = (folder / ("history.csv" if tables[0] == "-" else "recent.csv")).read_text()
    told = quick(folder, monkeypatch, "fit", *tables, "--label", "wear", "--json", stdin=text)
    assert told.exit_code == 0, told.output
    one, other = (json.loads(x.stdout)["summary"]["coefficients"] for x in (plain, told))
    assert one == other


@QUIET
def test_columns_are_chosen_dropped_and_accounted_for(folder, monkeypatch):
    told = quick(
        folder, monkeypatch, "fit", "history.csv", "recent.csv", "--label", "wear",
        "--features", "hours,load,vibration", "--drop", "load,plant", "--json",
    )  # fmt: skip
    assert told.exit_code == 0, told.output
    said = json.loads(told.stdout)
    assert [x["name"] for x in said["summary"]["coefficients"]] == ["hours", "vibration"]
    columns = said["columns"]
    assert (columns["shared"], columns["new"]) == (["hours"], ["vibration"])
    dropped = {(x["name"], x["table"]): x["why"] for x in columns["dropped"]}
    assert dropped == {
        ("load", "recent.csv"): "--drop names it",
        ("site", "recent.csv"): "--features does not name it",
        ("load", "history"): "--drop names it",
        ("site", "history"): "--features does not name it",
        ("plant", "history"): "--drop names it",
    }


@QUIET
def test_a_column_under_another_name_is_told(folder, monkeypatch):
    old = pd.read_csv(folder / "history.csv").rename(columns={"load": "Load"})
    old.to_csv(folder / "history.csv", index=False)
    told = quick(folder, monkeypatch, "fit", "history.csv", "recent.csv", "--label", "wear")
    assert told.exit_code == 0, told.output
    assert "Is it 'load' by another name?" in told.stderr


@QUIET
@pytest.mark.parametrize("verb", [["fit"], ["plan"], ["compare", "--method", "offset"]])
def test_tables_that_look_swapped_are_told(folder, monkeypatch, verb):
    history = pd.read_csv(folder / "history.csv")
    history.loc[:30, "load"] = np.nan  # rows with gaps are its own, too
    history.to_csv(folder / "history.csv", index=False)
    asked = [*verb, "recent.csv", "history.csv", "--label", "wear", "--drop", "plant", "--json"]
    told = quick(folder, monkeypatch, *asked)
    assert told.exit_code == 0
    (said,) = [x for x in json.loads(told.stdout)["warnings"] if x["kind"] == "DataWarning"]
    assert "History has 'vibration', which history.csv lacks" in said["message"]
    assert said["message"].endswith("more rows: 300, against 40.")
    assert said["hint"].startswith("Are they swapped?")


@QUIET
@pytest.mark.parametrize("drop", ["plant", "plant,vibration"])
def test_tables_that_do_not_look_swapped_are_not(folder, monkeypatch, drop):
    names = "history.csv", "recent.csv"
    for order in [names] if drop == "plant" else [names, names[::-1]]:
        told = quick(folder, monkeypatch, "fit", *order, "--label", "wear", "--drop", drop)
        assert told.exit_code == 0
        assert "swapped" not in told.output


def test_weights_count_in_all_tables(folder, monkeypatch):
    for name in ("history.csv", "recent.csv"):
        table = pd.read_csv(folder / name).drop(columns="plant", errors="ignore")
        twice = pd.concat([table, table])
        twice.to_csv(folder / f"twice_{name}", index=False)
        table.assign(count=2).to_csv(folder / f"counted_{name}", index=False)
    options = ["--label", "wear", "--json", "--precision", "exact"]
    twice = quick(folder, monkeypatch, "fit", "twice_history.csv", "twice_recent.csv", *options)
    counted = quick(
        folder, monkeypatch, "fit", "counted_history.csv", "counted_recent.csv", *options,
        "--weights", "count",
    )  # fmt: skip
    one, other = (json.loads(x.stdout)["summary"]["coefficients"] for x in (twice, counted))
    np.testing.assert_allclose([x["coef"] for x in one], [x["coef"] for x in other], rtol=1e-9)


def test_a_column_of_integers_may_have_fractions_further_down(folder, monkeypatch):
    recent = machines(40, 1)
    recent["load"] = [str(v) for v in recent["load"][:-1]] + ["55.5"]
    recent.to_csv(folder / "recent.csv", index=False)
    machines(100, 0, OLD).to_csv(folder / "history.csv", index=False)
    told = quick(folder, monkeypatch, "fit", "history.csv", "recent.csv", "--label", "wear")
    assert told.exit_code == 0, told.output


def test_moments_come_from_standard_input_and_of_features(folder, monkeypatch):
    of_file = moments_of(
        pd.read_csv(folder / "history.csv")[["hours", "load", "wear"]], response="wear"
    )
    text = (folder / "history.csv").read_text()
    chosen = ["--features", "hours,load", "--label", "wear", "-o", "h.moments.json"]
    told = quick(folder, monkeypatch, "moments", "-", *chosen, stdin=text)
    assert told.exit_code == 0, told.output
    found = Moments.load(folder / "h.moments.json")
    assert (found.names, found.rows) == (("hours", "load", "wear"), 300)
    np.testing.assert_allclose(found.mean, of_file.select(found.names).mean, rtol=1e-12)
    assert not list(folder.glob("*.part"))
    told = quick(folder, monkeypatch, "moments", "-", "-", *chosen, "--force", stdin=text)
    assert told.exit_code == 2
    assert "given twice" in told.stderr


@QUIET
def test_a_report_does_not_say_that_a_table_lacks_what_was_dropped(folder, monkeypatch):
    asked = ["history.csv", "recent.csv", "--label", "wear", "--drop", "site", "--folds", "2"]
    told = quick(folder, monkeypatch, "report", *asked, "-o", "r.json")
    assert told.exit_code == 0, told.output
    columns = json.loads((folder / "r.json").read_text())["columns"]
    assert [x["name"] for x in columns["dropped"]] == ["plant"]  # which history alone has
    assert "site" not in [x["name"] for x in columns["lines"]]
