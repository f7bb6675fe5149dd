"""What history may do to Bayes pooling, and what it may not."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise import PooledRegressor
from poolwise.errors import LeftOut
from poolwise.methods.bayes.scaling import scaled
from poolwise.methods.bayes_pooling import BayesPooling

COEF = np.array([1.0, 2.0, -1.0, 0.5, 1.0])
SHARED = 4
FIRST_TWO = np.array([1.0, -1.0, 0.0, 0.0, 0.0])
pytestmark = pytest.mark.filterwarnings("ignore::poolwise.errors.PoolwiseWarning")


def linear_rows(seed, rows, coef=COEF, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, len(coef)))
    return X, X @ coef + noise * rng.normal(size=rows)


def fits(X, y, sources):
    """Return the fit with sources, and the fit without."""
    return PooledRegressor().fit(X, y, sources=sources), PooledRegressor().fit(X, y)


def apart(one, other):
    """Return the largest difference of coefficients, in standard errors of the other."""
    return np.abs((one.coef_ - other.coef_) / other.standard_errors_[1:]).max()


def test_a_source_of_few_rows_changes_little():
    X, y = linear_rows(1, 100)
    differences = {}
    for rows in (3, 300):
        tables = [linear_rows((2, k), rows) for k in range(8)]
        found = [apart(*fits(X, y, {"old": (Z[:, :SHARED], v)})) for Z, v in tables]
        differences[rows] = np.mean(found)
    assert differences[3] < 0.1  # standard errors
    assert differences[3] < 0.3 * differences[300]


@pytest.mark.parametrize("rows", [15, 100])
def test_the_fit_tends_to_the_one_without_a_source_as_that_contradicts_the_target(rows):
    X, y = linear_rows(1, rows)
    found = []
    for difference in (1.0, 3.0, 10.0, 30.0):
        X_old, y_old = linear_rows(2, 800, coef=COEF + difference * np.eye(5)[0])
        pooled, alone = fits(X, y, {"old": (X_old[:, :SHARED], y_old)})
        found.append(apart(pooled, alone))
    assert found[0] > 0.1  # standard errors
    assert found[1] < 0.05
    assert max(found[2:]) < 1e-3
    assert pooled.fit_.weights["old"] < 1e-6
    assert pooled.conflict_["old"] > 0.999
    assert_allclose(pooled.fit_.noise, alone.fit_.noise, rtol=1e-3)


@pytest.mark.parametrize("factor", [1e-4, 0.005, 200.0, 1e4])
def test_a_source_whose_response_has_other_units_is_left_out_and_that_is_said(factor):
    X, y = linear_rows(1, 60)
    X_old, y_old = linear_rows(2, 800)
    with pytest.warns(LeftOut, match="'old'.*their response has 30 times the spread"):
        pooled = PooledRegressor().fit(X, y, sources={"old": (X_old[:, :SHARED], factor * y_old)})
    alone = PooledRegressor().fit(X, y)
    assert_allclose(pooled.coef_, alone.coef_, rtol=1e-9)
    assert pooled.fit_.weights["old"] == 0.0


def rare_column(seed, jump):
    """Return tables whose last column is not zero in two of 200 rows, where the response jumps."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2200, 16))
    X[:, 6:12] = rng.random((2200, 6)) < 0.05
    X[:, -1] = 0.0
    rows = 2000 + rng.choice(200, 2, replace=False)
    X[rows, -1] = 0.02 + 0.1 * rng.exponential(size=2)
    y = X[:, :SHARED] @ COEF[:SHARED] + 4.0 * rng.standard_t(3, size=2200)
    y[rows] += jump * y.std()
    return X[2000:], y[2000:], {"old": (X[:2000, :13], y[:2000])}


@pytest.mark.parametrize("jump", [0.0, 3.0, 8.0])
def test_history_never_loosens_a_new_coefficient_that_two_rows_determine(jump):
    for seed in range(12):
        X, y, sources = rare_column(seed, jump)
        pooled, alone = fits(X, y, sources)
        negligible = 0.1 * alone.standard_errors_[-1]
        assert abs(pooled.coef_[-1]) <= max(1.5 * abs(alone.coef_[-1]), negligible)


