"""Columns that nearly depend on each other: inverse, ridge and rounding, by fractions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise.numerics.least_squares import inverse_of
from poolwise.numerics.scatter import rounding_error
from tests.laws.exact import exact_inverse, exact_least_squares, exact_pair
from tests.numerics.near_dependence.near_copies import (
    both_models,
    condition,
    exact_scatter,
    near_copies,
    read,
    rich,
    solution_of,
)


class TestInverse:
    def error(self, inverse, expected):
        """Return the largest error in units of the standard errors of two coefficients."""
        unit = np.sqrt([float(expected[j][j]) for j in range(len(expected))])
        gap = exact_pair(inverse.high, inverse.low) - np.array(expected)
        return float(np.abs(gap.astype(float) / np.outer(unit, unit)).max())

    @both_models
    @pytest.mark.parametrize("exponent", range(10))
    def test_it_has_thirteen_digits_up_to_a_condition_of_1e9(self, exponent, intercept):
        X = near_copies(exponent, max(10**exponent // 6, 1))
        y = np.random.default_rng(exponent).integers(-99, 100, 20).astype(float)
        cond = condition(X, intercept=intercept)
        assert cond <= 1e9
        assert cond > 1e8 or exponent < 9
        expected = exact_inverse(exact_scatter(X, intercept=intercept))
        exact = solution_of(read(X, y, "exact"), intercept=intercept)
        assert self.error(exact.inverse, expected) < 1e-13
        if cond > 100.0:  # refined in pairs, for the level far from the mean needs more digits
            assert self.error(exact.inverse, expected) < 2.0**-98 * cond**2
        accurate = solution_of(read(X, y, "accurate"), intercept=intercept)
        assert self.error(accurate.inverse, expected) < max(1e-13, 1e-29 * cond**2)

    @both_models
    def test_in_doubles_it_is_that_of_the_scatter(self, intercept):
        X = near_copies(3, 10)
        expected = exact_inverse(exact_scatter(X, intercept=intercept))
        S = np.array(exact_scatter(X, intercept=intercept), dtype=float)
        unit = np.sqrt([float(expected[j][j]) for j in range(3)])
        gap = (inverse_of(S) - np.array(expected, dtype=float)) / np.outer(unit, unit)
        assert np.abs(gap).max() < 1e-12


class TestRidge:
    @rich
    @both_models
    @pytest.mark.parametrize("ridge", [1e-12, 1e-3, 0.3, 1e6])
    @pytest.mark.parametrize("size", [1, 10**3, 10**6, 10**8])
    def test_in_pairs_it_is_added_without_loss(self, size, ridge, intercept, precision):
        X, y = near_copies(6, size), np.random.default_rng(6).integers(-99, 100, 20).astype(float)
        exact = exact_least_squares(X, y, ridge=ridge, intercept=intercept)
        solution = solution_of(read(X, y, precision), intercept=intercept, ridge=ridge)
        room = max(1e-13, 1e-29 * condition(X, intercept=intercept) ** 2)
        assert_allclose(solution.coef.high[:, 0], [float(b) for b in exact.coef], rtol=room)
        assert solution.residual[0, 0] == pytest.approx(float(exact.residual), rel=1e-12)
        assert solution.rank == 3

    @rich
    def test_a_ridge_gives_constant_and_dependent_columns_a_place(self, precision):
        x, y = np.arange(9.0), np.arange(9.0) ** 2
        solution = solution_of(read(np.column_stack((x, x, np.ones(9))), y, precision), ridge=2.0)
        exact = exact_least_squares(np.column_stack((x, x, np.ones(9))), y, ridge=2.0)
        assert_allclose(solution.coef.high[:, 0], [float(b) for b in exact.coef], rtol=1e-14)
        assert (solution.rank, solution.dependent, solution.constant) == (3, (), ())


class TestErrorOfDoubles:
    """What a plain solution says about its own rounding, against exact rational arithmetic."""

    @pytest.mark.parametrize("size", [1, 10, 10**2, 10**3, 10**4, 10**5, 10**6])
    def test_it_is_an_upper_bound(self, size):
        for seed in range(8):
            X = near_copies(seed, size)
            X[:, 2] += 7.3e5 * (seed % 2)  # a mean of which the sums keep no digit
            y = np.random.default_rng(seed).integers(-99, 100, 20).astype(float)
            for intercept in (True, False):
                exact = exact_least_squares(X, y, intercept=intercept)
                solution = solution_of(read(X, y, "fast"), intercept=intercept)
                assert solution.error > 0.0
                S = np.array(exact_scatter(X, intercept=intercept), dtype=float)
                unit = np.sqrt(S.diagonal())  # coefficients in standard deviations
                expected = np.array([float(b) for b in exact.coef])
                gap = np.linalg.norm(unit * (solution.coef.high[:, 0] - expected))
                if solution.rank == 3:
                    assert gap <= solution.error * np.linalg.norm(unit * expected)

    def test_with_more_digits_there_is_less_or_none(self):
        X, y = near_copies(0, 10**6), np.arange(20.0)
        assert 0.0 < solution_of(read(X, y, "accurate")).error < 1e-12
        assert 0.0 < solution_of(read(X, y, "exact")).error < 1e-14

    @pytest.mark.parametrize("size", [1, 10**3, 10**6])
    def test_that_of_a_table_is_at_least_that_of_any_column_on_the_others(self, size):
        X = near_copies(1, size)
        moments = read(X[:, :2], X[:, 2], "fast")
        assert rounding_error(moments.scatter) >= 0.99 * solution_of(moments).error
