"""PooledRegressor: two doors, one room."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from poolwise import Moments, PooledRegressor
from poolwise.errors import NeedsRows
from tests.linear_methods import LINEAR_METHODS


def test_the_columns_are_matched_by_name_and_levels_become_indicators(frames):
    X, y, X_old, y_old = frames
    model = PooledRegressor().fit(X, y, sources=(X_old, y_old))
    assert list(model.coef_names_) == [
        "age",
        "region=south",
        "region=west",
        "smokes",
        "größe",
        "scanner=B",
    ]
    truth = np.array([0.2, 1.0, -1.0, 2.0, 0.1, 1.5])
    errors = np.sqrt(np.diag(model.coef_cov_))
    assert (np.abs(model.coef_ - truth) < 4 * errors).all()
    assert list(model.feature_names_in_) == list(X.columns)


def test_fitted_attributes_are_listed_after_a_fit_and_not_before(frames):
    X, y, X_old, y_old = frames
    model = PooledRegressor()
    before = set(dir(model))
    model.fit(X, y, sources=(X_old, y_old))
    after = set(dir(model)) - before
    assert {"coef_", "intercept_", "method_", "transfer_gain_", "fit_", "problem_"} <= after
    assert all(hasattr(model, name) for name in after)


@pytest.mark.parametrize("convert", [pl.from_pandas, pa.Table.from_pandas], ids=["polars", "arrow"])
def test_other_tables_give_the_same_model(frames, convert):
    X, y, X_old, y_old = frames
    expected = PooledRegressor().fit(X, y, sources=(X_old, y_old))
    X, X_old = (convert(t.reset_index(drop=True)) for t in (X, X_old))
    model = PooledRegressor().fit(X, y.to_numpy(), sources=(X_old, y_old.to_numpy()))
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-12)
    np.testing.assert_allclose(model.predict(X), expected.predict(frames[0]), rtol=1e-12)


def test_moments_and_rows_give_the_same_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=150)
    by_rows = PooledRegressor().fit(X[100:], y[100:], sources=(X[:100, :2], y[:100]))
    target = Moments.of_rows(["x0", "x1", "x2", "y"], np.column_stack((X, y))[100:])
    source = Moments.of_rows(["x0", "x1", "y"], np.column_stack((X[:, :2], y))[:100])
    by_moments = PooledRegressor().fit_moments(target, {"old": source})
    np.testing.assert_allclose(by_moments.coef_, by_rows.coef_, rtol=1e-13)
    mixed = PooledRegressor().fit(X[100:], y[100:], sources=source)
    np.testing.assert_allclose(mixed.coef_, by_rows.coef_, rtol=1e-13)
    table = pd.DataFrame(X, columns=["x0", "x1", "x2"])
    np.testing.assert_allclose(by_moments.predict(table), by_rows.predict(X), rtol=1e-12)


def test_kernel_transfer_says_that_it_needs_rows():
    rng = np.random.default_rng(0)
    target = Moments.of_rows(["a", "b", "y"], rng.normal(size=(20, 3)))
    source = Moments.of_rows(["a", "y"], rng.normal(size=(50, 2)))
    with pytest.raises(NeedsRows, match="feature_transfer"):
        PooledRegressor(method="kernel_transfer").fit_moments(target, {"old": source})


@pytest.mark.parametrize("name", LINEAR_METHODS)
def test_stacked_rows_and_sources_give_the_same_model(frames, name):
    X, y, X_old, y_old = frames
    apart = PooledRegressor(method=name).fit(X, y, sources=(X_old, y_old))
    rows = pd.concat([X_old, X])[list(X.columns)]
    together = PooledRegressor(method=name).fit(rows, pd.concat([y_old, y]))
    np.testing.assert_allclose(together.coef_, apart.coef_, rtol=1e-8, atol=1e-10)


def test_the_reference_level_is_one_that_a_complete_row_has(frames):
    X, y, *_ = frames
    stacked = X.assign(größe=X["größe"].where(X["region"] != "north"))
    model = PooledRegressor().fit(stacked, y)  # all rows of north lack a column
    assert list(model.coef_names_)[1:3] == ["region=north", "region=west"]
    assert model.coef_cov_ is not None


def test_a_model_without_intercept_goes_through_the_origin(frames):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 3)) + 2.0
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=80)
    model = PooledRegressor("target_only", fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, np.linalg.lstsq(X, y)[0], rtol=1e-12)
    np.testing.assert_array_equal(model.predict(np.zeros((1, 3))), [0.0])
    _, __, X_old, y_old = frames
    texts = PooledRegressor("target_only", fit_intercept=False).fit(X_old[["region"]], y_old)
    assert list(texts.coef_names_) == ["region=north", "region=south", "region=west"]
    np.testing.assert_allclose(texts.coef_, y_old.groupby(X_old["region"]).mean())


def test_a_fitted_model_survives_pickling(frames):
    X, y, X_old, y_old = frames
    model = PooledRegressor().fit(X, y, sources=(X_old, y_old))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert len(pickle.dumps(model)) < 20_000  # moments, not rows


def test_source_weights_count_as_repetitions(frames):
    X, y, X_old, y_old = frames
    twice = pd.concat([X_old, X_old]), pd.concat([y_old, y_old])
    weighted = PooledRegressor().fit(X, y, sources=(X_old, y_old, np.full(300, 2.0)))
    repeated = PooledRegressor().fit(X, y, sources=twice)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-10)


def test_what_a_masked_array_hides_is_missing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = X @ [1.0, 2.0] + rng.normal(size=80)
    hidden = np.zeros(X.shape, dtype=bool)
    hidden[:50, 1] = True
    masked = PooledRegressor().fit(np.ma.array(X, mask=hidden), y)
    stacked = PooledRegressor().fit(np.where(hidden, np.nan, X), y)
    np.testing.assert_array_equal(masked.coef_, stacked.coef_)
    in_source = PooledRegressor().fit(
        X[50:], y[50:], sources=(np.ma.array(X[:50], mask=hidden[:50]), y[:50])
    )
    np.testing.assert_allclose(in_source.coef_, stacked.coef_, rtol=1e-12)


def test_a_row_of_weight_zero_may_hold_anything():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    y = X @ [1.0, 2.0] + rng.normal(size=20)
    expected = PooledRegressor().fit(X[1:], y[1:]).coef_
    y[0] = np.nan
    weights = np.r_[0.0, np.ones(19)]
    np.testing.assert_allclose(
        PooledRegressor().fit(X, y, sample_weight=weights).coef_, expected, rtol=1e-12
    )
