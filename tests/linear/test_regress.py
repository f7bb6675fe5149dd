"""LinearFit and regress(): against statsmodels, numpy and exact rational arithmetic."""

import pickle

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose, assert_array_equal

from poolwise import Moments
from poolwise.errors import BadColumns, BadOption, RankDeficient
from poolwise.linear.linear_fit import LinearFit
from poolwise.linear.regress import regress, solve_named
from tests.laws.exact import exact_least_squares


def moments_of(X, y, weights=None):
    names = [*(f"x{j}" for j in range(X.shape[1])), "y"]
    return Moments.of_rows(names, np.column_stack((X, y)), weights)


def problem(seed, n=60, d=4, centre=0.0):
    rng = np.random.default_rng(seed)
    X = centre + rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    return X, X @ rng.normal(size=d) + 2.0 + rng.normal(size=n)


def errors_at_zero(fit):
    """Return standard errors of intercept and coefficients, moved from the centre to zero."""
    move = np.eye(len(fit.coef) + 1)
    move[0, 1:] = -fit.centre
    return np.sqrt((move @ fit.covariance @ move.T).diagonal())


class TestAgainstStatsmodels:
    @pytest.mark.parametrize("seed", range(4))
    def test_ordinary_least_squares_agrees(self, seed):
        X, y = problem(seed, centre=3.0)
        fit, theirs = regress(moments_of(X, y), "y"), sm.OLS(y, sm.add_constant(X)).fit()
        # 1e-10 leaves six digits for the condition of a random mix of columns.
        assert_allclose([fit.intercept, *fit.coef], theirs.params, rtol=1e-10)
        assert_allclose(errors_at_zero(fit), theirs.bse, rtol=1e-10)
        assert fit.noise == pytest.approx(theirs.scale, rel=1e-10)
        assert_allclose(fit.predict(X), theirs.fittedvalues, rtol=1e-10)

    @pytest.mark.parametrize("seed", range(4))
    def test_weighted_least_squares_agrees(self, seed):
        X, y = problem(seed, centre=-2.0)
        w = np.random.default_rng(seed).uniform(0.2, 5.0, size=len(y))
        w *= len(y) / w.sum()  # a weight counts as repetitions: degrees of freedom are their sum
        fit = regress(moments_of(X, y, w), "y")
        theirs = sm.WLS(y, sm.add_constant(X), weights=w).fit()
        assert_allclose([fit.intercept, *fit.coef], theirs.params, rtol=1e-10)
        assert_allclose(errors_at_zero(fit), theirs.bse, rtol=1e-10)
        assert fit.noise == pytest.approx(theirs.scale, rel=1e-10)

    def test_integer_weights_have_the_errors_of_repeated_rows(self):
        X, y = problem(5)
        times = np.random.default_rng(5).integers(1, 4, size=len(y))
        fit = regress(moments_of(X, y, times), "y")
        rows = np.repeat(sm.add_constant(X), times, axis=0)
        theirs = sm.OLS(np.repeat(y, times), rows).fit()
        assert_allclose(errors_at_zero(fit), theirs.bse, rtol=1e-10)

    @pytest.mark.parametrize("seed", range(4))
    def test_without_an_intercept_it_agrees(self, seed):
        X, y = problem(seed, centre=3.0)
        fit = regress(moments_of(X, y), "y", intercept=False)
        theirs = sm.OLS(y, X).fit()
        assert_allclose(fit.coef, theirs.params, rtol=1e-9)
        assert_allclose(np.sqrt(fit.covariance.diagonal()[1:]), theirs.bse, rtol=1e-9)
        assert fit.noise == pytest.approx(theirs.scale, rel=1e-10)
        assert (fit.intercept, fit.level) == (0.0, 0.0)
        assert not fit.centre.any()
        assert not fit.covariance[0].any()

    def test_the_level_does_not_depend_on_the_coefficients(self):
        X, y = problem(6)
        fit = regress(moments_of(X, y), "y")
        assert_array_equal(fit.covariance[0, 1:], np.zeros(4))
        assert fit.covariance[0, 0] == pytest.approx(fit.noise / len(y))

    def test_maximum_likelihood_divides_by_the_rows(self):
        X, y = problem(7)
        theirs = sm.OLS(y, sm.add_constant(X)).fit()
        fit = regress(moments_of(X, y), "y", ddof="mle")
        assert fit.noise == pytest.approx(theirs.ssr / len(y), rel=1e-10)
        unbiased = regress(moments_of(X, y), "y")
        assert_allclose(fit.covariance, unbiased.covariance * (60 - 5) / 60, rtol=1e-12)


