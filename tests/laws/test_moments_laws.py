"""What every Moments promises, over random tables with means near 1e8 and scales 1e-9 to 1e9."""

import copy
import pickle
from dataclasses import FrozenInstanceError, fields, replace
from fractions import Fraction
from functools import partial
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from poolwise import Moments
from poolwise.chunks import CHUNK
from poolwise.errors import (
    BadWeights,
    ColumnMismatch,
    DuplicateColumns,
    MissingColumns,
    NotFinite,
    ShapeMismatch,
    TooLarge,
)
from poolwise.row_sums import FAR
from tests.laws.exact import ExactMoments, exact_moments, fraction

EPS = float(np.finfo(np.float64).eps)
PRECISIONS = ["fast", "accurate", "exact"]
MEANS = [0.0, 1.0, -3.5, 1e8, -1e8, 123456789.0]

lawful = settings(deadline=None, max_examples=40)


def rounding(rows: int) -> float:
    """Error of a scatter, in units of sqrt(S_jj S_kk).

    A sum of n products is off by at most n eps of the sum of their sizes, which is at most
    sqrt(G_jj G_kk) with G taken about the shift; on the grid of doubles G is at most twice S, and
    G and the correction of the mean each count it once or twice.
    """
    return 8 * (rows + 8) * EPS


@st.composite
def tables(draw, columns=None, max_rows=20):
    """Rows about a mean of up to 1e8, each column on a scale of its own."""
    p = draw(st.integers(1, 4)) if columns is None else columns
    n = draw(st.integers(1, max_rows))
    units = draw(hnp.arrays(np.float64, (n, p), elements=st.floats(-1, 1, width=32)))
    means = draw(hnp.arrays(np.float64, p, elements=st.sampled_from(MEANS)))
    scales = 10.0 ** draw(hnp.arrays(np.int64, p, elements=st.integers(-9, 9)))
    return means + scales * units


@st.composite
def several(draw, count):
    """Several tables of the same columns, each with means and scales of its own."""
    p = draw(st.integers(1, 4))
    return [draw(tables(columns=p)) for _ in range(count)]


@st.composite
def maps(draw, rows, columns):
    """Return a matrix and a shift of small integers, which products and sums keep exact."""
    small = st.integers(-3, 3)
    matrix = draw(hnp.arrays(np.int64, (rows, columns), elements=small))
    return matrix.astype(float), draw(hnp.arrays(np.int64, rows, elements=small)).astype(float)


def names_of(p):
    return [f"c{j}" for j in range(p)]


def moments_of(rows, weights=None):
    return Moments.of_rows(names_of(rows.shape[1]), rows, weights)


def full_mean(moments):
    return [fraction(m) + fraction(t) for m, t in zip(moments.mean, moments.mean_tail, strict=True)]


def scatter_of(moments):
    return moments.scatter_between(moments.names, moments.names)


def assert_exact_within(moments: Moments, exact: ExactMoments, tolerance: float) -> None:
    """Compare with the oracle: scatter per sqrt(S_jj S_kk), means per standard deviation."""
    assert moments.weight == pytest.approx(float(exact.weight), rel=tolerance)
    S, p = scatter_of(moments), len(moments.names)
    for j in range(p):
        # The squares keep this comparison in exact arithmetic, where nothing underflows.
        error = full_mean(moments)[j] - exact.mean[j]
        room = Fraction(tolerance) ** 2 * exact.scatter[j][j] / exact.weight
        assert error**2 <= room + (Fraction(8 * EPS**2) * exact.mean[j]) ** 2
        assert abs(fraction(moments.mean[j]) - full_mean(moments)[j]) <= EPS * abs(exact.mean[j])
        for k in range(p):
            error = fraction(S[j, k]) - exact.scatter[j][k]
            room = Fraction(tolerance) ** 2 * exact.scatter[j][j] * exact.scatter[k][k]
            assert error**2 <= room


