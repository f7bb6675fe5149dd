"""What every Moments promises, over random tables with means near 1e8 and scales 1e-9 to 1e9."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from poolwise import Moments
from poolwise.chunks import CHUNK
from poolwise.row_sums import FAR
from tests.laws.exact import exact_moments, fraction
from tests.laws.tables import (
    EPS,
    assert_exact_within,
    assert_identical,
    assert_same_within,
    full_mean,
    lawful,
    maps,
    moments_of,
    names_of,
    rounding,
    scatter_of,
    several,
    sizes_of_map,
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


class TestMapping:
    @lawful
    @given(several(2), st.data())
    def test_mapping_distributes_over_adding(self, parts, data):
        a, b = map(moments_of, parts)
        matrix, shift = data.draw(maps(2, len(a.names)))
        together = (a + b).affine(["u", "v"], matrix, shift)
        apart = a.affine(["u", "v"], matrix, shift) + b.affine(["u", "v"], matrix, shift)
        tolerance = 2 * rounding(sum(map(len, parts)))
        assert_same_within(together, apart, tolerance, sizes_of_map(matrix, shift, a + b))

    @lawful
    @given(tables(), st.data())
    def test_mapping_twice_is_mapping_once_by_the_product(self, rows, data):
        a = moments_of(rows)
        first, shift = data.draw(maps(3, len(a.names)))
        second, further = data.draw(maps(2, 3))
        twice = a.affine(["u", "v", "w"], first, shift).affine(["p", "q"], second, further)
        once = a.affine(["p", "q"], second @ first, second @ shift + further)
        sizes = sizes_of_map(np.abs(second) @ np.abs(first), np.abs(second) @ np.abs(shift), a)
        sizes += 8 * EPS * np.sqrt(a.weight) * np.abs(further)
        assert_same_within(twice, once, 2 * rounding(0), sizes)

    @lawful
    @given(tables(), st.data())
    def test_mapped_moments_are_those_of_the_mapped_rows(self, rows, data):
        a = moments_of(rows)
        matrix, shift = data.draw(maps(2, len(a.names)))
        exact = exact_moments(
            [
                [
                    sum((int(m) * fraction(v) for m, v in zip(line, row, strict=True)), Fraction(0))
                    + int(s)
                    for line, s in zip(matrix, shift, strict=True)
                ]
                for row in rows
            ]
        )
        mapped = a.affine(["u", "v"], matrix, shift)
        sizes, S = sizes_of_map(matrix, shift, a), scatter_of(mapped)
        errors = [
            [abs(float(fraction(S[j, k]) - exact.scatter[j][k])) for k in (0, 1)] for j in (0, 1)
        ]
        assert (np.array(errors) <= rounding(len(rows)) * np.outer(sizes, sizes)).all()
        for mean, expected, size in zip(full_mean(mapped), exact.mean, sizes, strict=True):
            assert abs(float(mean - expected)) <= rounding(len(rows)) * size

    @lawful
    @given(tables())
    def test_the_identity_map_changes_nothing(self, rows):
        a = moments_of(rows)
        p = len(a.names)
        assert_identical(a.affine(a.names, np.eye(p), np.zeros(p)), a)

    @lawful
    @given(tables(columns=4), st.permutations(range(4)), st.integers(1, 4))
    def test_selecting_is_mapping_by_rows_of_the_identity(self, rows, order, count):
        a, at = moments_of(rows), list(order)[:count]
        names = [a.names[j] for j in at]
        mapped = a.affine(names, np.eye(4)[at], np.zeros(count))
        assert_identical(a.select(names), mapped)
        assert_identical(a.select(a.names), a)

    @lawful
    @given(tables(), st.sampled_from([0.0, -2.5, 1e8, 0.1]))
    def test_filling_adds_constant_columns(self, rows, value):
        a = moments_of(rows)
        filled = a.fill({"new": value})
        assert filled.names == (*a.names, "new")
        assert_identical(filled.select(a.names), a)
        assert filled.mean_of("new") == value
        assert filled.is_constant("new")
        assert not filled.scatter_between(["new"], filled.names).any()

    def test_mapping_no_rows_gives_no_rows(self):
        mapped = Moments.empty(["a"]).affine(["b"], np.eye(1), np.ones(1))
        assert_identical(mapped, Moments.empty(["b"]))
        assert_identical(Moments.empty(["a"]).fill({"b": 1.0}), Moments.empty(["a", "b"]))

    @lawful
    @given(tables(), st.data())
    def test_the_range_of_mapped_columns_holds_every_mapped_row(self, rows, data):
        a = moments_of(rows)
        matrix, shift = data.draw(maps(2, len(a.names)))
        mapped = a.affine(["u", "v"], matrix, shift)
        values = rows @ matrix.T + shift
        room = 8 * EPS * (np.abs(matrix) @ np.abs(rows).max(axis=0) + np.abs(shift))
        assert (values.min(axis=0) >= mapped.low - room).all()
        assert (values.max(axis=0) <= mapped.high + room).all()
