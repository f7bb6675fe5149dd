"""poolwise moments: what is wrong is told in words of the command, and nothing is written."""

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from poolwise.cli.app import app
from poolwise.cli.wording import as_typed
from poolwise.errors import BadOption, RowsDropped, TooManyPatterns, UnknownFormat


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["pumps.csv"], 2, "Missing option '--out'"),
        (["-o", "a.moments.json"], 2, "Missing argument 'SOURCE'"),
        (["pumps.csv", "-o", "a.json"], 2, "must end in .moments.json"),
        (["pumps.csv", "-o", "no/a.moments.json"], 2, "There is no folder no."),
        (["pumps.csv", "-o", "there.moments.json"], 2, "or --force to replace it"),
        (["pumps.csv", "-o", "a.moments.json", "--nulls", "skip"], 2, "'skip' is not one of"),
        (["pumps.csv", "-o", "a.moments.json", "--min-rows", "-1"], 2, "--min-rows"),
        (["pumps.csv", "-o", "a.moments.json", "--jobs", "0"], 2, "--jobs"),
        (["pumps.csv", "-o", "a.moments.json", "--csv", "semicolon"], 2, "KEY=VALUE"),
        (["pmups.csv", "-o", "a.moments.json"], 1, "FilesNotFound: No file to read at 'pmups.csv'"),
        (["pumps.csv", "-o", "a.moments.json", "--drop", "laod"], 1, "Did you mean 'load'?"),
        (["gaps.csv", "-o", "a.moments.json"], 1, "NullsInFile: 'gaps.csv' has missing values in"),
        (["gaps.csv", "-o", "a.moments.json"], 1, "--nulls drop leaves such rows out; --nulls spl"),
        (["pumps.csv", "-o", "a.moments.json", "--csv", "sep=;"], 2, "BadOption: --csv sep"),
        (
            ["pumps.csv", "-o", "a.moments.json", "--min-rows", "301"],
            1,
            "fewer than --min-rows 301",
        ),
        (["pumps.csv", "-o", "a.moments.json", "--min-rows", "301"], 1, "out with --drop, or give"),
        (["late.csv", "-o", "a.moments.json"], 1, "missing number, say so by null_values of --csv"),
        (["late.csv", "-o", "a.moments.json"], 1, "If 'load' holds text, say --text load, or"),
        (["late.csv", "-o", "a.moments.json"], 1, "holds 'n.m.' in line 300,001, and numbers"),
        (
            ["codes.csv", "-o", "a.moments.json"],
            1,
            "say --text load. If they are numbers, say what",
        ),
        (["codes.csv", "-o", "a.moments.json"], 1, "a missing one: --csv null_values=NAME,..."),
        (
            ["gaps.csv", "--nulls=split", "--label=load", "-o", "a.moments.json"],
            1,
            "of no use. Of files, leave out all that lack any value with --nulls drop.",
        ),
        (["pumps.csv", "-o", "a.moments.json", "--checkpoint", "gaps.csv"], 1, "NotACheckpoint"),
        (["gaps.csv", "--nulls=split", "--min-rows=250", "-o", "a.moments.json"], 1, "250"),
    ],
    ids=str,
)
def test_what_is_wrong_is_told_in_a_sentence_and_nothing_is_written(
    pump_files, monkeypatch, arguments, code, says
):
    monkeypatch.chdir(pump_files)
    (pump_files / "there.moments.json").write_text("something")
    pumps = pd.read_csv("pumps.csv", dtype={"load": str})
    pumps.assign(load=pumps["load"].where(pumps.index % 9 > 0, "n.m.")).to_csv("codes.csv")
    if "late.csv" in arguments:  # the text comes after the block that tells types
        late = pd.concat([pumps] * 1000)
        late.assign(load=[*late["load"][1:], "n.m."]).to_csv("late.csv", index=False)
    before = {file: file.read_bytes() for file in pump_files.iterdir() if file.is_file()}
    told = CliRunner().invoke(app, ["moments", *arguments, "--json"])
    assert told.exit_code == code
    assert says in " ".join(told.stderr.replace("│", " ").split())
    assert json.loads(told.stdout)["format"] == "poolwise error"
    assert "Traceback" not in told.stderr
    assert {file: file.read_bytes() for file in pump_files.iterdir() if file.is_file()} == before


@pytest.mark.parametrize(
    ("error", "typed"),
    [
        (BadOption("texts", ["a b", "c"], "x"), "--text 'a b,c' is not possible"),
        (BadOption("drop", "it's", "x"), """--drop 'it'"'"'s' is not possible"""),
        (
            TooManyPatterns("old.csv", 9),
            "Read them with --nulls drop, read fewer columns with --fea",
        ),
        (UnknownFormat("old.txt", [".csv"]), "Rename it. Files of moments"),
        (RowsDropped("old", {"a": 1}, 1, 9), "--nulls split would make use of those"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_arguments_are_told_as_options(error, typed):
    said = as_typed(str(error))
    assert typed in said
    assert "Files(" not in said
