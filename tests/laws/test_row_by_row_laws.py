"""Moments agree with their definition, row by row and in fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from poolwise import Moments
from poolwise.numerics.chunks import CHUNK
from poolwise.numerics.row_sums import FAR
from tests.laws.exact import exact_moments, fraction
from tests.laws.tables import (
    EPS,
    assert_exact_within,
    lawful,
    moments_of,
    rounding,
    scatter_of,
    several,
    tables,
)


class TestRowByRow:
    """Agreement with the definition, in exact rational arithmetic on the very doubles."""

    @lawful
    @given(tables(max_rows=30))
    def test_mean_and_scatter_are_those_of_the_rows(self, rows):
        assert_exact_within(moments_of(rows), exact_moments(rows), rounding(len(rows)))

    @lawful
    @given(tables(), st.data())
    def test_weighted_mean_and_scatter_are_those_of_the_rows(self, rows, data):
        weight = st.floats(-6, 6).map(lambda exponent: 10.0**exponent)
        weights = data.draw(hnp.arrays(np.float64, len(rows), elements=weight))
        exact = exact_moments(rows, weights)
        assert_exact_within(moments_of(rows, weights), exact, rounding(len(rows)))

    @lawful
    @given(several(3))
    def test_sums_of_tables_are_the_moments_of_all_their_rows(self, parts):
        a, b, c = map(moments_of, parts)
        rows = np.concatenate(parts)
        assert_exact_within(a + b + c, exact_moments(rows), rounding(len(rows)))

    @pytest.mark.parametrize("mean", [0.0, 1e8])
    @pytest.mark.parametrize("scale", [1e-9, 1e-7, 1.0, 1e9])
    def test_more_rows_than_a_chunk_lose_no_digits(self, mean, scale):
        rng = np.random.default_rng(0)
        rows = mean + scale * rng.normal(size=(2 * CHUNK + 17, 2))
        weights = rng.uniform(0.5, 2.0, size=len(rows))
        # The errors of many products are random: far fewer than n of them add up.
        assert_exact_within(moments_of(rows), exact_moments(rows), rounding(0))
        exact = exact_moments(rows, weights)
        assert_exact_within(moments_of(rows, weights), exact, rounding(0))

    @pytest.mark.parametrize("first", [1, 100, CHUNK, CHUNK + 1])
    @pytest.mark.parametrize("distance", [1e4, 1e8, -1e12])
    def test_first_rows_far_from_the_rest_cost_few_digits(self, first, distance):
        rng = np.random.default_rng(1)
        rows = np.column_stack((rng.normal(size=2 * CHUNK), rng.normal(size=2 * CHUNK)))
        rows[:first, 0] += distance
        blocks = [((rows[:first],), None), ((rows[first:],), None)]
        moments = Moments.of_blocks(["drifts", "stays"], blocks)
        # About a shift taken from `first` rows, the next chunk is CHUNK / first variances away.
        lost = max(CHUNK / first, 1.0)
        assert_exact_within(moments, exact_moments(rows), lost * rounding(0))

    def test_one_far_row_at_the_start_costs_no_more_over_many_chunks(self):
        steps = np.random.default_rng(8).integers(-50, 50, size=40 * CHUNK)
        rows = 10**8 + steps
        rows[0] = 0
        blocks = [((rows[:1],), None), ((rows[1:],), None)]
        moments = Moments.of_blocks(["a"], blocks)
        sums = [int(v) - 10**8 for v in rows]  # whole numbers, whose squares Python adds exactly
        exact = sum(v * v for v in sums) - Fraction(sum(sums)) ** 2 / len(sums)
        # Only the first chunk is read about the far row: its sum of squares is CHUNK times S.
        error = fraction(scatter_of(moments)[0, 0]) / exact - 1
        assert abs(float(error)) <= 8 * CHUNK * EPS

    def test_a_steady_drift_costs_no_more_than_the_square_that_starts_a_new_shift(self):
        rng = np.random.default_rng(2)
        rows = (np.arange(4 * CHUNK) * 50.0 + rng.normal(size=4 * CHUNK))[:, None]
        assert_exact_within(moments_of(rows), exact_moments(rows), FAR * rounding(0))

    def test_a_row_that_weighs_more_than_all_others_keeps_their_scatter(self):
        rng = np.random.default_rng(3)
        rows = rng.normal(size=(50, 2))
        rows[0] = 1e3
        weights = np.ones(50)
        weights[0] = 1e12
        exact = exact_moments(rows, weights)
        assert_exact_within(moments_of(rows, weights), exact, rounding(len(rows)))
