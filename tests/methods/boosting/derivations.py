"""Columns derived from made-up tables, and what it is to have the same numbers."""

from functools import cache

import numpy as np
from numpy.testing import assert_allclose

from poolwise.methods.boosting.derivation import derive
from tests.laws.problems import Table, Tables

SEED = 5
ALL_ROWS = 10**9


def drawn(rng, rows, has, weighted=False):
    """Return a table of a truth with a bend, a product and a step in the last column."""
    X = rng.uniform(-2.0, 2.0, size=(rows, 4))
    y = np.sin(2.0 * X[:, 0]) + X[:, 0] * X[:, 1] + X[:, 2] + (X[:, 3] > 0.0)
    y = y + 0.1 * rng.normal(size=rows)
    names = tuple(f"x{j}" for j in has)
    weights = rng.integers(1, 4, rows).astype(float) if weighted else None
    return Table(names, X[:, list(has)], y, weights)


@cache
def tables(kind="one"):
    rng = np.random.default_rng(3)
    target = drawn(rng, 27, (0, 1, 2, 3), weighted=kind == "weights")
    if kind in ("one", "weights"):
        return Tables(target, {"old": drawn(rng, 83, (0, 1, 2), weighted=kind == "weights")})
    return Tables(
        target,
        {
            "old": drawn(rng, 60, (0, 1)),
            "older": drawn(rng, 40, (0, 1)),
            "wide": drawn(rng, 70, (0, 1, 2)),
        },
    )


@cache
def derivation(kind="one"):
    return derive(tables(kind).problem(), seed=SEED, most_rows=ALL_ROWS)


def assert_same_numbers(a, b):
    assert (a.names, a.rows, a.weight) == (b.names, b.rows, b.weight)
    assert_allclose(a.mean, b.mean, rtol=1e-9)
    names = a.names
    assert_allclose(a.scatter_between(names, names), b.scatter_between(names, names), rtol=1e-7)
    assert_allclose(a.low, b.low, rtol=1e-9)
    assert_allclose(a.high, b.high, rtol=1e-9)
