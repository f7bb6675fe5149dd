"""poolwise moments, through its real entry point: files, words, JSON."""

import json
import os
import subprocess

import pandas as pd
import pytest
from typer.testing import CliRunner

from poolwise import Moments, moments_by_pattern, moments_of
from poolwise.cli.app import app
from tests.cli.entry import COMMAND, names_in, quick, run
from tests.cli.in_terminal import CODE, in_terminal
from tests.cli.test_json import VERBS, follows

slow = pytest.mark.slow  # starts a process or two


@slow
def test_moments_of_files_are_written_and_told(pump_files):
    told = run(pump_files, "moments", "pumps.csv", "--label", "wear", "-o", "pumps.moments.json")
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout == (
        "pumps.moments.json: 300 rows, accurate sums of 5 columns: 'hours', 'load', 'site=coast', "
        "'site=inland', 'wear'.\n"
    )
    written = Moments.load(pump_files / "pumps.moments.json")
    assert written.text() == moments_of(pump_files / "pumps.csv").text()
    assert names_in(pump_files) == {"pumps.csv", "gaps.csv", "history", "pumps.moments.json"}


REPORT = {"format": str, "version": int, **VERBS["moments report"][1]}


def test_json_has_a_schema_of_its_own(pump_files, monkeypatch):
    told = quick(
        pump_files,
        monkeypatch,
        "moments",
        "gaps.csv",
        "--nulls",
        "drop",
        "-o",
        "a.moments.json",
        "--json",
    )
    assert (told.exit_code, told.stderr) == (0, "")
    report = json.loads(told.stdout)
    assert follows(report, REPORT)
    (warning,) = report.pop("warnings")
    assert warning["kind"] == "LeftOut"
    assert warning["message"].startswith("100 of 300 rows of table 'a' were dropped")
    assert report == {
        "format": "poolwise moments report",
        "version": 1,
        "files": [
            {
                "path": "a.moments.json",
                "without": [],
                "rows": 200,
                "weight": 200.0,
                "precision": "accurate",
                "columns": ["hours", "load", "site=coast", "site=inland", "wear"],
            }
        ],
        "left_out": [],
        "rows": {"read": 300, "dropped": 100, "missing": {"load": 100, "site": 4}},
        "resumed": False,
    }
    split = quick(
        pump_files,
        monkeypatch,
        "moments",
        "gaps.csv",
        "--nulls",
        "split",
        "-o",
        "b.moments.json",
        "--json",
    )
    report = json.loads(split.stdout)
    assert follows(report, REPORT)
    assert [(f["path"], f["without"], f["rows"]) for f in report["files"]] == [
        ("b.moments.json", [], 200),
        ("b.without_load.moments.json", ["load"], 96),
    ]
    assert report["left_out"] == [
        {"without": ["load", "site"], "rows": 4, "why": "the table has 4 rows, fewer than 20"}
    ]
    assert report["rows"] == {"read": 300, "dropped": 0, "missing": {}}


def test_dropped_rows_are_told(pump_files, monkeypatch):
    told = quick(
        pump_files, monkeypatch, "moments", "gaps.csv", "--nulls", "drop", "-o", "a.moments.json"
    )
    assert told.exit_code == 0
    assert told.stderr.startswith("LeftOut: 100 of 300 rows of table 'a' were dropped")
    assert "200 rows" in told.stdout


def test_each_pattern_of_missing_columns_gets_a_file(pump_files, monkeypatch):
    told = quick(
        pump_files,
        monkeypatch,
        "moments",
        "gaps.csv",
        "--nulls=split",
        "--label=wear",
        "-o",
        "g.moments.json",
    )
    assert (told.exit_code, told.stderr) == (0, "")
    assert told.stdout.splitlines() == [
        "g.moments.json: 200 rows, accurate sums of 5 columns: 'hours', 'load', 'site=coast', "
        "'site=inland', 'wear'.",
        "g.without_load.moments.json: 96 rows without load, accurate sums of 4 columns: 'hours', "
        "'site=coast', 'site=inland', 'wear'.",
        "Left out: 4 rows without load, site (the table has 4 rows, fewer than 20).",
    ]
    found = moments_by_pattern(pump_files / "gaps.csv", name="g", response="wear")
    for name, file in {"g": "g", "g without load": "g.without_load"}.items():
        assert Moments.load(pump_files / f"{file}.moments.json").text() == found[name].text()
    few = quick(
        pump_files,
        monkeypatch,
        "moments",
        "gaps.csv",
        "--nulls=split",
        "--min-rows=0",
        "--force",
        "-o",
        "g.moments.json",
    )
    assert few.exit_code == 0
    assert (
        "g.without_load_site.moments.json: 4 rows without load, site, accurate sums of 2 columns"
        in few.stdout
    )
    assert few.stdout.splitlines()[-1] == (
        "  Moments of 4 rows in 2 columns may disclose single rows: check that you may share them."
    )