def assert_same_within(a: Moments, b: Moments, tolerance: float, sizes=None) -> None:
    """Compare two moments, per standard deviation, or per what went into each column."""
    assert a.names == b.names
    assert a.rows == b.rows
    assert a.weight == pytest.approx(b.weight, rel=tolerance)
    S, T = scatter_of(a), scatter_of(b)
    if sizes is None:
        sizes = np.sqrt(np.maximum(S.diagonal(), T.diagonal()))
    assert (np.abs(S - T) <= tolerance * np.outer(sizes, sizes)).all()
    for j, (m, n) in enumerate(zip(full_mean(a), full_mean(b), strict=True)):
        room = tolerance * sizes[j] / np.sqrt(a.weight) if a.weight else 0.0
        assert abs(m - n) <= Fraction(room) + Fraction(8 * EPS**2) * abs(n)


def assert_identical(a: Moments, b: Moments) -> None:
    assert (a.names, a.rows, a.weight) == (b.names, b.rows, b.weight)
    for left, right in (
        (a.mean, b.mean),
        (a.mean_tail, b.mean_tail),
        (scatter_of(a), scatter_of(b)),
        (a.low, b.low),
        (a.high, b.high),
    ):
        assert_array_equal(left, right)


def sizes_of_map(matrix, shift, moments):
    """Return what goes into each new column: deviations, and the last digits held of the means."""
    deviations = np.sqrt(scatter_of(moments).diagonal())
    means = np.abs(matrix) @ np.abs(moments.mean) + np.abs(shift)
    return np.abs(matrix) @ deviations + 8 * EPS * np.sqrt(moments.weight) * means


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


