"""Inverse roots: H'H is the inverse, to the digits that the matrix deserves."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from poolwise.numerics.double_double import Pair
from poolwise.numerics.inverse_root import ENOUGH, LEFT_IN_PAIRS, PANEL, inverse_root
from poolwise.numerics.scatter import LEFT_IN_DOUBLES, inflation, root_in_doubles
from tests.laws.exact import exact_inverse, exact_pair


def integers(seed, rows=40, columns=4, size=9):
    return np.random.default_rng(seed).integers(-size, size + 1, (rows, columns)).astype(object)


def near_copies(seed, distance, columns=4):
    """Columns that are equal but for one part in ``distance``."""
    rng, Z = np.random.default_rng(seed), integers(seed, columns=columns)
    Z[:, 1] = Z[:, 0] * distance + rng.integers(-9, 10, len(Z))
    Z[:, 0] = Z[:, 0] * distance
    return Z


def gram(Z):
    """Return the products of columns, scaled by powers of two: as fractions, and as pairs."""
    G = Z.T.dot(Z)
    unit = [Fraction(2) ** -((int(v).bit_length() - 1) // 2) for v in G.diagonal()]
    A = np.array(
        [
            [Fraction(v) * u * t for v, t in zip(row, unit, strict=True)]
            for row, u in zip(G, unit, strict=True)
        ]
    )
    high = A.astype(float)
    low = (A - exact_pair(high, np.zeros(high.shape))).astype(float)
    return A, Pair(high, low)


def left_in_pairs(A):
    return np.full(len(A), LEFT_IN_PAIRS)


def square(root):
    """Return H'H without rounding."""
    H = exact_pair(root.values.high, root.values.low)
    return H.T.dot(H)


def error_of(root, A):
    """Return the largest error of the inverse, in units of the standard errors of two columns."""
    exact = np.array(exact_inverse(A.tolist()))
    unit = np.sqrt(exact.diagonal().astype(float))
    return float(np.abs((square(root) - exact).astype(float) / np.outer(unit, unit)).max())


def condition(pair):
    unit = 1.0 / np.sqrt(pair.high.diagonal())
    values = np.linalg.eigvalsh(pair.high * np.outer(unit, unit))
    return values[-1] / values[0]


class TestFullRank:
    @pytest.mark.parametrize("columns", [1, 2, 5, 8])
    def test_doubles_are_enough_where_columns_are_far_from_dependent(self, columns):
        A, pair = gram(integers(columns, columns=columns))
        for left in (None, left_in_pairs(A)):
            root = inverse_root(pair, left)
            assert (root.is_refined, root.is_hard) == (False, False)
            assert not root.values.low.any()
            assert (root.rank, root.dependent) == (columns, ())
            assert error_of(root, A) <= ENOUGH

    @pytest.mark.parametrize("distance", [10, 100, 1000])
    def test_what_doubles_know_is_refined_in_pairs(self, distance):
        A, pair = gram(near_copies(0, distance))
        root = inverse_root(pair, left_in_pairs(A))
        assert (root.is_refined, root.is_hard) == (True, False)
        assert (root.rank, root.dependent) == (4, ())
        assert error_of(root, A) <= 2.0**-100 * condition(pair)

    @pytest.mark.parametrize("distance", [10**5, 10**7, 10**9, 10**11])
    def test_what_doubles_do_not_know_is_factored_in_pairs(self, distance):
        A, pair = gram(near_copies(1, distance))
        root = inverse_root(pair, left_in_pairs(A))
        assert (root.is_refined, root.is_hard) == (True, True)
        assert (root.rank, root.dependent) == (4, ())
        assert error_of(root, A) <= 2.0**-98 * 100.0 * distance**2

    @pytest.mark.parametrize("distance", [10, 10**6])
    @pytest.mark.parametrize("columns", [PANEL - 1, PANEL, PANEL + 1, 2 * PANEL + 3])
    def test_many_columns_are_factored_panel_by_panel(self, columns, distance):
        Z = integers(columns, rows=columns + 60, columns=columns)
        Z[:, -1] = Z[:, 0] * distance + Z[:, -1]
        Z[:, 2] = Z[:, 2] + Z[:, 3] * distance
        A, pair = gram(Z)
        root = inverse_root(pair, left_in_pairs(A))
        assert root.is_refined
        assert (root.rank, root.dependent) == (columns, ())
        H = root.values
        one = H @ pair @ H.T - Pair.eye(columns)
        assert np.abs(one.high).max() <= 2.0**-96 * distance**2 * columns

    def test_in_doubles_an_inverse_is_taken_while_a_digit_is_left(self):
        A, pair = gram(near_copies(2, 10**6))
        root = inverse_root(Pair.of(pair.high), None)
        assert (root.rank, root.dependent) == (4, ())
        assert error_of(root, A) < 0.1


