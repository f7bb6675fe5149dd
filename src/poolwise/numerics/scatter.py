"""A symmetric matrix of second moments, in one double per entry or in two.

`least_squares.py` solves with all digits, and `Moments` adds, weighs and maps with them. Other
code reads doubles, with `between()` or `high`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poolwise._typing import Array
from poolwise.numerics.double_double import Pair
from poolwise.numerics.options import Kept

# Relative error of coefficients, due to rounding the scatter to doubles, that justifies a second
# pass: with two doubles, and without rounding.
POOR, HOPELESS = 1e-10, 0.1
# Share of a column's variance, per feature, below which it counts as zero: in doubles because sums
# of squares are rounded.
LEFT_IN_DOUBLES = 4 * float(np.finfo(np.float64).eps)
LAST_DIGITS = 1e-9  # least eigenvalue of a correlation matrix, per column, that is left alone


@dataclass(frozen=True, eq=False)
class Scatter:
    """Sum of ``w z z'`` over rows ``z``.

    A sum of two scatters has the digits of the less precise one; other operations keep all digits.
    """

    high: Array  # rounded to double
    low: Array | None = None  # the part lost to rounding, if known

    @classmethod
    def zero(cls, columns: int) -> Scatter:
        """Return the scatter of no rows, with all digits."""
        return cls(np.zeros((columns, columns)), np.zeros((columns, columns)))

    @classmethod
    def of_pair(cls, pair: Pair) -> Scatter:
        """Make a scatter of a symmetric matrix of pairs."""
        return cls(pair.high, pair.low)

    @property
    def is_plain(self) -> bool:
        """Whether there is one double per entry."""
        return self.low is None

    @property
    def pair(self) -> Pair:
        """The matrix with all digits."""
        return Pair(self.high, np.zeros(self.high.shape) if self.low is None else self.low)

    def __add__(self, other: Scatter) -> Scatter:
        if self.low is None or other.low is None:
            return Scatter(self.high + other.high)
        return Scatter.of_pair(self.pair + other.pair)

    def __sub__(self, other: Scatter) -> Scatter:
        if self.low is None or other.low is None:
            return Scatter(self.high - other.high)
        return Scatter.of_pair(self.pair - other.pair)

    def __rmul__(self, factor: float) -> Scatter:
        if self.low is None:
            return Scatter(factor * self.high)
        return Scatter.of_pair(self.pair * Pair.of(factor))

    def plus_outer(self, vector: Pair, factor: Pair) -> Scatter:
        """Add ``factor * vector vector'``."""
        if self.low is None:
            outer = vector.high[:, None] * vector.high
            outer *= factor.high
            outer += self.high
            return Scatter(outer)
        return Scatter.of_pair(self.pair.plus_outer(vector, factor))

    def plus(self, others: Sequence[Scatter]) -> Scatter:
        """Add scatters that have as many digits as this one."""
        if self.low is None:
            high = self.high.copy()
            for other in others:
                high += other.high
            return Scatter(high)
        return Scatter.of_pair(self.pair.plus(other.pair for other in others))

    def plus_outers(self, vectors: Pair, factors: Pair) -> Scatter:
        """Add ``factor * vector vector'`` for each row of vectors; factors are positive."""
        if self.low is None:
            B = np.sqrt(factors.high)[:, None] * vectors.high
            return Scatter(self.high + B.T @ B)
        roots = vectors * factors.sqrt()[:, None]
        outer = roots.T @ roots
        return Scatter.of_pair(self.pair + (outer + outer.T).scaled(0.5))

    def floored(self, room: Array) -> Scatter:
        """Return a valid scatter if rounding has made this one indefinite.

        A column whose variance is at most its ``room``, its rounding error, does not vary. If the
        others are not positive semidefinite together, their variances grow by this error.
        """
        d = self.high.diagonal()
        varies = d > room
        per = 1.0 / np.sqrt(np.where(varies, d, np.inf))
        least = np.linalg.eigvalsh(self.high * per[:, None] * per).min(initial=0.0)
        more = np.zeros(len(d))
        if least < -LAST_DIGITS * len(d):
            # An error of sqrt(r_i r_j) in each entry leaves this positive semidefinite.
            more[varies] = len(d) * room[varies]
        elif not self.high[~varies].any():
            return self
        kept = np.outer(varies, varies)
        grown = Scatter(np.diag(more), None if self.low is None else np.zeros_like(self.high))
        low = None if self.low is None else np.where(kept, self.low, 0.0)
        return Scatter(np.where(kept, self.high, 0.0), low) + grown

    def mapped(self, matrix: Array) -> Scatter:
        """Return the scatter of ``matrix @ z``."""
        if self.low is None:
            values = matrix @ self.high @ matrix.T
            return Scatter((values + values.T) / 2.0)
        # Columns of one size: a product of pairs has its digits per row, not per entry.
        size = np.frexp(np.sqrt(self.high.diagonal()))[1].astype(np.intp)
        M = Pair.of(np.ldexp(matrix, size))
        pair = M @ self.pair.times_powers(-(size[:, None] + size)) @ M.T
        return Scatter.of_pair((pair + pair.T).scaled(0.5))

    def picked(self, columns: Sequence[int]) -> Scatter:
        """Return the scatter of some columns, in the order given."""
        at = np.asarray(columns, dtype=np.intp)[:, None], columns
        return Scatter(self.high[at], None if self.low is None else self.low[at])

    def placed(self, columns: Sequence[int], at: Sequence[int], width: int) -> Scatter:
        """Return the scatter of some columns, put among constant ones."""
        here = np.asarray(columns, dtype=np.intp)[:, None], columns
        there = np.asarray(at, dtype=np.intp)[:, None], at
        high = np.zeros((width, width))
        high[there] = self.high[here]
        if self.low is None:
            return Scatter(high)
        low = np.zeros((width, width))
        low[there] = self.low[here]
        return Scatter(high, low)

    def diagonal(self) -> Array:
        """Return the scatter of each column by itself."""
        return self.high.diagonal()

    def between(self, rows: Sequence[int], columns: Sequence[int]) -> Array:
        """Return some rows and columns of the matrix, as doubles."""
        return self.high[np.asarray(rows, dtype=np.intp)[:, None], columns]


def needed(scatter: Scatter, columns: Sequence[int] | None = None) -> Kept:
    """Return the precision that gives enough digits in regressions of any column on others."""
    error = rounding_error(scatter, columns)
    return "exact" if error > HOPELESS else "accurate" if error > POOR else "fast"


def rounding_error(scatter: Scatter, columns: Sequence[int] | None = None) -> float:
    """Estimate the relative error of coefficients due to rounding to doubles.

    Of these columns, or of any column on the others.
    """
    size = scatter.high.diagonal()
    at = np.arange(len(size)) if columns is None else np.asarray(columns, dtype=np.intp)
    varies = at[size[at] > 0.0]
    A = scatter.high[varies[:, None], varies]
    unit = 1.0 / np.sqrt(A.diagonal())
    return root_in_doubles(A * unit[:, None] * unit)[1]


def root_in_doubles(A: Array) -> tuple[Array, float]:
    """Return an inverse root in doubles, and the error of its square.

    The error is infinite if the matrix seems indefinite.
    """
    try:
        root: Array = np.linalg.inv(np.linalg.cholesky(A))
    except np.linalg.LinAlgError:
        return np.zeros(A.shape), np.inf
    return root, LEFT_IN_DOUBLES * inflation(A, root)


def inflation(A: Array, root: Array) -> float:
    """Return a bound of the condition: features times the sum of their variance inflation."""
    return len(A) * float((root**2).sum(axis=0) @ A.diagonal())
