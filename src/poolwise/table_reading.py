"""Table reading: the target and its sources, opened, encoded and turned into moments."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from poolwise.chunks import weights_as_numbers
from poolwise.errors import (
    DroppedColumns,
    EmptySource,
    EmptyTarget,
    ResponseInFeatures,
    TransferWarning,
)
from poolwise.moments import Moments
from poolwise.precision import Kept, Precision
from poolwise.problem import Problem
from poolwise.second_reading import read_again
from poolwise.tables import Table
from poolwise.tables.columns import Column, check_known, encoded, unify
from poolwise.tables.levels_apart import levels_apart
from poolwise.tables.moments_table import Levels, MomentsTable, kinds_of, open_moments, part_of
from poolwise.tables.opening import open_source, rows_of
from poolwise.tables.patterns import Pattern, named_patterns, read_sources
from poolwise.tables.responses import numbers
from poolwise.tables.rows import TableRows
from poolwise.tables.sources import Sources
from poolwise.tables.streamed import StreamedTable
from poolwise.tables.streamed_rows import StreamedRows


@dataclass(frozen=True, eq=False)
class Tables:
    """The target and its sources, read.

    Parameters
    ----------
    target : Moments
        Of the complete rows.
    moments : dict of str to Moments
        Of each source.
    columns : tuple of Column
        The raw columns of the target and their encoding.
    complete : TableRows
        The complete rows of the target.
    rows : dict of str to Pattern
        The rows of those sources that came as rows.
    lacking : frozenset of str
        Raw columns that some row lacks.
    cautions : tuple of TransferWarning
        What was left out on the way.
    """

    target: Moments
    moments: dict[str, Moments]
    columns: tuple[Column, ...]
    complete: TableRows
    rows: dict[str, Pattern]
    lacking: frozenset[str]
    cautions: tuple[TransferWarning, ...]

    def problem(self, response: str, intercept: bool) -> Problem:
        """Return what a method solves."""
        return Problem(self.target, self.moments, response, intercept, self.complete, self.rows)

    def read_again(self, better: Kept) -> Tables:
        """Read all rows with more digits."""
        own = read_again(self.target, self.complete, better)
        read = {name: read_again(self.moments[name], r, better) for name, r in self.rows.items()}
        return replace(self, target=own, moments=self.moments | read)


def read_tables(
    target: Table,
    y: Any,
    weights: Any,
    sources: Sources,
    response: str,
    own_name: str | None,
    *,
    intercept: bool,
    precision: Precision,
    unseen_level: Literal["raise", "ignore"] = "raise",
    columns: tuple[Column, ...] | None = None,
    levels: Mapping[str, Levels | None] | None = None,
    known: Collection[str] = (),
    jobs: int = 1,
) -> Tables:
    """Turn each table into moments, with columns found here unless they are given.

    Parameters
    ----------
    target : Table
        Features of the target, or of further rows of it, maybe none.
    y, weights : array-like
        Their response and their weights; no weights are None.
    sources : Sources
        The sources.
    response : str
        Name of the response.
    own_name : str or None
        The name that ``y`` brought along.
    intercept : bool
        Whether the model has an intercept.
    precision : {"auto", "fast", "accurate", "exact"}
        Digits of the second moments.
    unseen_level : {"raise", "ignore"}, default="raise"
        What a level that was not there at fit does at prediction.
    columns : tuple of Column, optional
        The columns of a fit that these rows come after.
    levels : mapping of str to Levels or None, optional
        The same as moments are matched with them; given where ``columns`` is.
    known : collection of str
        Names of the sources of that fit.
    jobs : int, default=1
        Threads that read files and add up rows.
    """
    given = dict(sources)
    if response in target.names:
        raise ResponseInFeatures(response)
    is_new = columns is None or levels is None
    tables = _opened(sources, target, columns, levels, response, jobs)
    whole = np.flatnonzero(~target.missing(target.names).any(axis=1))
    is_whole = len(whole) == target.rows
    if columns is None or levels is None:
        if not len(whole):
            raise EmptyTarget(target.rows, _missing_counts(target))
        columns = unify(
            target,
            tables,
            target.names,
            complete=target if is_whole else target.take(whole),
            intercept=intercept,
            unseen=unseen_level,
        )
        levels = {c.name: Levels.of(c) for c in columns}
    else:
        for where, table in (("X", target), *((f"source {n!r}", t) for n, t in tables.items())):
            if not _is_empty(table):
                check_known(table, columns, where)
    own_weights = None if weights is None else weights_as_numbers(weights)
    all_rows = TableRows(
        target, columns, response, numbers(y, response), own_weights, "the target", jobs
    )
    split: dict[tuple[str, ...], TableRows] = {(): all_rows}
    if not is_whole:
        split = all_rows.by_pattern()
    complete = split.pop((), None) or all_rows.none()

    rows: dict[str, TableRows | StreamedRows | Moments] = {}
    own_rows, cautions = named_patterns(
        "rows", split, "X", taken=given, intercept=intercept, known=known
    )
    rows |= own_rows
    for name, table in tables.items():
        source = given[name]
        if isinstance(table, MomentsTable):
            part, told = part_of(name, table, levels, response)
            order = (*encoded(columns), response)
            rows[name] = part.select([n for n in order if n in part])
            cautions += told
            continue
        assert not isinstance(source, Moments)
        rows[name] = rows_of(name, source, table, columns, response, own_name, jobs)
        if _is_empty(table):
            cautions.append(EmptySource(name))
        used = (*target.names, response)
        if extra := [n for n in table.names if n not in used]:
            lacking = [n for n in used if n not in table.names]
            cautions.append(DroppedColumns(name, extra, lacking))
    if is_new:
        cautions += levels_apart(target, tables, columns)
    read, kept, patterns, more = read_sources(
        rows, taken=given, intercept=intercept, precision=precision, known=known
    )
    own = complete.moments(precision, intercept=intercept)
    return Tables(
        own,
        read,
        columns,
        complete,
        kept,
        frozenset(patterns.union(*split)),
        (*cautions, *more),
    )


def _opened(
    sources: Sources,
    target: Table,
    columns: tuple[Column, ...] | None,
    levels: Mapping[str, Levels | None] | None,
    response: str,
    jobs: int,
) -> dict[str, Table | StreamedTable | MomentsTable]:
    """Open each source, as the target's columns say or as those of the fit did."""
    given = dict(sources)
    if not given:
        return {}
    kinds = {n: target.levels_of(n) for n in target.names}
    if columns is not None and levels is not None:
        kinds = {c.name: c.levels for c in columns}
        by_name = kinds_of(levels)
    else:
        by_name = kinds
    texts = {n: known is not None for n, known in kinds.items()}
    return {
        name: (
            open_moments(name, source, by_name, response)
            if isinstance(source, Moments)
            else open_source(name, source, texts, response, jobs)
        )
        for name, source in given.items()
    }


def _is_empty(table: Table | StreamedTable | MomentsTable) -> bool:
    """Say whether a source has nothing to add; of a streamed one that is known once it is read."""
    if isinstance(table, StreamedTable):
        return False
    return not (table.moments.weight if isinstance(table, MomentsTable) else table.rows)


def _missing_counts(table: Table) -> dict[str, int]:
    counts = table.missing(table.names).sum(axis=0)
    return {n: int(c) for n, c in zip(table.names, counts, strict=True) if c}
