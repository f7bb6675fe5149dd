"""Moments of a streamed table, for each pattern of missing columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import TypeVar

import numpy as np

from poolwise._typing import Array
from poolwise.errors import NotFinite, PoolwiseWarning
from poolwise.moments.moments import Moments
from poolwise.numerics.options import Kept, Precision, chosen
from poolwise.tables.encoding import Column, wholes
from poolwise.tables.response import Response
from poolwise.tables.row_splitter import Lacks, RowSplitter, Tally
from poolwise.tables.shards import Part, StreamedTable

MOST_PATTERNS = 1000  # each holds a matrix; rows of further ones are left out
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class PatternSums:
    """Moments by the raw columns that rows lack, and how many values are missing."""

    moments: dict[Lacks, Moments]
    tally: Tally

    def __add__(self, other: PatternSums) -> PatternSums:
        moments, tally = dict(self.moments), Tally()
        for lacks, more in other.moments.items():
            if lacks in moments or len(moments) < MOST_PATTERNS:
                moments[lacks] = moments[lacks] + more if lacks in moments else more
            else:
                tally.beyond += more.rows
        tally.add(self.tally)
        tally.add(other.tally)
        return PatternSums(moments, tally)


@dataclass(frozen=True)
class SumByPattern:
    """The task of adding up the rows of a shard."""

    splitter: RowSplitter
    precision: Kept
    only: tuple[Lacks, ...] | None
    where: str

    @property
    def names(self) -> Sequence[str]:
        """The columns to read."""
        return self.splitter.names

    def __call__(self, parts: Iterator[Part]) -> PatternSums:
        """Read all rows of a shard once."""
        total: dict[Lacks, Moments] = {}
        tally = Tally()
        pieces = self.splitter.pieces(parts, tally)
        for lacks, run in groupby(pieces, lambda piece: piece.lacks):
            if self.only is not None and lacks not in self.only:
                continue
            if lacks not in total and len(total) == MOST_PATTERNS:
                tally.beyond += sum(len(piece.arrays[-1]) for piece in run)
                continue
            names = self.splitter.names_of(lacks)
            blocks = ((piece.arrays, piece.weights) for piece in run)
            own = Moments.of_blocks(names, blocks, precision=self.precision)
            total[lacks] = total[lacks] + own if lacks in total else own
        return PatternSums(total, tally)


def without_void(found: Mapping[Lacks, T], columns: Sequence[Column]) -> dict[Lacks, T]:
    """Sort patterns; a column that no row has is not part of a pattern: the table lacks it."""
    void = set.intersection(*map(set, found)) if found else set[str]()
    return {
        tuple(n for n in lacks if n not in void): found[lacks]
        for lacks in sorted(found, key=lambda lacks: [c.name in lacks for c in columns])
    }


def check_few(patterns: int, where: str) -> None:
    """Raise an error if there are more patterns of missing columns than can be held."""
    if patterns > MOST_PATTERNS:
        raise NotFinite(
            f"The rows of {where} lack columns in more than {MOST_PATTERNS:,} different patterns, "
            "and each would be a table.",
            'Read them with Files(..., nulls="drop"), read fewer columns with '
            "Files(..., columns=...), or impute the values first.",
            patterns=patterns,
        )


@dataclass(frozen=True, eq=False)
class StreamedRows:
    """Rows of a streamed table, which can be read repeatedly."""

    table: StreamedTable
    columns: tuple[Column, ...]  # those of the problem's columns that the table has
    response: Response | None  # where one column is it
    source: str  # name of the source
    _read: dict[Precision, dict[Lacks, Moments]] = field(default_factory=dict, init=False)
    tally: Tally = field(default_factory=Tally, init=False)

    @cached_property
    def splitter(self) -> RowSplitter:
        """Converts parts of the table to numbers."""
        return RowSplitter(self.columns, self.response, self.table.weights, self.table.nulls)

    @property
    def names(self) -> Lacks:
        """Names of the encoded columns, and of the response."""
        return self.splitter.names_of(())

    def by_pattern(
        self, precision: Precision = "auto", *, intercept: bool = True
    ) -> dict[Lacks, StreamedPattern]:
        """Read all rows once, and patterns whose sums are not precise enough once more.

        A column that no row has is not part of a pattern: the table lacks it.
        """
        found = self.moments(precision)
        if precision == "auto":
            poor = {lacks: self._better(m, intercept) for lacks, m in found.items()}
            for better in {kept for lacks, kept in poor.items() if kept != found[lacks].precision}:
                found |= self._sum(better, [k for k, kept in poor.items() if kept == better])
        patterns = {lacks: StreamedPattern(self, lacks, own.rows) for lacks, own in found.items()}
        return without_void(patterns, self.columns)

    def cautions(self) -> list[PoolwiseWarning]:
        """Return warnings about rows that were left out."""
        own, found = self.tally, list[PoolwiseWarning]()
        if self.table.nulls == "drop" and own.incomplete:
            found.append(own.rows_left_out(self.source))
        if own.beyond:
            found.append(own.beyond_left_out(self.source, MOST_PATTERNS))
        return found

    def moments(self, precision: Precision) -> dict[Lacks, Moments]:
        """Return moments by the columns that rows lack, from an earlier pass if there was one."""
        if precision not in self._read:
            rows, columns = self.table.batches.rows, len(self.names)
            is_long = precision == "auto" and rows is None
            kept = "fast" if is_long else chosen(precision, rows or 0, columns)
            self._read[precision] = self._sum(kept)
        return self._read[precision]

    def _better(self, moments: Moments, intercept: bool) -> Kept:
        """Return the precision for a second pass; see Moments.read."""
        full = [names for names in wholes(self.columns) if names[0] in moments]
        return moments.better_precision(full, intercept=intercept)

    def _sum(self, precision: Kept, only: Collection[Lacks] | None = None) -> dict[Lacks, Moments]:
        """Add up the rows of each pattern, or of some, in one pass."""
        which = None if only is None else tuple(sorted(only))
        task = SumByPattern(self.splitter, precision, which, self.table.where)
        found = self.table.total(task) or PatternSums({}, Tally())
        vars(self.tally).update(vars(found.tally))
        return {lacks: moments for lacks, moments in found.moments.items() if moments.rows}


@dataclass(frozen=True, eq=False)
class StreamedPattern:
    """Those rows of a streamed table that lack the same columns."""

    rows: StreamedRows
    lacks: Lacks
    count: int

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that these rows have."""
        return tuple(c for c in self.rows.columns if c.name not in self.lacks)

    def moments(self, precision: Precision = "auto", *, intercept: bool = True) -> Moments:
        """Return the moments, from an earlier pass or from a new one."""
        del intercept  # it was considered when the table was split
        return self.rows.moments(precision)[self.lacks]

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
