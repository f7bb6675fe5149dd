from dataclasses import replace

import numpy as np
import statsmodels.api as sm
from numpy.testing import assert_allclose

from poolwise.errors import RankDeficient
from poolwise.methods import TargetOnly
from tests.laws.problems import Tables, random_tables, tables_of, with_one

EXACT = 1e-10  # two backward-stable solvers of one system with a condition number below 1e3


def test_it_is_the_least_squares_of_statsmodels_on_the_target():
    tables = tables_of("one source", seed=1)
    fit = TargetOnly().solve(tables.problem())
    expected = sm.OLS(tables.target.y, with_one(tables.target.X)).fit(method="qr")
    assert_allclose([fit.intercept, *fit.coef], expected.params, rtol=EXACT)
    assert_allclose(fit.noise, expected.scale, rtol=EXACT)
    assert_allclose(fit.covariance[1:, 1:], expected.cov_params()[1:, 1:], rtol=EXACT)
    assert_allclose(fit.predict(tables.target.X), expected.fittedvalues, rtol=EXACT)


def test_the_covariance_is_the_noise_times_the_inverse_of_the_design_about_the_centre():
    t = tables_of("weighted rows", seed=1).target
    fit = TargetOnly().solve(Tables(t).problem())
    u = with_one(t.X - fit.centre)
    rss = t.w @ (t.y - fit.predict(t.X)) ** 2
    noise = rss / (t.w.sum() - len(t.names) - 1)
    assert_allclose(fit.noise, noise, rtol=EXACT)
    expected = noise * np.linalg.inv(u.T * t.w @ u)
    assert_allclose(fit.covariance, expected, rtol=0, atol=EXACT * np.abs(expected).max())


def test_without_intercept_the_level_has_no_variance():
    t = tables_of("one source", seed=1).target
    fit = TargetOnly().solve(Tables(t).problem(intercept=False))
    expected = sm.OLS(t.y, t.X).fit(method="qr")
    assert_allclose(fit.coef, expected.params, rtol=EXACT)
    assert_allclose(fit.noise, expected.scale, rtol=EXACT)
    assert_allclose(fit.covariance[1:, 1:], expected.cov_params(), rtol=EXACT)
    assert not fit.covariance[0].any()
    assert not fit.covariance[:, 0].any()


def test_sources_are_not_looked_at():
    tables = tables_of("nested sources", seed=1)
    beside, alone = (TargetOnly().solve(t.problem()) for t in (tables, Tables(tables.target)))
    assert (beside.coef == alone.coef).all()
    assert beside.level == alone.level


def test_with_too_few_rows_the_solution_is_of_least_norm_in_standard_deviations():
    t = random_tables(3, target_rows=3, features=5, sources={}).target
    fit = TargetOnly().solve(Tables(t).problem())
    deviation = t.X.std(axis=0)
    scaled = (t.X - t.X.mean(axis=0)) / deviation
    expected = np.linalg.pinv(scaled) @ (t.y - t.y.mean()) / deviation
    assert_allclose(fit.coef, expected, rtol=1e-8)  # the small eigenvalue loses two digits
    assert_allclose(fit.predict(t.X), t.y, rtol=1e-8)
    assert fit.noise is None
    assert fit.covariance is None
    assert [type(c) for c in fit.cautions] == [RankDeficient]


def test_dependent_columns_are_named_and_the_others_keep_their_coefficients():
    t = tables_of("one source", seed=1).target
    X = t.X.copy()
    X[:, 3] = X[:, 0] - 2.0 * X[:, 2] + 7.0
    fit = TargetOnly().solve(Tables(replace(t, X=X)).problem())
    assert "'x0', 'x2', 'x3'" in str(fit.cautions[0])
    expected = sm.OLS(t.y, with_one(X[:, :3])).fit(method="qr")
    assert_allclose(fit.coef[1], expected.params[2], rtol=1e-9)
    assert_allclose(fit.predict(X), expected.fittedvalues, rtol=1e-9)
    assert_allclose(fit.noise, expected.scale, rtol=1e-9)
