"""StreamedRows: the rows of a streamed table, as moments of each pattern of missing columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from poolwise.double_double import Array
from poolwise.errors import RowsDropped, TransferWarning
from poolwise.moments import Moments
from poolwise.precision import Kept, Precision, chosen
from poolwise.tables.columns import Column, wholes
from poolwise.tables.pattern_sums import PatternSums, SumByPattern, check_few
from poolwise.tables.row_splitter import Lacks, RowSplitter, Tally
from poolwise.tables.streamed import StreamedTable


@dataclass(frozen=True, eq=False)
class StreamedRows:
    """Rows of any number, which can be read again.

    Parameters
    ----------
    table : StreamedTable
        All columns.
    columns : tuple of Column
        Those of the problem's columns that the table has.
    response : str or None
        Name of the response, where one column is it.
    source : str
        Name of the source.
    """

    table: StreamedTable
    columns: tuple[Column, ...]
    response: str | None
    source: str
    _read: dict[Precision, dict[Lacks, Moments]] = field(default_factory=dict, init=False)
    _tally: Tally = field(default_factory=Tally, init=False)

    @cached_property
    def splitter(self) -> RowSplitter:
        """How parts of the table become numbers."""
        return RowSplitter(self.columns, self.response, self.table.weights, self.table.nulls)

    def by_pattern(
        self, precision: Precision = "auto", *, intercept: bool = True
    ) -> dict[Lacks, StreamedPattern]:
        """Read all rows once, and patterns whose sums turn out to be too poor once more.

        A column that no row has is part of no pattern: it is the table that lacks it.
        """
        found = self._moments(precision)
        if precision == "auto":
            poor = {lacks: self._better(m, intercept) for lacks, m in found.items()}
            for better in {kept for lacks, kept in poor.items() if kept != found[lacks].precision}:
                found |= self._sum(better, [k for k, kept in poor.items() if kept == better])
        void = set.intersection(*map(set, found)) if found else set[str]()
        return {
            tuple(n for n in lacks if n not in void): StreamedPattern(
                self, lacks, found[lacks].rows
            )
            for lacks in sorted(found, key=lambda lacks: [c.name in lacks for c in self.columns])
        }

    def cautions(self) -> list[TransferWarning]:
        """Say how many rows were dropped in reading."""
        own = self._tally
        if self.table.nulls != "drop" or not own.incomplete:
            return []
        return [RowsDropped(self.source, own.counts, own.incomplete, own.rows)]

    def moments(self, lacks: Lacks, precision: Precision) -> Moments:
        """Return the moments of the rows that lack some columns."""
        return self._moments(precision)[lacks]

    def _moments(self, precision: Precision) -> dict[Lacks, Moments]:
        if precision not in self._read:
            rows, columns = self.table.batches.rows, len(self.splitter.names_of(()))
            is_long = precision == "auto" and rows is None
            kept = "fast" if is_long else chosen(precision, rows or 0, columns)
            self._read[precision] = self._sum(kept)
        return self._read[precision]

    def _better(self, moments: Moments, intercept: bool) -> Kept:
        """Return the precision to read with again, or that which there is; see Moments.read."""
        full = [names for names in wholes(self.columns) if names[0] in moments]
        return moments.better_precision(full, intercept=intercept)

    def _sum(self, precision: Kept, only: Collection[Lacks] | None = None) -> dict[Lacks, Moments]:
        """Add up the rows of each pattern, or of some, in one reading."""
        which = None if only is None else tuple(sorted(only))
        task = SumByPattern(self.splitter, precision, which, self.table.where)
        found = self.table.total(task) or PatternSums({}, Tally())
        check_few(found.moments, self.table.where)
        vars(self._tally).update(vars(found.tally))
        return {lacks: moments for lacks, moments in found.moments.items() if moments.rows}


@dataclass(frozen=True, eq=False)
class StreamedPattern:
    """Those rows of a streamed table that lack the same columns.

    Parameters
    ----------
    rows : StreamedRows
        All rows.
    lacks : tuple of str
        The raw columns that these rows lack.
    count : int
        Number of these rows.
    """

    rows: StreamedRows
    lacks: Lacks
    count: int

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that these rows have."""
        return tuple(c for c in self.rows.columns if c.name not in self.lacks)

    def moments(self, precision: Precision = "auto", *, intercept: bool = True) -> Moments:
        """Return the moments, from an earlier reading or from a new one."""
        del intercept  # what it asks for was read when the table was split
        return self.rows.moments(self.lacks, precision)

    def blocks(self, names: Sequence[str]) -> Iterator[tuple[Array, Array | None]]:
        """Read the rows again: yield blocks of encoded columns; no row of weight zero."""
        own = self.rows.splitter.names_of(self.lacks)
        at = [own.index(n) for n in names]
        splitter = self.rows.splitter
        for piece in splitter.pieces(self.rows.table.parts(splitter.names), Tally()):
            if piece.lacks == self.lacks:
                block = np.column_stack(piece.arrays)[:, at]
                w = piece.weights
                yield (block, None) if w is None else (block[w > 0.0], w[w > 0.0])