class TestMissingRank:
    def dependent_columns(self, distance=1):
        """The third column is the sum of the first two; the last two are copies."""
        Z = integers(3, columns=7)
        Z[:, 0] = Z[:, 0] * distance
        Z[:, 2] = Z[:, 0] + Z[:, 1]
        Z[:, 6] = -3 * Z[:, 5]
        return Z

    @pytest.mark.parametrize("in_pairs", [True, False])
    @pytest.mark.parametrize("distance", [1, 50])
    def test_columns_that_take_part_in_a_relation_are_named(self, distance, in_pairs):
        A, pair = gram(self.dependent_columns(distance))
        root = inverse_root(pair, left_in_pairs(A) if in_pairs else None)
        assert root.rank == len(root.values) == 5
        assert root.dependent == (0, 1, 2, 5, 6)
        assert root.is_hard

    def test_the_square_is_the_inverse_of_least_norm(self):
        A, pair = gram(self.dependent_columns())
        root = inverse_root(pair, left_in_pairs(A))
        G = square(root)
        wrong = (A.dot(G).dot(A) - A).astype(float)
        assert np.abs(wrong).max() <= ENOUGH
        # Of all matrices that solve the equations it is the one of Moore and Penrose, with columns
        # in units of their deviations.
        unit = np.sqrt(A.diagonal().astype(float))
        found = G.astype(float) * np.outer(unit, unit)
        expected = np.linalg.pinv(A.astype(float) / np.outer(unit, unit), 1e-10, hermitian=True)
        assert_allclose(found, expected, rtol=0, atol=ENOUGH * np.abs(expected).max())

    @pytest.mark.parametrize("factor", [1, 10**6, 10**12])
    def test_the_solution_of_least_norm_is_the_exact_one(self, factor):
        # A column and its copies: with deviations as units all have the same coefficient.
        Z = integers(4, columns=4)
        Z[:, 1], Z[:, 3] = factor * Z[:, 0], -Z[:, 0]
        A, pair = gram(Z)
        root = inverse_root(pair, left_in_pairs(A))
        assert (root.rank, root.dependent) == (2, (0, 1, 3))
        G = square(root)
        share = A[[0, 2]][:, [0, 2]]
        inverse = exact_inverse(share.tolist())[0][0]
        expected = float(inverse * A[0, 0]) / 9
        unit = np.sqrt(A.diagonal().astype(float))
        found = (G.astype(float) * np.outer(unit, unit))[[0, 1, 3]][:, [0, 1, 3]]
        sign = np.array([1, 1, -1])
        assert_allclose(found, expected * np.outer(sign, sign), rtol=1e-14)

    def test_a_relation_beside_nearly_dependent_columns_is_told_from_them(self):
        Z = near_copies(5, 10**6, columns=6)
        Z[:, 5] = Z[:, 3] - 2 * Z[:, 4]
        A, pair = gram(Z)
        root = inverse_root(pair, left_in_pairs(A))
        assert root.rank == 5
        assert root.dependent == (3, 4, 5)

    def test_a_relation_of_many_columns_names_them_all(self):
        columns = PANEL + 5
        Z = integers(6, rows=90, columns=columns)
        Z[:, -1] = Z[:, :-1].sum(axis=1)
        A, pair = gram(Z)
        root = inverse_root(pair, left_in_pairs(A))
        assert root.rank == columns - 1
        assert root.dependent == tuple(range(columns))

    def test_one_direction_for_all_columns(self):
        Z = integers(7, columns=1) * np.array([[1, -2, 5]], dtype=object)
        A, pair = gram(Z)
        root = inverse_root(pair, left_in_pairs(A))
        assert (root.rank, root.dependent) == (1, (0, 1, 2))


class TestThresholds:
    """What others leave of a column decides: at most so much per feature counts as nothing."""

    def with_left(self, share):
        """Return unit vectors of which one leaves this share of the other."""
        rest = Fraction(share)
        along = 1 - rest / 2 - rest**2 / 8  # the root of 1 - rest, but for rest**3
        A = np.array([[Fraction(1), along], [along, Fraction(1)]])
        high = A.astype(float)
        return Pair(high, (A - exact_pair(high, np.zeros((2, 2)))).astype(float))

    @pytest.mark.parametrize(("times", "rank"), [(0.9, 1), (1.1, 2)])
    def test_in_pairs_it_is_two_to_minus_84(self, times, rank):
        A = self.with_left(times * 2 * LEFT_IN_PAIRS)
        root = inverse_root(A, left_in_pairs(A))
        assert root.rank == rank
        assert root.dependent == ((0, 1) if rank == 1 else ())

    @pytest.mark.parametrize(("times", "rank"), [(0.9, 1), (1.1, 2)])
    def test_what_is_given_for_a_column_counts(self, times, rank):
        A = self.with_left(times * 2e-12)
        assert inverse_root(A, np.full(2, 1e-12)).rank == rank

    @pytest.mark.parametrize(("times", "rank"), [(0.5, 1), (4.0, 2)])
    def test_in_doubles_it_is_four_units_of_the_last_place(self, times, rank):
        A = Pair.of(self.with_left(times * 2 * LEFT_IN_DOUBLES).high)
        root = inverse_root(A, None)
        assert root.rank == rank
        assert root.dependent == ((0, 1) if rank == 1 else ())


def test_no_columns_have_an_empty_root():
    for left in (None, np.zeros(0)):
        root = inverse_root(Pair.of(np.zeros((0, 0))), left)
        assert (root.values.high.shape, root.rank, root.dependent) == ((0, 0), 0, ())


def test_an_indefinite_matrix_has_no_root_in_doubles():
    root, error = root_in_doubles(np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert error == np.inf
    assert_array_equal(root, np.zeros((2, 2)))


@pytest.mark.parametrize("distance", [1, 30, 1000])
def test_inflation_is_at_least_the_condition(distance):
    _, pair = gram(near_copies(8, distance))
    root, error = root_in_doubles(pair.high)
    assert inflation(pair.high, root) >= condition(pair)
    assert error == LEFT_IN_DOUBLES * inflation(pair.high, root)


@pytest.mark.parametrize("distance", [1, 1000, 10**7])
def test_the_layout_in_memory_does_not_change_a_bit(distance):
    A, pair = gram(near_copies(9, distance))
    turned = Pair(np.asfortranarray(pair.high), np.asfortranarray(pair.low))
    a, b = inverse_root(pair, left_in_pairs(A)), inverse_root(turned, left_in_pairs(A))
    assert_array_equal(a.values.high, b.values.high)
    assert_array_equal(a.values.low, b.values.low)
