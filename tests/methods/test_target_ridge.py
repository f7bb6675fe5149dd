from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from poolwise import PooledRegressor
from poolwise.methods import TargetOnly, TargetRidge
from poolwise.methods.target_ridge import CLEAR, PENALTIES, WEAK
from tests.laws.problems import Tables, random_tables, tables_of, with_one

CLOSE = 1e-9


def table(rows=14, features=9, *, seed=5, weighted=False):
    """Return a target that is too small for least squares."""
    how = {"sources": {}, "noise": 4.0, "weighted": weighted}
    return random_tables(seed, target_rows=rows, features=features, **how).target


def ridge(t, penalty, *, intercept=True):
    """Return level and coefficients by the definition, from rows."""
    centre = np.average(t.X, axis=0, weights=t.w) if intercept else np.zeros(t.X.shape[1])
    size = t.w @ (t.X - centre) ** 2
    X = with_one(t.X - centre) if intercept else t.X
    left = (X.T * t.w) @ X + np.diag(np.append([0.0] * intercept, penalty * size))
    beta = np.linalg.solve(left, (X.T * t.w) @ t.y)
    return X, left, beta


def left_out(t, penalty, *, intercept=True):
    """Return the squared errors of rows, each predicted by the same ridge without one of it."""
    total = 0.0
    X, left, _ = ridge(t, penalty, intercept=intercept)
    for x, y, w in zip(X, t.y, t.w, strict=True):
        beta = np.linalg.solve(left - np.outer(x, x), (X.T * t.w) @ t.y - x * y)
        total += w * (y - x @ beta) ** 2
    return total


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_the_penalty_has_the_least_error_on_rows_left_out_one_at_a_time(weighted, intercept):
    t = table(weighted=weighted)
    errors = {p: left_out(t, p, intercept=intercept) for p in PENALTIES}
    best = min(errors, key=lambda p: errors[p] * (1.0 if p >= WEAK else 1.0 / CLEAR))
    assert 0.001 < best < 1000.0  # or the test tests nothing
    fit = TargetRidge().solve(Tables(t).problem(intercept=intercept))
    X, left, beta = ridge(t, best, intercept=intercept)
    assert_allclose(fit.coef, beta[intercept:], rtol=CLOSE)
    assert_allclose(fit.predict(t.X), X @ beta, rtol=CLOSE)
    free = t.w.sum() - np.trace(np.linalg.solve(left, (X.T * t.w) @ X))
    noise = t.w @ (t.y - X @ beta) ** 2 / free
    assert_allclose(fit.noise, noise, rtol=CLOSE)
    expected = noise * np.linalg.inv(left)
    assert_allclose(
        fit.covariance[1 - intercept :, 1 - intercept :], expected, rtol=1e-7, atol=1e-12
    )


def test_with_moments_alone_the_penalty_has_the_least_generalised_error():
    t = table()

    def generalised(penalty):
        X, left, beta = ridge(t, penalty)
        rest = len(t.y) - np.trace(np.linalg.solve(left, X.T @ X))
        return ((t.y - X @ beta) ** 2).sum() / rest**2

    best = min(PENALTIES, key=lambda p: generalised(p) * (1.0 if p >= WEAK else 1.0 / CLEAR))
    fit = TargetRidge().solve(Tables(t).problem().without_rows())
    assert_allclose(fit.coef, ridge(t, best)[2][1:], rtol=CLOSE)


def test_it_is_the_ridge_of_scikit_learn_on_standardised_columns():
    X, y = (part[:30] for part in load_diabetes(return_X_y=True))
    model = PooledRegressor("target_ridge").fit(X, y)
    theirs = make_pipeline(StandardScaler(), RidgeCV(alphas=PENALTIES * len(X))).fit(X, y)
    assert_allclose(model.predict(X), theirs.predict(X), rtol=CLOSE)
    assert Ridge().fit(X, y).score(X, y) > 0.0  # the data are no constant


def test_a_clear_signal_needs_no_penalty():
    t = random_tables(1, target_rows=200, noise=1e-3, sources={}).target
    fit, plain = (method.solve(Tables(t).problem()) for method in (TargetRidge(), TargetOnly()))
    assert (fit.coef == plain.coef).all()
    assert (fit.covariance == plain.covariance).all()


def test_a_row_that_is_alone_in_its_category_cannot_choose_no_penalty():
    t = table(rows=30, features=3)
    X = np.column_stack((t.X, np.arange(30) == 7))
    fit = TargetRidge().solve(Tables(replace(t, X=X, names=(*t.names, "rare"))).problem())
    plain = TargetOnly().solve(Tables(replace(t, X=X, names=(*t.names, "rare"))).problem())
    assert (fit.coef != plain.coef).all()


def test_sources_are_not_looked_at():
    tables = tables_of("nested sources", seed=1)
    beside, alone = (TargetRidge().solve(t.problem()) for t in (tables, Tables(tables.target)))
    assert (beside.coef == alone.coef).all()


def test_more_columns_than_rows_have_intervals_that_hold_new_rows():
    held = []
    for seed in range(40):
        t = random_tables(seed, target_rows=60, features=24, noise=4.0, sources={}).target
        fit = TargetRidge().solve(Tables(t.take(range(20))).problem())
        off = np.abs(fit.predict(t.X[20:]) - t.y[20:])
        held.append(off <= fit.half_width(t.X[20:], 0.95))
    assert 0.90 < np.mean(held) < 0.99
