"""Scatter: a symmetric second-moment matrix, in one double per entry or in two.

Where nothing was rounded, it also has the matrix as fractions.

How the numbers are stored is known to this file and to `least_squares.py`, which solves with all
the digits there are. `centred.py` adds, weighs and maps; everybody else asks for doubles with
`between()`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poolwise.double_double import Array, Pair
from poolwise.fraction_matrix import FractionMatrix

LAST_DIGITS = 1e-9  # least eigenvalue of a correlation matrix, per column, that is left alone


@dataclass(frozen=True, eq=False)
class Scatter:
    """Sum of ``w z z'`` over rows ``z``.

    A sum of two scatters has as many digits as the poorer one; every other operation keeps them.
    """

    _high: Array
    _low: Array | None = None
    fractions: FractionMatrix | None = None

    @classmethod
    def zero(cls, columns: int) -> Scatter:
        """No rows: nothing that could be rounded."""
        return cls.of(np.zeros((columns, columns)), np.zeros((columns, columns)))

    @classmethod
    def of(cls, high: Array, low: Array | None = None) -> Scatter:
        """Hold a symmetric matrix of doubles, and what rounding took from them if it is known."""
        high.setflags(write=False)
        if low is not None:
            low.setflags(write=False)
        return cls(high, low)

    @classmethod
    def of_fractions(cls, fractions: FractionMatrix) -> Scatter:
        """Hold a symmetric matrix of fractions, which only `least_squares` looks at again."""
        return replace(cls.of_pair(fractions.pair()), fractions=fractions)

    @classmethod
    def of_pair(cls, pair: Pair) -> Scatter:
        """Hold a symmetric matrix of pairs."""
        return cls.of(pair.high, pair.low)

    def __reduce__(self) -> tuple[Callable[..., Scatter], tuple[Any, ...]]:
        if self.fractions is not None:
            return Scatter.of_fractions, (self.fractions,)
        return Scatter.of, (self._high, self._low)  # read-only there too

    @property
    def is_plain(self) -> bool:
        """Whether there is one double per entry, and no more."""
        return self._low is None

    @property
    def pair(self) -> Pair:
        """All the digits there are."""
        return Pair(self._high, np.zeros(self._high.shape) if self._low is None else self._low)

    def __add__(self, other: Scatter) -> Scatter:
        if self.is_plain or other.is_plain:
            return Scatter.of(self._high + other._high)
        return Scatter.of_pair(self.pair + other.pair)

    def __sub__(self, other: Scatter) -> Scatter:
        if self.is_plain or other.is_plain:
            return Scatter.of(self._high - other._high)
        return Scatter.of_pair(self.pair - other.pair)

    def __rmul__(self, factor: float) -> Scatter:
        if self.is_plain:
            return Scatter.of(factor * self._high)
        return Scatter.of_pair(self.pair * Pair.of(factor))

    def plus_outer(self, vector: Pair, factor: Pair) -> Scatter:
        """Add ``factor * vector vector'``."""
        if self.is_plain:
            outer = vector.high[:, None] * vector.high
            outer *= factor.high
            outer += self._high
            return Scatter.of(outer)
        return Scatter.of_pair(self.pair + vector[:, None] * vector[None, :] * factor)

    def plus(self, others: Sequence[Scatter]) -> Scatter:
        """Add scatters that have as many digits as this one."""
        if self.is_plain:
            high = self._high.copy()
            for other in others:
                high += other._high
            return Scatter.of(high)
        return Scatter.of_pair(self.pair.plus(other.pair for other in others))

    def plus_outers(self, vectors: Pair, factors: Pair) -> Scatter:
        """Add ``factor * vector vector'`` for each row of vectors; factors are positive."""
        if self.is_plain:
            B = np.sqrt(factors.high)[:, None] * vectors.high
            return Scatter.of(self._high + B.T @ B)
        roots = vectors * factors.sqrt()[:, None]
        outer = roots.T @ roots
        return Scatter.of_pair(self.pair + (outer + outer.T).scaled(0.5))

    def floored(self, room: Array) -> Scatter:
        """Return a scatter that rows can have, where rounding has left another one.

        A column that varies no more than rounding explains does not vary. Where the others are not
        positive semidefinite together, their variances grow by as much as rounding explains.

        Parameters
        ----------
        room : array of shape (p,)
            What rounding may have done to the variance of each column.
        """
        d = self._high.diagonal()
        varies = d > room
        per = 1.0 / np.sqrt(np.where(varies, d, np.inf))
        least = np.linalg.eigvalsh(self._high * per[:, None] * per).min(initial=0.0)
        more = np.zeros(len(d))
        if least < -LAST_DIGITS * len(d):
            # An error of sqrt(r_i r_j) in each entry leaves this positive semidefinite.
            more[varies] = len(d) * room[varies]
        elif not self._high[~varies].any():
            return self
        kept = np.outer(varies, varies)
        grown = Scatter.of(np.diag(more), None if self._low is None else np.zeros_like(self._high))
        low = None if self._low is None else np.where(kept, self._low, 0.0)
        return Scatter.of(np.where(kept, self._high, 0.0), low) + grown

    def mapped(self, matrix: Array) -> Scatter:
        """Return the scatter of ``matrix @ z``."""
        if self.is_plain:
            values = matrix @ self._high @ matrix.T
            return Scatter.of((values + values.T) / 2.0)
        # Columns of one size: a product of pairs has its digits per row, not per entry.
        size = np.frexp(np.sqrt(self._high.diagonal()))[1].astype(np.intp)
        M = Pair.of(np.ldexp(matrix, size))
        pair = M @ self.times_powers(-size).pair @ M.T
        return Scatter.of_pair((pair + pair.T).scaled(0.5))

    def times_powers(self, exponents: NDArray[np.intp]) -> Scatter:
        """Return the scatter of ``2**exponents * z``."""
        both = exponents[:, None] + exponents
        low = None if self._low is None else np.ldexp(self._low, both)
        fractions = None if self.fractions is None else self.fractions.times_powers(exponents)
        return replace(Scatter.of(np.ldexp(self._high, both), low), fractions=fractions)

    def picked(self, columns: Sequence[int]) -> Scatter:
        """Return the scatter of some columns, in the order given."""
        at = np.asarray(columns, dtype=np.intp)[:, None], columns
        part = Scatter.of(self._high[at], None if self._low is None else self._low[at])
        if self.fractions is None:
            return part
        return replace(part, fractions=self.fractions.picked(columns))

    def placed(self, columns: Sequence[int], at: Sequence[int], width: int) -> Scatter:
        """Return the scatter of some columns, put among constant ones."""
        part, there = self.picked(columns), (np.asarray(at, dtype=np.intp)[:, None], at)
        high = np.zeros((width, width))
        high[there] = part._high
        if part._low is None:
            return Scatter.of(high)
        low = np.zeros((width, width))
        low[there] = part._low
        if part.fractions is None:
            return Scatter.of(high, low)
        return replace(Scatter.of(high, low), fractions=part.fractions.placed(at, width))

    def diagonal(self) -> Array:
        """Return the scatter of each column by itself."""
        return self._high.diagonal()

    def between(self, rows: Sequence[int], columns: Sequence[int]) -> Array:
        """Return some rows and columns of the matrix, as doubles."""
        return self._high[np.asarray(rows, dtype=np.intp)[:, None], columns]
