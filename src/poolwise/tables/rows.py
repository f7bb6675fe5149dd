"""TableRows: the rows of one opened table, with their response and weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from poolwise.chunks import checked_weights
from poolwise.double_double import Array
from poolwise.errors import LengthsDiffer, NotFinite, RowsWithoutFeatures
from poolwise.moments import Moments
from poolwise.precision import Kept, Precision, chosen
from poolwise.tables import Table
from poolwise.tables.columns import Column, encoded, wholes

BLOCK = 65_536  # rows read at a time, so that encoding a frame needs little memory
SPAN = 4 * BLOCK  # rows that one thread adds up
VALUES = 2**21  # read at a time, however many columns there are


def rows_at_once(columns: int) -> int:
    """Return how many rows of a wide table to read at a time."""
    return max(1024, min(BLOCK, VALUES // max(columns, 1)))


@dataclass(frozen=True, eq=False)
class TableRows:
    """Rows that can be read, and read again.

    Parameters
    ----------
    table : Table
        The features.
    columns : tuple of Column
        Those of the problem's columns that this table has.
    response : str or None
        Name of the response; None where no column is one.
    y : array of shape (n,) or None
        The response of each row.
    weights : array of shape (n,) or None
        The weight of each row.
    where : str
        What to call these rows in an error.
    jobs : int, default=1
        Threads that add up long tables.
    """

    table: Table
    columns: tuple[Column, ...]
    response: str | None
    y: Array | None
    weights: Array | None
    where: str
    jobs: int = 1

    def __post_init__(self) -> None:
        if self.y is not None and len(self.y) != self.table.rows:
            raise LengthsDiffer(self.where, self.table.rows, len(self.y))
        w = None if self.weights is None else checked_weights(self.weights, self.table.rows)
        if self.response is None or self.y is None:
            return
        counts = np.isfinite(self.y) if w is None else np.isfinite(self.y) | (w == 0.0)
        if bad := int(np.count_nonzero(~counts)):
            raise NotFinite({self.response: bad}, len(self.y), f"The response of {self.where}")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the encoded columns, and that of the response."""
        return (*encoded(self.columns), *(() if self.response is None else (self.response,)))

    @property
    def count(self) -> int:
        """Number of rows."""
        return self.table.rows

    def moments(self, precision: Precision = "auto", *, intercept: bool = True) -> Moments:
        """Read all rows once, or once more where their sums turn out to be too poor."""
        full, rows = wholes(self.columns), self.table.rows
        try:
            if self.jobs == 1 or rows < 2 * SPAN:
                return Moments.read(
                    self.names,
                    partial(self._parts, 0, rows),
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
            raise NotFinite(error.counts, error.rows, self.where) from None

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
            if not has:
                raise RowsWithoutFeatures(self.where, len(index))
            weights = None if self.weights is None else self.weights[index]
            split[lacks] = replace(
                self, table=self.table.take(index), columns=has, y=self._y(index), weights=weights
            )
        return split

    def none(self) -> TableRows:
        """Return none of the rows."""
        weights = None if self.weights is None else self.weights[:0]
        table = self.table.take(np.zeros(0, dtype=np.intp))
        return replace(self, table=table, y=self._y(slice(0)), weights=weights)

    def blocks(self, names: Sequence[str]) -> Iterator[tuple[Array, Array | None]]:
        """Yield blocks of encoded columns, in the order of ``names``; no row of weight zero."""
        at = [self.names.index(n) for n in names]
        for parts, weights in self._parts(0, self.table.rows):
            block = np.column_stack([*parts])[:, at]
            if weights is None:
                yield block, None
            else:
                yield block[weights > 0.0], weights[weights > 0.0]

    def _y(self, rows: Any) -> Array | None:
        return None if self.y is None else self.y[rows]

    def _side_by_side(self, precision: Kept) -> Moments:
        """Add up spans of rows in threads, and the spans in their order."""
        from joblib import Parallel, delayed

        sums, rows = partial(Moments.of_blocks, self.names, precision=precision), self.table.rows
        spans = [(start, min(start + SPAN, rows)) for start in range(0, rows, SPAN)]
        with threadpool_limits(1):  # the spans are what is done side by side
            try:
                each = Parallel(n_jobs=self.jobs, require="sharedmem")(
                    delayed(sums)(self._parts(*span)) for span in spans
                )
            except NotFinite:
                return sums(self._parts(0, rows))  # it counts all rows, not those of one span
        return Moments.total(self.names, each)

    def _parts(self, first: int, last: int) -> Iterator[tuple[tuple[Array, ...], Array | None]]:
        for start in range(first, last, BLOCK):
            stop = min(start + BLOCK, last)
            w = None if self.weights is None else self.weights[start:stop]
            y = self._y(slice(start, stop))
            yield (self.table.read(self.columns, start, stop), *(() if y is None else (y,))), w
