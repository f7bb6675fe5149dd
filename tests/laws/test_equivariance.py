"""Accurate fits do not depend on units, zero points, order or cuts: to nine digits, or bits."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from poolwise import Moments
from poolwise.linear.problem import Problem
from tests.laws.methods import DEPENDS_ON_UNITS
from tests.laws.problems import KINDS, tables_of
from tests.linear_methods import LINEAR_METHODS

lawful = settings(deadline=None, max_examples=12)
NINE_DIGITS = 1e-9
# Its equations have a condition number near 1e7, and its exponentials are doubles.
ROUNDED = {"kernel_transfer": 1e-8}
# Scales of 1e-9 to 1e9; powers of two change no digit of shifted numbers.
SCALES = [2.0**k for k in (-30, -13, 0, 7, 30)]
SHIFTS = [0.0, 1e8, -1e8, 99_999_999.0]

every_method = pytest.mark.parametrize("name", LINEAR_METHODS)
every_kind = st.sampled_from(sorted(KINDS))


def methods_without_units():
    """Return every method; those with units in their definition are expected to fail."""
    return [
        pytest.param(
            name,
            marks=[
                pytest.mark.xfail(reason=DEPENDS_ON_UNITS[name], raises=AssertionError, strict=True)
            ]
            if name in DEPENDS_ON_UNITS
            else [],
        )
        for name in LINEAR_METHODS
    ]


def accurate(table):
    rows = np.column_stack((table.X, table.y))
    return Moments.of_rows((*table.names, "y"), rows, table.weights, precision="accurate")


def solved(name, tables, *, intercept=True, read=accurate):
    """Return the fit of a method, with moments read in one way or another."""
    sources = {n: read(s) for n, s in tables.sources.items()}
    target = read(tables.target)
    rows = tables.target, tables.sources
    return LINEAR_METHODS[name]().solve(Problem(target, sources, "y", intercept, *rows))


def assert_same_coefficients(name, coef, expected):
    rtol = ROUNDED.get(name, NINE_DIGITS)
    small = 1e-3 * np.abs(expected).max() * (name in ROUNDED)
    assert_allclose(coef, expected, rtol=rtol, atol=rtol * small)


def changed(tables, scales, shifts):
    """Return tables with the features (x + shift) * scale, by name."""

    def change(table):
        scale = np.array([scales[n] for n in table.names])
        shift = np.array([shifts[n] for n in table.names])
        return replace(table, X=(table.X + shift) * scale)

    return tables.each(change)


@st.composite
def units_of(draw, names, scales, shifts):
    each = st.fixed_dictionaries
    return (
        draw(each({n: st.sampled_from(scales) for n in names})),
        draw(each({n: st.sampled_from(shifts) for n in names})),
    )


def assert_equivariant(name, tables, scales, shifts, *, intercept=True):
    a = solved(name, changed(tables, scales, shifts), intercept=intercept)
    b = solved(name, tables, intercept=intercept)
    scale = np.array([scales[n] for n in b.names])
    assert_same_coefficients(name, a.coef * scale, b.coef)
    X = tables.target.X
    new = changed(tables, scales, shifts).target.X
    room = NINE_DIGITS * np.ptp(tables.target.y)
    assert_allclose(a.predict(new), b.predict(X), rtol=0, atol=room)


@pytest.mark.parametrize("name", sorted(LINEAR_METHODS.keys() - DEPENDS_ON_UNITS))
@lawful
@given(kind=every_kind, seed=st.integers(0, 99), data=st.data())
def test_neither_units_nor_zero_points_of_features_matter(name, kind, seed, data):
    tables = tables_of(kind, seed)
    scales, shifts = data.draw(units_of(tables.target.names, SCALES, SHIFTS))
    assert_equivariant(name, tables, scales, shifts)


@pytest.mark.parametrize("name", sorted(LINEAR_METHODS.keys() - DEPENDS_ON_UNITS))
def test_predictions_far_from_zero_have_all_digits(name):
    for seed in range(10):
        tables = tables_of("nested sources", seed)
        columns = tables.target.names
        far = changed(tables, dict.fromkeys(columns, 1.0), dict.fromkeys(columns, 1e8))
        a, b = solved(name, far), solved(name, tables)
        room = 1e-12 * np.ptp(tables.target.y)
        assert_allclose(a.predict(far.target.X), b.predict(tables.target.X), rtol=0, atol=room)


@pytest.mark.parametrize("name", methods_without_units())
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_units_that_are_no_powers_of_two_do_not_matter(name, scale, intercept):
    tables = tables_of("nested sources", seed=1)
    columns = tables.target.names
    for column in columns:
        scales = dict.fromkeys(columns, 1.0) | {column: scale}
        assert_equivariant(name, tables, scales, dict.fromkeys(columns, 0.0), intercept=intercept)


@pytest.mark.parametrize("name", methods_without_units())
@pytest.mark.parametrize("ends", [(1e-9, 1e9), (1e9, 1e-9)])
def test_columns_may_be_1e18_apart(name, ends):
    for kind in KINDS:
        tables = tables_of(kind, seed=2)
        columns = tables.target.names
        scales = dict(zip(columns, np.geomspace(*ends, len(columns)), strict=True))
        assert_equivariant(name, tables, scales, dict.fromkeys(columns, 0.0))


@every_method
@pytest.mark.parametrize("scale", [1e-9, 2.0**30])
def test_units_and_zero_point_of_the_response_do_not_matter(name, scale):
    for kind in KINDS:
        tables = tables_of(kind, seed=3)
        shift = 1e8 if scale > 1.0 else 0.0
        moved = tables.each(lambda table: replace(table, y=scale * (table.y + shift)))  # noqa: B023
        a, b = solved(name, moved), solved(name, tables)
        assert_same_coefficients(name, a.coef / scale, b.coef)
        level = a.level / scale - shift
        # The level itself, near 1e8, is a double.
        assert abs(level - b.level) <= NINE_DIGITS * abs(b.level) + 2 * np.spacing(shift)


@every_method
@lawful
@given(kind=every_kind, seed=st.integers(0, 99), data=st.data())
def test_the_order_of_rows_columns_and_sources_does_not_matter(name, kind, seed, data):
    tables = tables_of(kind, seed)
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    columns = data.draw(st.permutations(tables.target.names))
    shuffled = tables.each(
        lambda table: table.take(rng.permutation(len(table.y))).in_order(columns)
    )
    order = data.draw(st.permutations(sorted(tables.sources)))
    shuffled = replace(shuffled, sources={n: shuffled.sources[n] for n in order})
    a, b = solved(name, shuffled), solved(name, tables)
    assert a.names == tuple(columns)
    at = [a.names.index(n) for n in b.names]
    assert_same_coefficients(name, a.coef[at], b.coef)


@every_method
@lawful
@given(kind=every_kind, seed=st.integers(0, 99), far=st.booleans(), data=st.data())
def test_tables_cut_into_any_number_of_pieces_are_the_same(name, kind, seed, far, data):
    tables = tables_of(kind, seed)
    if far and name not in DEPENDS_ON_UNITS:  # and far from zero
        names = tables.target.names
        tables = changed(tables, dict.fromkeys(names, 1.0), dict.fromkeys(names, 1e8))

    def in_pieces(table):
        cuts = data.draw(st.lists(st.integers(0, len(table.y)), max_size=5).map(sorted))
        pieces = [accurate(table.take(i)) for i in np.split(np.arange(len(table.y)), cuts)]
        return sum(pieces, start=Moments.empty((*table.names, "y")))

    cut = solved(name, tables, read=in_pieces)
    assert_same_coefficients(name, cut.coef, solved(name, tables).coef)
