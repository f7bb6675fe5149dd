"""Predictions of rows that lack columns, have others, or hold what no table had."""

import numpy as np
import pandas as pd
import pytest

from poolwise import PooledRegressor
from poolwise.errors import BadColumns, BadLevels, LeftOut, NotFinite
from tests.linear_methods import LINEAR_METHODS


@pytest.mark.parametrize("name", LINEAR_METHODS)
def test_rows_without_the_new_columns_are_predicted(frames, name):
    X, y, X_old, y_old = frames
    model = PooledRegressor(method=name).fit(X, y, sources=(X_old, y_old))
    without = X[["age", "region", "smokes"]]
    as_missing = X.assign(größe=np.nan, scanner=None)
    predicted = model.predict(without)
    np.testing.assert_allclose(predicted, model.predict(as_missing), rtol=1e-12)
    mixed = pd.concat([as_missing[:10], X[10:]])
    np.testing.assert_allclose(
        model.predict(mixed), np.concatenate((predicted[:10], model.predict(X[10:]))), rtol=1e-12
    )
    assert np.std(predicted - y) < np.std(y)


def test_rows_without_the_new_columns_get_the_pooled_reduced_model():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 2))
    X[:, 1] += X[:, 0]  # the new feature is correlated with the old one
    y = X @ [1.0, 1.0] + rng.normal(size=500)
    model = PooledRegressor("mean_fill").fit(X[400:], y[400:], sources=(X[:400, :1], y[:400]))
    reduced = np.polyfit(X[:, 0], y, 1)
    lacking = np.column_stack((X[:5, 0], np.full(5, np.nan)))
    np.testing.assert_allclose(model.predict(lacking), np.polyval(reduced, X[:5, 0]), rtol=1e-10)


def test_a_column_that_all_tables_had_may_have_gaps_but_must_be_there(frames):
    X, y, X_old, y_old = frames
    model = PooledRegressor().fit(X, y, sources=(X_old, y_old))
    known, deviation = model.predict(X, return_std=True)
    gaps = X.assign(age=X["age"].where(np.arange(len(X)) != 3))
    filled, wider = model.predict(gaps, return_std=True)
    others = np.arange(len(X)) != 3
    np.testing.assert_array_equal(filled[others], known[others])
    assert wider[3] > deviation[3]
    assert np.ptp(model.predict_interval(gaps)[3]) > np.ptp(model.predict_interval(X)[3])
    with pytest.raises(ValueError, match="yet now missing:\n- age"):
        model.predict(X.drop(columns="age"))


def test_other_columns_in_another_order_are_named(frames):
    X, y, X_old, y_old = frames
    model = PooledRegressor().fit(X, y, sources=(X_old, y_old))
    with pytest.raises(BadColumns, match=r"the order 'smokes', 'region', 'age'.*'age', 'region'"):
        model.predict(X[["smokes", "region", "age"]])


def test_further_columns_are_ignored_with_a_note(frames):
    X, y, X_old, y_old = frames
    model = PooledRegressor().fit(X.assign(id=range(len(X))), y, sources=(X_old, y_old))
    expected = model.predict(X)  # without the identifier, which is no feature
    with pytest.warns(LeftOut, match=r"not there at fit: 'pulse'. They are ignored"):
        found = model.predict(X.assign(pulse=1.0))
    np.testing.assert_array_equal(found, expected)


def test_infinity_is_refused_everywhere(frames):
    X, y, X_old, y_old = frames
    model = PooledRegressor().fit(X, y, sources=(X_old, y_old))
    with pytest.raises(NotFinite, match=r"'größe' in 60"):
        model.predict(X.assign(größe=np.inf))
    with pytest.raises(NotFinite, match=r"'größe' in 60"):
        PooledRegressor().fit(X.assign(größe=np.inf), y)
    with pytest.raises(NotFinite, match=r"Table 'source'.*'age' in 300"):
        PooledRegressor().fit(X, y, sources=(X_old.assign(age=-np.inf), y_old))


def test_an_unseen_level_is_an_error_or_has_the_mean_effect(frames):
    X, y, X_old, y_old = frames
    model = PooledRegressor(strict=True).fit(X, y, sources=(X_old, y_old))
    east = X.assign(region="east")
    with pytest.raises(BadLevels, match=r"'region' holds 'east'.*strict"):
        model.predict(east)
    lenient = PooledRegressor().fit(X, y, sources=(X_old, y_old))
    shares = pd.concat([t["region"] for t in (X, X_old) if "region" in t])
    mean = sum(
        share * model.predict(X.assign(region=level))
        for level, share in shares.value_counts(normalize=True).items()
    )
    np.testing.assert_allclose(lenient.predict(east), mean)
