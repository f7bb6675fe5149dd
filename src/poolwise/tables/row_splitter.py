"""Parts of a streamed table as numbers, split by the columns that rows lack."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array
from poolwise.errors import BadWeights, LeftOut, NotFinite
from poolwise.numerics.chunks import checked_weights
from poolwise.tables.arrow import encode, is_missing
from poolwise.tables.encoding import Column, encoded
from poolwise.tables.files import Nulls
from poolwise.tables.response import Response, without_response
from poolwise.tables.rows import rows_at_once, without_features
from poolwise.tables.shards import Part
from poolwise.wording import capital, counted, plural

Lacks: TypeAlias = tuple[str, ...]


class Piece(NamedTuple):
    """Rows of one part that lack the same columns."""

    lacks: Lacks
    arrays: list[Array]  # the encoded columns they have, and the response last
    weights: Array | None
    where: str
    place: NDArray[np.intp]  # of the rows in a slice of the table


@dataclass
class Tally:
    """Rows, those of them that lack a value, and how many values each column lacks."""

    rows: int = 0
    incomplete: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    beyond: int = 0  # rows of patterns of missing columns that are too many to hold
    unanswered: int = 0  # rows without a response, which are left out

    def add(self, other: Tally) -> None:
        """Count the rows of another tally too."""
        self.rows, self.incomplete = self.rows + other.rows, self.incomplete + other.incomplete
        self.beyond += other.beyond
        self.unanswered += other.unanswered
        for name, count in other.counts.items():
            self.counts[name] = self.counts.get(name, 0) + count

    def rows_left_out(self, source: str) -> LeftOut:
        """Return the warning about rows of a source that were dropped."""
        return LeftOut(
            f"{self.incomplete:,} of {self.rows:,} rows of table {source!r} were dropped because "
            f"a value is missing: {counted(self.counts)}.",
            'nulls="split" uses the rows that lack a feature.',
            counts=dict(self.counts),
            dropped=self.incomplete,
            rows=self.rows,
        )

    def beyond_left_out(self, source: str, most: int) -> LeftOut:
        """Return the warning about rows of too many patterns of missing columns."""
        return LeftOut(
            f"{self.beyond:,} of {self.rows:,} rows of table {source!r} were left out: its rows "
            f"lack columns in more than {most:,} different patterns, and the first {most:,} are "
            "held.",
            "Read fewer columns, or impute some of them first.",
            dropped=self.beyond,
            rows=self.rows,
        )


@dataclass(frozen=True)
class RowSplitter:
    """Converts parts of a table to numbers, split by the columns that rows lack."""

    columns: tuple[Column, ...]
    response: Response | None
    weights: str | None
    nulls: Nulls

    @property
    def names(self) -> tuple[str, ...]:
        """The raw columns to read."""
        weights = (self.weights,) if self.weights else ()
        return (*(c.name for c in self.columns), *self._responses, *weights)

    @property
    def _responses(self) -> tuple[str, ...]:
        return () if self.response is None else (self.response.raw,)

    def pieces(self, parts: Iterator[Part], tally: Tally) -> Iterator[Piece]:
        """Split all parts, and count the rows that lack a value."""
        for split in self.slices(parts, tally):
            yield from split

    def slices(self, parts: Iterator[Part], tally: Tally) -> Iterator[list[Piece]]:
        """Yield the pieces of a slice of rows at a time."""
        at_once = rows_at_once(len(self.names_of(())))
        file, own = "", Tally()
        for long_part in parts:
            if long_part.where != file:
                self._end_of_file(file, own)
                file, own = long_part.where, Tally()
            for part in long_part.slices(at_once):
                split, nulls = self._split(part)
                own.add(nulls)
                tally.add(nulls)
                yield split
        self._end_of_file(file, own)

    def _end_of_file(self, file: str, own: Tally) -> None:
        if self.nulls == "raise" and own.incomplete:
            where = capital(file) if file.startswith("table ") else repr(file)  # a stream
            raise NotFinite(
                f"{where} has missing values in {plural(own.incomplete, 'row')}: "
                f"{counted(own.counts)}.",
                'nulls="drop" leaves such rows out; nulls="split" uses them.',
                missing=own.counts,
            )

    def names_of(self, lacks: Lacks) -> Lacks:
        """Return the encoded columns of rows that lack some, and the response."""
        named = () if self.response is None else (self.response.name,)
        return (*encoded([c for c in self.columns if c.name not in lacks]), *named)

    def _split(self, part: Part) -> tuple[list[Piece], Tally]:
        """Encode a part and split it by the columns that rows lack."""
        has = [c for c in self.columns if c.name in part.columns]
        whole = [*has] if self.response is None else [*has, self.response.column]
        arrays = [encode(part.columns[c.name], c, part.where) for c in whole]
        weights = None
        if self.weights is not None:
            weights = encode(part.columns[self.weights], Column(self.weights), part.where)[:, 0]
        if self.response is not None:
            y = self.response.transformed(arrays[-1][:, 0], part.where, weights)
            arrays[-1] = y[:, None]
        absent = [c.name for c in self.columns if c.name not in part.columns]
        no_null = not any(part.columns[c.name].null_count for c in has if c.levels is not None)
        numbers = [a for a in (*arrays, weights) if a is not None]
        if has and no_null and _are_finite(numbers):
            return [self._piece(absent, arrays, weights, part)], Tally(part.rows)

        gone = np.zeros((part.rows, len(has)), dtype=bool)
        for j, column in enumerate(has):
            gone[:, j] = is_missing(part.columns[column.name])
        nulls = {c.name: gone[:, j] for j, c in enumerate(has)}
        nulls |= {n: np.isnan(arrays[-1][:, 0]) for n in self._responses}
        if self.weights and weights is not None:
            nulls[self.weights] = np.isnan(weights)
        incomplete = np.logical_or.reduce([*nulls.values()])
        counts = {n: int(null.sum()) for n, null in nulls.items() if null.any()}
        tally = Tally(part.rows, int(incomplete.sum()), counts)
        if self.nulls == "raise" and tally.incomplete:
            return [], tally  # the error comes at the end of the file, with all its counts
        used = np.ones(part.rows, dtype=bool) if weights is None else weights != 0.0
        if self.nulls == "drop":
            used &= ~incomplete
        elif self.response is not None and (gone_y := nulls[self.response.raw] & used).any():
            tally.unanswered = int(np.count_nonzero(gone_y))
            if self.response.strict:
                raise without_response(part.where, self.response.raw, tally.unanswered, part.rows)
            used &= ~gone_y
        pieces = []
        codes = _codes(gone)
        for code in np.unique(codes[used]):
            index = np.flatnonzero((codes == code) & used)
            lacks = gone[index[0]]
            if lacks.all() and self.response is None:
                raise without_features(part.where, len(index))
            out_of = (*lacks, *(False for _ in self._responses))
            kept = [a[index] for a, out in zip(arrays, out_of, strict=True) if not out]
            names = {*absent, *(c.name for c, out in zip(has, lacks, strict=True) if out)}
            self._check_finite(kept, names, part)
            own = None if weights is None else weights[index]
            pieces.append(self._piece(names, kept, own, part, index))
        return pieces, tally

    def _piece(
        self,
        lacks: Collection[str],
        arrays: list[Array],
        weights: Array | None,
        part: Part,
        index: NDArray[np.intp] | None = None,
    ) -> Piece:
        if weights is not None:
            try:
                checked_weights(weights, len(arrays[-1]))
            except BadWeights as error:
                what = f"In column {self.weights!r} of {part.where}: {error.message}"
                raise BadWeights.of(what) from None
        ordered = tuple(c.name for c in self.columns if c.name in lacks)
        index = np.arange(len(arrays[-1])) if index is None else index
        return Piece(ordered, arrays, weights, part.where, index)

    def _check_finite(self, arrays: list[Array], lacks: Collection[str], part: Part) -> None:
        there = [*(c.name for c in self.columns if c.name not in lacks), *self._responses]
        bad = {n: int((~np.isfinite(a)).sum()) for n, a in zip(there, arrays, strict=True)}
        if any(bad.values()):
            raise NotFinite.of({n: k for n, k in bad.items() if k}, part.rows, part.where)


def _are_finite(arrays: Sequence[Array]) -> bool:
    """Return whether all numbers are finite, from the least and the greatest."""
    return all(math.isfinite(a.min()) and math.isfinite(a.max()) for a in arrays if a.size)


def _codes(gone: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return a number for each row of a table of booleans, equal for equal rows only."""
    if gone.shape[1] < 63:
        return np.asarray(gone @ (1 << np.arange(gone.shape[1])), dtype=np.intp)
    return np.unique(np.packbits(gone, axis=1), axis=0, return_inverse=True)[1].reshape(-1)
