"""Patterns: rows of one table that lack different columns become different sources."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

from poolwise.double_double import Array
from poolwise.errors import EmptySource, FragmentsLeftOut, NotFinite, TransferWarning
from poolwise.moments import Moments
from poolwise.precision import Precision
from poolwise.tables.columns import Column, encoded
from poolwise.tables.rows import TableRows
from poolwise.tables.streamed_rows import StreamedRows


class Pattern(Protocol):
    """Rows that lack the same columns, in memory or not."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that they have."""
        ...

    @property
    def count(self) -> int:
        """Number of rows."""
        ...

    def moments(self, precision: Precision = "auto", *, intercept: bool = True) -> Moments:
        """Return their moments."""
        ...

    def blocks(self, names: Sequence[str]) -> Iterator[tuple[Array, Array | None]]:
        """Yield blocks of encoded columns, with the rows' weights."""
        ...


P = TypeVar("P", bound=Pattern)


def read_sources(
    rows: Mapping[str, TableRows | StreamedRows | Moments],
    *,
    taken: Collection[str],
    intercept: bool,
    precision: Precision = "auto",
    known: Collection[str] = (),
) -> tuple[dict[str, Moments], dict[str, Pattern], set[str], list[TransferWarning]]:
    """Take moments of each source; where a value is missing, one source per pattern.

    Returns the moments and the rows of the sources, the columns that some row lacks, and cautions.

    Parameters
    ----------
    rows : mapping of str to TableRows, StreamedRows or Moments
        The sources, whose order stays. Those without rows are left out; moments stay as they are.
    taken : collection of str
        Names that a new source may not have.
    intercept : bool
        Whether the model has an intercept.
    precision : {"auto", "fast", "accurate", "exact"}, default="auto"
        Digits of the second moments.
    known : collection of str
        Names of sources that are there already, which may have as few rows as they like.
    """
    moments: dict[str, Moments] = {}
    kept: dict[str, Pattern] = {}
    lacking: set[str] = set()
    cautions: list[TransferWarning] = []
    for name, source in rows.items():
        pieces: Mapping[str, Pattern]
        names = (*taken, *rows, *moments)
        if isinstance(source, Moments):
            moments[name] = source
            continue
        if isinstance(source, StreamedRows):
            found = source.by_pattern(precision, intercept=intercept)
            cautions += source.cautions() if found else [*source.cautions(), EmptySource(name)]
            lacking.update(*found)
            pieces, left_out = named_patterns(
                name, found, source.table.where, taken=names, intercept=intercept, known=known
            )
            read = {n: piece.moments(precision, intercept=intercept) for n, piece in pieces.items()}
            cautions += left_out
        elif not source.table.rows:
            continue
        else:
            try:
                read = {name: source.moments(precision, intercept=intercept)}
                pieces = {name: source}
            except NotFinite:
                split = source.by_pattern()
                lacking.update(*split)
                pieces, left_out = named_patterns(
                    name, split, source.where, taken=names, intercept=intercept, known=known
                )
                read = {
                    n: piece.moments(precision, intercept=intercept) for n, piece in pieces.items()
                }
                cautions += left_out
        moments |= read
        kept |= pieces
    return moments, kept, lacking, cautions


def named_patterns(
    name: str,
    split: Mapping[tuple[str, ...], P],
    where: str,
    *,
    taken: Collection[str],
    intercept: bool,
    known: Collection[str] = (),
) -> tuple[dict[str, P], list[TransferWarning]]:
    """Name the patterns of a table, and leave out those of too few rows.

    Too few are as many rows as coefficients, or fewer: their noise cannot be estimated. The largest
    pattern stays in any case, and so do patterns that are known; then the largest has no privilege.

    Parameters
    ----------
    name : str
        Name of the table.
    split : mapping of tuple of str to rows
        The rows by the columns they lack.
    where : str
        What to call the table in a caution.
    taken : collection of str
        Names that a new source may not have.
    intercept : bool
        Whether the model has an intercept.
    known : collection of str
        Names of sources that are there already.
    """
    largest = max(split.values(), key=lambda piece: piece.count, default=None)
    if any(k == name or k.startswith(f"{name} without ") for k in known):
        largest = None
    named: dict[str, P] = {}
    small: list[int] = []
    for lacks, piece in split.items():
        rows, own = piece.count, pattern_name(name, lacks, (*taken, *named), known)
        if own in known or piece is largest or rows > len(encoded(piece.columns)) + intercept:
            named[own] = piece
        else:
            small.append(rows)
    return named, [FragmentsLeftOut(where, sum(small), len(small))] if small else []


def pattern_name(
    name: str, lacks: Sequence[str], taken: Collection[str], known: Collection[str] = ()
) -> str:
    """Name the rows of a table that lack some columns, unlike any other source.

    A name that was taken at fit may not be in ``taken`` now, but the longer one is then known.

    Parameters
    ----------
    name : str
        Name of the table.
    lacks : sequence of str
        The columns that the rows lack.
    taken : collection of str
        Names that are given already.
    known : collection of str
        Names of sources that are there already.
    """
    if not lacks:
        return name
    full = f"{name} without {', '.join(lacks)}"
    while full in taken or f"{full} (too)" in known:
        full += " (too)"
    return full
