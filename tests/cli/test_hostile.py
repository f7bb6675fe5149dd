"""Names and texts from strangers: shown, never obeyed, neither by a terminal nor a spreadsheet."""

import csv
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from poolwise.cli.options import names_in
from poolwise.cli.write_table import guarded
from tests.cli.entry import quick

BAD = [
    "bell\x07 escape\x1b[31m",
    "[bold red]markup[/]",
    "=HYPERLINK(1)",
    "@cmd",
    "\u202egnp.exe",
    "two\nlines",
    "Straße 温度 🌡",
    "x" * 400,
]
LABEL = "[/]wear\x1b[2J"


def write_hostile(folder):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(140, len(BAD))), columns=BAD)
    X["code"] = rng.choice(["=1+1", "-2", "+a", "ok"], len(X))
    X[LABEL] = X[BAD].sum(axis=1) + rng.normal(size=len(X))
    X[:100].drop(columns=BAD[0]).assign(**{"\x1b]0;gone\x07": 1.0}).to_csv(
        folder / "hi\x1bstory.csv", index=False
    )
    X[100:].to_csv(folder / "recent.csv", index=False)
    X[100:104].drop(columns=LABEL).to_csv(folder / "new.csv", index=False)


def obeyed(text):
    """Return the characters that a terminal would obey."""
    return {c for c in text if c != "\n" and (ord(c) < 32 or c in "\x7f\u202e\u2028\x9b")}


@pytest.fixture
def hostile(tmp_path):
    write_hostile(tmp_path)
    return tmp_path


@pytest.mark.filterwarnings("ignore::poolwise.errors.PoolwiseWarning")
def test_no_name_reaches_the_terminal_as_a_command(hostile, monkeypatch):
    tables = ["hi\x1bstory.csv", "recent.csv", "--label", LABEL, "--text", "code"]
    for verb in (
        ["fit", *tables, "-o", "m.json"],
        ["compare", *tables, "--method", "mean_fill", "--folds", "2"],
        ["fit", *tables, "-o", "m.json"],  # refused: it is there
        ["fit", *tables[:-1], "nothing\x1b"],
        ["predict", "m.json", "new.csv", "-o", "out.csv"],
        ["predict", "m.json", "no\x1b[1m.csv"],
    ):
        told = quick(hostile, monkeypatch, *verb)
        assert told.exit_code in (0, 1, 2)
        assert told.exception is None or isinstance(told.exception, SystemExit)
        assert obeyed(told.stdout + told.stderr) == set(), verb
    told = quick(hostile, monkeypatch, "fit", *tables)
    assert told.exit_code == 0, told.output
    assert "[bold red]markup[/]" in told.stdout
    assert "bell\\x07 escape\\x1b[31m" in told.stdout
    assert "Straße 温度 🌡" in told.stdout
    assert "two\\nlines" in told.stdout
    assert "x" * 61 not in told.stdout  # the middle of a long name is left out
    said = quick(hostile, monkeypatch, "fit", *tables, "--json")
    assert json.loads(said.stdout)["columns"]["response"] == LABEL  # to a program, the name itself
    assert obeyed(said.stdout) == set()


@pytest.mark.filterwarnings("ignore::poolwise.errors.PoolwiseWarning")
def test_no_cell_of_a_written_csv_is_a_formula(hostile, monkeypatch):
    tables = ["hi\x1bstory.csv", "recent.csv", "--label", LABEL, "--text", "code"]
    assert quick(hostile, monkeypatch, "fit", *tables, "-o", "m.json").exit_code == 0
    told = quick(hostile, monkeypatch, "predict", "m.json", "new.csv", "-o", "out.csv")
    assert told.exit_code == 0, told.output
    with (hostile / "out.csv").open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    new = pd.read_csv(hostile / "new.csv", dtype={"code": str})
    assert [name.removeprefix("'") for name in head] == [*new.columns, "prediction"]
    assert "'=HYPERLINK(1)" in head
    assert "'@cmd" in head
    for cell in (cell for row in (head, *rows) for cell in row):
        assert cell[:1] not in tuple("=@+\t\r"), cell
        assert cell[:1] != "-" or float(cell) < 0.0, cell
    code = head.index("code")
    harmful = {"=1+1": "'=1+1", "+a": "'+a"}
    assert [row[code] for row in rows] == [harmful.get(t, t) for t in new["code"]]
    numbers = np.array([[float(row[head.index("bell\x07 escape\x1b[31m")])] for row in rows])[:, 0]
    np.testing.assert_array_equal(numbers, new[BAD[0]])  # numbers are as they were


