"""Tables with gaps: their moments are as informative as their rows."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import KFold

from poolwise import Moments, PooledRegressor, compare
from poolwise.errors import NeedsRows, NoiseNotEstimable

pytestmark = pytest.mark.filterwarnings("ignore:X has missing:poolwise.errors.DataWarning")
TRUTH = np.array([1.0, -1.0, 2.0, 0.0])


def drawn(n, seed=0, correlation=0.5):
    rng = np.random.default_rng(seed)
    S = correlation + (1.0 - correlation) * np.eye(4)
    X = rng.normal(size=(n, 4)) @ np.linalg.cholesky(S).T
    return X, X @ TRUTH + rng.normal(size=n)


def holed(X, share, seed=0, columns=slice(None)):
    gone = np.zeros(X.shape, dtype=bool)
    gone[:, columns] = np.random.default_rng(seed).random(gone[:, columns].shape) < share
    return np.where(gone, np.nan, X)


def history(seed=100):
    X, y = drawn(300, seed)
    return X[:, :2], y


def fitted(X, y, method="target_only"):
    return PooledRegressor(method).fit(X, y, sources=history())


def test_a_table_without_gaps_has_the_bits_of_its_rows():
    X, y = drawn(50)
    known = Moments.of_rows(("x0", "x1", "x2", "x3", "y"), np.column_stack((X, y)))
    found = fitted(X, y).problem_.target
    assert found.scatter.high.tobytes() == known.scatter.high.tobytes()
    assert found.weight == 50.0


def test_gaps_of_a_column_that_does_not_matter_cost_nothing():
    X, y = drawn(400, correlation=0.0)
    gaps = holed(X, 0.5, columns=[3])
    known, found = fitted(X, y).standard_errors_, fitted(gaps, y).standard_errors_
    whole = ~np.isnan(gaps[:, 3])
    dropped = fitted(gaps[whole], y[whole]).standard_errors_
    assert_allclose(found[1:4], known[1:4], rtol=0.05)
    assert (dropped[1:4] > 1.25 * known[1:4]).all()
    assert found[4] == pytest.approx(dropped[4], rel=0.15)


def test_more_gaps_never_mean_smaller_errors_on_average():
    def mean_error(share):
        each = [
            fitted(holed(X, share, k), y).standard_errors_[1:] for k, (X, y) in enumerate(tables)
        ]
        return np.mean(each)

    tables = [drawn(80, seed) for seed in range(15)]
    errors = [mean_error(share) for share in (0.0, 0.1, 0.3, 0.5)]
    assert sorted(errors) == errors


def test_a_row_that_lacks_everything_but_its_response_changes_little():
    X, y = drawn(60)
    X = holed(X, 0.1)
    one = fitted(X, y)
    two = fitted(np.vstack((X, np.full(4, np.nan))), np.append(y, y.mean() + 1.0))
    assert two.problem_.target.rows == 61
    assert two.problem_.target.weight - one.problem_.target.weight < 0.5
    assert_allclose(two.coef_, one.coef_, atol=0.05)


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_intervals_of_coefficients_hold_the_truth(share):
    held = []
    for seed in range(40):
        X, y = drawn(60, seed)
        model = fitted(holed(X, share, seed), y, "bayes_pooling")
        held.append(np.abs(model.coef_ - TRUTH) <= 2.0 * model.standard_errors_[1:])
    assert 0.9 <= np.mean(held) <= 0.99


def test_rows_may_be_repeated_or_weighed():
    X, y = drawn(30)
    X = holed(X, 0.2)
    twice = PooledRegressor("target_only").fit(np.vstack((X, X)), np.tile(y, 2), sources=history())
    heavy = PooledRegressor("target_only").fit(
        X, y, sources=history(), sample_weight=np.full(30, 2.0)
    )
    assert_allclose(twice.coef_, heavy.coef_, rtol=1e-8)
    assert_allclose(twice.standard_errors_, heavy.standard_errors_, rtol=1e-8)


def test_a_table_with_fewer_rows_than_columns_may_have_gaps():
    X, y = drawn(4)
    X[0, 1] = X[2, 3] = X[3, 0] = np.nan
    with pytest.warns(NoiseNotEstimable, match="does not determine the model"):
        model = PooledRegressor().fit(X, y, sources=history())
    assert np.isfinite(model.predict(holed(drawn(20)[0], 0.3))).all()


def test_a_prediction_does_not_depend_on_the_rows_beside_it():
    X, y = drawn(80)
    model = fitted(holed(X, 0.2), y, "bayes_pooling")
    rows = holed(drawn(40, 5)[0], 0.4)
    rows[0] = np.nan
    together, deviation = model.predict(rows, return_std=True)
    apart = [model.predict(row[None], return_std=True) for row in rows]
    assert_allclose(together, [p[0] for p, _ in apart], rtol=1e-12)
    assert_allclose(deviation, [d[0] for _, d in apart], rtol=1e-12)


def test_intervals_of_rows_with_gaps_hold_their_responses():
    X, y = drawn(400)
    model = fitted(holed(X, 0.2), y, "bayes_pooling")
    new, responses = drawn(3000, 9)
    rows = holed(new, 0.3)
    low, high = model.predict_interval(rows).T
    assert np.mean((low <= responses) & (responses <= high)) == pytest.approx(0.95, abs=0.02)
    assert np.mean(high - low) > 1.1 * np.mean(np.ptp(model.predict_interval(new), axis=1))


def test_a_model_without_moments_refuses_gaps(tmp_path):
    X, y = drawn(60)
    fitted(X, y).save(tmp_path / "model.json", moments=False)
    model = PooledRegressor.load(tmp_path / "model.json")
    with pytest.raises(NeedsRows, match="This model was saved without moments"):
        model.predict(holed(X, 0.2))


def test_every_recent_row_is_compared_with_history_and_without():
    X, y = drawn(60)
    found = compare(
        holed(X, 0.2),
        y,
        sources=history(),
        methods=["bayes_pooling", "kernel_transfer", HistGradientBoostingRegressor()],
        cv=KFold(3),
    )
    assert found.target_rows == 60
    assert found.test_rows == 20.0
    assert found.without is not None
    assert len(found.scores) == 5  # with both rivals


@pytest.mark.slow
def test_trees_are_grown_on_filled_rows():
    X, y = drawn(60)
    model = fitted(holed(X, 0.2), y, "boosted_pooling")
    assert np.isfinite(model.predict(holed(X, 0.2, 1))).all()


def test_a_level_that_only_history_has_is_not_filled_into_rows_with_gaps():
    rng = np.random.default_rng(0)
    X_old, X = (
        pd.DataFrame({"site": rng.choice([*"ABC"], n), "x": rng.normal(size=n)}) for n in (300, 80)
    )
    X["new"] = rng.normal(size=80)
    X_old.loc[:9, "site"] = "Z"
    y = (X["x"] + X["new"] + rng.normal(size=80)).rename("y")
    y_old = (X_old["x"] + rng.normal(size=300)).rename("y")
    X.loc[rng.random(80) < 0.15, "site"] = None
    model = PooledRegressor().fit(X, y, sources=(X_old, y_old))
    assert model.problem_.target.is_constant("site=Z")
    assert np.abs(model.coef_).max() < 3.0
    assert model.standard_errors_[1:].max() < 3.0
