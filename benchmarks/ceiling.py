"""Least squares in rational arithmetic, rounded once at the end.

Every double is a rational number. This is the best result for data given as doubles; the remaining
difference from the certified values comes from rounding the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt
from typing import NamedTuple

import numpy as np

from benchmarks.estimates import Array, Estimates

BITS = 200  # after the point of a square root, before it is rounded to a double
Matrix = list[list[Fraction]]


class ExactEstimates(NamedTuple):
    """Coefficients, the intercept first if there is one, and their variances."""

    coefficients: list[Fraction]
    variances: list[Fraction]

    def rounded(self) -> Estimates:
        """Return the nearest doubles."""
        return Estimates(
            np.array([float(b) for b in self.coefficients]),
            np.array([_root(v) for v in self.variances]),
        )


def ceiling(X: Array, y: Array, *, intercept: bool) -> Estimates:
    """Return the estimates that the very doubles given have."""
    rows = [[Fraction(v) for v in row] for row in X.tolist()]
    return solve_exactly(rows, [Fraction(v) for v in y.tolist()], intercept=intercept).rounded()


def solve_exactly(
    X: Sequence[Sequence[Fraction]], y: Sequence[Fraction], *, intercept: bool
) -> ExactEstimates:
    """Return the least squares estimates; the features must be independent."""
    rows = [[*([Fraction(1)] if intercept else []), *x, t] for x, t in zip(X, y, strict=True)]
    S = [[_sum_of_products(a, b) for b in zip(*rows, strict=True)] for a in zip(*rows, strict=True)]
    p = len(S) - 1
    inverse = _inverse([row[:p] for row in S[:p]])
    right = [row[p] for row in S[:p]]
    b = [_sum_of_products(row, right) for row in inverse]
    noise = (S[p][p] - _sum_of_products(b, right)) / (len(rows) - p)
    return ExactEstimates(b, [noise * inverse[j][j] for j in range(p)])


def _sum_of_products(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((v * w for v, w in zip(a, b, strict=True)), Fraction(0))


def _inverse(A: Matrix) -> Matrix:
    """Invert a positive definite matrix by elimination; no pivot of it is zero."""
    p = len(A)
    rows = [[*row, *(Fraction(int(i == j)) for j in range(p))] for i, row in enumerate(A)]
    for j in range(p):
        pivot = rows[j][j]
        rows[j] = [v / pivot for v in rows[j]]
        for i in range(p):
            if i != j:
                factor = rows[i][j]
                rows[i] = [v - factor * w for v, w in zip(rows[i], rows[j], strict=True)]
    return [row[p:] for row in rows]


def _root(value: Fraction) -> float:
    """Return the square root, rounded once."""
    above, below = value.numerator, value.denominator
    return float(Fraction(isqrt(above * below << 2 * BITS), below << BITS))
