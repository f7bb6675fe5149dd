"""Scatter: a symmetric second-moment matrix, and what may be done with it.

How the numbers are stored is known to this file alone. `moments` adds, weighs and maps; whoever
solves equations asks for doubles with `between()`. A store with more digits changes this file, and
`row_sums.py`, which makes the sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from poolwise.double_double import Array


@dataclass(frozen=True, eq=False)
class Scatter:
    """Sum of ``w z z'`` over rows ``z``."""

    _values: Array

    @classmethod
    def zero(cls, columns: int) -> Scatter:
        """No rows."""
        return cls.of(np.zeros((columns, columns)))

    @classmethod
    def of(cls, values: Array) -> Scatter:
        """Hold a symmetric matrix of doubles."""
        values.setflags(write=False)
        return cls(values)

    def __reduce__(self) -> tuple[Callable[[Array], Scatter], tuple[Array]]:
        return Scatter.of, (self._values,)  # read-only there too

    def __add__(self, other: Scatter) -> Scatter:
        return Scatter.of(self._values + other._values)

    def __rmul__(self, factor: float) -> Scatter:
        return Scatter.of(factor * self._values)

    def plus_outer(self, vector: Array, factor: float) -> Scatter:
        """Add ``factor * vector vector'``."""
        return Scatter.of(self._values + factor * np.outer(vector, vector))

    def mapped(self, matrix: Array) -> Scatter:
        """Return the scatter of ``matrix @ z``."""
        values = matrix @ self._values @ matrix.T
        return Scatter.of((values + values.T) / 2.0)

    def picked(self, columns: Sequence[int]) -> Scatter:
        """Return the scatter of some columns, in the order given."""
        return Scatter.of(self.between(columns, columns))

    def placed(self, columns: Sequence[int], at: Sequence[int], width: int) -> Scatter:
        """Return the scatter of some columns, put among constant ones."""
        values = np.zeros((width, width))
        values[np.asarray(at, dtype=np.intp)[:, None], at] = self.between(columns, columns)
        return Scatter.of(values)

    def diagonal(self) -> Array:
        """Return the scatter of each column by itself."""
        return self._values.diagonal()

    def between(self, rows: Sequence[int], columns: Sequence[int]) -> Array:
        """Return some rows and columns of the matrix, as doubles."""
        return self._values[np.asarray(rows, dtype=np.intp)[:, None], columns]