def test_rare_indicators_have_one_prior_however_rare():
    X, y = linear_rows(3, 1000)
    for column, share in ((3, 0.01), (4, 0.05)):
        X[:, column] = np.arange(1000) % round(1.0 / share) == 0
    problem = PooledRegressor().fit(X, y).problem_
    own = scaled(problem)
    units = dict(zip(own.features, own.unit, strict=True))
    # In units of the column the prior is the same, so in units of the data it varies with these.
    assert_allclose(units["x3"] ** 2, units["x4"] ** 2, rtol=0.1)
    assert units["x3"] > 3.0 * X[:, 3].std()
    assert_allclose(units["x0"], X[:, 0].std(ddof=1), rtol=0.3)


@pytest.mark.parametrize("effect", [0.0, 1.0, 10.0, 100.0])
def test_a_column_that_is_constant_in_the_target_is_no_conflict_of_slopes(effect):
    X, y = linear_rows(4, 60)
    X_old, y_old = linear_rows(5, 500)
    X[:, 2], y = 0.7, y + COEF[2] * (0.7 - X[:, 2])
    y_old = y_old + effect * X_old[:, 2]
    fit = PooledRegressor().fit(X, y, sources={"old": (X_old[:, :SHARED], y_old)}).fit_
    slopes = fit.conflict["old"] - fit.level_conflict["old"]
    assert slopes < 0.25  # the prior is 0.23
    assert fit.weights["old"] > 0.1


def test_a_bad_source_among_good_ones_is_found():
    X, y = linear_rows(6, 40)
    sources = {f"good {k}": linear_rows(10 + k, 100) for k in range(6)}
    sources["bad"] = linear_rows(20, 100, coef=-COEF)
    given = {n: (X_old[:, :SHARED], y_old) for n, (X_old, y_old) in sources.items()}
    fit = PooledRegressor().fit(X, y, sources=given).fit_
    assert fit.conflict["bad"] > 0.99
    assert fit.weights["bad"] < 0.01
    assert max(p for n, p in fit.conflict.items() if n != "bad") < 0.6  # with few target rows
    assert min(w for n, w in fit.weights.items() if n != "bad") > 0.05


def test_history_that_fits_worse_has_a_smaller_share():
    X, y = linear_rows(9, 150)
    shares = []
    for difference in (0.0, 0.3):
        X_old, y_old = linear_rows(10, 1000, coef=COEF + difference * FIRST_TWO)
        pooled, _ = fits(X, y, {"old": (X_old[:, :SHARED], y_old)})
        shares.append(pooled.fit_.share)
    assert shares[1] < shares[0]


def test_a_target_that_alone_explains_nothing_leaves_all_to_history():
    X, y = linear_rows(11, 6)
    y[:] = y[0]  # by chance the response does not vary in the target
    X_old, y_old = linear_rows(12, 300)
    problem = PooledRegressor().fit(X, y, sources={"old": (X_old[:, :SHARED], y_old)}).problem_
    assert BayesPooling().solve(problem).share is None
    assert BayesPooling().solve(replace(problem, sources={})).share is None


@pytest.mark.parametrize("factor", [-1.0, 5.0, 20.0])
def test_other_slopes_are_seen_by_fewer_target_rows_than_columns(factor):
    rng = np.random.default_rng(13)
    coef = rng.normal(size=40) / 6.0

    def rows(n):
        X = rng.normal(size=(n, 40))
        return X, 12.0 + X @ coef + 0.3 * rng.normal(size=n)

    (X, y), (X_old, y_old), (X_new, y_new) = rows(30), rows(1000), rows(1000)
    pooled, alone = fits(X, y, {"old": (X_old[:, :30], factor * y_old)})
    errors = [np.mean((m.predict(X_new) - y_new) ** 2) for m in (pooled, alone)]
    assert pooled.conflict_["old"] - pooled.fit_.level_conflict["old"] > 0.99
    assert errors[0] < 1.1 * errors[1]
