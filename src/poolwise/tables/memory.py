"""Arrays and other tables in memory, and the response beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array
from poolwise.errors import BadTable, NotNumeric
from poolwise.numerics.chunks import doubles, doubles_of_objects
from poolwise.tables.encoding import Column, KnownLevels
from poolwise.tables.engines import ENGINES
from poolwise.tables.text_values import Kind
from poolwise.wording import capital


class Table(Protocol):
    """A table in memory: named columns that can be read in slices."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    def levels(
        self, names: Sequence[str], kinds: Mapping[str, Kind] = MappingProxyType({})
    ) -> KnownLevels:
        """Return the rows of each level of text, None for numbers; leave out empty columns.

        Columns whose kind is known must hold it, possibly as text.
        """

    def missing(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """Return for each row and column whether the value is missing (null or NaN)."""

    def read(self, columns: Sequence[Column], start: int, stop: int) -> Array:
        """Return rows of encoded columns; a missing value is NaN."""

    def take(self, index: NDArray[np.intp]) -> Table:
        """Return the table of some rows."""


@dataclass(frozen=True, eq=False)
class ArrayTable:
    """A two-dimensional array of numbers."""

    values: NDArray[np.generic]
    names: tuple[str, ...]
    rows: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", len(self.values))

    def levels(
        self, names: Sequence[str], kinds: Mapping[str, Kind] = MappingProxyType({})
    ) -> KnownLevels:
        """Return None for each column: arrays hold numbers."""
        del kinds
        return dict.fromkeys(names) if self.rows else {}

    def missing(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """Return where values are NaN."""
        part = self.values if tuple(names) == self.names else self.values[:, self._at(names)]
        return np.isnan(part) if part.dtype.kind == "f" else np.zeros(part.shape, dtype=bool)

    def read(self, columns: Sequence[Column], start: int, stop: int) -> Array:
        """Return rows of some columns; a view where that is possible."""
        part, names = self.values[start:stop], [c.name for c in columns]
        at = self._at(names)
        part = part[:, : len(at)] if at == list(range(len(at))) else part[:, at]
        return doubles(part, f"an array with the columns {', '.join(map(repr, names[:12]))}")

    def take(self, index: NDArray[np.intp]) -> ArrayTable:
        """Return some rows."""
        return ArrayTable(self.values[index], self.names)

    def _at(self, names: Sequence[str]) -> list[int]:
        place = {n: j for j, n in enumerate(self.names)}
        return [place[n] for n in names]


def open_table(table: Any, where: str) -> Table:
    """Open a table in memory."""
    if isinstance(table, list | tuple | np.ndarray | np.generic):
        return _open_array(unmasked(table), where)
    for kind in type(table).__mro__:
        if kind.__name__ in ("ArrayTable", "FrameTable"):
            opened: Table = table
            return opened
        if module := ENGINES.get(kind.__module__.partition(".")[0]):
            break
    else:
        if not hasattr(table, "__arrow_c_stream__"):
            raise BadTable.unknown(type(table), where)
        module = "frames"
    engine: Callable[[Any, str], Table] = import_module(f"poolwise.tables.{module}").open_table
    return engine(table, where)


def unmasked(array: Any) -> NDArray[np.generic]:
    """Return an array in which masked values are NaN."""
    if not np.ma.isMaskedArray(array):
        return np.asarray(array)
    return np.ma.filled(array.astype(np.float64), np.nan)


def _open_array(values: NDArray[np.generic], where: str) -> ArrayTable:
    if values.ndim != 2:
        raise BadTable(
            f"{capital(where)} is an array of shape {values.shape}.",
            "Give two dimensions: rows and columns (X.reshape(-1, 1) makes a single column of a "
            "vector).",
        )
    if values.dtype.kind == "O":
        columns = [_objects(column, f"x{j}", where) for j, column in enumerate(values.T)]
        values = np.column_stack(columns) if columns else np.empty(values.shape)
    if values.dtype.kind not in "fiub":
        raise NotNumeric.of(
            f"x0..x{values.shape[1] - 1}",
            f"of {where} has the type {values.dtype}",
            "An array must hold real numbers; give a DataFrame for text and categories.",
        )
    return ArrayTable(values, tuple(f"x{j}" for j in range(values.shape[1])))


def _objects(column: NDArray[np.generic], name: str, where: str) -> Array:
    why = "a date or a duration"  # which NumPy would count in days
    if not any(isinstance(v, np.datetime64 | np.timedelta64) for v in column):
        try:
            return doubles_of_objects(column, f"column {name!r} of {where}")
        except NotNumeric:
            raise
        except (TypeError, ValueError) as error:
            why = str(error)
    what = f"of {where} holds something that is not a number ({why})"
    raise NotNumeric.of(name, what, "Give a DataFrame for text and categories.")


def name_of(y: Any) -> str | None:
    """Return the name of a response that is a named series."""
    name = getattr(y, "name", None)
    return str(name) if isinstance(name, str) and name else None
