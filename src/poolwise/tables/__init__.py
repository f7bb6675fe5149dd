"""Raw tables to moments: one file per engine, imported on first use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from poolwise.double_double import Array
from poolwise.errors import UnknownTable
from poolwise.tables.columns import Column

ENGINES = {  # package of the table's type -> our module
    "numpy": "arrays",
    "pandas": "frames",
    "polars": "frames",
    "pyarrow": "frames",
}


class Described(Protocol):
    """What is known of any table, in memory or streamed, before its rows are read."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        ...

    def levels_of(self, name: str) -> tuple[str, ...] | None:
        """Return the levels of a text or categorical column, sorted; None for numbers."""
        ...

    def is_void(self, name: str) -> bool:
        """Say whether a column has no value at all, as far as that is quick to tell."""
        ...


class Table(Protocol):
    """What an engine makes of a raw table: named columns that can be read in slices."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        ...

    @property
    def rows(self) -> int:
        """Number of rows."""
        ...

    def levels_of(self, name: str) -> tuple[str, ...] | None:
        """Return the levels of a text or categorical column, sorted; None for numbers."""
        ...

    def is_void(self, name: str) -> bool:
        """Say whether a column has no value at all, as far as that is quick to tell."""
        ...

    def missing(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """Say for each row and column whether the value is missing (null or NaN)."""
        ...

    def read(self, columns: Sequence[Column], start: int, stop: int) -> Array:
        """Return rows of encoded columns; a missing value is NaN."""
        ...

    def take(self, index: NDArray[np.intp]) -> Table:
        """Return the table of some rows."""
        ...


def open_table(table: Any, where: str) -> Table:
    """Find the engine for a table and open it.

    Parameters
    ----------
    table : object
        A NumPy array, a pandas or polars DataFrame, an Arrow table, or anything that offers its
        rows through ``__arrow_c_stream__``.
    where : str
        What to call the table in an error.
    """
    for kind in type(table).__mro__:
        if module := ENGINES.get(kind.__module__.partition(".")[0]):
            break
    else:
        if not hasattr(table, "__arrow_c_stream__"):
            raise UnknownTable(type(table), where)
        module = "frames"
    opened: Callable[[Any, str], Table] = import_module(f"poolwise.tables.{module}").open_table
    return opened(table, where)
