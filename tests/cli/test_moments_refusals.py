"""poolwise moments: what is wrong is told in words of the command, and nothing is written."""

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from poolwise.cli.app import app
from tests.cli.entry import python_in


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["pumps.csv"], 2, "Missing option '--out'"),
        (["-o", "a.moments.json"], 2, "Missing argument 'FILE'"),
        (["pumps.csv", "-o", "a.json"], 2, "must end in .moments.json"),
        (["pumps.csv", "-o", "no/a.moments.json"], 2, "There is no folder no."),
        (["pumps.csv", "-o", "there.moments.json"], 2, "or use --force to replace it"),
        (["pumps.csv", "-o", "a.moments.json", "--nulls", "skip"], 2, "'skip' is not one of"),
        (["pumps.csv", "-o", "a.moments.json", "--min-rows", "-1"], 2, "--min-rows"),
        (["pumps.csv", "-o", "a.moments.json", "--jobs", "0"], 2, "--jobs"),
        (["pumps.csv", "-o", "a.moments.json", "--csv", "semicolon"], 2, "KEY=VALUE"),
        (["pmups.csv", "-o", "a.moments.json"], 1, "BadFile: No file to read at 'pmups.csv'"),
        (["pumps.csv", "-o", "a.moments.json", "--drop", "laod"], 1, "Did you mean 'load'?"),
        (["gaps.csv", "-o", "a.moments.json"], 1, "NotFinite: 'gaps.csv' has missing values in"),
        (["gaps.csv", "-o", "a.moments.json"], 1, "--nulls drop leaves such rows out; --nulls spl"),
        (["pumps.csv", "-o", "a.moments.json", "--csv", "sep=;"], 2, "BadOption: --csv sep"),
        (
            ["pumps.csv", "-o", "a.moments.json", "--min-rows", "301"],
            1,
            "has 300 rows, fewer than 301.",
        ),
        (
            ["pumps.csv", "-o", "a.moments.json", "--min-rows", "301"],
            1,
            "out with --drop, or use a smaller --min-rows.",
        ),
        (["late.csv", "-o", "a.moments.json"], 1, "missing number, use --csv null_values=TEXT,..."),
        (["late.csv", "-o", "a.moments.json"], 1, "If the column holds text, use --text load, or"),
        (["late.csv", "-o", "a.moments.json"], 1, "holds 'n.m.' in line 300,001, and numbers"),
        (
            ["codes.csv", "-o", "a.moments.json"],
            1,
            "use --text load. If they are numbers, correct",
        ),
        (
            ["codes.csv", "-o", "a.moments.json"],
            1,
            "for a missing number: --csv null_values=TEXT,...",
        ),
        (
            ["gaps.csv", "--nulls=split", "--label=load", "-o", "a.moments.json"],
            1,
            "cannot be used. Leave out all rows that lack a value with --nulls drop.",
        ),
        (["pumps.csv", "-o", "a.moments.json", "--parts", "gaps.csv"], 2, "parts"),
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
    assert python_in(told.stderr) == []
    assert {file: file.read_bytes() for file in pump_files.iterdir() if file.is_file()} == before
