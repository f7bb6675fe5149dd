"""What a fit warns of and what it refuses, by name."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from poolwise import PooledRegressor
from poolwise.errors import (
    BadOption,
    DataWarning,
    LeftOut,
    NoiseNotEstimable,
    NotNumeric,
    PoolwiseWarning,
    RankDeficient,
    TooFewRows,
)
from poolwise.methods.feature_transfer import FeatureTransfer


def test_a_level_that_a_source_never_has_is_no_filled_column(frames):
    X, y, X_old, y_old = frames
    north = X_old["region"] == "north"
    model = PooledRegressor().fit(X, y, sources=(X_old[north], y_old[north]))
    assert model.cautions_ == ()


def test_a_warning_turned_into_an_error_leaves_no_fit_behind(frames):
    X, y, X_old, y_old = frames
    model = PooledRegressor()
    with pytest.raises(LeftOut):  # warnings are errors in these tests
        model.fit(X, y, sources=(X_old.assign(pulse=1.0), y_old))
    assert not hasattr(model, "fit_")


def test_times_of_day_are_refused_by_name(frames):
    X, y, *_ = frames
    with pytest.raises(NotNumeric, match="'visit'"):
        PooledRegressor().fit(X.assign(visit=pd.Timedelta("1h")), y)


def test_a_failed_fit_leaves_the_model_as_it_was(frames):
    X, y, X_old, y_old = frames
    model = PooledRegressor()
    with pytest.raises(TooFewRows):
        model.fit(X[:0], y[:0])
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert not hasattr(model, "n_features_in_")
    model.fit(X, y, sources=(X_old, y_old))
    before = model.predict(X)
    with pytest.raises(TooFewRows):
        model.fit(X[["age"]], y * np.nan)
    np.testing.assert_array_equal(model.predict(X), before)
    assert model.n_features_in_ == 5


def test_fewer_rows_than_columns_work_with_a_warning():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(104, 6))
    y = X @ np.arange(1.0, 7.0) + rng.normal(size=104)
    with pytest.warns(PoolwiseWarning) as caught:
        model = PooledRegressor("data_pooling").fit(
            X[100:], y[100:], sources=(X[:100, :4], y[:100])
        )
    assert {type(w.message) for w in caught} == {NoiseNotEstimable}
    said = " ".join(str(w.message) for w in caught)
    assert "The target has 4 rows for 7 coefficients: alone it does not determine" in said
    assert "The noise of the target cannot be estimated: 4 rows for 7 coefficients." in said
    assert np.isfinite(model.coef_).all()
    assert model.transfer_gain_ is None


def test_a_single_row_is_predicted_by_itself():
    with pytest.warns(NoiseNotEstimable):
        model = PooledRegressor("target_only").fit([[1.0, 2.0]], [3.0])
    np.testing.assert_array_equal(model.predict([[5.0, -2.0]]), [3.0])


def test_dependent_columns_are_named():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 40))
    X = pd.DataFrame({"a": a, "b": b, "sum": a + b, "free": rng.normal(size=40)})
    with pytest.warns(RankDeficient, match=r"'a', 'b', 'sum' are linearly dependent"):
        model = PooledRegressor("target_only").fit(X, 3 * a + b + rng.normal(size=40))
    reduced = PooledRegressor("target_only").fit(X[["a", "b", "free"]], model.predict(X))
    np.testing.assert_allclose(reduced.predict(X[["a", "b", "free"]]), model.predict(X))


def test_a_source_in_other_units_and_a_filled_column_are_pointed_out(frames):
    X, y, X_old, y_old = frames
    with pytest.warns(DataWarning, match="'age' of table 'source'"):
        PooledRegressor().fit(X, y, sources=(X_old.assign(age=X_old["age"] * 365.25), y_old))
    with pytest.warns(DataWarning, match="'größe' is 0 in every row"):
        PooledRegressor().fit(X, y, sources=(X_old.assign(größe=0.0), y_old))


def test_a_column_that_the_target_lacks_is_dropped_with_a_warning(frames):
    X, y, X_old, y_old = frames
    expected = PooledRegressor().fit(X, y, sources=(X_old, y_old)).coef_
    with pytest.warns(LeftOut, match="'pulse'"):
        model = PooledRegressor().fit(X, y, sources=(X_old.assign(pulse=1.0), y_old))
    np.testing.assert_array_equal(model.coef_, expected)


def test_options_that_do_not_exist_are_refused(frames):
    X, y, *_ = frames
    with pytest.raises(BadOption, match="Did you mean 'data_pooling'"):
        PooledRegressor(method="datapooling").fit(X, y)
    with pytest.raises(BadOption):
        PooledRegressor(method=FeatureTransfer).fit(X, y)
    with pytest.raises(BadOption, match="max_levels"):
        PooledRegressor(max_levels=1).fit(X, y)


def test_a_min_max_scaled_target_beside_raw_history_is_pointed_out():
    rng = np.random.default_rng(0)
    X = rng.normal(50, 10, size=(200, 2))
    y = X @ [1.0, 2.0] + rng.normal(size=200)
    scaled = (X[150:] - X[150:].min(axis=0)) / np.ptp(X[150:], axis=0)
    with pytest.warns(DataWarning, match="'x0'"):
        PooledRegressor().fit(scaled, y[150:], sources=(X[:150, :1], y[:150]))


def test_one_missing_value_in_the_history_changes_little(frames):
    X, y, X_old, y_old = frames
    holed = X_old.assign(age=X_old["age"].where(np.arange(len(X_old)) != 7))
    for name in ("data_pooling", "source_columns_only", "offset"):
        whole = PooledRegressor(name).fit(X, y, sources=(X_old.drop(index=7), y_old.drop(index=7)))
        model = PooledRegressor(name).fit(X, y, sources=(holed, y_old))
        np.testing.assert_allclose(model.coef_, whole.coef_, rtol=0.05, atol=0.05)
        assert (model.coef_cov_ is None) == (whole.coef_cov_ is None)


def test_few_rows_of_large_weight_do_not_push_history_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(103, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=103)
    with pytest.warns(PoolwiseWarning):
        model = PooledRegressor("data_pooling").fit(
            X[100:], y[100:], sources=(X[:100, :2], y[:100]), sample_weight=[5.0, 5.0, 5.0]
        )
    assert model.fit_.weights["source"] > 0.0