class TestTotal:
    """The rows of many tables, stacked at once."""

    @pytest.fixture(params=PRECISIONS)
    def read(self, request):
        return partial(Moments.of_rows, precision=request.param)

    @pytest.mark.parametrize("precision", PRECISIONS)
    @lawful
    @given(st.integers(1, 5).flatmap(several), st.data())
    def test_a_total_is_the_moments_of_all_rows(self, precision, parts, data):
        weight = st.floats(-6, 6).map(lambda exponent: 10.0**exponent)
        weights = [data.draw(hnp.arrays(np.float64, len(z), elements=weight)) for z in parts]
        names = names_of(parts[0].shape[1])
        total = Moments.total(
            names,
            (
                Moments.of_rows(names, z, w, precision=precision)
                for z, w in zip(parts, weights, strict=True)
            ),
        )
        rows = np.concatenate(parts)
        assert (total.rows, total.precision) == (len(rows), precision)
        exact = exact_moments(rows, np.concatenate(weights))
        assert_exact_within(total, exact, rounding(len(rows)))
        assert_array_equal(total.low, rows.min(axis=0))
        assert_array_equal(total.high, rows.max(axis=0))

    @pytest.mark.parametrize("precision", PRECISIONS)
    @lawful
    @given(st.integers(2, 5).flatmap(several))
    def test_a_total_is_the_sum(self, precision, parts):
        names = names_of(parts[0].shape[1])
        tables = [Moments.of_rows(names, z, precision=precision) for z in parts]
        total, tolerance = Moments.total(names, tables), 2 * rounding(sum(map(len, parts)))
        assert_same_within(total, sum(tables, start=Moments.empty(names)), tolerance)

    @lawful
    @given(several(1))
    def test_the_total_of_one_table_is_that_table(self, parts):
        names = names_of(parts[0].shape[1])
        for precision in PRECISIONS:
            table = Moments.of_rows(names, parts[0], precision=precision)
            assert_identical(Moments.total(names, [table]), table)
            assert Moments.total(names, [table]).precision == precision

    @lawful
    @given(several(3))
    def test_tables_without_rows_change_no_bit(self, parts):
        names = names_of(parts[0].shape[1])
        tables, nothing = [moments_of(z) for z in parts], Moments.empty(names)
        a, b, c = tables
        with_nothing = Moments.total(names, [nothing, a, b, nothing, nothing, c, nothing])
        assert_identical(with_nothing, Moments.total(names, tables))

    def test_the_total_of_no_tables_has_no_rows(self):
        assert_identical(Moments.total(["a", "b"], []), Moments.empty(["a", "b"]))
        nothing = [Moments.empty(["a", "b"])] * 3
        assert_identical(Moments.total(["a", "b"], nothing), Moments.empty(["a", "b"]))

    def test_rows_of_weight_zero_are_counted_as_in_a_sum(self, read):
        table, light = read(["a"], [[1.0], [2.0]]), replace(Moments.empty(["a"]), rows=3)
        assert Moments.total(["a"], [light, table, light]).rows == (light + table + light).rows == 8

    @pytest.mark.parametrize("value", [0.1, 1e8 + 1 / 3, -1e-9, 7e120])
    def test_constant_columns_stay_exact(self, read, value):
        rng, names = np.random.default_rng(9), ["c0", "c1"]
        tables = [
            read(names, np.column_stack((np.full(k, value), rng.normal(size=k))))
            for k in range(1, 20)
        ]
        total = Moments.total(names, (0.3 * table for table in tables))
        assert not total.scatter_between(["c0"], ["c0", "c1"]).any()
        assert total.mean_of("c0") == value
        assert total.is_constant("c0")

    @pytest.mark.parametrize("scales", [(1e-200, 1.0), (1e250, 1e-300), (1e160, 1e290)])
    def test_squares_beyond_the_range_of_doubles_are_held_in_units(self, read, scales):
        rng = np.random.default_rng(10)
        parts = [rng.normal(size=(4, 2)) * scales * [1.0, 10.0**-k] for k in range(9)]
        total = Moments.total(names_of(2), [read(names_of(2), z) for z in parts])
        exact = exact_moments(np.concatenate(parts))
        units = [Fraction(2) ** int(u) for u in total.units]
        assert total.units.any()
        for j in range(2):
            for k in range(2):
                held = fraction(scatter_of(total)[j, k]) * units[j] * units[k]
                room = Fraction(rounding(0)) ** 2 * exact.scatter[j][j] * exact.scatter[k][k]
                assert (held - exact.scatter[j][k]) ** 2 <= room

    @pytest.mark.parametrize("order", list(permutations(PRECISIONS)))
    def test_the_poorest_table_decides_about_the_digits(self, order):
        rng, names = np.random.default_rng(11), names_of(2)
        parts = [1e8 + rng.normal(size=(5, 2)) for _ in range(7)]
        kinds = [order[k % 3] for k in range(len(parts))]
        tables = [
            Moments.of_rows(names, z, precision=kind) for z, kind in zip(parts, kinds, strict=True)
        ]
        total, exact = Moments.total(names, tables), exact_moments(np.concatenate(parts))
        assert total.precision == "fast"
        assert_exact_within(total, exact, rounding(35))
        better = [table for table in tables if table.precision != "fast"]
        assert Moments.total(names, better).precision == "accurate"

    def test_tables_of_other_columns_are_named_by_their_place(self):
        a, b = Moments.empty(["y", "age"]), Moments.empty(["y", "bmi"])
        message = r"add table 3 of a total to .*: only the left has \['age'\], only the right has"
        with pytest.raises(ColumnMismatch, match=message):
            Moments.total(["y", "age"], [a, a, b])
        with pytest.raises(
            ColumnMismatch, match=r"add table 1 of a total to .*: the left has the order"
        ):
            Moments.total(["age", "y"], [a])

    def test_the_tables_are_left_as_they_were(self, read):
        rng = np.random.default_rng(12)
        rows = [rng.normal(size=(3, 2)) for _ in range(5)]
        tables = [read(names_of(2), z) for z in rows]
        Moments.total(names_of(2), tables)
        for table, z in zip(tables, rows, strict=True):
            assert_identical(table, read(names_of(2), z))


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