class TestRegress:
    def test_ridge_is_that_of_the_definition(self):
        X, y = problem(0, d=2, centre=3.0)
        fit = regress(moments_of(X, y), "y", ridge=10.0)
        exact = exact_least_squares(X, y, ridge=10.0)
        assert_allclose(fit.coef, [float(b) for b in exact.coef], rtol=1e-12)
        assert fit.intercept == pytest.approx(float(exact.intercept), rel=1e-12)
        assert fit.covariance is None
        assert fit.noise == pytest.approx(float(exact.residual) / (60 - 3), rel=1e-12)

    def test_ridge_without_an_intercept_is_that_of_the_definition(self):
        X, y = problem(1, d=2, centre=3.0)
        fit = regress(moments_of(X, y), "y", ridge=10.0, intercept=False)
        exact = exact_least_squares(X, y, ridge=10.0, intercept=False)
        assert_allclose(fit.coef, [float(b) for b in exact.coef], rtol=1e-12)

    def test_features_are_all_other_columns_unless_given(self):
        X, y = problem(2)
        moments = moments_of(X, y)
        assert regress(moments, "y").names == ("x0", "x1", "x2", "x3")
        some = regress(moments, "y", ["x3", "x1"])
        assert some.names == ("x3", "x1")
        assert_allclose(some.coef, regress(moments_of(X[:, [3, 1]], y), "y").coef, rtol=1e-11)
        assert regress(moments, "x1").names == ("x0", "x2", "x3", "y")

    def test_with_no_feature_the_model_is_the_mean(self):
        y = np.array([1.0, 2.0, 6.0])
        fit = regress(moments_of(np.empty((3, 0)), y), "y")
        assert (fit.names, fit.coef.shape) == ((), (0,))
        assert (fit.level, fit.intercept, fit.noise) == (3.0, 3.0, 7.0)
        assert_array_equal(fit.predict(np.empty((2, 0))), [3.0, 3.0])

    def test_one_row_is_its_own_mean(self):
        fit = regress(moments_of(np.array([[1.0, 2.0]]), np.array([3.0])), "y")
        assert_array_equal(fit.coef, [0.0, 0.0])
        assert fit.level == 3.0
        assert fit.noise is None
        assert fit.covariance is None

    @pytest.mark.parametrize("rows", [2, 4, 5])
    def test_too_few_rows_give_no_noise(self, rows):
        X, y = problem(3, n=rows)
        fit = regress(moments_of(X, y), "y")
        assert fit.noise is None
        assert fit.covariance is None
        assert_allclose(fit.predict(X), y, atol=1e-9)

    def test_one_row_more_than_coefficients_gives_noise(self):
        X, y = problem(3, n=6)
        theirs = sm.OLS(y, sm.add_constant(X)).fit()
        assert regress(moments_of(X, y), "y").noise == pytest.approx(theirs.scale, rel=1e-6)

    @pytest.mark.parametrize("intercept", [True, False])
    def test_an_exact_relation_has_noise_zero(self, intercept):
        X = np.random.default_rng(4).integers(-50, 50, size=(30, 3)).astype(float)
        fit = regress(moments_of(X, X @ [1.0, -2.0, 3.0]), "y", intercept=intercept)
        assert fit.noise == 0.0
        assert not fit.covariance.any()

    def test_constant_columns_are_dropped_by_name_and_reason(self):
        X, y = problem(5)
        X[:, 2] = 0.1
        fit = regress(moments_of(X, y), "y", label="table 'old'")
        assert fit.coef[2] == 0.0
        assert fit.dropped == {"x2": "constant in table 'old'"}
        assert fit.cautions == ()
        assert fit.noise == pytest.approx(sm.OLS(y, sm.add_constant(X)).fit().scale, rel=1e-10)

    def test_without_an_intercept_a_constant_column_is_one(self):
        X, y = problem(6)
        X[:, 2] = 1.0
        fit = regress(moments_of(X, y), "y", intercept=False)
        assert fit.dropped == {}
        assert_allclose(fit.coef, np.linalg.lstsq(X, y, rcond=None)[0], rtol=1e-9)

    def test_dependent_columns_are_named_in_a_caution(self):
        X, y = problem(7)
        X[:, 3] = X[:, 0]
        (caution,) = regress(moments_of(X, y), "y", label="the pooled data").cautions
        assert isinstance(caution, RankDeficient)
        assert "In the pooled data, the columns 'x0', 'x3' are linearly dependent" in str(caution)
        assert "Drop one of these columns" in str(caution)

    def test_dependent_columns_cost_one_degree_of_freedom_only(self):
        X, y = problem(8)
        more = np.column_stack((X, X[:, 0] - X[:, 1]))
        theirs = sm.OLS(y, sm.add_constant(X)).fit()
        assert regress(moments_of(more, y), "y").noise == pytest.approx(theirs.scale, rel=1e-9)

    def test_an_unknown_way_to_count_degrees_of_freedom_is_refused(self):
        X, y = problem(9)
        with pytest.raises(BadOption, match=r"ddof='biased' is not possible.*'unbiased' or 'mle'"):
            regress(moments_of(X, y), "y", ddof="biased")

    def test_an_unknown_column_is_refused_with_a_hint(self):
        moments = Moments.of_rows(["income", "y"], np.eye(2))
        with pytest.raises(BadColumns, match=r"'incom'.*Did you mean 'income'"):
            regress(moments, "y", ["incom"])

    def test_several_responses_are_each_regressed(self):
        X, y = problem(10)
        solution = solve_named(moments_of(X, y), ["x0", "x1"], ["x2", "y"])
        for k, response in enumerate(["x2", "y"]):
            alone = regress(moments_of(X, y), response, ["x0", "x1"])
            assert_allclose(solution.coef.high[:, k], alone.coef, rtol=1e-12)


