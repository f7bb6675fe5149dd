"""to_sklearn: plain scikit-learn estimators that predict as the model does."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from poolwise import PooledRegressor
from poolwise.errors import BadOption, NeedsRows, PredictionsBounded
from poolwise.methods import BayesPooling
from tests.model.model_file.worlds import ODD_NAMES, WORLDS, fitted, world

CLOSE = 1e-12  # the same terms, added in another order


@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("method", ["bayes_pooling", "data_pooling"])
def test_it_predicts_what_the_model_predicts(method, kind):
    given = world(kind)
    model = fitted(method, given)
    exported = model.to_sklearn()
    assert_allclose(exported.predict(given.rows), model.predict(given.rows), rtol=CLOSE)


@pytest.mark.parametrize("without", [["marker"], ["kind"], ["kind", "marker"]])
@pytest.mark.parametrize("method", ["bayes_pooling", "data_pooling", "feature_transfer"])
def test_rows_without_columns_have_their_own_export(method, without):
    given = world("texts")
    model = fitted(method, given)
    rows = given.rows.drop(columns=without)
    exported = model.to_sklearn(without=without)
    assert exported.n_features_in_ == 5 - len(without)
    assert_allclose(exported.predict(rows), model.predict(rows), rtol=CLOSE)


def test_columns_that_rows_may_not_lack_are_refused():
    model = fitted("data_pooling", world("texts"))
    for without in (["open"], ["nothing"], [ODD_NAMES[0], "marker"]):
        with pytest.raises(BadOption, match=r"without=.*some of 'marker', 'kind'"):
            model.to_sklearn(without=without)
    everything = fitted("target_only", world("numbers"))
    everything.optional_columns_ = ["x0", "x1", "x2"]
    with pytest.raises(BadOption, match="not all columns"):
        everything.to_sklearn(without=["x0", "x1", "x2"])


def test_a_model_without_moments_exports_all_but_rows_without_columns(tmp_path):
    given = world("texts")
    model = fitted("bayes_pooling", given)
    model.save(tmp_path / "a.model.json", moments=False)
    again = PooledRegressor.load(tmp_path / "a.model.json")
    assert_allclose(again.to_sklearn().predict(given.rows), model.predict(given.rows), rtol=CLOSE)
    with pytest.raises(NeedsRows):
        again.to_sklearn(without=["marker"])


def test_a_model_that_is_not_fitted_has_no_export():
    with pytest.raises(NotFittedError):
        PooledRegressor().to_sklearn()


def test_bounds_hold_and_can_be_taken_off():
    given = world("numbers")
    model, free = fitted("bayes_pooling", given), fitted(BayesPooling(bounds=None), given)
    far = 1e6 * given.rows
    with pytest.warns(PredictionsBounded):
        expected = model.predict(far)
    exported = model.to_sklearn()
    assert type(exported) is TransformedTargetRegressor
    assert_allclose(exported.predict(far), expected, rtol=CLOSE)
    assert set(expected) <= set(model.fit_.bounds)
    assert type(free.to_sklearn()) is Pipeline
    assert_allclose(exported.regressor_.predict(far), free.predict(far), rtol=CLOSE)


def test_one_bound_is_enough():
    given = world("numbers")
    model = fitted(BayesPooling(bounds=(0.0, np.inf)), given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PredictionsBounded)
        expected = model.predict(given.rows)
    assert_allclose(model.to_sklearn().predict(given.rows), expected, rtol=CLOSE)
    assert expected.min() == 0.0


def test_features_far_from_zero_keep_their_digits():
    given = world("numbers")
    X, y = given.fit["X"] + 1e9, given.fit["y"]
    model = PooledRegressor("data_pooling").fit(X, y)
    assert_allclose(model.to_sklearn().predict(X), model.predict(X), rtol=CLOSE)


@pytest.mark.parametrize("kind", ["texts", "numbers"])
def test_it_is_fitted_and_made_of_plain_parts(kind):
    exported = fitted("data_pooling", world(kind)).to_sklearn()
    check_is_fitted(exported)
    assert type(exported.named_steps["line"]) is LinearRegression
    modules = {type(step).__module__.partition(".")[0] for _, step in exported.steps}
    assert modules == {"sklearn"}


@pytest.mark.parametrize("method", ["bayes_pooling", "data_pooling"])
def test_names_are_checked_as_scikit_learn_does(method):
    given = world("texts")
    exported = fitted(method, given).to_sklearn()
    assert exported.feature_names_in_.tolist() == list(given.rows.columns)
    with pytest.raises(ValueError, match="columns are missing"):
        exported.predict(given.rows.rename(columns={"marker": "maker"}))
    numbers = fitted(method, world("moments")).to_sklearn()
    with pytest.raises(ValueError, match="feature names should match"):
        numbers.predict(world("moments").rows[["b", "a", "c"]])


def test_another_order_of_columns_of_texts_does_not_matter():
    given = world("texts")
    model = fitted("data_pooling", given)
    turned = given.rows[given.rows.columns[::-1]]
    assert_allclose(model.to_sklearn().predict(turned), model.predict(given.rows), rtol=CLOSE)


def test_polars_frames_are_predicted_too():
    given = world("texts")
    model = fitted("data_pooling", given)
    found = model.to_sklearn().predict(pl.from_pandas(given.rows))
    assert_allclose(found, model.predict(given.rows), rtol=CLOSE)


@pytest.mark.filterwarnings("ignore:X has:poolwise.errors.DataWarning")
def test_a_text_that_no_table_had_raises_or_has_the_mean_effect():
    given = world("texts")
    rows = given.rows.copy()
    rows.iloc[0, 1] = "elsewhere"
    with pytest.raises(ValueError, match="unknown categories"):
        fitted("data_pooling", given._replace(options={"strict": True})).to_sklearn().predict(rows)
    for options in ({}, {"fit_intercept": False}):
        model = fitted("data_pooling", given._replace(options=options))
        assert_allclose(model.to_sklearn().predict(rows), model.predict(rows), rtol=CLOSE)


@pytest.mark.parametrize("column", [0, 1])
def test_a_missing_value_is_refused(column):
    given = world("texts")
    rows = given.rows.copy()
    rows.iloc[0, column] = None
    strict = given._replace(options={"strict": True})
    with pytest.raises(ValueError, match=r"contains NaN|unknown categories"):
        fitted("data_pooling", strict).to_sklearn().predict(rows)


def test_a_clone_of_it_is_plain_least_squares():
    given = world("texts")
    again = clone(fitted("data_pooling", given).to_sklearn())
    with pytest.raises(NotFittedError):
        again.predict(given.rows)
    alone = fitted("target_only", given)
    again.fit(given.fit["X"], given.fit["y"])
    assert_allclose(again.predict(given.rows), alone.predict(given.rows), rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["bayes_pooling", "data_pooling"])
def test_whoever_loads_it_needs_no_poolwise(method, tmp_path):
    given = world("texts")
    model = fitted(method, given)
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(model.to_sklearn()))
    given.rows.to_pickle(tmp_path / "rows.pkl")
    code = """
import pickle, sys, pandas as pd
sys.modules["poolwise"] = None  # importing it fails
model = pickle.load(open("model.pkl", "rb"))
print(*map(float.hex, model.predict(pd.read_pickle("rows.pkl"))))
"""
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    found = [float.fromhex(v) for v in run.stdout.split()]
    assert_allclose(found, model.predict(given.rows), rtol=CLOSE)


def test_numbers_that_pandas_holds_as_objects_are_predicted():
    given = world("texts")
    rows = given.rows.astype({"marker": object})
    model = fitted("data_pooling", given)
    assert_allclose(model.to_sklearn().predict(rows), model.predict(given.rows), rtol=CLOSE)
    assert isinstance(rows, pd.DataFrame)
