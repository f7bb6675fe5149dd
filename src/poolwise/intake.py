"""From what fit was given to a Problem: names, levels, missing columns, sources."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from poolwise.chunks import doubles, doubles_of_objects, weights_as_numbers
from poolwise.double_double import Array
from poolwise.errors import (
    DifferentResponse,
    DroppedColumns,
    EmptySource,
    EmptyTarget,
    LevelsApart,
    NoResponse,
    NoSharedColumn,
    NotMoments,
    NotNumeric,
    ResponseInFeatures,
    RoundedIntegers,
    TooManyColumns,
    TransferWarning,
)
from poolwise.least_squares import rounding_error
from poolwise.moments import Moments
from poolwise.precision import PRECISIONS, Kept, Precision, chosen, needed
from poolwise.problem import Problem
from poolwise.store import is_moments_path
from poolwise.tables import Table, open_table
from poolwise.tables.arrays import ArrayTable
from poolwise.tables.clusters import is_elsewhere, open_frame
from poolwise.tables.columns import Column, check_known, encoded, unify
from poolwise.tables.file_batches import open_files
from poolwise.tables.files import Files
from poolwise.tables.pattern_sums import StreamedRows
from poolwise.tables.patterns import Pattern, named_patterns, read_sources
from poolwise.tables.rows import TableRows
from poolwise.tables.sources import Given, Sources
from poolwise.tables.streamed import StreamedTable
from poolwise.tables.streams import is_stream, open_stream


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
    everywhere = set(problem.features).intersection(*(m.names for m in tables.moments.values()))
    short = [c.name for c in tables.columns if not everywhere.issuperset(c.outputs)]
    optional = tables.lacking.union(short)
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
    known: Collection[str] = (),
) -> Tables:
    """Turn each table into moments, with columns found here unless they are given."""
    given = dict(sources)
    if response in target.names:
        raise ResponseInFeatures(response)
    tables = {
        name: _open_source(name, source, target, response)
        for name, source in given.items()
        if isinstance(source, Given)
    }
    whole = np.flatnonzero(~target.missing(target.names).any(axis=1))
    is_whole, is_new = len(whole) == target.rows, columns is None
    if columns is None:
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
    else:
        for where, table in {"X": target, **tables}.items():
            if not _is_empty(table):
                check_known(table, columns, where if table is target else f"source {where!r}")
    all_rows = TableRows(
        target, columns, response, numbers(y, response), _weights(weights), "the target"
    )
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
    for name, source in given.items():
        if isinstance(source, Moments):
            there: Sequence[str] = source.names
            used: Sequence[str] = (*encoded(columns), response)
            moments[name] = _part_of(name, source, used, response)
        else:
            there, used = tables[name].names, (*target.names, response)
            rows[name] = _rows_of(name, source, tables[name], columns, response, own_name)
        if _is_empty(source if isinstance(source, Moments) else tables[name]):
            cautions.append(EmptySource(name))
        if extra := [n for n in there if n not in used]:
            cautions.append(DroppedColumns(name, extra, [n for n in used if n not in there]))
    if is_new:
        cautions += _levels_apart(target, tables, columns)
    read, kept, lacking, more = read_sources(
        rows, taken=given, intercept=intercept, precision=precision, known=known
    )
    own = complete.moments(precision, intercept=intercept)
    return Tables(
        own,
        read | moments,
        columns,
        complete,
        kept,
        frozenset(lacking.union(*split)),
        (*cautions, *more),
    )


def gather_moments(
    target: Any, sources: Any, response: str, *, intercept: bool
) -> tuple[Problem, tuple[TransferWarning, ...]]:
    """Match moments by column name.

    Parameters
    ----------
    target : Moments, or the path of a file of moments
        Of all features and the response.
    sources : Moments or path, or list or mapping of these
        See :class:`poolwise.Sources`.
    response : str
        Name of the response.
    intercept : bool
        Whether the model has an intercept.
    """
    target = as_moments(target, "the target")
    kept: dict[str, Moments] = {}
    cautions: list[TransferWarning] = []
    for name, source in Sources(sources):
        if not isinstance(source, Moments):
            raise NotMoments(f"source {name!r}", source.X)
        kept[name] = _part_of(name, source, target.names, response)
        if source.weight == 0.0:
            cautions.append(EmptySource(name))
        if extra := [n for n in source.names if n not in target]:
            lacking = [n for n in target.names if n not in source]
            cautions.append(DroppedColumns(name, extra, lacking))
    return Problem(target, kept, response, intercept), tuple(cautions)


def as_moments(given: Any, name: str) -> Moments:
    """Return moments, from a file if a path was given."""
    if is_moments_path(given):
        return Moments.load(given)
    if not isinstance(given, Moments):
        raise NotMoments(name, given)
    return given


def name_of(y: Any) -> str | None:
    """Return the name that a response brings along, if any."""
    name = getattr(y, "name", None)
    return str(name) if isinstance(name, str) and name else None


def numbers(y: Any, name: str) -> Array:
    """Return a response as doubles; what is missing becomes NaN."""
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    advice = "Give one number per row."
    if values.ndim != 1 or values.dtype.kind not in "fiubO":
        what = f"is the response and has the type {values.dtype}, shape {values.shape}"
        raise NotNumeric(name, what, advice)
    if values.dtype.kind == "O" and any(isinstance(v, str) for v in values):
        raise NotNumeric(name, "is the response and holds text", advice)
    try:
        read = doubles_of_objects if values.dtype.kind == "O" else doubles
        return read(values, f"the response {name!r}")
    except RoundedIntegers:
        raise
    except (TypeError, ValueError) as error:
        raise NotNumeric(name, f"is the response and is not numeric ({error})", advice) from error


def _weights(weights: Any) -> Array | None:
    return None if weights is None else weights_as_numbers(weights)


def _open_source(name: str, source: Given, target: Table, response: str) -> Table | StreamedTable:
    where, X = f"source {name!r}", source.X
    alone = source.y is None and source.weights is None
    opened: Callable[..., StreamedTable] | None = open_files if isinstance(X, Files) else None
    if alone and is_elsewhere(X):  # it may be a stream too, but that would bring its rows here
        opened = open_frame
    elif alone and is_stream(X):
        opened = open_stream
    if opened is not None:
        texts = {n: target.levels_of(n) is not None for n in target.names}
        return opened(X, where, texts, response)
    table = open_table(np.asarray(X) if isinstance(X, list | tuple) else X, where)
    if not isinstance(table, ArrayTable):
        return table
    if len(table.names) > len(target.names):
        raise TooManyColumns(name, len(table.names), len(target.names))
    return ArrayTable(table.values, target.names[: len(table.names)])


def _rows_of(
    name: str,
    source: Given,
    table: Table | StreamedTable,
    columns: Sequence[Column],
    response: str,
    own_name: str | None,
) -> TableRows | StreamedRows:
    has = tuple(c for c in columns if c.name in table.names and not table.is_void(c.name))
    if isinstance(table, StreamedTable):
        if response not in table.names:
            raise NoResponse(name, response, table.names)
        if not has:
            raise NoSharedColumn(name, table.names, [c.name for c in columns])
        return StreamedRows(table, has, response, name)
    if source.y is None:
        if response not in table.names:
            raise NoResponse(name, response, table.names)
        y = table.read([Column(response)], 0, table.rows)[:, 0]
    else:
        theirs = name_of(source.y)
        if theirs and own_name and theirs != own_name:
            raise DifferentResponse(name, theirs, own_name)
        if response in table.names:
            raise ResponseInFeatures(response, f"source {name!r}")
        y = numbers(source.y, response)
    if not has and table.rows:
        raise NoSharedColumn(name, table.names, [c.name for c in columns])
    return TableRows(table, has, response, y, _weights(source.weights), f"source {name!r}")


def _part_of(name: str, source: Moments, used: Sequence[str], response: str) -> Moments:
    """Return the moments of those columns of a source that the target has too."""
    if response not in source:
        raise NoResponse(name, response, source.names)
    shared = [n for n in source.names if n in used]
    if shared == [response]:
        raise NoSharedColumn(name, source.names, [n for n in used if n != response])
    return source.select(shared)


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


def _is_empty(table: Moments | Table | StreamedTable) -> bool:
    """Say whether a source has nothing to add; of a streamed one that is known once it is read."""
    if isinstance(table, StreamedTable):
        return False
    return not (table.weight if isinstance(table, Moments) else table.rows)


def _read_again(moments: Moments, rows: Pattern, better: Kept) -> Moments:
    """Read a table with more digits, exactly only where that is cheap."""
    if better == "exact" and chosen("auto", moments.rows, len(moments.names)) == "fast":
        better = "accurate"
    if PRECISIONS.index(moments.precision) < PRECISIONS.index(better):
        return rows.moments(better)
    return moments


def _levels_apart(
    target: Table, tables: Mapping[str, Table | StreamedTable], columns: Sequence[Column]
) -> list[TransferWarning]:
    """Point out text columns that have no level in common with the target."""
    cautions: list[TransferWarning] = []
    for column in columns:
        if column.levels is None:
            continue
        ours = target.levels_of(column.name) or ()
        for name, table in tables.items():
            if column.name in table.names and not table.is_void(column.name):
                theirs = table.levels_of(column.name) or ()
                if not set(ours) & set(theirs):
                    cautions.append(LevelsApart(name, column.name, theirs, ours))
    return cautions


def _missing_counts(table: Table) -> dict[str, int]:
    counts = table.missing(table.names).sum(axis=0)
    return {n: int(c) for n, c in zip(table.names, counts, strict=True) if c}
