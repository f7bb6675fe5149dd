"""Least squares from a scatter: against exact rational arithmetic, and where rank is missing."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

from poolwise import Moments
from poolwise.numerics.least_squares import solve
from tests.laws.exact import exact_least_squares

EPS = float(np.finfo(np.float64).eps)
lawful = settings(deadline=None, max_examples=50)


def scatter_of(X, Y, weights=None):
    rows = np.column_stack((X, Y))
    return Moments.of_rows([f"c{j}" for j in range(rows.shape[1])], rows, weights).scatter


def solved(X, y, weights=None, ridge=0.0):
    X, y = np.asarray(X, float), np.asarray(y, float)
    p = X.shape[1]
    return solve(scatter_of(X, y, weights), range(p), [p], ridge)


def room_for_rounding(X, y, ridge=0.0):
    """Bound the error of each coefficient from the condition of the scaled equations.

    In units of standard deviations, errors of n eps in the equations are amplified by the inverse
    of the smallest eigenvalue, and once more by its root in the coefficients they multiply.
    """
    Z = X - X.mean(axis=0)
    A = Z.T @ Z + ridge * np.eye(X.shape[1])
    unit = 1 / np.sqrt(A.diagonal())
    least = np.linalg.eigvalsh(A * np.outer(unit, unit))[0]
    return 32 * sum(X.shape) * EPS * np.sqrt((y - y.mean()) @ (y - y.mean())) * unit / least**1.5


@st.composite
def integer_problems(draw, weighted=False):
    n, p = draw(st.integers(3, 10)), draw(st.integers(1, 3))
    X = draw(hnp.arrays(np.int64, (n, p), elements=st.integers(-9, 9))).astype(float)
    y = draw(hnp.arrays(np.int64, n, elements=st.integers(-99, 99))).astype(float)
    if not weighted:
        return X, y
    return X, y, draw(hnp.arrays(np.int64, n, elements=st.integers(1, 4))).astype(float)


class TestExactly:
    """Small integer data, whose least squares are known without rounding."""

    @lawful
    @given(integer_problems())
    def test_coefficients_and_residual_are_the_exact_ones(self, problem):
        X, y = problem
        exact = exact_least_squares(X, y)
        assume(exact is not None)
        solution = solved(X, y)
        errors = np.abs(solution.coef.high[:, 0] - [float(b) for b in exact.coef])
        assert (errors <= room_for_rounding(X, y)).all()
        total = (y - y.mean()) @ (y - y.mean())
        assert abs(solution.residual[0, 0] - float(exact.residual)) <= 1e-12 * total
        assert solution.rank == X.shape[1]
        assert (solution.constant, solution.dependent) == ((), ())

    @lawful
    @given(integer_problems())
    def test_a_residual_that_is_zero_comes_out_as_zero(self, problem):
        X, _ = problem
        y = X @ np.arange(1.0, X.shape[1] + 1.0) - 7.0
        assert solved(X, y).residual[0, 0] == 0.0

    @lawful
    @given(integer_problems(weighted=True))
    def test_weights_count_as_repeated_rows(self, problem):
        X, y, w = problem
        exact = exact_least_squares(X, y, w)
        assume(exact is not None)
        repeated = np.repeat(X, w.astype(int), axis=0), np.repeat(y, w.astype(int))
        errors = np.abs(solved(X, y, w).coef.high[:, 0] - [float(b) for b in exact.coef])
        assert (errors <= room_for_rounding(*repeated)).all()

    @lawful
    @given(integer_problems(), st.sampled_from([0.5, 3.0, 100.0]))
    def test_ridge_is_added_to_the_diagonal(self, problem, ridge):
        X, y = problem
        exact = exact_least_squares(X, y, ridge=ridge)
        solution = solved(X, y, ridge=ridge)
        errors = np.abs(solution.coef.high[:, 0] - [float(b) for b in exact.coef])
        assert (errors <= room_for_rounding(X, y, ridge)).all()
        total = (y - y.mean()) @ (y - y.mean())  # the penalty is no part of the residual
        assert abs(solution.residual[0, 0] - float(exact.residual)) <= 1e-10 * total

    @lawful
    @given(integer_problems())
    def test_predictions_are_exact_even_where_coefficients_are_not_unique(self, problem):
        X, y = problem
        twice = np.column_stack((X, X @ np.ones(X.shape[1]), np.full(len(X), 3.0)))
        exact = exact_least_squares(X, y)
        assume(exact is not None)
        coef = solved(twice, y).coef.high[:, 0]
        fitted = y.mean() + (twice - twice.mean(axis=0)) @ coef
        expected = [float(exact.at(x)) for x in X]
        room = room_for_rounding(X, y) @ np.abs(X - X.mean(axis=0)).max(axis=0)
        assert_allclose(fitted, expected, rtol=0, atol=10 * room)

    @pytest.mark.parametrize("rows", [100, 3000, 20_000])
    def test_an_exact_relation_over_many_rows_leaves_exactly_nothing(self, rows):
        rng = np.random.default_rng(rows)
        X = np.round(64 * (rng.normal(size=(rows, 3)) * [1.0, 30.0, 900.0] + [0.0, 5.0, 1e3]))
        X[:, 1] = X[:, 0] + np.round(rng.normal(size=rows))  # large coefficients that cancel
        y = X @ [3.0, -2.0, 5.0] + 3.0
        assert solved(X, y).residual[0, 0] == 0.0
        y = X @ [1000.0, -1000.0, 0.0] + 3.0
        assert solved(X, y).residual[0, 0] == 0.0

    def test_a_small_residual_is_not_taken_for_zero(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(200, 2))
        y = X @ [1.0, 2.0] + 1e-5 * rng.normal(size=200)
        Z = np.column_stack((np.ones(200), X))
        expected = np.linalg.lstsq(Z, y, rcond=None)[1][0]
        # Ten of sixteen digits cancel.
        assert solved(X, y).residual[0, 0] == pytest.approx(expected, rel=1e-4)


class TestAgainstNumpy:
    @pytest.mark.parametrize("seed", range(5))
    def test_coefficients_agree_with_lstsq(self, seed):
        rng = np.random.default_rng(seed)
        X, Y = rng.normal(size=(60, 5)) + 3.0, rng.normal(size=(60, 2))
        Z = np.column_stack((np.ones(60), X))
        expected, residual, *_ = np.linalg.lstsq(Z, Y, rcond=None)
        solution = solve(scatter_of(X, Y), range(5), [5, 6])
        assert_allclose(solution.coef.high, expected[1:], rtol=1e-11, atol=1e-12)
        assert_allclose(solution.residual.diagonal(), residual, rtol=1e-12)
        assert_allclose(solution.residual, solution.residual.T, rtol=1e-12)

    def test_the_inverse_is_that_of_the_features_scatter(self):
        X = np.random.default_rng(0).normal(size=(30, 4))
        S = scatter_of(X, X[:, :1] ** 2)
        solution = solve(S, range(4), [4])
        assert_allclose(
            solution.inverse.high @ S.between(range(4), range(4)), np.eye(4), atol=1e-13
        )

    def test_features_and_responses_may_stand_in_any_order(self):
        rows = np.random.default_rng(1).normal(size=(40, 4))
        S = scatter_of(rows, rows[:, :0])
        one, other = solve(S, [0, 1, 2], [3]), solve(S, [2, 0, 1], [3])
        assert_allclose(one.coef.high[[2, 0, 1]], other.coef.high, rtol=1e-12)
        assert_allclose(one.residual, other.residual, rtol=1e-12)


class TestUnits:
    @pytest.mark.parametrize("seed", range(3))
    def test_powers_of_two_scale_every_bit(self, seed):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
        scale = 2.0 ** np.array([30, 0, -30])
        plain, scaled = solved(X, y), solved(X * scale, y)
        assert_array_equal(scaled.coef.high[:, 0] * scale, plain.coef.high[:, 0])
        assert_array_equal(scaled.residual, plain.residual)
        assert_array_equal(scaled.inverse.high * np.outer(scale, scale), plain.inverse.high)

    @pytest.mark.parametrize("ends", [(1e-9, 1e9), (1e9, 1e-9), (1.0, 1e18)])
    def test_columns_far_apart_in_scale_lose_no_digits(self, ends):
        rng = np.random.default_rng(3)
        X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
        scale = np.array([ends[0], 1.0, ends[1]])
        assert solved(X * scale, y).rank == 3
        assert_allclose(
            solved(X * scale, y).coef.high[:, 0] * scale, solved(X, y).coef.high[:, 0], rtol=1e-12
        )

    @pytest.mark.parametrize("scale", [1e-9, 0.3, 1e9])
    def test_units_do_not_matter_where_columns_are_dependent(self, scale):
        rng = np.random.default_rng(4)
        X, y = np.round(100 * rng.normal(size=(50, 3))), rng.normal(size=50)
        X[:, 2] = X[:, 0] + X[:, 1]
        units = np.array([1.0, scale, 7.0])
        plain, scaled = solved(X, y), solved(X * units, y)
        assert (plain.rank, scaled.rank) == (2, 2)
        assert_allclose(scaled.coef.high[:, 0] * units, plain.coef.high[:, 0], rtol=1e-10)
        assert_allclose(scaled.residual, plain.residual, rtol=1e-12)


class TestRank:
    def least_norm(self, X, y):
        """Return the least-norm solution in units of standard deviations, by the pseudoinverse."""
        Z = X - X.mean(axis=0)
        unit = 1 / np.sqrt((Z**2).sum(axis=0))
        return unit * (np.linalg.pinv(Z * unit, rcond=1e-10) @ (y - y.mean()))

    @pytest.mark.parametrize("factor", [1.0, -1.0, 1000.0, 1e-9])
    def test_copies_of_a_column_share_its_coefficient(self, factor):
        rng = np.random.default_rng(0)
        x, other, y = rng.normal(size=(3, 40))
        alone = solved(np.column_stack((x, other)), y).coef.high[:, 0]
        solution = solved(np.column_stack((x, other, factor * x)), y)
        expected = [alone[0] / 2, alone[1], alone[0] / 2 / factor]
        assert_allclose(solution.coef.high[:, 0], expected, rtol=1e-9)
        assert solution.rank == 2
        assert solution.dependent == (0, 2)

    def test_a_column_that_is_a_sum_gets_the_least_norm(self):
        rng = np.random.default_rng(1)
        X = np.round(50 * rng.normal(size=(40, 4)) * [1.0, 8.0, 1.0, 3.0])
        X[:, 2] = X[:, 0] + X[:, 1]
        y = rng.normal(size=40)
        solution = solved(X, y)
        assert_allclose(solution.coef.high[:, 0], self.least_norm(X, y), rtol=1e-9)
        assert solution.dependent == (0, 1, 2)
        assert solution.rank == 3

    def test_indicators_of_all_levels_are_dependent_on_each_other(self):
        rng = np.random.default_rng(2)
        levels = rng.integers(0, 3, size=60)
        X = np.column_stack([levels == k for k in range(3)] + [rng.normal(size=60)]).astype(float)
        y = rng.normal(size=60)
        solution = solved(X, y)
        assert solution.dependent == (0, 1, 2)
        assert_allclose(solution.coef.high[:, 0], self.least_norm(X, y), rtol=1e-9)

    @pytest.mark.parametrize("value", [0.0, 0.1, 1e8 / 3])
    def test_constant_columns_get_coefficient_zero(self, value):
        rng = np.random.default_rng(3)
        x, y = rng.normal(size=(2, 30))
        solution = solved(np.column_stack((np.full(30, value), x)), y)
        assert solution.coef.high[0, 0] == 0.0
        assert solution.coef.high[1, 0] == solved(x[:, None], y).coef.high[0, 0]
        assert not solution.inverse.high[0].any()
        assert (solution.rank, solution.constant, solution.dependent) == (1, (0,), ())

    def test_only_constant_columns_explain_nothing(self):
        y = np.array([1.0, 2.0, 4.0])
        solution = solved(np.full((3, 2), 5.0), y)
        assert_array_equal(solution.coef.high, np.zeros((2, 1)))
        assert solution.residual[0, 0] == pytest.approx((y - y.mean()) @ (y - y.mean()))
        assert (solution.rank, solution.constant) == (0, (0, 1))

    @pytest.mark.parametrize("kind", ["copy", "scaled copy", "sum", "indicators", "none"])
    @pytest.mark.parametrize("rows", [12, 300, 5000])
    def test_rank_is_found_for_any_scale_and_number_of_rows(self, rows, kind):
        for seed in range(5):
            rng = np.random.default_rng([rows, seed])
            scale = 10.0 ** rng.uniform(-4, 4, size=6)
            X = (rng.normal(size=(rows, 6)) + 5.0) * scale
            if kind == "copy":
                X[:, 5] = X[:, 0]
            elif kind == "scaled copy":
                X[:, 5] = 3.7e-5 * X[:, 0]
            elif kind == "sum":
                X[:, :2] = np.round(1024 * X[:, :2] / scale[:2])
                X[:, 5] = X[:, 0] + X[:, 1]
            elif kind == "indicators":
                X[:, 3:] = np.arange(rows)[:, None] % 3 == np.arange(3)
            assert solved(X, rng.normal(size=rows)).rank == (6 if kind == "none" else 5)

    def test_nearly_dependent_columns_are_still_told_apart(self):
        rng = np.random.default_rng(5)
        x, noise, y = rng.normal(size=(3, 200))
        solution = solved(np.column_stack((x, x + 1e-6 * noise)), y)
        assert (solution.rank, solution.dependent) == (2, ())


class TestFewRows:
    @pytest.mark.parametrize("rows", [2, 3, 4])
    def test_with_more_columns_than_rows_the_least_norm_fits_every_row(self, rows):
        rng = np.random.default_rng(rows)
        X, y = rng.normal(size=(rows, 5)), rng.normal(size=rows)
        solution = solved(X, y)
        assert solution.rank == rows - 1
        assert_allclose(y.mean() + (X - X.mean(axis=0)) @ solution.coef.high[:, 0], y, atol=1e-12)
        assert_allclose(solution.coef.high[:, 0], TestRank().least_norm(X, y), rtol=1e-9)
        assert solution.residual[0, 0] == 0.0

    def test_one_row_says_nothing_about_coefficients(self):
        solution = solved([[1.0, 2.0]], [3.0])
        assert_array_equal(solution.coef.high, np.zeros((2, 1)))
        assert (solution.rank, solution.constant) == (0, (0, 1))
        assert solution.residual[0, 0] == 0.0

    def test_no_feature_leaves_the_whole_scatter(self):
        y = np.array([1.0, 2.0, 6.0])
        solution = solve(scatter_of(y[:, None], np.empty((3, 0))), [], [0])
        assert solution.coef.high.shape == (0, 1)
        assert solution.residual[0, 0] == pytest.approx(14.0)
        assert solution.rank == 0
