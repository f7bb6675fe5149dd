"""NumPy arrays: columns by position, x0, x1, ..."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poolwise.chunks import doubles, doubles_of_objects
from poolwise.double_double import Array
from poolwise.errors import NotNumeric, NotTwoDimensional, RoundedIntegers
from poolwise.tables.columns import Column
from poolwise.wording import listed


@dataclass(frozen=True, eq=False)
class ArrayTable:
    """A two-dimensional array of numbers."""

    values: NDArray[np.generic]
    names: tuple[str, ...]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.values)

    def levels_of(self, name: str) -> None:
        """Return None: arrays hold numbers."""
        return

    def is_void(self, name: str) -> bool:
        """Return False: a column of NaN is found when it is read."""
        return False

    def missing(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """Say where values are NaN."""
        part = self.values if tuple(names) == self.names else self.values[:, self._at(names)]
        return np.isnan(part) if part.dtype.kind == "f" else np.zeros(part.shape, dtype=bool)

    def read(self, columns: Sequence[Column], start: int, stop: int) -> Array:
        """Return rows of some columns; a view where that is possible."""
        part = self.values[start:stop]
        at = self._at([c.name for c in columns])
        part = part[:, : len(at)] if at == list(range(len(at))) else part[:, at]
        return doubles(part, f"an array with the columns {listed([c.name for c in columns])}")

    def take(self, index: NDArray[np.intp]) -> ArrayTable:
        """Return some rows."""
        return ArrayTable(self.values[index], self.names)

    def _at(self, names: Sequence[str]) -> list[int]:
        place = {n: j for j, n in enumerate(self.names)}
        return [place[n] for n in names]


def open_table(table: NDArray[np.generic], where: str) -> ArrayTable:
    """Open an array of two dimensions whose values are numbers."""
    values = unmasked(table)
    if values.ndim != 2:
        raise NotTwoDimensional(where, values.shape)
    if values.dtype.kind == "O":
        values = _numbers(values, where)
    if values.dtype.kind not in "fiub":
        raise NotNumeric(
            f"x0..x{values.shape[1] - 1}",
            f"of {where} has the type {values.dtype}",
            "An array must hold real numbers; give a DataFrame for text and categories.",
        )
    return ArrayTable(values, tuple(f"x{j}" for j in range(values.shape[1])))


def unmasked(array: Any) -> NDArray[np.generic]:
    """Return an array; what a masked array hides is missing."""
    if not np.ma.isMaskedArray(array):
        return np.asarray(array)
    return np.ma.filled(array.astype(np.float64), np.nan)


def _numbers(values: NDArray[np.generic], where: str) -> Array:
    columns = []
    for j, column in enumerate(values.T):
        try:
            columns.append(_doubles(column, f"column 'x{j}' of {where}"))
        except RoundedIntegers:
            raise
        except (TypeError, ValueError) as error:
            raise NotNumeric(
                f"x{j}",
                f"of {where} holds something that is not a number ({error})",
                "Give a DataFrame for text and categories.",
            ) from error
    return np.column_stack(columns) if columns else np.empty(values.shape)


def _doubles(column: NDArray[np.generic], where: str) -> Array:
    if any(isinstance(v, np.datetime64 | np.timedelta64) for v in column):  # NumPy counts days
        raise TypeError("a date or a duration")
    return doubles_of_objects(column, where)