class TestRangeAndConstants:
    @lawful
    @given(several(2))
    def test_low_and_high_are_the_least_and_the_greatest_value_exactly(self, parts):
        rows = np.concatenate(parts)
        for moments in (moments_of(rows), moments_of(parts[0]) + moments_of(parts[1])):
            assert_array_equal(moments.low, rows.min(axis=0))
            assert_array_equal(moments.high, rows.max(axis=0))

    def test_low_and_high_are_exact_over_many_chunks(self):
        rows = np.random.default_rng(6).normal(size=(3 * CHUNK + 1, 3)) + 1e8
        assert_array_equal(moments_of(rows).low, rows.min(axis=0))
        assert_array_equal(moments_of(rows).high, rows.max(axis=0))

    @lawful
    @given(
        st.floats(-1e9, 1e9),
        st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=20),  # squares that do not vanish
        st.booleans(),
    )
    def test_constant_columns_have_exactly_no_scatter(self, value, others, weighted):
        rows = np.column_stack((np.full(len(others), value), others))
        weights = np.linspace(0.1, 3.0, len(rows)) if weighted else None
        moments = moments_of(rows, weights)
        assert not moments.scatter_between(["c0"], ["c0", "c1"]).any()
        assert moments.mean_of("c0") == value
        assert moments.is_constant("c0")
        assert moments.deviation_of("c0") == 0.0

    @pytest.mark.parametrize("value", [0.1, 1e8 + 1 / 3, -1e-9, 7e120])
    def test_constant_columns_stay_exact_over_chunks_and_sums(self, value):
        rows = np.random.default_rng(7).normal(size=(2 * CHUNK + 3, 2))
        rows[CHUNK:, 1] += 1e6  # a drift beside it starts a new shift
        rows[:, 0] = value
        moments = moments_of(rows[:9]) + moments_of(rows) + 0.3 * moments_of(rows)
        assert not moments.scatter_between(["c0"], ["c0", "c1"]).any()
        assert moments.mean_of("c0") == value

    def test_one_row_has_exactly_no_scatter(self):
        moments = moments_of(np.array([[0.1, 1e8 / 3]]), [0.7])
        assert not scatter_of(moments).any()
        assert_array_equal(moments.mean, [0.1, 1e8 / 3])

    def test_a_column_that_varies_is_not_constant(self):
        moments = moments_of(np.array([[1e8], [np.nextafter(1e8, 2e8)]]))
        assert not moments.is_constant("c0")
        assert moments.deviation_of("c0") > 0.0

    def test_the_deviation_divides_by_the_weight(self):
        moments = moments_of(np.array([[1.0], [3.0]]), [3.0, 1.0])
        assert moments.deviation_of("c0") == pytest.approx(np.sqrt(3.0) / 2)
        assert Moments.empty(["a"]).deviation_of("a") == 0.0

    def test_moments_about_zero_are_the_raw_ones(self):
        rows = np.array([[1.0, 2.0], [3.0, 5.0]])
        raw = moments_of(rows, [2.0, 1.0]).about_zero().between(range(2), range(2))
        np.testing.assert_allclose(raw, [[11.0, 19.0], [19.0, 33.0]], rtol=4 * EPS)


