"""Patterns: rows of one table that lack different columns become different sources."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from poolwise.errors import FragmentsLeftOut, NotFinite, TransferWarning
from poolwise.moments import Moments
from poolwise.precision import Precision
from poolwise.tables.columns import encoded
from poolwise.tables.rows import TableRows


def read_sources(
    rows: Mapping[str, TableRows],
    *,
    taken: Collection[str],
    intercept: bool,
    precision: Precision = "auto",
    known: Collection[str] = (),
) -> tuple[dict[str, Moments], dict[str, TableRows], set[str], list[TransferWarning]]:
    """Take moments of each source; where a value is missing, one source per pattern.

    Returns the moments and the rows of the sources, the columns that some row lacks, and cautions.

    Parameters
    ----------
    rows : mapping of str to TableRows
        The sources. Those without rows are left out.
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
    kept: dict[str, TableRows] = {}
    lacking: set[str] = set()
    cautions: list[TransferWarning] = []
    for name, source in rows.items():
        if not source.table.rows:
            continue
        try:
            read, pieces = {name: source.moments(precision, intercept=intercept)}, {name: source}
        except NotFinite:
            split, names = source.by_pattern(), (*taken, *rows, *moments)
            lacking.update(*split)
            pieces, left_out = named_patterns(
                name, split, source.where, taken=names, intercept=intercept, known=known
            )
            read = {n: piece.moments(precision, intercept=intercept) for n, piece in pieces.items()}
            cautions += left_out
        moments |= read
        kept |= pieces
    return moments, kept, lacking, cautions


def named_patterns(
    name: str,
    split: Mapping[tuple[str, ...], TableRows],
    where: str,
    *,
    taken: Collection[str],
    intercept: bool,
    known: Collection[str] = (),
) -> tuple[dict[str, TableRows], list[TransferWarning]]:
    """Name the patterns of a table, and leave out those of too few rows.

    Too few are as many rows as coefficients, or fewer: their noise cannot be estimated. The largest
    pattern stays in any case, and so do patterns that are known; then the largest has no privilege.

    Parameters
    ----------
    name : str
        Name of the table.
    split : mapping of tuple of str to TableRows
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
    largest = max(split.values(), key=lambda piece: piece.table.rows, default=None)
    if any(k == name or k.startswith(f"{name} without ") for k in known):
        largest = None
    named: dict[str, TableRows] = {}
    small: list[int] = []
    for lacks, piece in split.items():
        rows, own = piece.table.rows, _name(name, lacks, (*taken, *named))
        if own in known or piece is largest or rows > len(encoded(piece.columns)) + intercept:
            named[own] = piece
        else:
            small.append(rows)
    return named, [FragmentsLeftOut(where, sum(small), len(small))] if small else []


def _name(name: str, lacks: Sequence[str], taken: Collection[str]) -> str:
    """Name the rows of a table that lack some columns, unlike any other source."""
    if not lacks:
        return name
    full = f"{name} without {', '.join(lacks)}"
    while full in taken:
        full += " (too)"
    return full
