"""Reports of tables of every kind: columns, sources, few rows and many."""

import json

import numpy as np
import pandas as pd
import pytest

import poolwise
from poolwise import Moments
from poolwise.errors import LeftOut, NoiseNotEstimable
from tests.report.conftest import FEW, WHEN
from tests.report.stories import diabetes


@pytest.mark.slow
def test_columns_are_new_shared_or_left_out():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(230, 4)), columns=list("abcd"))
    X["site"] = np.where(np.arange(230) % 2 == 0, "north", "south")
    y = pd.Series(X[list("abcd")].sum(axis=1) + rng.normal(size=230), name="y")
    early = X.iloc[:100][["a", "site"]].assign(z=1.0)
    sources = {
        "early": (early, y.iloc[:100]),
        "late": (X.iloc[100:200][["a", "b"]], y.iloc[100:200]),
    }
    with pytest.warns(LeftOut):
        made = poolwise.report(X.iloc[200:], y.iloc[200:], sources=sources, **FEW)
    columns = made.data["columns"]
    assert {x["name"]: x["role"] for x in columns["lines"]} == {
        "a": "shared",
        "b": "partly shared",
        "c": "new",
        "d": "new",
        "site": "partly shared",
    }
    assert [(x["name"], x["source"]) for x in columns["dropped"]] == [("z", "early")]
    assert [(x["name"], x["lacking_in"]) for x in columns["notes"]] == [
        ("b", ["early"]),
        ("site", ["late"]),
    ]
    assert {g["role"]: g["names"] for g in columns["groups"]} == {
        "new": ["c", "d"],
        "partly shared": ["b", "site (2 levels)"],
        "shared": ["a"],
    }
    assert columns["text"] == (
        "1 column in all tables; 2 new, which history lacks (“c” and “d”); 2 in part of the "
        "history (“b” and “site”); 1 left out (“z”)."
    )
    assert len(made.data["cautions"]) == 1


@pytest.mark.slow
def test_a_source_that_can_be_read_only_once_is_enough():
    pa = pytest.importorskip("pyarrow")
    X, y, sources = diabetes()
    (X_old, y_old) = sources["past patients"]
    table = pa.Table.from_pandas(X_old.assign(progression=y_old), preserve_index=False)
    reader = pa.RecordBatchReader.from_batches(table.schema, iter(table.to_batches()))
    made = poolwise.report(X, y, sources={"past patients": reader}, date=WHEN, cv=FEW["cv"])
    assert {"trees_on_nan", "kernel_transfer"} <= {
        x["method"] for x in made.data["methods"]["lines"]
    }


@pytest.mark.slow
def test_a_source_of_moments_leaves_out_what_reads_rows():
    X, y, sources = diabetes()
    (X_old, y_old) = sources["past patients"]
    rows = np.column_stack([X_old, y_old])
    history = Moments.of_rows((*X_old.columns, "progression"), rows)
    made = poolwise.report(X, y, sources={"past": history}, cv=FEW["cv"])
    left_out = {x["label"] for x in made.data["methods"]["left_out"]}
    assert left_out == {
        "New columns predicted from old ones, by a kernel",
        "Boosted trees on all rows, gaps left empty",
    }
    assert [x["method"] for x in made.data["methods"]["lines"] if x["is_model"]]


@pytest.mark.slow
def test_many_rows_leave_out_what_reads_them_in_every_fold():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_030, 2))
    y = X @ [1.0, 2.0] + rng.normal(size=len(X))
    made = poolwise.report(X[:30], y[:30], sources=(X[30:, :1], y[30:]), cv=FEW["cv"])
    whys = [x["why"] for x in made.data["methods"]["left_out"]]
    assert len(whys) == 2
    assert all("60,000 rows of history" in why for why in whys)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 6])
def test_few_rows_are_told_as_few(rows):
    X, y, sources = diabetes(rows)
    with pytest.warns(NoiseNotEstimable):
        made = poolwise.report(X, y, sources=sources, methods=FEW["methods"], cv=3)
    data = made.data
    assert ("unavailable" in data["methods"]) == (rows < 3)
    assert ("unavailable" in data["residuals"]) == (rows < 3)
    assert ("unavailable" in data["plan"]) == (rows < 5)
    if rows < 3:
        assert "could not be measured on recent rows" in made.verdict.text
    assert all(x["without"]["low"] is None for x in data["coefficients"]["lines"])
    json.dumps(data, allow_nan=False)


def test_without_history_there_is_a_model_and_no_gain(alone):
    data = alone.data
    assert data["verdict"]["level"] == "no_history"
    assert data["gain"]["lines"] == []
    assert {x["method"] for x in data["methods"]["lines"]} == {
        "target_only",
        "target_ridge",
        "bayes_pooling",
    }
    assert data["plan"]["unavailable"]
    assert data["title"] == "A model of progression"


@pytest.mark.slow
def test_many_columns_are_all_listed_and_some_are_drawn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 25))
    y = X @ np.arange(25.0) + rng.normal(size=400)
    made = poolwise.report(X[:100], y[:100], sources=(X[100:, :22], y[100:]), **FEW)
    lines = made.data["coefficients"]["lines"]
    assert len(lines) == 25
    drawn = {x["name"] for x in lines if x["is_drawn"]}
    # Coefficients grow with the number of the column, and all columns spread alike.
    assert drawn == {x["name"] for x in sorted(lines, key=lambda x: -x["with"]["effect"])[:20]}
    assert "20 columns of 25" in made.data["coefficients"]["caption"]


def test_a_response_that_does_not_vary_is_no_reason_to_fail():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    with pytest.warns(poolwise.errors.PoolwiseWarning):
        made = poolwise.report(X[:20], np.ones(20), sources=(X[20:, :2], np.ones(100)), **FEW)
    assert made.data["verdict"]["level"] == "unknown"
    assert made.html()


def test_levels_of_one_column_stand_below_its_name():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=60), "site": ["north", "south", "<west>"] * 20})
    page = poolwise.report(X, pd.Series(rng.normal(size=60), name="y"), **FEW).html()
    section = page[page.index('id="coefficients"') :]
    assert section.count('class="level"') == 2
    heading = section.index('scope="rowgroup"')
    assert heading < section.index('class="level"')
    assert "site" in section[heading : heading + 80]
    assert "<west>" not in page