class TestUnits:
    def test_columns_a_billion_times_apart_in_scale_agree(self):
        X, y = problem(0)
        scale = np.array([1e-9, 1.0, 1e9, 1e3])
        plain, scaled = regress(moments_of(X, y), "y"), regress(moments_of(X * scale, y), "y")
        assert_allclose(scaled.coef * scale, plain.coef, rtol=1e-11)
        assert scaled.noise == pytest.approx(plain.noise, rel=1e-12)
        assert_allclose(scaled.predict(X * scale), plain.predict(X), rtol=1e-11)

    @pytest.mark.parametrize("centre", [0.0, 1e4, 1e8])
    def test_predictions_far_from_zero_keep_their_digits(self, centre):
        rng = np.random.default_rng(1)
        X = centre + rng.normal(size=(40, 2))
        y = 1e8 + (X - centre) @ [3.0, -2.0] + rng.normal(size=40)
        fit, exact = regress(moments_of(X, y), "y"), exact_least_squares(X, y)
        assert_allclose(fit.coef, [float(b) for b in exact.coef], rtol=1e-13)
        # The answer itself, near 1e8, is a double: half a unit of its last place, twice over.
        expected = [float(exact.at(x)) for x in X]
        assert_allclose(fit.predict(X), expected, rtol=0, atol=2 * np.spacing(1e8))

    def test_the_intercept_is_the_prediction_at_zero(self):
        X, y = problem(2, centre=5.0)
        fit = regress(moments_of(X, y), "y")
        assert fit.intercept == pytest.approx(fit.predict(np.zeros((1, 4)))[0], rel=1e-12)
        assert_allclose(fit.predict(X), fit.intercept + X @ fit.coef, rtol=1e-11)


def test_a_fit_survives_pickling():
    X, y = problem(0)
    X[:, 3] = X[:, 0]
    fit = regress(moments_of(X, y), "y")
    again = pickle.loads(pickle.dumps(fit))
    assert isinstance(again, LinearFit)
    assert_array_equal(again.predict(X), fit.predict(X))
    assert str(again.cautions[0]) == str(fit.cautions[0])
