"""The oracle: moments and least squares in exact rational arithmetic, written the slow way.

Every double is a rational number, so these are the values that the very numbers given have; they
have no rounding of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

Matrix = list[list[Fraction]]


@dataclass(frozen=True)
class ExactMoments:
    """Weight, mean and scatter of rows."""

    weight: Fraction
    mean: list[Fraction]
    scatter: Matrix


def exact_moments(
    rows: Sequence[Sequence[float]], weights: Sequence[float] | None = None
) -> ExactMoments:
    z = [[fraction(v) for v in row] for row in rows]
    w = [Fraction(1)] * len(z) if weights is None else [fraction(v) for v in weights]
    weight = sum(w, Fraction(0))
    columns = range(len(z[0]))
    mean = [sum(wi * row[j] for wi, row in zip(w, z, strict=True)) / weight for j in columns]
    steps = [[v - m for v, m in zip(row, mean, strict=True)] for row in z]
    scatter = [[Fraction(0)] * len(columns) for _ in columns]
    for j in columns:
        for k in range(j + 1):
            total = sum(wi * row[j] * row[k] for wi, row in zip(w, steps, strict=True))
            scatter[j][k] = scatter[k][j] = Fraction(total)
    return ExactMoments(weight, mean, scatter)


def exact_moments_of_many(
    rows: Sequence[Sequence[float]], weights: Sequence[float] | None = None
) -> ExactMoments:
    """Return the same for thousands of rows: each column in integers with one denominator."""
    columns = [_whole(column) for column in zip(*rows, strict=True)]
    w, below = _whole([1.0] * len(rows) if weights is None else weights)
    total = Fraction(int(w.sum()), below)
    sums = [Fraction(int(w @ v), below * d) for v, d in columns]
    held = list(zip(columns, sums, strict=True))
    scatter = [
        [Fraction(int((w * u) @ v), below * c * d) - s * t / total for (v, d), t in held]
        for (u, c), s in held
    ]
    return ExactMoments(total, [s / total for s in sums], scatter)


def _whole(values: Sequence[float]) -> tuple[np.ndarray, int]:
    """Return integers, and the power of two to divide them by."""
    ratios = [float(v).as_integer_ratio() for v in values]
    below = max(d for _, d in ratios)
    return np.array([n * (below // d) for n, d in ratios], dtype=object), below


@dataclass(frozen=True)
class ExactFit:
    """Coefficients, intercept and residual sum of squares."""

    coef: list[Fraction]
    intercept: Fraction
    residual: Fraction

    def at(self, x: Sequence[float]) -> Fraction:
        return self.intercept + sum(b * fraction(v) for b, v in zip(self.coef, x, strict=True))


def exact_least_squares(
    X: Sequence[Sequence[float]],
    y: Sequence[float],
    weights: Sequence[float] | None = None,
    *,
    intercept: bool = True,
    ridge: float = 0.0,
) -> ExactFit | None:
    """Return the minimiser of the weighted sum of squares, or None if it is not unique.

    The ridge is added to the diagonal of the centred normal equations (of the raw ones in a model
    without intercept), so the intercept is never shrunk.
    """
    rows = [[fraction(v) for v in (*x, t)] for x, t in zip(X, y, strict=True)]
    w = [Fraction(1)] * len(rows) if weights is None else [fraction(v) for v in weights]
    if intercept:
        moments = exact_moments(rows, w)
        mean, S = moments.mean, moments.scatter
    else:
        columns = range(len(rows[0]))
        mean = [Fraction(0) for _ in columns]
        S = [
            [sum(wi * r[j] * r[k] for wi, r in zip(w, rows, strict=True)) for k in columns]
            for j in columns
        ]
    d = len(S) - 1
    left = [[S[j][k] + (fraction(ridge) if j == k else 0) for k in range(d)] for j in range(d)]
    coef = exact_solve(left, [S[j][d] for j in range(d)])
    if coef is None:
        return None
    level = mean[d] - sum(b * m for b, m in zip(coef, mean[:d], strict=True))
    fit = ExactFit(coef, Fraction(level), Fraction(0))
    residual = sum(wi * (r[d] - fit.at(r[:d])) ** 2 for wi, r in zip(w, rows, strict=True))
    return ExactFit(fit.coef, fit.intercept, Fraction(residual))


def exact_data_pooling(
    X: Sequence[Sequence[float]],
    y: Sequence[float],
    sources: Sequence[tuple[Sequence[int], Sequence[Sequence[float]], Sequence[float]]],
    *,
    intercept: bool = True,
) -> tuple[ExactFit, list[list[Fraction]], list[Fraction]]:
    """Return data pooling with its definition: the fit, the rows it is fitted to, their weights.

    A source is the positions of the columns that it has, its rows and its response. Its unseen
    columns are at their target mean, and its rows weigh the target's noise over its own.
    """
    noise = _noise(X, y, intercept=intercept)
    rows, responses = [[fraction(v) for v in x] for x in X], [fraction(t) for t in y]
    weights = [Fraction(1)] * len(rows)
    mean = dict(enumerate(exact_moments(X).mean))
    for has, theirs, response in sources:
        weight = noise / _noise(theirs, response, intercept=intercept)
        for x, t in zip(theirs, response, strict=True):
            known: Mapping[int, Fraction] = mean | dict(zip(has, map(fraction, x), strict=True))
            rows.append([known[j] for j in range(len(mean))])
            responses.append(fraction(t))
            weights.append(weight)
    fit = exact_least_squares(rows, responses, weights, intercept=intercept)
    assert fit is not None
    return fit, rows, weights


def _noise(X: Sequence[Sequence[float]], y: Sequence[float], *, intercept: bool) -> Fraction:
    fit = exact_least_squares(X, y, intercept=intercept)
    assert fit is not None
    return fit.residual / (len(y) - len(fit.coef) - intercept)


def exact_projection(
    X: Sequence[Sequence[float]],
    y: Sequence[float],
    weights: Sequence[float] | None = None,
    *,
    intercept: bool = True,
) -> list[Fraction]:
    """Return the fitted values of least squares, which are unique even where coefficients are not.

    By the orthogonalisation of Gram and Schmidt.
    """
    w = [Fraction(1)] * len(y) if weights is None else [fraction(v) for v in weights]

    def product(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
        return sum((wi * u * v for wi, u, v in zip(w, a, b, strict=True)), Fraction(0))

    columns = [[fraction(v) for v in column] for column in zip(*X, strict=True)]
    basis: list[list[Fraction]] = []
    for column in [[Fraction(1)] * len(y)] * intercept + columns:
        rest = column
        for b in basis:
            share = product(b, rest) / product(b, b)
            rest = [r - share * v for r, v in zip(rest, b, strict=True)]
        if product(rest, rest):
            basis.append(rest)
    values = [fraction(v) for v in y]
    shares = [product(b, values) / product(b, b) for b in basis]
    return [
        sum((s * b[i] for s, b in zip(shares, basis, strict=True)), Fraction(0))
        for i in range(len(y))
    ]


def exact_solve(left: Matrix, right: Sequence[Fraction]) -> list[Fraction] | None:
    """Solve by Gaussian elimination; None if the matrix is singular."""
    rows = [[*row, value] for row, value in zip(left, right, strict=True)]
    size = len(rows)
    for j in range(size):
        pivot = next((i for i in range(j, size) if rows[i][j] != 0), None)
        if pivot is None:
            return None
        rows[j], rows[pivot] = rows[pivot], rows[j]
        for i in range(size):
            if i != j and rows[i][j] != 0:
                factor = rows[i][j] / rows[j][j]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[j], strict=True)]
    return [rows[j][size] / rows[j][j] for j in range(size)]


def exact_inverse(matrix: Matrix) -> Matrix | None:
    """Return the inverse; None if the matrix is singular."""
    one = [[Fraction(j == k) for j in range(len(matrix))] for k in range(len(matrix))]
    columns = [exact_solve(matrix, unit) for unit in one]
    return None if None in columns else [list(row) for row in zip(*columns, strict=True)]


def exact_pair(high: np.ndarray, low: np.ndarray) -> np.ndarray:
    """Return pairs of doubles as fractions."""
    held = zip(high.ravel(), low.ravel(), strict=True)
    sums = np.empty(high.size, dtype=object)
    sums[:] = [fraction(h) + fraction(t) for h, t in held]
    return sums.reshape(high.shape)


def fraction(value: float | Fraction) -> Fraction:
    """Return the very number that a double is."""
    return value if isinstance(value, Fraction) else Fraction(np.float64(value).item())
