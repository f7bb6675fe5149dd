"""Rows of one table with gaps, whose moments are those of filled and weighed rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array
from poolwise.errors import LeftOut, PoolwiseWarning
from poolwise.linear.gaps import Filled, filled
from poolwise.linear.joint import Joint
from poolwise.moments.moments import Moments
from poolwise.numerics.options import Precision, chosen
from poolwise.tables.encoding import Column, encoded
from poolwise.tables.row_splitter import Piece, Tally
from poolwise.tables.rows import Pattern, TableRows, pattern_name
from poolwise.tables.streamed_rows import StreamedRows

LEAST_SHARE = 0.15  # of all rows, from which those with the same gaps are history
FEWEST = 3  # rows that have the columns which a block of history lacks


@dataclass(frozen=True, eq=False)
class GapRows:
    """Rows of a table, in memory or streamed, some of which have gaps.

    Parameters
    ----------
    rows : TableRows or StreamedRows
        The rows.
    columns : tuple of Column
        The columns that the table has.
    patterns : mapping
        The rows by the columns that they lack.
    before, others : tuple of Moments
        Of further rows of the table, and of other tables, which inform about the gaps.
    """

    rows: TableRows | StreamedRows
    columns: tuple[Column, ...]
    patterns: Mapping[tuple[str, ...], Pattern]
    before: tuple[Moments, ...] = ()
    others: tuple[Moments, ...] = ()
    _found: dict[Precision, Filled] = field(default_factory=dict, init=False)

    @classmethod
    def of(cls, rows: TableRows, others: tuple[Moments, ...] = ()) -> GapRows:
        """Split rows in memory, some of which may have gaps."""
        return cls(rows, rows.columns, rows.by_pattern(), others=others)

    @property
    def count(self) -> int:
        """Number of rows."""
        return sum(piece.count for piece in self.patterns.values())

    @property
    def gaps(self) -> dict[str, int]:
        """Number of values of each column that are filled."""
        gone = ((n, piece.count) for lacks, piece in self.patterns.items() for n in lacks)
        counts = Counter[str]()
        for name, count in gone:
            counts[name] += count
        return dict(counts)

    @property
    def joint(self) -> Joint:
        """The joint distribution of the features, once moments were taken."""
        return next(iter(self._found.values())).joint

    def moments(self, precision: Precision = "auto", *, intercept: bool = True) -> Moments:
        """Return the moments of the filled rows; they are never exact."""
        if precision not in self._found:
            own = self.rows
            response = own.names[-1]
            names = (*encoded(self.columns), response)
            each = []
            for piece in self.patterns.values():
                is_free = precision == "auto" and isinstance(piece, TableRows)  # of a second pass
                kept = chosen("auto", piece.count, len(names)) if is_free else precision
                each.append(piece.moments(kept, intercept=intercept))
            self._found[precision] = filled(
                names,
                response,
                each,
                before=self.before,
                others=self.others,
                intercept=intercept,
            )
        return self._found[precision].moments

    def blocks(self, names: Sequence[str]) -> Iterator[tuple[Array, Array | None]]:
        """Yield blocks of encoded columns without gaps, with the weights of the rows as given."""
        features = self.joint.names
        wanted = (*features, *(n for n in names if n not in features))
        at = [wanted.index(n) for n in names]
        for block, weights in self.with_gaps(wanted):
            block[:, : len(features)] = self.joint.filled(block[:, : len(features)])[0]
            yield block[:, at], weights

    def with_gaps(self, names: Sequence[str]) -> Iterator[tuple[Array, Array | None]]:
        """Yield blocks of encoded columns, in which a gap is NaN."""
        if isinstance(self.rows, TableRows):
            yield from self.rows.blocks(names)
            return
        splitter = self.rows.splitter
        for split in splitter.slices(self.rows.table.parts(splitter.names), Tally()):
            if not split:
                continue
            in_order = np.argsort(np.concatenate([piece.place for piece in split]))
            blocks = [_with_gaps(piece, splitter.names_of(piece.lacks), names) for piece in split]
            block = np.concatenate(blocks)[in_order]
            if split[0].weights is None:
                yield block, None
                continue
            w = np.concatenate([piece.weights for piece in split])[in_order]
            yield block[w > 0.0], w[w > 0.0]


def _with_gaps(piece: Piece, there: Sequence[str], names: Sequence[str]) -> Array:
    """Return the values of columns of a piece, NaN for those that it lacks."""
    values = np.column_stack(piece.arrays)
    block = np.full((len(values), len(names)), np.nan)
    for j, name in enumerate(names):
        if name in there:
            block[:, j] = values[:, there.index(name)]
    return block


class ReadRows(NamedTuple):
    """A table that was read: its moments, rows to read again, gaps, and warnings."""

    moments: Moments
    rows: Pattern | None
    gaps: Mapping[str, int] = MappingProxyType({})
    cautions: Sequence[PoolwiseWarning] = ()


def read_rows(
    name: str,
    held: TableRows | StreamedRows,
    intercept: bool,
    precision: Precision,
    before: tuple[Moments, ...] = (),
    others: tuple[Moments, ...] = (),
) -> ReadRows:
    """Fill the gaps of a table and sum its rows; also for streamed tables."""
    cautions: list[PoolwiseWarning] = []
    split: Mapping[tuple[str, ...], Pattern]
    if isinstance(held, StreamedRows):
        split = held.by_pattern(precision, intercept=intercept)
        cautions += held.cautions()
        if not split:
            return ReadRows(Moments.empty(()), None, {}, [*cautions, LeftOut.empty_source(name)])
    else:
        held = held.without_void() if not before else held
        split = held.by_pattern()
    if len(split) == 1 and not next(iter(split)):
        (piece,) = split.values()
        return ReadRows(piece.moments(precision, intercept=intercept), piece, {}, cautions)
    columns = tuple(c for c in held.columns if any(c in piece.columns for piece in split.values()))
    if before:
        columns = tuple(c for c in held.columns if set(c.outputs) <= {*before[0].names})
    rows = GapRows(held, columns, split, before, others)
    return ReadRows(rows.moments(precision, intercept=intercept), rows, rows.gaps, cautions)


def split_by_block(
    missing: NDArray[np.bool_],
    names: Sequence[str],
    outputs: Sequence[int],
    sources: Collection[str],
    intercept: bool,
    known: Collection[str] = (),
    *,
    may_be_new: bool = True,
) -> dict[tuple[str, ...], NDArray[np.intp]]:
    """Split the rows of X into the target and blocks of history, by the columns they lack.

    With sources there are no new blocks. ``outputs`` are the numbers of encoded columns, and
    ``known`` the names of blocks at fit.
    """
    may_be_new = may_be_new and not sources

    def is_block(lacks: tuple[int, ...], rows: int) -> bool:
        if pattern_name("rows", [names[j] for j in lacks], sources, known) in known:
            return True
        coefficients = sum(k for j, k in enumerate(outputs) if j not in lacks) + intercept
        has_them = int((~missing[:, list(lacks)]).all(axis=1).sum())
        if not may_be_new or len(lacks) == len(names) or has_them < FEWEST:
            return False
        return rows > coefficients and rows >= LEAST_SHARE * len(missing)

    found = _split(missing, is_block)
    return {tuple(names[j] for j in lacks): index for lacks, index in found.items()}


def _split(
    missing: NDArray[np.bool_], is_block: Callable[[tuple[int, ...], int], bool]
) -> dict[tuple[int, ...], NDArray[np.intp]]:
    """Split stacked rows into the target, under ``()``, and blocks of history.

    A block is a pattern of missing columns, and ``is_block`` says of which columns and how many
    rows. A row of any other pattern has gaps: it belongs to the table, the target or a block, that
    lacks the most columns among those that lack none but columns it lacks too.
    """
    if not missing.any():
        return {(): np.arange(len(missing))}
    patterns, which, counts = np.unique(missing, axis=0, return_inverse=True, return_counts=True)
    which, size, home = which.reshape(-1), patterns.sum(axis=1), np.full(len(patterns), -1)
    lacks = [tuple(np.flatnonzero(pattern).tolist()) for pattern in patterns]
    blocks = np.array(
        [k for k, own in enumerate(lacks) if own and is_block(own, int(counts[k]))], dtype=np.intp
    )
    for k, pattern in enumerate(patterns):
        inside = blocks[~(patterns[blocks] & ~pattern).any(axis=1)]
        if len(inside):
            home[k] = inside[np.argmax(size[inside])]
    found = {(): np.flatnonzero(home[which] == -1)}
    return found | {lacks[k]: np.flatnonzero(home[which] == k) for k in blocks}
