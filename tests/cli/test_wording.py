"""What the library says to programmers is said in options to those who type commands."""

import re

import numpy as np
import pandas as pd
import pytest

from poolwise import PooledRegressor, errors
from poolwise.cli.wording import PHRASES, as_typed
from tests.cli.entry import OLD, machines, quick
from tests.test_errors import EXAMPLES

FIT = ["fit", "history.csv", "recent.csv", "--label", "wear"]
# Errors that only a program can cause.
IN_PYTHON = (
    errors.BadSource, errors.CannotExport, errors.CannotSave, errors.CannotSubtract,
    errors.ColumnMismatch, errors.DifferentResponse, errors.LengthsDiffer, errors.NotAProblem,
    errors.NotMoments, errors.NotRealNumbers, errors.NotTwoDimensional, errors.OtherColumns,
    errors.ResponseInFeatures, errors.SlicedSources, errors.UnknownTable, errors.WorkerDied,
    errors.TooFewToShare, errors.NoCoefficients, errors.NotALine,
)  # fmt: skip
MORE = [  # further ways in which commands meet them
    errors.NotInFile("a.csv", "n", ["m"], "which Files(..., weights=...) names"),
    errors.TooFewRows("plan", 3, 5, "diagnose, which is about today"),
    errors.UnreadableModel(
        "m.json",
        "it is larger than 9 bytes",
        "If it is meant to be that large, load it with a larger max_bytes",
    ),
    errors.NotNumeric(
        "code",
        "of X holds numbers stored as text, '23' for one",
        "Convert it to numbers, or to a categorical type if they are codes.",
    ),
    errors.BadOption("csv", "sep", "a mapping by the words of pyarrow.csv's options"),
]
# What is typed there has a sign of equality, too.
KEY_AND_VALUE = errors.NotNumeric(
    "load", "of a.csv holds texts", "Say it with Files(..., csv={'null_values': [...]})."
)
PYTHON = re.compile(r"\w\(|\w=(?!coast)|\bX\b|poolwise\.[A-Za-z]|Pooled|max_bytes|Moments\.")


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_phrase_that_is_replaced_is_one_that_the_library_says(phrase):
    assert any(phrase in str(example) for example in (*EXAMPLES, *MORE, KEY_AND_VALUE))


@pytest.mark.parametrize(
    "example",
    [e for e in (*EXAMPLES, *MORE) if not isinstance(e, IN_PYTHON)],
    ids=lambda e: type(e).__name__,
)
def test_no_message_of_a_command_speaks_python(example):
    said = as_typed(str(example))
    assert PYTHON.findall(re.sub(r"'[^']*'", "", said)) == [], said
    assert said[-1] in ".?)"  # still whole sentences


def test_names_in_quotes_stay_as_they_are():
    said = "X lacks 'X', 'my X axis' and precision='exact': 3 rows of X."
    assert as_typed(said) == (
        "The table lacks 'X', 'my X axis' and --precision exact: 3 rows of the table."
    )


def test_a_new_category_is_refused_or_taken_for_the_first(fitted, monkeypatch):
    new = machines(2, 3).drop(columns="wear").assign(site=["coast", "moon"])
    new.to_csv(fitted / "new.csv", index=False)
    told = quick(fitted, monkeypatch, "predict", "model.json", "new.csv")
    assert (told.exit_code, told.stdout) == (1, "")
    assert "use --unseen-level ignore to predict such rows as" in told.stderr
    lenient = ["--unseen-level", "ignore", "-o", "out.csv"]
    told = quick(fitted, monkeypatch, "predict", "model.json", "new.csv", *lenient)
    assert told.exit_code == 0, told.output
    as_coast = PooledRegressor.load(fitted / "model.json").predict(new.assign(site="coast"))
    out = pd.read_csv(fitted / "out.csv")
    np.testing.assert_allclose(out["prediction"], as_coast, rtol=1e-12)
    assert out["site"].tolist() == ["coast", "moon"]


@pytest.mark.filterwarnings("ignore::poolwise.errors.RowsDropped")
def test_missing_responses_of_history_are_refused_or_left_out(folder, monkeypatch):
    old = machines(300, 0, OLD)
    old.loc[:4, "wear"] = np.nan
    old.to_csv(folder / "history.csv", index=False)
    assert quick(folder, monkeypatch, *FIT).exit_code == 1
    told = quick(folder, monkeypatch, *FIT, "--nulls", "raise")
    assert told.exit_code == 1
    assert "--nulls drop leaves such rows out" in told.stderr
    told = quick(folder, monkeypatch, *FIT, "--nulls", "drop", "-o", "m.json")
    assert told.exit_code == 0, told.output
    assert "5 of 300 rows of source 'history' were dropped" in told.stderr
    assert PooledRegressor.load(folder / "m.json").problem_.sources["history"].rows == 295


@pytest.mark.parametrize(
    ("given", "code", "says"),
    [
        (["--csv", "sep=;"], 2, "It must be a word of pyarrow.csv's options, such as delimiter"),
        (["--csv", "delimiter=ab"], 2, "values that pyarrow.csv's options can have"),
        (["--csv", "block_size=x"], 2, "values that pyarrow.csv's options can have"),
        (["--csv", "encoding=klingon"], 2, "unknown encoding: klingon"),
        (["--csv", "decimal_point=,"], 1, "or name it with --text if they are codes."),
        (["--csv", "delimiter=n"], 1, "encoding) can be said by --csv."),
    ],
)
def test_how_csv_is_written_is_checked(folder, monkeypatch, given, code, says):
    told = quick(folder, monkeypatch, *FIT, *given)
    assert told.exit_code == code, told.output
    assert isinstance(told.exception, SystemExit)
    assert says in " ".join(told.stderr.split())


def test_words_about_csv_have_the_types_that_they_need(folder, monkeypatch):
    for name in ("history.csv", "recent.csv"):
        text = (folder / name).read_text().replace("coast", "?")
        (folder / name).write_text(f"exported today\n{text}")
    words = ["--csv", "skip_rows=1", "--csv", "null_values=?,none", "--nulls", "raise"]
    told = quick(folder, monkeypatch, *FIT, *words)
    assert told.exit_code == 1
    assert "'site' in" in told.stderr  # a question mark was a missing value
    told = quick(folder, monkeypatch, *FIT, "--csv", "skip_rows=1", "--drop", "plant")
    assert told.exit_code == 0, told.output
