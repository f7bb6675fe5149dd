"""What mapped moments promise: columns are mapped, selected and filled as rows would be."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from poolwise import Moments
from tests.laws.exact import exact_moments, fraction
from tests.laws.tables import (
    EPS,
    assert_identical,
    assert_same_within,
    full_mean,
    lawful,
    maps,
    moments_of,
    rounding,
    scatter_of,
    several,
    sizes_of_map,
    tables,
)


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
