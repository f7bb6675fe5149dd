"""Data pooling on ill-conditioned problems, against exact rational arithmetic on integer data.

The condition is that of the columns of the design, each scaled to length one, in the 2-norm: the
larger one of the target's and the pool's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd
import pytest

from poolwise import PooledRegressor
from tests.laws.exact import ExactFit, exact_data_pooling, exact_least_squares

CLOSE = 1e-13
WORST = 1e10  # condition
# Exact sums are rounded to pairs once, and coefficients lose the square of the condition of them:
# thirteen digits are left up to a condition of 1e9.
OF_PAIRS = 1e-31
# An intercept is what is left of larger terms, and pairs keep this share of the largest.
OF_TERMS = 1e-23
# Accurate sums have some 29 digits, and coefficients lose the square of the condition of them.
OF_ACCURATE_SUMS = 1e-29
FAMILIES = ["near copies", "their difference", "year", "powers", "random", "apart"]
Columns = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Case:
    """A target and a source that has some of its columns, all of integers."""

    X: np.ndarray
    y: np.ndarray
    has: Columns
    X_old: np.ndarray
    y_old: np.ndarray


@dataclass(frozen=True, eq=False)
class Answer:
    """What data pooling and the target alone give without rounding, and the condition."""

    fits: dict[str, ExactFit]
    condition: float


def cut(X: np.ndarray, y: np.ndarray, has: Columns, target: slice | int) -> Case:
    """Make every second row, or the first ones, the target."""
    new = np.zeros(len(y), dtype=bool)
    new[target if isinstance(target, slice) else slice(target)] = True
    X, y = X.astype(float), y.astype(float)
    assert np.abs(X).max() <= 2**53
    return Case(X[new], y[new], has, X[~new][:, has], y[~new])


def near_copies(seed: int, size: int, has: Columns) -> Case:
    """Two columns that differ in their last digit or two."""
    rng = np.random.default_rng(seed)
    a = size * rng.integers(1, 10, 60)
    X = np.column_stack(
        [a + rng.integers(-3, 4, 60) for _ in range(2)] + [rng.integers(-9, 10, 60)]
    )
    return cut(X, X @ [2, -1, 3] + rng.integers(-9, 10, 60), has, 20)


def their_difference(seed: int, size: int, times: int) -> Case:
    """Two columns whose small difference explains nearly all: large terms, little noise."""
    rng = np.random.default_rng(seed)
    a, e, z = size * rng.integers(1, 10, 60), rng.integers(-3, 4, 60), rng.integers(-9, 10, 60)
    y = times * e + 3 * z + rng.integers(-10, 11, 60)
    return cut(np.column_stack((a, a + e, z)), y, (0, 2), 20)


def year(seed: int, base: int, has: Columns) -> Case:
    """A column whose mean is far above its spread."""
    rng = np.random.default_rng(seed)
    X = np.column_stack((base + rng.integers(0, 20, 40), rng.integers(0, 9, 40)))
    return cut(X, 3 * (X[:, 0] - base) + rng.integers(-9, 10, 40), has, 15)


def powers(seed: int, degree: int, unseen: int) -> Case:
    """Powers of the numbers from 1 to 20."""
    rng, x = np.random.default_rng(seed), np.arange(1, 21).repeat(2)
    X = np.column_stack([x**k for k in range(1, degree + 1)])
    y = 3 * x + rng.integers(-99, 100, 40)
    return cut(X, y, tuple(j for j in range(degree) if j != unseen), slice(None, None, 2))


def random(seed: int, columns: int, has: Columns) -> Case:
    rng = np.random.default_rng(seed)
    X = rng.integers(-99, 100, (50, columns))
    return cut(X, X.sum(axis=1) + rng.integers(-99, 100, 50), has, 15)


def apart(seed: int, distance: int, has: Columns) -> Case:
    """A source far from the target: neither has near copies, but both together do."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-9, 10, (60, 3))
    X[20:, :2] += distance
    return cut(X, X @ [2, -1, 3] + rng.integers(-9, 10, 60), has, 20)


MAKERS = {
    "near copies": near_copies,
    "their difference": their_difference,
    "year": year,
    "powers": powers,
    "random": random,
    "apart": apart,
}
PARAMETERS = {
    "near copies": [
        *((k, 10**k, (0, 1 + k % 2)) for k in range(9)),
        *((seed, 10**9, has) for seed in (20, 21, 22) for has in ((0, 2), (0, 1))),
        *((seed, 14 * 10**8, (0, 2)) for seed in (23, 25)),
    ],
    "their difference": [(k, 10**k, 1000) for k in (2, 5, 8, 9)] + [(6, 10**9, 100)],
    "year": [(k, base, (k % 2,)) for k, base in enumerate([10, 2000, 10**5, 10**7, 10**9, 10**10])]
    + [(k, base, (1 - k % 2,)) for k, base in enumerate([2000, 10**6, 10**8, 10**10])],
    "powers": [(k, degree, k % degree) for k, degree in enumerate([2, 3, 5, 7, 9, 10, 12])],
    "random": [(0, 2, (0,)), (1, 4, (0, 1, 3)), (2, 6, (5, 1, 0)), (3, 5, (0, 1, 2, 3, 4))],
    "apart": [
        *((k, 10**k, (0, 1)) for k in (2, 5, 7, 9)),
        *((seed, 3 * 10**10 + 11, (0, 1, 2)) for seed in (7, 29)),
    ],
}