class TestImmutability:
    def test_fields_cannot_be_set(self):
        moments = moments_of(np.ones((2, 1)))
        for field in fields(moments):
            with pytest.raises(FrozenInstanceError):
                setattr(moments, field.name, None)

    @pytest.mark.parametrize(
        "made",
        [
            moments_of,
            lambda z: moments_of(z) + moments_of(z),
            lambda z: Moments.total(["c0", "c1"], [moments_of(z), moments_of(z)]),
            lambda z: 2.0 * moments_of(z),
            lambda z: moments_of(z).select(["c1"]),
            lambda z: moments_of(z).fill({"new": 1.0}),
            lambda z: Moments.empty(["a"]),
            lambda z: pickle.loads(pickle.dumps(moments_of(z))),
            lambda z: copy.deepcopy(moments_of(z)),
        ],
        ids=["rows", "add", "total", "weigh", "select", "fill", "empty", "pickle", "deepcopy"],
    )
    def test_arrays_cannot_be_written_to(self, made):
        moments = made(np.arange(6.0).reshape(3, 2))
        held = moments.scatter.diagonal()
        for array in (moments.mean, moments.mean_tail, moments.low, moments.high, held):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0.0

    def test_what_is_given_is_neither_changed_nor_locked(self):
        rows, weights = np.arange(6.0).reshape(3, 2), np.array([1.0, 2.0, 3.0])
        matrix, shift = np.eye(2), np.ones(2)
        moments_of(rows, weights).affine(["u", "v"], matrix, shift)
        for array, before in (
            (rows, np.arange(6.0).reshape(3, 2)),
            (weights, [1.0, 2.0, 3.0]),
            (matrix, np.eye(2)),
            (shift, [1.0, 1.0]),
        ):
            assert_array_equal(array, before)
            array[...] = 0.0

    @lawful
    @given(tables())
    def test_pickling_keeps_every_bit(self, rows):
        moments = moments_of(rows)
        assert_identical(pickle.loads(pickle.dumps(moments)), moments)
        assert_identical(copy.deepcopy(moments), moments)

    def test_the_name_shows_rows_weight_and_columns(self):
        moments = 0.5 * Moments.of_rows(["a", "b"], np.ones((1200, 2)))
        assert repr(moments) == "Moments(1,200 rows, weight 600, columns ['a', 'b'])"


