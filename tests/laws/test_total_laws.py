"""Moments.total is the sum of many tables, in less time."""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from poolwise import Moments
from poolwise.errors import BadColumns
from tests.laws.exact import exact_moments, fraction
from tests.laws.tables import (
    PRECISIONS,
    assert_exact_within,
    assert_identical,
    assert_same_within,
    lawful,
    moments_of,
    names_of,
    rounding,
    scatter_of,
    several,
)


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

    @pytest.mark.parametrize("value", [0.1, 1e8 + 1 / 3, -1e-9, 7e60])
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

    @pytest.mark.parametrize("scales", [(1e-60, 1.0), (1e60, 1e-60)])
    def test_large_and_small_columns_add_up(self, read, scales):
        rng = np.random.default_rng(10)
        parts = [rng.normal(size=(4, 2)) * scales * [1.0, 10.0**-k] for k in range(9)]
        total = Moments.total(names_of(2), [read(names_of(2), z) for z in parts])
        exact = exact_moments(np.concatenate(parts))
        for j in range(2):
            for k in range(2):
                held = fraction(scatter_of(total)[j, k])
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
        message = r"add table 3 of a total to .*: only the left has 'age', only the right has"
        with pytest.raises(BadColumns, match=message):
            Moments.total(["y", "age"], [a, a, b])
        with pytest.raises(
            BadColumns, match=r"add table 1 of a total to .*: the left has the order"
        ):
            Moments.total(["age", "y"], [a])

    def test_the_tables_are_left_as_they_were(self, read):
        rng = np.random.default_rng(12)
        rows = [rng.normal(size=(3, 2)) for _ in range(5)]
        tables = [read(names_of(2), z) for z in rows]
        Moments.total(names_of(2), tables)
        for table, z in zip(tables, rows, strict=True):
            assert_identical(table, read(names_of(2), z))
