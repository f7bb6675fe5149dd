"""to_sql: DuckDB and SQLite predict what the model predicts, whatever rows hold."""

import sqlite3
import warnings

import duckdb
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from poolwise.errors import PredictionsBounded
from poolwise.methods import BayesPooling
from poolwise.model.exports import Line, NumberTerm
from poolwise.model.sql import _number, expression
from tests.linear_methods import LINEAR_METHODS
from tests.model.exports.databases import CLOSE, DIALECTS, RUN, fitted_quietly, in_sqlite, quietly
from tests.model.model_file.worlds import WORLDS, fitted, world


def frame_of(model, rows):
    frame = pd.DataFrame(rows).reset_index(drop=True)
    frame.columns = [c.name for c in model.columns_]
    return frame


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("kind", WORLDS)
def test_it_predicts_what_the_model_predicts(kind, dialect):
    given_ = world(kind)
    for method in ("bayes_pooling", "data_pooling"):
        model = fitted(method, given_)
        found = RUN[dialect](model.to_sql(dialect), frame_of(model, given_.rows))
        assert_allclose(found, model.predict(given_.rows), rtol=CLOSE)


@pytest.mark.parametrize("method", LINEAR_METHODS)
def test_every_method_is_the_same_in_both(method):
    given_ = world("texts")
    model = fitted(method, given_)
    frame = frame_of(model, given_.rows)
    found = [RUN[d](model.to_sql(d), frame) for d in DIALECTS]
    assert_allclose(found[0], found[1], rtol=1e-15)
    assert_allclose(found[0], model.predict(given_.rows), rtol=CLOSE)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("without", [["marker"], ["kind"], ["kind", "marker"]])
def test_rows_without_columns_have_their_own_expression(without, dialect):
    given_ = world("texts")
    model = fitted("bayes_pooling", given_)
    rows = given_.rows.drop(columns=without)
    found = RUN[dialect](model.to_sql(dialect, without=without), rows)
    assert_allclose(found, model.predict(rows), rtol=CLOSE)


@pytest.mark.filterwarnings("ignore:X has:poolwise.errors.DataWarning")
@pytest.mark.parametrize("dialect", DIALECTS)
def test_expressions_of_all_patterns_predict_rows_that_lack_some_columns(dialect):
    given_ = world("texts")
    model = fitted("bayes_pooling", given_)
    patterns = [(), ["marker"], ["kind"], ["marker", "kind"]]
    every = ", ".join(model.to_sql(dialect, without=p) for p in patterns)
    found = RUN[dialect](f"coalesce({every})", frame_of(model, given_.lacking))
    assert_allclose(found, model.predict(given_.lacking), rtol=CLOSE)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("bounds", [0.5, (0.0, np.inf), (-np.inf, 0.0), (-np.inf, np.inf), None])
def test_bounds_hold_and_null_stays_null(bounds, dialect):
    given_ = world("numbers")
    model = fitted(BayesPooling(bounds=bounds), given_)
    rows = 1e6 * given_.rows
    expression = model.to_sql(dialect)
    found = RUN[dialect](expression, frame_of(model, rows))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PredictionsBounded)
        assert_allclose(found, model.predict(rows), rtol=CLOSE)
    gone = RUN[dialect](expression, frame_of(model, given_.lacking))
    assert np.isnan(gone).tolist() == np.isnan(given_.lacking).any(axis=1).tolist()


@pytest.mark.parametrize("bounds", [0.5, None])
def test_nan_in_duckdb_does_not_become_the_upper_bound(bounds):
    given_ = world("numbers")
    model = fitted(BayesPooling(bounds=bounds), given_)
    with duckdb.connect() as base:
        base.execute("CREATE TABLE rows (x0 DOUBLE, x1 DOUBLE, x2 DOUBLE)")
        base.execute("INSERT INTO rows VALUES (1, 2, 'NaN')")
        ((found,),) = base.execute(f"SELECT {model.to_sql()} FROM rows").fetchall()
    assert np.isnan(found)


