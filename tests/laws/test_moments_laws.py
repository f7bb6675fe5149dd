"""What sums and weights of moments promise, with means near 1e8 and scales 1e-9 to 1e9."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from poolwise import Moments
from poolwise.numerics.chunks import CHUNK
from tests.laws.exact import exact_moments
from tests.laws.tables import (
    EPS,
    assert_exact_within,
    assert_identical,
    assert_same_within,
    lawful,
    moments_of,
    names_of,
    rounding,
    several,
    tables,
)


class TestAdding:
    @lawful
    @given(several(3))
    def test_adding_is_associative(self, parts):
        a, b, c = map(moments_of, parts)
        assert_same_within((a + b) + c, a + (b + c), 2 * rounding(sum(map(len, parts))))

    @lawful
    @given(several(2))
    def test_adding_is_commutative(self, parts):
        a, b = map(moments_of, parts)
        assert_same_within(a + b, b + a, 2 * rounding(sum(map(len, parts))))

    @lawful
    @given(tables())
    def test_no_rows_are_the_identity_exactly(self, rows):
        a = moments_of(rows)
        nothing = Moments.empty(a.names)
        assert_identical(nothing + a, a)
        assert_identical(a + nothing, a)

    def test_nothing_and_nothing_is_nothing(self):
        nothing = Moments.empty(["a", "b"])
        assert_identical(nothing + nothing, nothing)
        assert nothing.rows == 0
        assert nothing.weight == 0.0

    def test_the_built_in_sum_adds_moments(self):
        parts = [Moments.of_rows(["a"], [[float(k)]]) for k in range(4)]
        total = sum(parts, start=Moments.empty(["a"]))
        assert (total.rows, total.mean_of("a")) == (4, 1.5)

    @lawful
    @given(tables(), st.data())
    def test_any_cut_into_blocks_gives_the_same_moments(self, rows, data):
        cuts = data.draw(st.lists(st.integers(0, len(rows)), max_size=5).map(sorted))
        parts = [rows[i:j] for i, j in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
        names = names_of(rows.shape[1])
        moments = Moments.of_blocks(names, [((part,), None) for part in parts])
        # One row may come first, and the shift it sets is up to n variances from the mean.
        tolerance = (1 + len(rows)) * rounding(len(rows))
        assert_same_within(moments, moments_of(rows), tolerance)
        assert_array_equal(moments.low, rows.min(axis=0))
        assert_array_equal(moments.high, rows.max(axis=0))

    @pytest.mark.parametrize("cut", [1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK])
    def test_blocks_larger_than_a_chunk_give_the_same_moments(self, cut):
        rng = np.random.default_rng(4)
        rows = 1e8 + rng.normal(size=(3 * CHUNK + 5, 3)) * [1e-6, 1.0, 1e6]
        weights = rng.uniform(0.5, 2.0, size=len(rows))
        blocks = [((rows[:cut],), weights[:cut]), ((rows[cut:],), weights[cut:])]
        cut_up = Moments.of_blocks(names_of(3), blocks)
        parts = moments_of(rows[:cut], weights[:cut]) + moments_of(rows[cut:], weights[cut:])
        # After a first block of one row the shift is off by about a deviation; no more than that.
        assert_same_within(cut_up, moments_of(rows, weights), 8 * rounding(0))
        assert_same_within(cut_up, parts, 8 * rounding(0))

    def test_blocks_may_hold_several_arrays_side_by_side(self):
        rows = np.arange(12.0).reshape(4, 3)
        blocks = [((rows[:, 0], rows[:, 1:]), None)]
        assert_identical(Moments.of_blocks(names_of(3), blocks), moments_of(rows))

    @pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint64, bool])
    def test_numbers_of_any_type_are_read_as_doubles(self, dtype):
        rows = np.array([[1, 0], [0, 1], [1, 1]]).astype(dtype)
        assert_identical(moments_of(rows), moments_of(rows.astype(float)))

    @pytest.mark.parametrize(
        "view", [np.asfortranarray, lambda z: z[::-1][::-1], lambda z: np.flip(np.flip(z, 1), 1)]
    )
    def test_the_layout_in_memory_does_not_matter(self, view):
        rows = np.random.default_rng(5).normal(size=(30, 3))
        rows.setflags(write=False)
        assert_identical(moments_of(view(rows)), moments_of(rows))


class TestWeighing:
    @lawful
    @given(several(2), st.floats(1e-6, 1e6))
    def test_weighing_distributes_over_adding(self, parts, factor):
        a, b = map(moments_of, parts)
        tolerance = rounding(sum(map(len, parts)))
        assert_same_within(factor * (a + b), factor * a + factor * b, tolerance)

    @lawful
    @given(tables(), st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
    def test_weighing_twice_multiplies_the_factors(self, rows, f, g):
        a = moments_of(rows)
        assert_same_within(f * (g * a), (f * g) * a, 8 * EPS)

    @lawful
    @given(tables())
    def test_weighing_by_one_changes_nothing(self, rows):
        assert_identical(1.0 * moments_of(rows), moments_of(rows))

    @lawful
    @given(tables())
    def test_rows_weighed_by_zero_are_not_there(self, rows):
        a = moments_of(rows)
        assert_identical(0.0 * a, Moments.empty(a.names))
        assert_identical(0 * a + a, a)

    @lawful
    @given(tables(), st.floats(1e-3, 1e3))
    def test_weighing_the_moments_is_weighing_every_row(self, rows, factor):
        weighed = moments_of(rows, np.full(len(rows), factor))
        assert_same_within(factor * moments_of(rows), weighed, 2 * rounding(len(rows)))

    @lawful
    @given(tables(), st.data())
    def test_integer_weights_are_repeated_rows(self, rows, data):
        times = data.draw(hnp.arrays(np.int64, len(rows), elements=st.integers(1, 5)))
        weighted, repeated = moments_of(rows, times), moments_of(np.repeat(rows, times, axis=0))
        assert weighted.rows == len(rows)
        assert weighted.weight == pytest.approx(repeated.weight, rel=rounding(len(rows)))
        exact = exact_moments(np.repeat(rows, times, axis=0))
        assert_exact_within(weighted, exact, rounding(len(rows)))
        assert_exact_within(repeated, exact, rounding(int(times.sum())))

    @lawful
    @given(tables(), st.data())
    def test_rows_of_weight_zero_are_absent_exactly(self, rows, data):
        weight = st.sampled_from([0.0, 0.0, 1.0, 0.3, 7.0])
        weights = data.draw(hnp.arrays(np.float64, len(rows), elements=weight))
        kept = weights > 0
        assert_identical(moments_of(rows, weights), moments_of(rows[kept], weights[kept]))

    def test_rows_of_weight_zero_may_hold_nan(self):
        rows = np.array([[1.0], [np.nan], [3.0]])
        assert moments_of(rows, [1.0, 0.0, 1.0]).mean_of("c0") == 2.0

    def test_weights_that_are_all_zero_leave_nothing(self):
        rows = np.ones((2 * CHUNK, 1))
        assert_identical(moments_of(rows, np.zeros(len(rows))), Moments.empty(["c0"]))