def test_names_of_files_are_tame_whatever_the_columns_are_called(pump_files, monkeypatch):
    rows = pd.read_csv(pump_files / "gaps.csv")
    named = rows.rename(columns={"load": "../a b/\x1b[31m", "site": "Größe"})
    named.to_csv(pump_files / "odd.csv", index=False)
    told = quick(
        pump_files,
        monkeypatch,
        "moments",
        "odd.csv",
        "--nulls=split",
        "--min-rows=1",
        "-o",
        "o.moments.json",
    )
    assert told.exit_code == 0
    assert "o.without_-a-b-31m.moments.json" in names_in(pump_files)
    assert "o.without_-a-b-31m_Größe.moments.json" in names_in(pump_files)
    assert "\x1b" not in told.stdout
    assert "\\x1b[31m" in told.stdout


def test_columns_weights_codes_and_the_way_csv_is_written_can_be_said(pump_files, monkeypatch):
    (pump_files / "codes.csv").write_text("a;b, c;code;w;y\n" + "1,5;2;07;2;3\n2,5;4;08;1;4\n" * 30)
    told = quick(
        pump_files,
        monkeypatch,
        "moments",
        *("codes.csv", "--csv", "delimiter=;", "--csv", "decimal_point=,", "--text", "code"),
        *("--drop", '"b, c"', "--weights", "w", "-o", "c.moments.json"),
    )
    assert told.exit_code == 0, told.stderr
    written = Moments.load(pump_files / "c.moments.json")
    assert written.names == ("a", "code=07", "code=08", "y")
    assert (written.rows, written.weight) == (60, 90.0)
    assert written.mean_of("code=07") == pytest.approx(2 / 3)
    some = quick(
        pump_files,
        monkeypatch,
        "moments",
        *("history", "--features", "hours, load", "--label", "wear", "--precision", "exact"),
        *("--jobs", "2", "-o", "some.moments.json"),
    )
    assert some.exit_code == 0, some.stderr
    written = Moments.load(pump_files / "some.moments.json")
    assert (written.names, written.precision) == (("hours", "load", "wear"), "exact")


def test_what_stands_for_a_missing_number_can_be_typed(pump_files, monkeypatch):
    monkeypatch.chdir(pump_files)
    pumps = pd.read_csv("pumps.csv", dtype={"load": str})
    pumps.loc[:9, "load"], pumps.loc[10:14, "load"] = "n.m.", "?"
    pumps.to_csv("codes.csv", index=False)
    options = ["--csv", "null_values=n.m.,?", "--nulls", "drop", "-o", "a.moments.json"]
    assert CliRunner().invoke(app, ["moments", "codes.csv", *options]).exit_code == 0
    assert Moments.load("a.moments.json").rows == 285


def test_files_are_replaced_only_by_force(pump_files, monkeypatch):
    assert (
        quick(pump_files, monkeypatch, "moments", "pumps.csv", "-o", "p.moments.json").exit_code
        == 0
    )
    before = (pump_files / "p.moments.json").read_text()
    assert (
        quick(
            pump_files, monkeypatch, "moments", "gaps.csv", "--nulls=drop", "-o", "p.moments.json"
        ).exit_code
        == 2
    )
    assert (pump_files / "p.moments.json").read_text() == before
    forced = quick(
        pump_files,
        monkeypatch,
        "moments",
        "gaps.csv",
        "--nulls=drop",
        "--force",
        "-o",
        "p.moments.json",
    )
    assert forced.exit_code == 0
    assert Moments.load(pump_files / "p.moments.json").rows == 200
    (pump_files / "q.without_load.moments.json").write_text("something")
    split = quick(
        pump_files, monkeypatch, "moments", "gaps.csv", "--nulls=split", "-o", "q.moments.json"
    )
    assert split.exit_code == 1
    assert split.stderr.startswith("NotWritten: q.without_load.moments.json exists already.")
    assert "q.moments.json" not in names_in(pump_files)


@slow
@pytest.mark.parametrize("environment", [{}, {"NO_COLOR": "1", "COLUMNS": "30"}], ids=str)
def test_a_terminal_gets_the_same_words(pump_files, environment):
    """Without colours of its own, and with no line broken that a terminal can break itself."""
    command = [*COMMAND, "moments", "pumps.csv", "-o", "p.moments.json"]
    code, shown = in_terminal(pump_files, command, **environment)
    assert code == 0
    assert not [found for found in CODE.findall(shown) if found.endswith("m")]  # no colours
    (line,) = CODE.sub("", shown).replace("\r", "").splitlines()
    assert line == (
        "p.moments.json: 300 rows, accurate sums of 5 columns: 'hours', 'load', 'site=coast', "
        "'site=inland', 'wear'."
    )


@slow
def test_help_names_every_option():
    told = subprocess.run(
        [*COMMAND, "moments", "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "200"},
    )
    options = "out label features drop text weights nulls precision min-rows csv jobs parts"
    named = [f"--{option}" for option in (*options.split(), "force", "json")]
    assert [option for option in named if option not in told.stdout] == []
    assert 'poolwise moments "history/*.parquet"' in told.stdout