@pytest.mark.filterwarnings("ignore:X has:poolwise.errors.DataWarning")
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_text_that_no_table_had_gives_null_or_the_mean_effect(dialect):
    given_ = world("texts")
    rows = given_.rows.copy()
    rows.iloc[0, 1] = "elsewhere"
    rows.iloc[1, 1] = rows.iloc[1, 1] + " "
    rows.iloc[2, 1] = None
    model = fitted("data_pooling", given_._replace(options={"strict": True}))
    found = RUN[dialect](model.to_sql(dialect), rows)
    assert np.isnan(found[:3]).all()
    assert_allclose(found[3:], model.predict(rows[3:]), rtol=CLOSE)
    for intercept in (True, False):
        options = {"fit_intercept": intercept}
        model = fitted("data_pooling", given_._replace(options=options))
        found = RUN[dialect](model.to_sql(dialect), rows)
        assert np.isnan(found[2])
        rest = [0, 1, *range(3, len(rows))]
        assert_allclose(found[rest], model.predict(rows.iloc[rest]), rtol=CLOSE)


@pytest.mark.parametrize("value", ["", "abc", "3", b"3"])
def test_sqlite_does_not_count_texts_as_zero(value):
    model = fitted("data_pooling", world("numbers"))
    rows = pd.DataFrame({"x0": [1.0, value], "x1": [1.0, 2.0], "x2": [1.0, 2.0]}, dtype=object)
    found = in_sqlite(model.to_sql("sqlite"), rows)
    assert np.isfinite(found[0])
    assert np.isnan(found[1])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_texts_are_compared_letter_by_letter_whatever_the_collation(dialect):
    frame = pd.DataFrame({"a": ["x", "X", "x", "X", "é", "e"] * 2})
    model = fitted_quietly(frame, [1.0, 2.0, 1.0, 2.0, 3.0, 4.0] * 2)
    base = duckdb.connect() if dialect == "duckdb" else sqlite3.connect(":memory:")
    base.execute('CREATE TABLE rows ("a" VARCHAR COLLATE NOCASE)')
    base.execute("INSERT INTO rows VALUES ('x'), ('X'), ('e'), ('é')")
    if dialect == "duckdb":
        base.execute("SET default_collation = 'nocase.noaccent'")
    found = base.execute(f"SELECT {model.to_sql(dialect)} FROM rows").fetchall()
    base.close()
    assert_allclose(np.ravel(found), [1.0, 2.0, 4.0, 3.0], rtol=CLOSE)


def test_integers_booleans_decimals_and_enums_of_duckdb_are_understood():
    frame = pd.DataFrame({"n": [1, 2, 3, 5], "b": [True, False, False, True], "t": list("uvuv")})
    model = fitted_quietly(frame, [1.0, 2.0, 4.0, 3.0])
    with duckdb.connect() as base:
        base.execute("CREATE TYPE level AS ENUM ('u', 'v', 'w')")
        base.execute("CREATE TABLE rows (n DECIMAL(9, 3), b BOOLEAN, t level)")
        base.execute("INSERT INTO rows VALUES (1, true, 'u'), (2.5, false, 'v'), (3, true, 'w')")
        found = base.execute(f"SELECT {model.to_sql()} FROM rows").fetchall()
    rows = pd.DataFrame({"n": [1.0, 2.5], "b": [True, False], "t": ["u", "v"]})
    assert_allclose(np.ravel(found)[:2].astype(float), quietly(model, rows), rtol=CLOSE)
    unseen = pd.DataFrame({"n": [3.0], "b": [True], "t": ["w"]})
    assert_allclose(found[2], quietly(model, unseen), rtol=CLOSE)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
def test_many_columns_are_not_nested_too_deeply(dialect):
    rng, p = np.random.default_rng(0), 1900  # a table in SQLite has 2,000 columns at most
    coef, centre, rows = rng.normal(size=p), rng.normal(size=p), rng.normal(size=(3, p))
    columns = [f"c{j}" for j in range(p)]
    terms = tuple(map(NumberTerm, columns, coef.tolist(), centre.tolist()))
    found = RUN[dialect](
        expression(Line(1.5, terms, None, "y", True), dialect),
        pd.DataFrame(rows, columns=columns),
    )
    assert_allclose(found, 1.5 + (rows - centre) @ coef, rtol=1e-10)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_doubles_are_written_with_all_their_digits(dialect):
    rng = np.random.default_rng(0)
    literals = [float(f"{v:.3g}") for v in rng.normal(size=50)]
    literals += [*rng.normal(size=500) * 10.0 ** rng.integers(-8, 9, 500), 0.1, -0.0, 1e300, 1e-300]
    base = duckdb.connect() if dialect == "duckdb" else sqlite3.connect(":memory:")
    found = [base.execute(f"SELECT 1 - {_number(v)} - 1").fetchall()[0][0] for v in literals]
    read = [base.execute(f"SELECT {_number(v)}").fetchall()[0][0] for v in literals]
    base.close()
    assert read == literals
    assert found == [1 - v - 1 for v in literals]
