"""Columns that nearly depend on each other, what solves them, and their exact scatter."""

import numpy as np
import pytest

from poolwise import Moments
from poolwise.linear.regress import solve_named
from tests.laws.exact import exact_moments, fraction


def near_copies(seed, size, rows=20):
    """Integers: two columns that differ in their last digits, and one more."""
    rng = np.random.default_rng(seed)
    a = size * rng.integers(1, 10, rows)
    small = rng.integers(-3, 4, (2, rows))
    return np.column_stack((a + small[0], a + small[1], rng.integers(-9, 10, rows))).astype(float)


def read(X, y, precision):
    rows = np.column_stack((X, y))
    return Moments.of_rows([f"c{j}" for j in range(rows.shape[1])], rows, precision=precision)


def solution_of(moments, *, intercept=True, ridge=0.0):
    *features, response = moments.names
    return solve_named(moments, features, [response], intercept=intercept, ridge=ridge)


def exact_scatter(rows, *, intercept=True):
    if intercept:
        return exact_moments(rows).scatter
    columns = [[fraction(v) for v in column] for column in zip(*rows, strict=True)]
    return [[sum(a * b for a, b in zip(u, v, strict=True)) for v in columns] for u in columns]


def condition(X, *, intercept=True):
    Z = X - X.mean(axis=0) if intercept else X
    values = np.linalg.svd(Z / np.linalg.norm(Z, axis=0), compute_uv=False)
    return values[0] / values[-1]


PRECISIONS = ["accurate", "exact"]
both_models = pytest.mark.parametrize("intercept", [True, False])
rich = pytest.mark.parametrize("precision", PRECISIONS)
