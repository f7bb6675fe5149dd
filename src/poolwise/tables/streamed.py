"""StreamedTable: a table that comes in parts, each read and then forgotten."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from poolwise.progress import reading_bar
from poolwise.tables.arrow_columns import Kind, texts_in
from poolwise.tables.columns import MOST_LEVELS
from poolwise.tables.files import Nulls


class Part(NamedTuple):
    """Some rows: Arrow arrays by name, and where they came from."""

    columns: Mapping[str, Any]
    rows: int
    where: str
    size: float

    def slices(self, rows: int) -> Iterator[Part]:
        """Yield the same rows, so many at a time."""
        for start in range(0, self.rows, rows):
            columns = {n: column.slice(start, rows) for n, column in self.columns.items()}
            count = min(rows, self.rows - start)
            yield Part(columns, count, self.where, self.size * count / self.rows)


class Batches(Protocol):
    """Rows that come in parts, as often as they are asked for."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns."""
        ...

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """What those columns hold that may be read."""
        ...

    @property
    def size(self) -> float:
        """Bytes of all rows, to measure progress by."""
        ...

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        """Yield all rows, with those of the columns that the rows have."""
        ...


@dataclass(frozen=True, eq=False)
class StreamedTable:
    """A table of any size.

    Parameters
    ----------
    batches : Batches
        Its rows.
    where : str
        What to call it in an error.
    weights : str, optional
        The column of row weights.
    nulls : {"split", "drop", "raise"}, default="split"
        What a missing value does; see :class:`poolwise.Files`.
    progress : bool, optional
        Whether to show a bar.
    """

    batches: Batches
    where: str
    weights: str | None = None
    nulls: Nulls = "split"
    progress: bool | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, without that of the weights."""
        return tuple(n for n in self.batches.names if n != self.weights)

    def levels_of(self, name: str) -> tuple[str, ...] | None:
        """Return the levels of a text column, sorted; None for numbers."""
        return self._levels.get(name, ()) if self.batches.kinds[name] == "text" else None

    def is_void(self, name: str) -> bool:
        """Say whether a column has no value, where its type or its levels tell."""
        kind = self.batches.kinds[name]
        return kind == "void" or (kind == "text" and not self._levels[name])

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        """Read all rows of some columns, and show how far that is."""
        with reading_bar(f"Reading {self.where}", self.batches.size, show=self.progress) as bar:
            for part in self.batches.parts(names):
                yield part
                bar.update(part.rows, part.size)

    @cached_property
    def _levels(self) -> dict[str, tuple[str, ...]]:
        """The levels of all text columns, from one reading of these columns alone."""
        found = {n: set[str]() for n, kind in self.batches.kinds.items() if kind == "text"}
        for part in self.parts(list(found)) if found else ():
            for name, levels in found.items():
                if name in part.columns and len(levels) <= MOST_LEVELS:  # more are refused anyway
                    levels |= texts_in(part.columns[name])
        return {name: tuple(sorted(levels)) for name, levels in found.items()}
