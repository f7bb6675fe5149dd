"""Moments of rows in memory, split by the columns they lack."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from poolwise._typing import Array
from poolwise.errors import BadTable, NotFinite
from poolwise.linear.problem import Rows
from poolwise.moments.moments import Moments
from poolwise.numerics.chunks import checked_weights
from poolwise.numerics.options import Kept, Precision, chosen
from poolwise.tables.encoding import Column
from poolwise.tables.memory import Table
from poolwise.wording import capital, plural

BLOCK = 65_536  # rows read at a time, so that encoding a frame needs little memory
SPAN = 4 * BLOCK  # rows that one thread adds up
VALUES = 2**21  # read at a time, however many columns there are


class Pattern(Rows, Protocol):
    """Rows that lack the same columns, in memory or streamed."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that they have."""

    @property
    def count(self) -> int:
        """Number of rows."""

    def moments(self, precision: Precision = "auto", *, intercept: bool = True) -> Moments:
        """Return their moments."""


P = TypeVar("P", bound=Pattern)


@dataclass(frozen=True, eq=False)
class TableRows:
    """Rows of an opened table, with their response and weights, which can be read repeatedly."""

    table: Table  # the features
    columns: tuple[Column, ...]  # those of the problem's columns that this table has
    response: str | None  # its name; None where no column is one
    y: Array | None
    weights: Array | None
    where: str  # name of the rows in an error
    jobs: int = 1  # threads that add up long tables
    names: tuple[str, ...] = field(init=False)  # of the encoded columns, and of the response

    def __post_init__(self) -> None:
        features = [output for column in self.columns for output in column.outputs]
        own = () if self.response is None else (self.response,)
        object.__setattr__(self, "names", (*features, *own))
        rows = self.table.rows
        w = None if self.weights is None else checked_weights(self.weights, rows)
        if self.y is None:
            return
        if len(self.y) != rows:
            raise BadTable(
                f"{capital(self.where)} has {rows:,} rows of features and {len(self.y):,} of the "
                "response.",
                "Give as many of one as of the other.",
            )
        is_number = np.isfinite(self.y) if w is None else np.isfinite(self.y) | (w == 0.0)
        if self.response is not None and (bad := int(np.count_nonzero(~is_number))):
            raise NotFinite.of({self.response: bad}, rows, f"The response of {self.where}")

    @property
    def count(self) -> int:
        """Number of rows."""
        return self.table.rows

    def moments(self, precision: Precision = "auto", *, intercept: bool = True) -> Moments:
        """Read all rows once, and again where columns nearly depend on each other."""
        full, rows = [c.outputs for c in self.columns if c.full], self.table.rows
        blocks = partial(self._parts, 0, rows)
        if rows <= BLOCK:
            blocks = partial(iter, [*blocks()])  # encoded once, though they may be read again
        try:
            if self.jobs == 1 or rows < 2 * SPAN:
                return Moments.read(
                    self.names,
                    blocks,
                    rows,
                    precision=precision,
                    intercept=intercept,
                    wholes=full,
                )
            found = self._side_by_side(chosen(precision, rows, len(self.names)))
            better = found.better_precision(full, intercept=intercept)
            if precision != "auto" or better == found.precision:
                return found
            return self._side_by_side(better)
        except NotFinite as error:
            raise NotFinite.of(error.about["counts"], error.about["rows"], self.where) from None

    def by_pattern(self) -> dict[tuple[str, ...], TableRows]:
        """Split the rows by the columns they lack."""
        missing = self.table.missing([c.name for c in self.columns])
        if not missing.any():
            return {(): self}
        patterns, which = np.unique(missing, axis=0, return_inverse=True)
        which = which.reshape(-1)
        split = {}
        for k, pattern in enumerate(patterns):
            index = np.flatnonzero(which == k)
            has = tuple(c for c, gone in zip(self.columns, pattern, strict=True) if not gone)
            lacks = tuple(c.name for c, gone in zip(self.columns, pattern, strict=True) if gone)
            split[lacks] = replace(self.take(index), columns=has)
        return split

    def without_void(self) -> TableRows:
        """Return the rows without columns that hold no value: the table lacks them."""
        missing = self.table.missing([c.name for c in self.columns])
        has = [c for j, c in enumerate(self.columns) if not missing[:, j].all()]
        if not has:
            raise without_features(self.where, self.count)
        return self if len(has) == len(self.columns) else replace(self, columns=tuple(has))

    def take(self, index: Any) -> TableRows:
        """Return some of the rows."""
        y, weights = (None if own is None else own[index] for own in (self.y, self.weights))
        return replace(self, table=self.table.take(index), y=y, weights=weights)

    def blocks(self, names: Sequence[str]) -> Iterator[tuple[Array, Array | None]]:
        """Yield blocks of encoded columns, in the order of ``names``; no row of weight zero."""
        at = [self.names.index(n) for n in names]
        for parts, weights in self._parts(0, self.table.rows):
            block = np.column_stack([*parts])[:, at]
            if weights is None:
                yield block, None
            else:
                yield block[weights > 0.0], weights[weights > 0.0]

    def _side_by_side(self, precision: Kept) -> Moments:
        """Add up spans of rows in threads, and the spans in their order."""
        from joblib import Parallel, delayed

        sums, rows = partial(Moments.of_blocks, self.names, precision=precision), self.table.rows
        spans = [(start, min(start + SPAN, rows)) for start in range(0, rows, SPAN)]
        with threadpool_limits(1):  # the spans run in parallel
            try:
                each = Parallel(n_jobs=self.jobs, require="sharedmem")(
                    delayed(sums)(self._parts(*span)) for span in spans
                )
            except NotFinite:
                return sums(self._parts(0, rows))  # its error counts all rows, not one span
        return Moments.total(self.names, each)

    def _parts(self, first: int, last: int) -> Iterator[tuple[tuple[Array, ...], Array | None]]:
        for start in range(first, last, BLOCK):
            stop = min(start + BLOCK, last)
            own = () if self.y is None else (self.y[start:stop],)
            w = None if self.weights is None else self.weights[start:stop]
            yield (self.table.read(self.columns, start, stop), *own), w


def rows_at_once(columns: int) -> int:
    """Return the number of rows of a wide table to read at a time."""
    return max(1024, min(BLOCK, VALUES // max(columns, 1)))


def without_features(where: str, rows: int) -> NotFinite:
    """Return the error for rows in which every feature is missing."""
    return NotFinite(
        f"{capital(where)} has {plural(rows, 'row')} in which every feature is missing. That says "
        "nothing about how the response depends on features.",
        "Leave it out.",
    )


def pattern_name(
    name: str, lacks: Sequence[str], taken: Collection[str], known: Collection[str] = ()
) -> str:
    """Name the rows of a table that lack some columns, differently from any other source."""
    if not lacks:
        return name
    full = f"{name} without {', '.join(lacks)}"
    # A name that was taken at fit may not be in `taken` now, but the longer one is then known.
    while full in taken or f"{full} (too)" in known:
        full += " (too)"
    return full
