"""Commands that are wrong: told without a traceback, and nothing changes."""

import pytest

from tests.cli.entry import machines, python_in, quick

TABLES = ["history.csv", "recent.csv", "--label", "wear"]
WRONG = [
    (["fit", "recent.csv"], 2, "Missing option '--label'"),
    (["fit", "history.csv", "recent.csv", "--label", "ware"], 1, "Did you mean 'wear'?"),
    (["fit", "nothing.csv", "recent.csv", "--label", "wear"], 1, "BadFile: No file to read"),
    (["fit", "history.csv", "recent.csv", "--label", "wear", "--drop", "lod"], 1, "'load'?"),
    (
        ["fit", "history.csv", "recent.csv", "--label", "wear", "-o", "m.pkl"],
        2,
        "must end in .json",
    ),
    (["fit", "history.csv", "recent.csv", "--label", "wear", "-o", "no/m.json"], 2, "no folder no"),
    (["fit", "history.csv", "recent.csv", "--label", "wear", "-o", "model.json"], 2, "--force"),
    (["fit", "history.csv", "recent.csv", "--label", "wear", "--report", "old.html"], 2, "--force"),
    (["fit", "history.csv", "x.moments.json", "--label", "wear"], 2, "needs rows"),
    (["fit", "-", "-", "--label", "wear"], 2, "given twice"),
    (["fit", "history.csv", "*.csv", "--label", "wear"], 2, "stands for 3 files"),
    (["fit", "--history", "history.csv", "recent.csv", "--label", "wear"], 2, "not NAME=PATH"),
    (["fit", "history.csv", "recent.csv", "--label", "wear", "--method", "ridge"], 2, "ridge"),
    (["fit", "history.csv", "recent.csv", "--label", "site"], 1, "holds text"),
    (["compare", "history.csv", "recent.csv", "--label", "wear", "--method", "x"], 2, "No method"),
    (["report", *TABLES, "-o", "r.html", "--method", "boosted"], 2, "mean 'boosted_pooling'?"),
    (["compare", *TABLES, "--method", "offset,boosted"], 2, "Did you mean 'boosted_pooling'?"),
    (["plan", *TABLES, "--seed", "2147483648"], 2, "2147483647"),
    (["plan", "history.csv", "recent.csv"], 2, "need --label"),
    (["plan", "model.json", "--drop", "load"], 2, "already"),
    (["predict", "history.csv", "new.csv"], 1, "BadFile"),
    (["predict", "model.json", "sub/wrong.csv"], 1, "No column named 'load'"),
    (
        ["fit", "history.csv", "recent.csv", "--label", "wear", "--drop", "x"],
        1,
        "One of the tables has",
    ),
    (["predict", "model.json", "new.csv", "-o", "out.xls"], 2, "must end in .csv,"),
    (["predict", "model.json", "new.csv", "-o", "new.csv"], 2, "exists already"),
    (["predict", "model.json", "new.csv", "--interval", "1"], 2, "between 0 and 1"),
    (["predict", "model.json", "new.csv", "--column", "hours"], 2, "another name"),
    (["report", "history.csv", "recent.csv", "--label", "wear", "-o", "old.html"], 2, "--force"),
    (["report", "history.csv", "recent.csv", "--label", "wear"], 2, "Missing option"),
]


@pytest.mark.parametrize(("arguments", "code", "says"), WRONG, ids=[" ".join(w[0]) for w in WRONG])
def test_what_is_wrong_is_told_without_a_traceback_and_changes_nothing(
    fitted, monkeypatch, arguments, code, says
):
    (fitted / "old.html").write_text("old")
    (fitted / "sub").mkdir()  # aside, where *.csv does not find it
    machines(3, 7, ("hours", "site")).to_csv(fitted / "sub" / "wrong.csv", index=False)
    before = {p: p.read_bytes() for p in fitted.rglob("*") if p.is_file()}
    told = quick(fitted, monkeypatch, *arguments)
    assert told.exit_code == code, told.output
    assert says in " ".join(told.stderr.split())
    assert "Traceback" not in told.output
    assert python_in(told.stderr) == []
    assert told.stdout == "" or told.stdout.startswith("Columns, matched")
    assert {p: p.read_bytes() for p in fitted.rglob("*") if p.is_file()} == before
