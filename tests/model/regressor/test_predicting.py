"""Predictions of rows that lack columns, have others, or hold what no table had."""

import numpy as np
import pandas as pd
import pytest

from poolwise import PooledRegressor
from poolwise.errors import BadColumns, BadLevels, DataWarning, LeftOut, NotFinite
from tests.linear_methods import LINEAR_METHODS


@pytest.mark.parametrize("name", LINEAR_METHODS)
def test_rows_without_the_new_columns_are_predicted(frames, name):
    X, y, X_old, y_old = frames
    model = PooledRegressor(method=name).fit(X, y, sources=(X_old, y_old))
    without = X[["age", "region", "smokes"]]
    as_missing = X.assign(größe=np.nan, scanner=None)
    predicted = model.predict(without)
    with pytest.warns(DataWarning, match=r"in 60 of 60 rows: 'größe' in all 60, 'scanner' in all"):
        blank = model.predict(as_missing)
    np.testing.assert_allclose(predicted, blank, rtol=1e-12)
    with pytest.warns(DataWarning, match=r"in 10 of 60 rows: 'größe' in 10, 'scanner' in 10\."):
        mixed = model.predict(pd.concat([as_missing[:10], X[10:]]))
    expected = np.concatenate((predicted[:10], model.predict(X[10:])))
    np.testing.assert_allclose(mixed, expected, rtol=1e-12)
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
    with pytest.warns(DataWarning, match=r"in 1 of 60 rows: 'age' in 1\. They were filled in"):
        filled, wider = model.predict(gaps, return_std=True)
    others = np.arange(len(X)) != 3
    np.testing.assert_array_equal(filled[others], known[others])
    assert wider[3] > deviation[3]
    with pytest.warns(DataWarning, match="filled in from the other columns"):
        width = np.ptp(model.predict_interval(gaps)[3])
    assert width > np.ptp(model.predict_interval(X)[3])
    assert any("'age' in 1" in caution for caution in model.summary(gaps).cautions)
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
    with pytest.warns(DataWarning, match=r"'region' in 60 of 60 rows \('east'\), which get the m"):
        predicted = lenient.predict(east)
    np.testing.assert_allclose(predicted, mean)


def test_new_levels_are_counted_by_column_and_the_first_are_named(frames):
    X, y, X_old, y_old = frames
    model = PooledRegressor().fit(X, y, sources=(X_old, y_old))
    names = ["moon", "moon", "mars", "a", "b", *X["region"][5:]]
    odd = X.assign(region=names, scanner=["C", *X["scanner"][1:]])
    with pytest.warns(DataWarning) as caught:
        model.predict(odd)
    (said,) = (str(warning.message) for warning in caught)
    assert "'region' in 5 of 60 rows ('a', 'b', 'mars' and 1 more), which" in said
    assert "'scanner' in 1 of 60 rows ('C'), which" in said


def test_nan_in_an_array_lacks_an_optional_column_and_is_a_gap_in_others():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    y = X @ [1.0, 2.0, 1.0] + rng.normal(size=60)
    model = PooledRegressor().fit(X[:30], y[:30], sources=(X[30:, :2], y[30:]))
    model.predict(np.column_stack((X[:5, :2], np.full(5, np.nan))))  # without a note
    with pytest.warns(DataWarning, match=r"in 5 of 5 rows: 'x0' in all 5\."):
        model.predict(np.column_stack((np.full(5, np.nan), X[:5, 1:])))


def test_columns_that_stacked_history_lacked_are_no_gaps(frames, recwarn):
    X, y, X_old, y_old = frames
    stacked = pd.concat([X, X_old])
    model = PooledRegressor().fit(stacked, [*y, *y_old])
    recwarn.clear()
    assert np.isfinite(model.predict(stacked[50:70])).all()
    assert not [w for w in recwarn if issubclass(w.category, DataWarning)]
