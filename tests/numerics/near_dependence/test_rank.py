"""Columns that nearly depend on each other: rank, relations and least norm, by fractions."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise.numerics.inverse_root import LEFT_IN_PAIRS
from poolwise.numerics.least_squares import ROUNDED_ONCE, ROUNDED_SUMS, solve
from poolwise.numerics.scatter import LEFT_IN_DOUBLES, Scatter
from tests.laws.exact import exact_least_squares, exact_solve
from tests.numerics.near_dependence.near_copies import (
    both_models,
    exact_scatter,
    near_copies,
    read,
    rich,
    solution_of,
)


class TestThresholds:
    """Both sides of what the docstring of solve says, decided without rounding."""

    def left_of_last(self, S, p):
        """Return the share of its scatter that the others leave of the last feature."""
        A = [row[: p - 1] for row in S[: p - 1]]
        b = [S[j][p - 1] for j in range(p - 1)]
        beta = exact_solve(A, b)
        return (S[p - 1][p - 1] - sum(x * v for x, v in zip(beta, b, strict=True))) / S[p - 1][
            p - 1
        ]

    @rich
    @both_models
    @pytest.mark.parametrize("mean", [0, 7, 300])
    def test_in_pairs_a_column_is_dependent_if_others_leave_less_than_its_rounding(
        self, mean, intercept, precision
    ):
        rng = np.random.default_rng(mean)
        a, b, y = rng.integers(-9, 10, (3, 40))
        a, b = a - a[:1] + mean, b.astype(float)
        ranks = set()
        for exponent in range(30, 45):
            x = a * 2.0**exponent
            rows = np.column_stack((x, x + b, y))
            S, raw = exact_scatter(rows, intercept=intercept), exact_scatter(rows, intercept=False)
            share = self.left_of_last(S, 2)
            far = max(raw[1][1] / S[1][1], 1)
            limit = 2 * Fraction(LEFT_IN_PAIRS) * far
            if 0.9 < share / limit < 1.1:
                continue
            solution = solution_of(read(rows[:, :2], y, precision), intercept=intercept)
            ranks.add(solution.rank)
            assert solution.rank == (2 if share > limit else 1)
            assert solution.dependent == (() if share > limit else (0, 1))
        assert ranks == {1, 2}

    @pytest.mark.parametrize("p", [2, 3, 5])
    def test_in_doubles_a_column_is_dependent_if_others_leave_four_units_per_feature(self, p):
        for times, rank in ((0.25, p - 1), (4.0, p)):
            A = np.eye(p + 1)
            A[0, p - 1] = A[p - 1, 0] = 1.0 - times * LEFT_IN_DOUBLES * p / 2
            scale = 2.0 ** np.arange(-p, p + 2, 2)  # of no matter
            solution = solve(Scatter(A * np.outer(scale, scale)), range(p), [p])
            assert solution.rank == rank
            assert solution.dependent == (() if rank == p else (0, p - 1))

    @rich
    @both_models
    @pytest.mark.parametrize("mean", [0, 50])
    def test_in_pairs_a_residual_is_zero_if_the_columns_own_rounding_explains_it(
        self, mean, intercept, precision
    ):
        rng = np.random.default_rng(1)
        X, noise = rng.integers(-9, 10, (40, 2)) + mean, rng.integers(-3, 4, 40)
        found = set()
        for exponent in range(26, 45):
            y = X @ [3, -2] * 2.0**exponent + noise
            S = exact_scatter(np.column_stack((X, y)), intercept=intercept)
            raw = exact_scatter(np.column_stack((X, y)), intercept=False)
            fit = exact_least_squares(X, y, intercept=intercept)
            # far * S is the sum of squares about zero.
            terms = raw[2][2] + sum(b * b * raw[j][j] for j, b in enumerate(fit.coef))
            limit = 3 * Fraction(ROUNDED_ONCE if precision == "exact" else ROUNDED_SUMS) * terms
            assert S[0][0] > 0
            if 0.9 < fit.residual / limit < 1.1:
                continue
            residual = solution_of(read(X, y, precision), intercept=intercept).residual[0, 0]
            found.add(residual == 0.0)
            if fit.residual <= limit:
                assert residual == 0.0
            else:
                assert residual == pytest.approx(float(fit.residual), rel=1e-2)
        # With exact sums only what doubles round in the columns is nothing, and these have none.
        assert found == ({False} if precision == "exact" else {True, False})

    def test_in_doubles_a_residual_is_zero_if_rounding_of_the_terms_explains_it(self):
        rng = np.random.default_rng(2)
        X = rng.normal(size=(40, 2))
        X -= X.mean(axis=0)
        beta, noise = np.array([3.0, -2.0]), rng.normal(size=40)
        noise -= X @ np.linalg.lstsq(X, noise, rcond=None)[0] + noise.mean()
        A, b = X.T @ X, X.T @ X @ beta
        found = []
        for size in 10.0 ** np.arange(-9, -4.5, 0.5):
            C = beta @ b + size**2
            S = np.block([[A, b[:, None]], [b[None, :], np.array([[C]])]])
            terms = C + np.abs(beta) @ (2 * np.abs(b) + np.abs(A) @ np.abs(beta))
            limit = 4 * 3 * LEFT_IN_DOUBLES * terms
            residual = solve(Scatter(S), [0, 1], [2]).residual[0, 0]
            if size**2 < limit / 2:
                assert residual == 0.0
            elif size**2 > 2 * limit:
                assert residual == pytest.approx(size**2, abs=limit)
            found.append(residual == 0.0)
        assert found == sorted(found, reverse=True)
        assert set(found) == {True, False}


class TestLeastNorm:
    """Below full rank, without rounding: least in units of standard deviations."""

    def expected(self, S, p):
        """Minimise the sum of S_jj b_j^2 over all solutions of the normal equations."""
        rows = []
        for j in range(p):  # rows of the equations that are independent of earlier ones
            basis = [*rows, j]
            G = [[sum(S[i][k] * S[m][k] for k in range(p)) for m in basis] for i in basis]
            if exact_solve(G, [Fraction(0)] * len(basis)) is not None:
                rows = basis
        D = [S[k][k] or Fraction(1) for k in range(p)]
        G = [[sum(S[i][k] * S[m][k] / D[k] for k in range(p)) for m in rows] for i in rows]
        shares = exact_solve(G, [S[i][p] for i in rows])
        coef = [
            sum(c * S[i][k] for c, i in zip(shares, rows, strict=True)) / D[k] for k in range(p)
        ]
        return coef, len(rows)

    @rich
    @both_models
    @pytest.mark.parametrize("seed", range(3))
    @pytest.mark.parametrize(
        "relations",
        [{2: [1, 1, 0, 0, 0]}, {1: [-7, 0, 0, 0, 0], 4: [0, 0, 3, 5, 0]}, {4: [1, -1, 2, 1, 0]}],
    )
    def test_coefficients_are_the_exact_ones(self, relations, seed, intercept, precision):
        rng = np.random.default_rng(seed)
        X = rng.integers(-9, 10, (30, 5)) * rng.integers(1, 50, 5)
        for column, weights in relations.items():
            X[:, column] = X @ weights
        y = rng.integers(-99, 100, 30)
        rows = np.column_stack((X, y)).astype(float)
        expected, rank = self.expected(exact_scatter(rows, intercept=intercept), 5)
        solution = solution_of(read(X, y, precision), intercept=intercept)
        assert solution.rank == rank == 5 - len(relations)
        related = {j for c, w in relations.items() for j in (c, *np.flatnonzero(w))}
        assert solution.dependent == tuple(sorted(related))
        assert_allclose(solution.coef.high[:, 0], [float(b) for b in expected], rtol=1e-13)

    @rich
    def test_constant_columns_and_relations_are_named_by_their_place(self, precision):
        rng = np.random.default_rng(4)
        X = rng.integers(-9, 10, (30, 6))
        X[:, 0] = 4
        X[:, 3] = -5
        X[:, 5] = 2 * X[:, 2] + 1
        solution = solution_of(read(X, rng.integers(-9, 10, 30), precision))
        assert (solution.rank, solution.constant, solution.dependent) == (3, (0, 3), (2, 5))
        assert not solution.coef.high[[0, 3]].any()
        assert not solution.inverse.high[[0, 3]].any()

    @rich
    @pytest.mark.parametrize("size", [1, 10**4, 10**7])
    def test_a_copy_beside_nearly_dependent_columns(self, size, precision):
        X, y = near_copies(5, size), np.random.default_rng(5).integers(-99, 100, 20).astype(float)
        twice = np.column_stack((X, -4.0 * X[:, 2]))
        alone = exact_least_squares(X, y)
        expected = [*alone.coef[:2], alone.coef[2] / 2, alone.coef[2] / -8]
        solution = solution_of(read(twice, y, precision))
        assert (solution.rank, solution.dependent) == (3, (2, 3))
        assert_allclose(solution.coef.high[:, 0], [float(b) for b in expected], rtol=1e-13)


class TestRelationsOfUnequalColumns:
    """A column that takes part in a relation with a millionth of the others' size is named too."""

    @pytest.mark.parametrize("precision", ["accurate", "exact"])
    def test_all_columns_of_a_relation_are_named(self, precision):
        rng = np.random.default_rng(0)
        a, b = rng.integers(-9, 10, (2, 40)).astype(float)
        X = np.column_stack((1e6 * a, b - 1e6 * a, b))
        solution = solution_of(read(X, rng.normal(size=40), precision))
        assert (solution.rank, solution.dependent) == (2, (0, 1, 2))