class TestBadInput:
    @pytest.mark.parametrize("first", [0, 10, CHUNK])
    def test_what_is_not_finite_is_counted_by_column_over_all_rows(self, first):
        rows = np.ones((2 * CHUNK + 50, 3))
        rows[first, 0] = np.nan
        rows[first + 1, 0] = np.inf
        rows[-1, 0] = -np.inf
        rows[-3:, 2] = np.nan
        with pytest.raises(NotFinite) as caught:
            Moments.of_rows(["age", "income", "bmi"], rows)
        assert caught.value.counts == {"age": 3, "bmi": 3}
        assert caught.value.rows == len(rows)
        message = str(caught.value)
        assert (
            f"Input contains NaN or infinity: {{'age': 3, 'bmi': 3}} of {len(rows):,} rows."
            in message
        )
        assert "Drop or impute these rows" in message

    def test_counts_run_over_all_blocks(self):
        bad, good = np.full((2, 1), np.nan), np.ones((3, 1))
        with pytest.raises(NotFinite, match=r"\{'a': 4\} of 7 rows"):
            Moments.of_blocks(["a"], [((bad,), None), ((good,), None), ((bad,), None)])

    @pytest.mark.parametrize("precision", PRECISIONS)
    @pytest.mark.parametrize("column", [[1.7e308, -1.7e308], [1.0, -1.001e300]])
    def test_numbers_beyond_1e300_are_refused_by_name(self, column, precision):
        rows = np.column_stack(([1.0, 2.0], column))
        message = r"Numbers in \['huge'\] are beyond 1e\+300 in size.*Divide these columns"
        with pytest.raises(TooLarge, match=message):
            Moments.of_rows(["small", "huge"], rows, precision=precision)

    @pytest.mark.parametrize("precision", PRECISIONS)
    @pytest.mark.parametrize("column", [[1e200, -1e200], [1e160, 3e160], [1e280, -1e300]])
    def test_squares_beyond_the_range_of_doubles_are_held_in_units(self, column, precision):
        rows = np.column_stack(([1.0, 2.0], column))
        moments = Moments.of_rows(["small", "huge"], rows, [1e20, 1e20], precision=precision)
        exact = exact_moments(rows, [1e20, 1e20])
        unit = Fraction(2) ** int(moments.units[1])
        assert np.isfinite(scatter_of(moments)).all()
        for j, k, factor in ((0, 0, 1), (0, 1, unit), (1, 1, unit**2)):
            held = fraction(scatter_of(moments)[j, k]) * factor
            room = Fraction(8 * EPS) ** 2 * exact.scatter[j][j] * exact.scatter[k][k]
            assert (held - exact.scatter[j][k]) ** 2 <= room

    def test_a_hole_is_named_before_a_large_number(self):
        with pytest.raises(NotFinite, match=r"\{'a': 1\}"):
            Moments.of_rows(["a"], [[1e305], [np.nan]])

    @pytest.mark.parametrize(
        ("weights", "message"),
        [
            (np.ones(99), r"Weights have shape \(99,\) for 100 rows\. Give one finite"),
            (np.ones((100, 1)), r"Weights have shape \(100, 1\) for 100 rows"),
            (np.r_[-1.0, -2.0, np.ones(98)], r"2 weights are negative, least -2\. Give one"),
            (np.r_[np.nan, np.inf, np.ones(98)], r"2 weights are NaN or infinite\. Give one"),
            (np.full(100, 1e300), r"The largest weight, 1e\+300, is above 1e\+100\. Give one"),
            (np.full(100, 1e-101), r"A weight, 1e-101, is below 1e-100 and not zero\. Give one"),
            (["heavy"] * 100, r"Weights are not numbers \(could not convert string"),
        ],
    )
    def test_bad_weights_say_what_is_wrong_with_them(self, weights, message):
        with pytest.raises(BadWeights, match=message):
            Moments.of_rows(["a"], np.ones((100, 1)), weights)

    @pytest.mark.parametrize("factor", [-1.0, np.nan, np.inf])
    def test_rows_cannot_be_weighed_by_what_is_no_weight(self, factor):
        with pytest.raises(BadWeights, match=rf"Rows cannot be weighed by {factor}"):
            factor * moments_of(np.ones((2, 1)))

    def test_tables_of_other_columns_cannot_be_added(self):
        left, right = Moments.empty(["y", "age"]), Moments.empty(["y", "bmi"])
        message = (
            r"only the left has \['age'\], only the right has \['bmi'\]\. "
            r"Use \.select\(names\) on both sides"
        )
        with pytest.raises(ColumnMismatch, match=message):
            left + right

    def test_tables_of_another_order_cannot_be_added(self):
        message = r"the left has the order \['a', 'b'\], the right \['b', 'a'\]\. Use \.select"
        with pytest.raises(ColumnMismatch, match=message):
            Moments.empty(["a", "b"]) + Moments.empty(["b", "a"])

    @pytest.mark.parametrize(
        ("parts", "shapes"),
        [
            ((np.ones((3, 3)),), r"\[\(3, 3\)\]"),
            ((np.ones(3), np.ones(2)), r"\[\(3, 1\), \(2, 1\)\]"),
            ((np.ones((3, 2, 1)),), r"\[\(3, 2, 1\)\]"),
            ((5.0,), r"\[\(\)\]"),
        ],
    )
    def test_arrays_that_do_not_fit_their_names_show_their_shapes(self, parts, shapes):
        with pytest.raises(
            ShapeMismatch, match=rf"2 columns were named, .* shapes {shapes}\. Give"
        ):
            Moments.of_blocks(["a", "b"], [(parts, None)])

    def test_a_column_that_is_not_there_comes_with_a_hint(self):
        moments = Moments.empty(["age", "income", "region"])
        message = (
            r"No column named \['incom'\]\. The table has \['age', 'income', 'region'\]\. "
            r"Did you mean \['income'\]\?"
        )
        with pytest.raises(MissingColumns, match=message):
            moments.select(["incom"])
        with pytest.raises(MissingColumns, match=r"No column named \['zzz'\]"):
            moments.mean_of("zzz")

    @pytest.mark.parametrize(
        "made",
        [
            lambda: Moments.of_rows(["a", "a", "b"], np.ones((2, 3))),
            lambda: Moments.empty(["a", "b"]).select(["a", "a"]),
            lambda: moments_of(np.ones((2, 1))).affine(["a", "a"], np.ones((2, 1)), np.zeros(2)),
        ],
        ids=["rows", "select", "affine"],
    )
    def test_two_columns_of_one_name_are_refused(self, made):
        with pytest.raises(
            DuplicateColumns, match=r"more than one column named \['a'\]\. .*rename"
        ):
            made()
