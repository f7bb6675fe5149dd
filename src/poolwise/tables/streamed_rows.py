"""StreamedRows: the rows of a streamed table, as moments of each pattern of missing columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from poolwise.chunks import checked_weights
from poolwise.double_double import Array
from poolwise.errors import (
    BadWeights,
    NotFinite,
    NullsInFile,
    RowsDropped,
    RowsWithoutFeatures,
    TooManyPatterns,
    TransferWarning,
)
from poolwise.least_squares import rounding_error
from poolwise.moments import Moments
from poolwise.precision import Kept, Precision, chosen, needed
from poolwise.tables.arrow_columns import encode, is_missing
from poolwise.tables.columns import Column, encoded
from poolwise.tables.rows import rows_at_once
from poolwise.tables.streamed import Part, StreamedTable

Lacks: TypeAlias = tuple[str, ...]

MOST_PATTERNS = 1000  # each is a source, and holds a matrix


class Piece(NamedTuple):
    """Rows of one part that lack the same columns."""

    lacks: Lacks
    arrays: list[Array]  # the encoded columns they have, and the response last
    weights: Array | None
    where: str


@dataclass
class Tally:
    """Rows, those of them that lack a value, and how many values each column lacks."""

    rows: int = 0
    incomplete: int = 0
    counts: dict[str, int] = field(default_factory=dict)

    def add(self, other: Tally) -> None:
        """Count the rows of another tally too."""
        self.rows, self.incomplete = self.rows + other.rows, self.incomplete + other.incomplete
        for name, count in other.counts.items():
            self.counts[name] = self.counts.get(name, 0) + count


@dataclass(frozen=True, eq=False)
class StreamedRows:
    """Rows of any number, which can be read again.

    Parameters
    ----------
    table : StreamedTable
        All columns.
    columns : tuple of Column
        Those of the problem's columns that the table has.
    response : str
        Name of the response.
    source : str
        Name of the source.
    """

    table: StreamedTable
    columns: tuple[Column, ...]
    response: str
    source: str
    _read: dict[Precision, dict[Lacks, Moments]] = field(default_factory=dict, init=False)
    _dropped: Tally = field(default_factory=Tally, init=False)

    def by_pattern(
        self, precision: Precision = "auto", *, intercept: bool = True
    ) -> dict[Lacks, StreamedPattern]:
        """Read all rows once, and patterns whose sums turn out to be too poor once more.

        A column that no row has is part of no pattern: it is the table that lacks it.
        """
        found = self._moments(precision)
        if precision == "auto":
            poor = {lacks: _better(m, intercept) for lacks, m in found.items()}
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
        own = self._dropped
        if not own.incomplete:
            return []
        return [RowsDropped(self.source, own.counts, own.incomplete, own.rows)]

    def moments(self, lacks: Lacks, precision: Precision) -> Moments:
        """Return the moments of the rows that lack some columns."""
        return self._moments(precision)[lacks]

    def pieces(self) -> Iterator[Piece]:
        """Read all rows, each part split by the columns that rows lack."""
        names = [*(c.name for c in self.columns), self.response]
        names += [self.table.weights] if self.table.weights else []
        at_once = rows_at_once(len(self.names_of(())))
        file, own, dropped = "", Tally(), Tally()
        for long_part in self.table.parts(names):
            if long_part.where != file:
                self._end_of_file(file, own)
                file, own = long_part.where, Tally()
            for part in long_part.slices(at_once):
                split, nulls = self._split(part)
                own.add(nulls)
                dropped.add(nulls)
                yield from split
        self._end_of_file(file, own)
        if self.table.nulls == "drop":
            vars(self._dropped).update(vars(dropped))

    def _moments(self, precision: Precision) -> dict[Lacks, Moments]:
        if precision not in self._read:
            self._read[precision] = self._sum(precision)
        return self._read[precision]

    def _sum(
        self, precision: Precision, only: Collection[Lacks] | None = None
    ) -> dict[Lacks, Moments]:
        """Add up the rows of each pattern, or of some, in one reading."""
        total: dict[Lacks, Moments] = {}
        for lacks, run in groupby(self.pieces(), lambda piece: piece.lacks):
            if only is not None and lacks not in only:
                continue
            names, before = self.names_of(lacks), total.get(lacks)
            blocks = ((piece.arrays, piece.weights) for piece in run)
            if before is None:
                total[lacks] = Moments.of_blocks(names, blocks, precision=precision)
            else:
                is_long = chosen(precision, before.rows, len(names)) == "fast"
                kept = "fast" if is_long else precision
                total[lacks] = before + Moments.of_blocks(names, blocks, precision=kept)
            if len(total) > MOST_PATTERNS:
                raise TooManyPatterns(self.table.where, MOST_PATTERNS)
        return {lacks: moments for lacks, moments in total.items() if moments.rows}

    def names_of(self, lacks: Lacks) -> Lacks:
        """Return the encoded columns of rows that lack some, and the response."""
        return (*encoded([c for c in self.columns if c.name not in lacks]), self.response)

    def _end_of_file(self, file: str, own: Tally) -> None:
        if self.table.nulls == "raise" and own.incomplete:
            raise NullsInFile(file, own.counts, own.incomplete)

    def _split(self, part: Part) -> tuple[list[Piece], Tally]:
        """Encode a part and split it by the columns that rows lack."""
        has = [c for c in self.columns if c.name in part.columns]
        values = [encode(part.columns[c.name], c, part.where) for c in has]
        y = encode(part.columns[self.response], Column(self.response), part.where)
        weights = self._weights_of(part)
        arrays = [*values, y]
        absent = [c.name for c in self.columns if c.name not in part.columns]
        no_null = not any(part.columns[c.name].null_count for c in has if c.levels)
        finite = all(np.isfinite(a).all() for a in (*arrays, weights) if a is not None)
        if has and no_null and finite:
            return [self._piece(absent, arrays, weights, part)], Tally(part.rows)

        gone = np.zeros((part.rows, len(has)), dtype=bool)
        for j, column in enumerate(has):
            gone[:, j] = is_missing(part.columns[column.name])
        nulls = {c.name: gone[:, j] for j, c in enumerate(has)}
        nulls[self.response] = np.isnan(y[:, 0])
        if self.table.weights and weights is not None:
            nulls[self.table.weights] = np.isnan(weights)
        incomplete = np.logical_or.reduce([*nulls.values()])
        counts = {n: int(null.sum()) for n, null in nulls.items() if null.any()}
        tally = Tally(part.rows, int(incomplete.sum()), counts)
        if self.table.nulls == "raise" and tally.incomplete:
            return [], tally  # the error comes at the end of the file, with all its counts
        used = np.ones(part.rows, dtype=bool) if weights is None else weights != 0.0
        if self.table.nulls == "drop":
            used &= ~incomplete
        elif bad := int(np.count_nonzero(nulls[self.response] & used)):
            raise NotFinite({self.response: bad}, part.rows, f"the response of {part.where}")
        pieces = []
        codes = _codes(gone)
        for code in np.unique(codes[used]):
            index = np.flatnonzero((codes == code) & used)
            lacks = gone[index[0]]
            if lacks.all():
                raise RowsWithoutFeatures(part.where, len(index))
            kept = [a[index] for a, out in zip(arrays, (*lacks, False), strict=True) if not out]
            names = {*absent, *(c.name for c, out in zip(has, lacks, strict=True) if out)}
            self._check_finite(kept, names, part)
            own = None if weights is None else weights[index]
            pieces.append(self._piece(names, kept, own, part))
        return pieces, tally

    def _piece(
        self, lacks: Collection[str], arrays: list[Array], weights: Array | None, part: Part
    ) -> Piece:
        if weights is not None:
            try:
                checked_weights(weights, len(arrays[-1]))
            except BadWeights as error:
                what = f"In column {self.table.weights!r} of {part.where}: {error.what}"
                raise BadWeights(what) from None
        ordered = tuple(c.name for c in self.columns if c.name in lacks)
        return Piece(ordered, arrays, weights, part.where)

    def _check_finite(self, arrays: list[Array], lacks: Collection[str], part: Part) -> None:
        there = [*(c.name for c in self.columns if c.name not in lacks), self.response]
        bad = {n: int((~np.isfinite(a)).sum()) for n, a in zip(there, arrays, strict=True)}
        if any(bad.values()):
            raise NotFinite({n: k for n, k in bad.items() if k}, part.rows, part.where)

    def _weights_of(self, part: Part) -> Array | None:
        name = self.table.weights
        return None if name is None else encode(part.columns[name], Column(name), part.where)[:, 0]


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
        own = self.rows.names_of(self.lacks)
        at = [own.index(n) for n in names]
        for piece in self.rows.pieces():
            if piece.lacks == self.lacks:
                block = np.column_stack(piece.arrays)[:, at]
                w = piece.weights
                yield (block, None) if w is None else (block[w > 0.0], w[w > 0.0])


def _codes(gone: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Give different rows of a table of booleans different numbers."""
    if gone.shape[1] < 63:
        return np.asarray(gone @ (1 << np.arange(gone.shape[1])), dtype=np.intp)
    return np.unique(np.packbits(gone, axis=1), axis=0, return_inverse=True)[1].reshape(-1)


def _better(moments: Moments, intercept: bool) -> Kept:
    """Return the precision to read with again, or that which there is; see Moments.read."""
    if moments.rows <= len(moments.names):  # too few to tell columns apart
        return moments.precision
    better = needed(rounding_error(moments.scatter if intercept else moments.about_zero()))
    if moments.precision == "fast":
        return "accurate" if better != "fast" else "fast"
    return "exact" if better == "exact" else moments.precision