UNUSUAL = {  # how CSV and JSON say values that only Parquet has types for
    "bytes": (pa.array([b"=1+1", b"\xff"]), ["'=1+1", "\\xff"], ["=1+1", "\\xff"]),
    "view": (pa.array(["=1+1", "ok"], pa.string_view()), ["'=1+1", "ok"], ["=1+1", "ok"]),
    "category": (pa.array(["=1", "ok"]).dictionary_encode(), ["'=1", "ok"], ["=1", "ok"]),
    "list": (pa.array([["=1", "b"], None]), ['["=1", "b"]', ""], [["=1", "b"], None]),
    "struct": (pa.array([{"a": 1.5}, None]), ['{"a": 1.5}', ""], [{"a": 1.5}, None]),
    "date": (pa.array([0, None], pa.date32()), ["1970-01-01", ""], ["1970-01-01", None]),
    "nothing": (pa.nulls(2), ["", ""], [None, None]),
}


@pytest.mark.parametrize("kind", UNUSUAL)
def test_values_of_every_kind_are_written_and_none_is_a_formula(fitted, monkeypatch, kind):
    values, in_csv, in_json = UNUSUAL[kind]
    table = pa.Table.from_pandas(pd.read_csv(fitted / "new.csv")[:2], preserve_index=False)
    pq.write_table(table.append_column("more", values), fitted / "new.parquet")
    for out in ("out.csv", "out.jsonl"):
        told = quick(fitted, monkeypatch, "predict", "model.json", "new.parquet", "-o", out)
        assert told.exit_code == 0, told.output
    with (fitted / "out.csv").open(newline="") as file:
        assert [row["more"] for row in csv.DictReader(file)] == in_csv
    with (fitted / "out.jsonl").open() as file:
        assert [row["more"] for row in map(json.loads, file)] == in_json


@pytest.mark.parametrize("out", [["-o", "out.csv"], []], ids=["file", "printed"])
def test_a_value_that_cannot_be_written_is_told(fitted, monkeypatch, out):
    table = pa.Table.from_pandas(pd.read_csv(fitted / "new.csv"), preserve_index=False)
    when = pa.array(range(6), pa.timestamp("s", "Europe/Nowhere"))
    pq.write_table(table.append_column("when", when), fitted / "new.parquet")
    told = quick(fitted, monkeypatch, "predict", "model.json", "new.parquet", *out)
    assert told.exit_code == 1, told.output
    assert told.stderr.startswith("NotWritten: ")
    assert "Europe/Nowhere" in told.stderr
    assert not (fitted / "out.csv").exists()


@pytest.mark.parametrize(
    ("given", "code", "says"),
    [
        (["--drop", "two\nlines"], 1, "No column named 'two\\nlines'."),
        (["--drop", '"hours'], 2, "has an open quote"),
        (["--drop", '"hours"x'], 2, "or text after a quote"),
        (["--seed", "4294967296", "--report", "r.html"], 2, "--seed"),
        (["--seed", "99999999999999999999", "--report", "r.html"], 2, "--seed"),
    ],
)
def test_odd_options_are_told_without_a_traceback(fitted, monkeypatch, given, code, says):
    told = quick(fitted, monkeypatch, "fit", "history.csv", "recent.csv", "--label", "wear", *given)
    assert isinstance(told.exception, SystemExit)
    assert told.exit_code == code, told.output
    assert says in " ".join(told.stderr.split())


def test_names_may_have_commas_quotes_and_line_breaks():
    assert names_in(["a, b", '"c,d",e', "two\nlines", '"x\ny"', '"he said ""no"""']) == (
        "a", "b", "c,d", "e", "two\nlines", "x\ny", 'he said "no"',
    )  # fmt: skip
    assert names_in(None) == ()


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("=1", "'=1"),
        ("+1 800", "'+1 800"),
        ("-1", "-1"),
        ("+1.5e-3", "+1.5e-3"),
        ("-.5", "-.5"),
        ("-1+1", "'-1+1"),
        ("-1\n", "'-1\n"),
        ("@x", "'@x"),
        ("\tx", "'\tx"),
        ("\rx", "'\rx"),
        ("x=1", "x=1"),
        ("", ""),
        ("'=1", "'=1"),
    ],
)
def test_what_a_spreadsheet_would_run_gets_an_apostrophe(text, safe):
    assert guarded(text) == safe
