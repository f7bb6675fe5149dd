"""What moments promise beside their arithmetic: ranges, no change, no bad input."""

import copy
import pickle
from dataclasses import FrozenInstanceError, fields
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from poolwise import Moments
from poolwise.errors import BadColumns, BadTable, BadWeights, NotFinite, OutOfRange
from poolwise.numerics.chunks import CHUNK
from tests.laws.exact import exact_moments, fraction
from tests.laws.tables import (
    EPS,
    PRECISIONS,
    assert_identical,
    lawful,
    moments_of,
    scatter_of,
    several,
    tables,
)


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
        st.just(0.0) | st.floats(1e-75, 1e9) | st.floats(-1e9, -1e-75),
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

    @pytest.mark.parametrize("value", [0.1, 1e8 + 1 / 3, -1e-9, 7e60])
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
        assert caught.value.about["counts"] == {"age": 3, "bmi": 3}
        assert caught.value.about["rows"] == len(rows)
        message = str(caught.value)
        assert (
            f"Input contains NaN or infinity: 'age' in 3, 'bmi' in 3 of {len(rows):,} rows."
            in message
        )
        assert "Drop or impute these rows" in message

    def test_counts_run_over_all_blocks(self):
        bad, good = np.full((2, 1), np.nan), np.ones((3, 1))
        with pytest.raises(NotFinite, match=r"'a' in 4 of 7 rows"):
            Moments.of_blocks(["a"], [((bad,), None), ((good,), None), ((bad,), None)])

    @pytest.mark.parametrize("precision", PRECISIONS)
    @pytest.mark.parametrize("column", [[1.7e308, -1.7e308], [1.0, -1.001e75], [0.0, 9e-76]])
    def test_columns_beyond_1e75_or_below_1e_75_are_refused_by_name(self, column, precision):
        rows = np.column_stack(([1.0, 2.0], column))
        message = r"numbers of 'huge' are above 1e\+75 or below 1e-75.*Multiply or divide these"
        with pytest.raises(OutOfRange, match=message):
            Moments.of_rows(["small", "huge"], rows, precision=precision)

    @pytest.mark.parametrize("precision", PRECISIONS)
    @pytest.mark.parametrize("column", [[1e60, -1e60], [1e74, 3e74], [1e-75, -1e-75]])
    def test_squares_of_large_and_small_numbers_are_within_the_range_of_doubles(
        self, column, precision
    ):
        rows = np.column_stack(([1.0, 2.0], column))
        moments = Moments.of_rows(["small", "huge"], rows, [1e20, 1e20], precision=precision)
        exact = exact_moments(rows, [1e20, 1e20])
        assert np.isfinite(scatter_of(moments)).all()
        for j, k in ((0, 0), (0, 1), (1, 1)):
            held = fraction(scatter_of(moments)[j, k])
            room = Fraction(8 * EPS) ** 2 * exact.scatter[j][j] * exact.scatter[k][k]
            assert (held - exact.scatter[j][k]) ** 2 <= room

    def test_a_hole_is_named_before_a_large_number(self):
        with pytest.raises(NotFinite, match=r"'a' in 1"):
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
            r"only the left has 'age', only the right has 'bmi'\. "
            r"Use \.select\(names\) on both sides"
        )
        with pytest.raises(BadColumns, match=message):
            left + right

    def test_tables_of_another_order_cannot_be_added(self):
        message = r"the left has the order 'a', 'b', the right 'b', 'a'\. Use \.select"
        with pytest.raises(BadColumns, match=message):
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
        with pytest.raises(BadTable, match=rf"2 columns were named, .* shapes {shapes}\. Give"):
            Moments.of_blocks(["a", "b"], [(parts, None)])

    def test_a_column_that_is_not_there_comes_with_a_hint(self):
        moments = Moments.empty(["age", "income", "region"])
        message = (
            r"No column named 'incom'\. The table has 'age', 'income', 'region'\. "
            r"Did you mean 'income'\?"
        )
        with pytest.raises(BadColumns, match=message):
            moments.select(["incom"])
        with pytest.raises(BadColumns, match=r"No column named 'zzz'"):
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
        with pytest.raises(BadColumns, match=r"more than one column named 'a'\. .*rename"):
            made()
