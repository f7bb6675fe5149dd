"""What every method promises about units, zero points and the origin."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.laws.methods import CLOSE, DEPENDS_ON_UNITS, NEEDS_MANY_ROWS, SHRINKS, methods_but, size
from tests.laws.problems import KINDS, Tables, random_tables, tables_of
from tests.linear_methods import LINEAR_METHODS


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("method", "kind"), methods_but(DEPENDS_ON_UNITS, KINDS))
def test_units_of_features_do_not_matter(method, kind, intercept):
    tables = tables_of(kind, seed=3)
    scales = dict(zip(tables.target.names, (1e9, 3e-9, 7.0, 1e-5, 2e4), strict=False))
    assert_equivariant(method, tables, scales, {}, intercept=intercept)


@pytest.mark.parametrize(("method", "kind"), methods_but(DEPENDS_ON_UNITS, KINDS))
def test_zero_points_of_features_do_not_matter(method, kind):
    tables = tables_of(kind, seed=4)
    shifts = dict(zip(tables.target.names, (1e6, -1e6, 3e5, 273.0, 1e6), strict=False))
    assert_equivariant(method, tables, {}, shifts)


@pytest.mark.parametrize("name", sorted(LINEAR_METHODS.keys() - DEPENDS_ON_UNITS - NEEDS_MANY_ROWS))
def test_units_do_not_matter_where_the_data_determine_too_little(name):
    few = random_tables(5, target_rows=3, sources={"old": (9, (0, 1))})
    scales = dict(zip(few.target.names, (3.0, 0.7, 1e9, 1e-9), strict=True))
    assert_equivariant(LINEAR_METHODS[name](), few, scales, {})


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_units_of_the_response_do_not_matter(method, tables, scale):
    changed = tables.each(lambda table: replace(table, y=scale * (table.y + 2.0**20)))
    a, b = method.solve(changed.problem()), method.solve(tables.problem())
    assert_allclose(a.coef / scale, b.coef, rtol=0, atol=CLOSE * size(b.coef))
    X = tables.target.X
    spread = np.ptp(tables.target.y)
    assert_allclose(a.predict(X) / scale - 2.0**20, b.predict(X), rtol=0, atol=CLOSE * spread)
    if b.noise is not None:
        assert_allclose(a.noise / scale**2, b.noise, rtol=CLOSE)
    for name, weight in b.weights.items():
        assert_allclose(a.weights[name], weight, rtol=CLOSE)


def test_without_intercept_the_line_goes_through_the_origin(method, tables):
    fit = method.solve(tables.problem(intercept=False))
    assert fit.predict(np.zeros((1, len(fit.names))))[0] == 0.0
    assert fit.intercept == 0.0
    with_intercept = method.solve(tables.problem())
    assert not np.allclose(fit.coef, with_intercept.coef, rtol=1e-3)


@pytest.mark.parametrize(("method", "kind"), methods_but(SHRINKS, KINDS))
def test_without_intercept_and_sources_it_is_least_squares_through_the_origin(method, kind):
    t = tables_of(kind, seed=2).target
    root = np.sqrt(t.w)
    expected = np.linalg.lstsq(t.X * root[:, None], t.y * root, rcond=None)[0]
    fit = method.solve(Tables(t).problem(intercept=False))
    assert_allclose(fit.coef, expected, rtol=0, atol=CLOSE * size(expected))


def assert_equivariant(method, tables, scales, shifts, *, intercept=True):
    """Check that new units (x + shift) * scale change the coefficients and no prediction."""

    def changed(table):
        scale = np.array([scales.get(n, 1.0) for n in table.names])
        shift = np.array([shifts.get(n, 0.0) for n in table.names])
        return replace(table, X=(table.X + shift) * scale)

    new = tables.each(changed)
    a = method.solve(new.problem(intercept=intercept))
    b = method.solve(tables.problem(intercept=intercept))
    scale = np.array([scales.get(n, 1.0) for n in b.names])
    assert_allclose(a.coef * scale, b.coef, rtol=0, atol=CLOSE * size(b.coef))
    assert_allclose(
        a.predict(new.target.X),
        b.predict(tables.target.X),
        rtol=0,
        atol=CLOSE * np.ptp(tables.target.y),
    )
