"""From what fit was given to a Problem: names, levels, missing columns, sources."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
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
from poolwise.least_squares import rounding_error
from poolwise.moments import Moments
from poolwise.precision import PRECISIONS, Kept, Precision, chosen, needed
from poolwise.problem import Problem
from poolwise.tables import Table, open_table
from poolwise.tables.columns import Column, check_known, encoded, unify
from poolwise.tables.levels_apart import levels_apart
from poolwise.tables.moments_table import Levels, MomentsTable, kinds_of, open_moments, part_of
from poolwise.tables.opening import open_source, rows_of
from poolwise.tables.patterns import Pattern, named_patterns, read_sources
from poolwise.tables.responses import name_of, numbers
from poolwise.tables.rows import TableRows
from poolwise.tables.sources import Sources
from poolwise.tables.streamed import StreamedTable
from poolwise.tables.streamed_rows import StreamedRows


@dataclass(frozen=True, eq=False)
class Intake:
    """A problem, and how its columns were made.

    Parameters
    ----------
    problem : Problem
        What a method solves.
    columns : tuple of Column
        The raw columns of the target and their encoding.
    rows : TableRows
        The complete rows of the target.
    optional : frozenset of str
        Raw columns that some row or source lacks.
    cautions : tuple of TransferWarning
        What was left out on the way.
    """

    problem: Problem
    columns: tuple[Column, ...]
    rows: TableRows
    optional: frozenset[str]
    cautions: tuple[TransferWarning, ...]


def gather(
    X: Any,
    y: Any,
    *,
    weights: Any = None,
    sources: Any = None,
    response: str = "y",
    intercept: bool = True,
    unseen_level: Literal["raise", "ignore"] = "raise",
    precision: Precision = "auto",
) -> Intake:
    """Match columns by name, encode levels, and turn each table into moments.

    Rows of ``X`` that lack a value become sources, one per pattern of missing columns; so do rows
    of a source that lack more than their source does. A pattern of so few rows that their noise
    cannot be estimated is left out, unless it is all the history there is.

    Parameters
    ----------
    X : table
        Features of the target.
    y : array-like
        Response of the target. If it has a name, that is the name of the response.
    weights : array-like, optional
        Row weights of the target.
    sources : object, optional
        See :class:`poolwise.Sources`.
    response : str, default="y"
        Name of the response when ``y`` has none.
    intercept : bool, default=True
        Whether the model has an intercept.
    unseen_level : {"raise", "ignore"}, default="raise"
        What a level that was not there at fit does at prediction.
    precision : {"auto", "fast", "accurate", "exact"}, default="auto"
        Digits of the second moments; see :class:`poolwise.PooledRegressor`.
    """
    target = open_table(np.asarray(X) if isinstance(X, list | tuple) else X, "X")
    own_name = name_of(y)
    response = own_name or response
    tables = _read(
        target,
        y,
        weights,
        Sources.of(sources, target.rows),
        response,
        own_name,
        intercept=intercept,
        unseen_level=unseen_level,
        precision=precision,
    )
    problem = tables.problem(response, intercept)
    if precision == "auto" and (better := _digits_needed(problem)) != "fast":
        problem = tables.read_again(better).problem(response, intercept)
    optional = tables.lacking.union(lacking_somewhere(problem, tables.columns))
    return Intake(problem, tables.columns, tables.complete, optional, tables.cautions)


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
        own = _read_again(self.target, self.complete, better)
        read = {name: _read_again(self.moments[name], r, better) for name, r in self.rows.items()}
        return replace(self, target=own, moments=self.moments | read)


def gather_more(
    target: Table,
    y: Any,
    *,
    columns: tuple[Column, ...],
    levels: Mapping[str, Levels | None],
    known: Collection[str],
    response: str,
    weights: Any = None,
    sources: Any = None,
    intercept: bool = True,
    precision: Precision = "auto",
) -> Tables:
    """Read rows that come after a fit, with its columns and levels.

    Parameters
    ----------
    target : Table
        Features of further rows of the target, maybe none.
    y : array-like
        Their response.
    columns : tuple of Column
        The columns of the fit.
    levels : mapping of str to Levels or None
        The columns of the fit as moments are matched with them.
    known : collection of str
        Names of the sources of the fit.
    response : str
        Name of the response.
    weights, sources, intercept, precision
        As in :func:`gather`.
    """
    return _read(
        target,
        y,
        weights,
        Sources(sources),  # scikit-learn, which may cut it, calls fit alone
        response,
        None,
        intercept=intercept,
        precision=precision,
        columns=columns,
        levels=levels,
        known=known,
    )


def _read(
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
) -> Tables:
    """Turn each table into moments, with columns found here unless they are given."""
    given = dict(sources)
    if response in target.names:
        raise ResponseInFeatures(response)
    is_new = columns is None or levels is None
    tables = _opened(sources, target, columns, levels, response)
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
    all_rows = TableRows(target, columns, response, numbers(y, response), own_weights, "the target")
    split: dict[tuple[str, ...], TableRows] = {(): all_rows}
    if not is_whole:
        split = all_rows.by_pattern()
    complete = split.pop((), None) or all_rows.none()

    rows: dict[str, TableRows | StreamedRows] = {}
    own_rows, cautions = named_patterns(
        "rows", split, "X", taken=given, intercept=intercept, known=known
    )
    rows |= own_rows
    moments: dict[str, Moments] = {}
    for name, table in tables.items():
        source = given[name]
        if isinstance(table, MomentsTable):
            part, told = part_of(name, table, levels, response)
            order = (*encoded(columns), response)
            moments[name] = part.select([n for n in order if n in part])
            cautions += told
            continue
        assert not isinstance(source, Moments)
        rows[name] = rows_of(name, source, table, columns, response, own_name)
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
        read | moments,
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
            else open_source(name, source, texts, response)
        )
        for name, source in given.items()
    }


def lacking_somewhere(problem: Problem, columns: Iterable[Column]) -> list[str]:
    """Return the raw columns that some source lacks."""
    everywhere = set(problem.seen_by_all())
    return [c.name for c in columns if not everywhere.issuperset(c.outputs)]


def _digits_needed(problem: Problem) -> Kept:
    """Say how well all tables must be read, given that each by itself is read well enough.

    All of them together may have columns that nearly depend on each other though none has; and
    where one had to be exact, so must the others, since a sum has the digits of its poorest part.
    """
    tables = (problem.target, *problem.sources.values())
    if any(table.precision == "exact" for table in tables):
        return "exact"
    lacking = len(problem.features) - len(problem.seen_by_all())
    if not problem.sources or problem.target.rows <= lacking + 1:  # too few: no digits would help
        return "fast"
    pool = problem.target
    for source in problem.sources.values():
        pool += problem.filled(source)
    return needed(rounding_error(pool.scatter if problem.intercept else pool.about_zero()))


def _is_empty(table: Table | StreamedTable | MomentsTable) -> bool:
    """Say whether a source has nothing to add; of a streamed one that is known once it is read."""
    if isinstance(table, StreamedTable):
        return False
    return not (table.moments.weight if isinstance(table, MomentsTable) else table.rows)


def _read_again(moments: Moments, rows: Pattern, better: Kept) -> Moments:
    """Read a table with more digits, exactly only where that is cheap."""
    if better == "exact" and chosen("auto", moments.rows, len(moments.names)) == "fast":
        better = "accurate"
    if PRECISIONS.index(moments.precision) < PRECISIONS.index(better):
        return rows.moments(better)
    return moments


def _missing_counts(table: Table) -> dict[str, int]:
    counts = table.missing(table.names).sum(axis=0)
    return {n: int(c) for n, c in zip(table.names, counts, strict=True) if c}