@cache
def case(family: str, index: int) -> Case:
    return MAKERS[family](*PARAMETERS[family][index])


@cache
def answer(family: str, index: int, intercept: bool) -> Answer:
    c = case(family, index)
    pooled, rows, weights = exact_data_pooling(
        c.X, c.y, [(c.has, c.X_old, c.y_old)], intercept=intercept
    )
    alone = exact_least_squares(c.X, c.y, intercept=intercept)
    assert alone is not None
    pool = np.array(rows, dtype=float) * np.sqrt(np.array(weights, dtype=float))[:, None]
    one = np.sqrt(np.array(weights, dtype=float))
    both = condition(c.X, np.ones(len(c.y)), intercept), condition(pool, one, intercept)
    return Answer({"data_pooling": pooled, "target_only": alone}, max(both))


def condition(X: np.ndarray, one: np.ndarray, intercept: bool) -> float:
    Z = np.column_stack((one, X)) if intercept else X
    values = np.linalg.svd(Z / np.linalg.norm(Z, axis=0), compute_uv=False)
    return float(values[0] / values[-1])


def cases() -> Iterator[tuple[str, int]]:
    for family in FAMILIES:
        for index in range(len(PARAMETERS[family])):
            yield family, index


def fitted(c: Case, method: str, precision: str, intercept: bool) -> PooledRegressor:
    names = [f"x{j}" for j in range(c.X.shape[1])]
    old = pd.DataFrame(c.X_old, columns=[names[j] for j in c.has])
    model = PooledRegressor(method, precision=precision, fit_intercept=intercept)
    return model.fit(pd.DataFrame(c.X, columns=names), c.y, sources=(old, c.y_old))


def error(found: float, exact: Fraction) -> float:
    return float(abs(Fraction(float(found)) - exact) / abs(exact)) if exact else abs(found)


def largest_term(fit: ExactFit, centre: np.ndarray) -> Fraction:
    return max(abs(b * Fraction(float(c))) for b, c in zip(fit.coef, centre, strict=True))


# Tables that are far apart look as if they had other units, and the user is told.
pytestmark = pytest.mark.filterwarnings("ignore::poolwise.errors.DataWarning")
every_case = pytest.mark.parametrize(("family", "index"), list(cases()))
both_models = pytest.mark.parametrize("intercept", [True, False])


@both_models
@every_case
def test_auto_and_exact_have_all_digits_that_pairs_leave(family, index, intercept):
    expected = answer(family, index, intercept)
    assert expected.condition <= WORST
    room = max(CLOSE, OF_PAIRS * expected.condition**2)
    for method, fit in expected.fits.items():
        for precision in ("auto", "exact"):
            model = fitted(case(family, index), method, precision, intercept)
            assert max(map(error, model.coef_, fit.coef)) < room
            left_of = largest_term(fit, model.fit_.centre) / abs(fit.intercept or 1)
            assert error(model.intercept_, fit.intercept) < max(room, OF_TERMS * left_of)


@both_models
@every_case
def test_accurate_has_all_digits_that_the_square_of_the_condition_leaves(family, index, intercept):
    if family == "their difference":
        pytest.skip("noise that is a small part of huge terms has fewer digits in two doubles")
    expected = answer(family, index, intercept)
    room = max(CLOSE, OF_ACCURATE_SUMS * expected.condition**2)
    if expected.condition <= 1e8:
        assert room == CLOSE
    for method, fit in expected.fits.items():
        model = fitted(case(family, index), method, "accurate", intercept)
        assert max(map(error, model.coef_, fit.coef)) < room


@pytest.mark.parametrize("family", ["near copies", "year", "powers", "apart"])
def test_the_families_reach_the_worst_condition_and_all_below(family):
    found = [answer(family, k, True).condition for k in range(len(PARAMETERS[family]))]
    assert min(found) < 100.0
    assert 1e9 <= max(found) <= WORST
    gaps = np.diff(np.log10(sorted(found)))
    assert gaps.max() <= 4.0


def test_some_intercepts_are_far_smaller_than_what_they_are_left_of():
    def left(family: str, index: int) -> float:
        fit, X = answer(family, index, True).fits["target_only"], case(family, index).X
        return float(abs(fit.intercept) / largest_term(fit, X.mean(axis=0)))

    assert min(left(*which) for which in cases()) < 1e-8
