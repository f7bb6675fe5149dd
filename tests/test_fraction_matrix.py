"""FractionMatrix: what it reads off is rounded once, whatever the numbers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from poolwise.double_double import Pair, two_sum
from poolwise.fraction_matrix import FractionMatrix, nearest
from tests.laws.exact import exact_pair

lawful = settings(deadline=None, max_examples=60)
integers = st.integers(-(10**40), 10**40)


@st.composite
def matrices(draw, size=None):
    """Symmetric matrices of large integers, with units far apart."""
    p = draw(st.integers(1, 4)) if size is None else size
    full = draw(hnp.arrays(object, (p, p), elements=integers))
    numerators = np.tril(full) + np.tril(full, -1).T
    units = draw(hnp.arrays(np.intp, p, elements=st.integers(-200, 200)))
    return FractionMatrix(numerators, draw(st.integers(1, 10**40)), units)


def exact(matrix):
    """Return the fractions themselves, from what the parameters say."""
    unit = [Fraction(2) ** int(u) for u in matrix.units]
    p = len(unit)
    return np.array(
        [
            [
                Fraction(matrix.numerators[i, j], matrix.divisor) * unit[i] * unit[j]
                for j in range(p)
            ]
            for i in range(p)
        ],
        dtype=object,
    )


def rounded(values):
    return np.vectorize(float, otypes=[float])(values)


class TestNearest:
    @lawful
    @given(integers, st.integers(1, 10**40), st.integers(-400, 400))
    def test_both_parts_are_rounded_correctly(self, above, below, exponent):
        value = Fraction(above, below) * Fraction(2) ** exponent
        high, low = nearest(above, below, exponent)
        assert high == float(value)
        assert low == float(value - Fraction(high))

    @pytest.mark.parametrize("exponent", [-1074, -1060, -1022, 0, 900])
    def test_small_integers_are_exact_in_any_unit(self, exponent):
        assert nearest(-5, 1, exponent) == (float(Fraction(-5) * Fraction(2) ** exponent), 0.0)
        assert nearest(0, 7, exponent) == (0.0, 0.0)

    def test_a_tie_goes_to_the_even_number_and_is_not_lost(self):
        assert nearest(2**54 + 2, 2, 0) == (2.0**53, 1.0)
        assert nearest(2**54 + 6, 2, 0) == (2.0**53 + 4.0, -1.0)


class TestReading:
    @lawful
    @given(matrices())
    def test_pairs_are_the_nearest_ones(self, matrix):
        pair, expected = matrix.pair(), exact(matrix)
        assert_array_equal(pair.high, rounded(expected))
        rest = expected - exact_pair(pair.high, np.zeros(pair.high.shape))
        assert_array_equal(pair.low, rounded(rest))

    @lawful
    @given(matrices(size=4), st.permutations(range(4)), st.integers(0, 4))
    def test_picked_columns_are_those_of_the_matrix(self, matrix, order, count):
        at = list(order)[:count]
        assert_array_equal(exact(matrix.picked(at)).reshape(count, count), exact(matrix)[at][:, at])
        assert_array_equal(matrix.picked(at).pair().low, matrix.pair().low[at][:, at])

    @lawful
    @given(matrices(), st.data())
    def test_powers_of_two_multiply_rows_and_columns(self, matrix, data):
        p = len(matrix.units)
        powers = data.draw(hnp.arrays(np.intp, p, elements=st.integers(-99, 99)))
        factor = np.array([Fraction(2) ** int(e) for e in powers], dtype=object)
        expected = exact(matrix) * np.outer(factor, factor)
        assert_array_equal(exact(matrix.times_powers(powers)), expected)


class TestLeftBy:
    @lawful
    @given(st.integers(0, 3), st.integers(1, 2), st.data())
    def test_slope_and_residual_are_rounded_once(self, p, q, data):
        matrix = data.draw(matrices(size=p + q))
        parts = hnp.arrays(np.float64, (p, q), elements=st.floats(-1e9, 1e9).map(lambda v: v / 7.0))
        high = data.draw(parts)
        beta = Pair(*two_sum(high, 2.0**-60 * data.draw(parts)))
        slope, residual = matrix.left_by(beta)
        M, b = exact(matrix), exact_pair(beta.high, beta.low)
        A, B, C = M[:p, :p], M[:p, p:], M[p:, p:]
        left = B - A.dot(b) if p else B
        square = C - B.T.dot(b) - b.T.dot(left) if p else C
        assert_array_equal(slope, rounded(left))
        assert_array_equal(residual, rounded(square))

    def test_the_least_squares_solution_leaves_no_slope(self):
        numerators = np.array([[4, 2, 6], [2, 9, 13], [6, 13, 50]], dtype=object)
        matrix = FractionMatrix(numerators, 3, np.array([5, -7, 1]))
        # 4 b + 2 c = 6 and 2 b + 9 c = 13 have b = 7/8 and c = 5/4, in the columns' units.
        beta = Pair.of(np.array([[7 / 8 * 2.0**-4], [5 / 4 * 2.0**8]]))
        slope, residual = matrix.left_by(beta)
        assert_array_equal(slope, np.zeros((2, 1)))
        assert residual[0, 0] == float(
            Fraction(4 * (50 - 6 * Fraction(7, 8) - 13 * Fraction(5, 4)), 3)
        )
