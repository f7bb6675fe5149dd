"""Tables on standard output: words begin on the left, numbers end on the right."""

import json

import numpy as np
import pandas as pd

from poolwise.cli.screen import show_table
from tests.cli.entry import quick


def test_words_begin_on_the_left_and_numbers_end_on_the_right(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    head = [
        "table",
        "rows",
        "lacks",
        "share",
        "interval",
        "95 %",
        "in",
        "p",
        "apart",
        "note",
        "no",
    ]
    rows = [
        [
            "1999",
            "1,000",
            "speed",
            "7%",
            "0.1 to 12",
            "[-3.19, +0.02]",
            "1 of 1",
            "< 0.001",
            "0.3 sd",
            "",
            "-",
        ],
        ["names", "9", "-", "100%", "-", "-", "-", "1e-05", "12 sd", "late", "-"],
    ]
    show_table(head, rows)
    assert capsys.readouterr().out.splitlines() == [
        "table   rows  lacks  share   interval            95 %      in        p   apart  note  no",
        "1999   1,000  speed     7%  0.1 to 12  [-3.19, +0.02]  1 of 1  < 0.001  0.3 sd        -",
        "names      9  -       100%          -               -       -    1e-05   12 sd  late  -",
    ]


def test_a_table_without_rows_is_its_head(capsys):
    show_table(["name", "rows"], [])
    assert capsys.readouterr().out == "name  rows\n"


HEAD = ["feature", "coef", "95% interval", "note"]
ROWS = [
    ["(intercept)", "1.25", "0.5 to 2", ""],
    ["place", "", "", "against Berlin"],
    ["  a rather long name of a town", "-3.5", "-4 to -3", "0 in every row of recent.csv"],
    ["  Rome", "10.25", "9 to 11", ""],
]


def test_in_a_narrow_window_notes_and_long_names_have_lines_of_their_own(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "45")
    show_table(HEAD, ROWS)
    assert capsys.readouterr().out.splitlines() == [
        "feature                    coef  95% interval",
        "(intercept)                1.25      0.5 to 2",
        "place  against Berlin",
        "  a rather long name of a town",
        "                           -3.5      -4 to -3",
        "    note: 0 in every row of recent.csv",
        "  Rome                    10.25       9 to 11",
    ]


def test_in_a_window_that_is_narrower_still_each_row_is_a_list(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    show_table(HEAD, ROWS)
    assert capsys.readouterr().out.splitlines() == [
        "(intercept)",
        "  coef: 1.25",
        "  95% interval: 0.5 to 2",
        "place  against Berlin",
        "  a rather long name of a",
        "  town",
        "  coef: -3.5",
        "  95% interval: -4 to -3",
        "    note: 0 in every row",
        "      of recent.csv",
        "  Rome",
        "  coef: 10.25",
        "  95% interval: 9 to 11",
    ]


def test_the_largest_levels_of_a_column_are_shown(folder, monkeypatch):
    rng = np.random.default_rng(0)
    for name in ("history.csv", "recent.csv"):
        table = pd.read_csv(folder / name)
        town = rng.integers(0, 9, len(table))
        wear = table["wear"] + 3.0 * town
        table.assign(town=[f"town {k}" for k in town], wear=wear).to_csv(folder / name, index=False)
    command = ["fit", "history.csv", "recent.csv", "--label", "wear"]
    told = quick(folder, monkeypatch, *command, "-o", "m.json").stdout
    said = json.loads(quick(folder, monkeypatch, *command, "--json").stdout)
    lines = [x for x in said["summary"]["coefficients"] if x["column"] == "town"]
    assert len(lines) == 8
    lines.sort(key=lambda x: -abs(x["coef"]))
    for rank, line in enumerate(lines):
        level = line["name"].removeprefix("town=")
        assert (f"\n  {level} " in told) is (rank < 6)
    assert "against town 0, 2 smaller not shown" in told
    assert "All are in the model file, and in the summary of --json." in " ".join(told.split())
