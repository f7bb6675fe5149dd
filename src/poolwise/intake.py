"""From what fit was given to a Problem: names, levels, missing columns, sources."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from poolwise.double_double import Array
from poolwise.errors import (
    DifferentResponse,
    DroppedColumns,
    EmptyTarget,
    MissingColumns,
    NoSharedColumn,
    NotFinite,
    NotMoments,
    NotNumeric,
    ResponseInFeatures,
    TooManyColumns,
    TransferWarning,
)
from poolwise.moments import Moments
from poolwise.problem import Problem
from poolwise.row_sums import weights_as_numbers
from poolwise.tables import Table, open_table
from poolwise.tables.arrays import ArrayTable
from poolwise.tables.columns import Column, encoded, unify
from poolwise.tables.rows import TableRows
from poolwise.tables.sources import Given, Sources


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
    cautions : tuple of TransferWarning
        What was left out on the way.
    """

    problem: Problem
    columns: tuple[Column, ...]
    rows: TableRows
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
) -> Intake:
    """Match columns by name, encode levels, and turn each table into moments.

    Rows of ``X`` that lack a value become sources, one per pattern of missing columns; so do rows
    of a source that lack more than their source does.

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
    """
    target = open_table(X, "X")
    given = dict(Sources.of(sources, target.rows))
    own_name = name_of(y)
    response = own_name or response
    if response in target.names:
        raise ResponseInFeatures(response)
    tables = {
        name: _open_source(name, source.X, target)
        for name, source in given.items()
        if isinstance(source, Given)
    }
    whole = np.flatnonzero(~target.missing(target.names).any(axis=1))
    if not len(whole):
        raise EmptyTarget(target.rows, incomplete=target.rows > 0)
    is_whole = len(whole) == target.rows
    columns = unify(
        target,
        tables,
        target.names,
        complete=target if is_whole else target.take(whole),
        intercept=intercept,
        unseen=unseen_level,
    )
    all_rows = TableRows(
        target, columns, response, numbers(y, response), _weights(weights), "the target"
    )
    split = {(): all_rows} if is_whole else all_rows.by_pattern()
    complete = split.pop(())

    rows: dict[str, TableRows] = {}
    for lacks, piece in split.items():
        rows[_lacking("rows", lacks, (*given, *rows))] = piece
    moments: dict[str, Moments] = {}
    cautions: list[TransferWarning] = []
    for name, source in given.items():
        if isinstance(source, Moments):
            there: Sequence[str] = source.names
            used: Sequence[str] = (*encoded(columns), response)
            moments[name] = _part_of(name, source, used, response)
        else:
            there, used = tables[name].names, (*target.names, response)
            rows[name] = _rows_of(name, source, tables[name], columns, response, own_name)
        if extra := [n for n in there if n not in used]:
            cautions.append(DroppedColumns(name, extra))
    read, kept = _read(rows, taken=(*given, *rows))
    problem = Problem(complete.moments(), read | moments, response, intercept, complete, kept)
    return Intake(problem, columns, complete, tuple(cautions))


def gather_moments(
    target: Moments, sources: Any, response: str, *, intercept: bool
) -> tuple[Problem, tuple[TransferWarning, ...]]:
    """Match moments by column name.

    Parameters
    ----------
    target : Moments
        Of all features and the response.
    sources : Moments, or list or mapping of Moments
        See :class:`poolwise.Sources`.
    response : str
        Name of the response.
    intercept : bool
        Whether the model has an intercept.
    """
    kept: dict[str, Moments] = {}
    cautions: list[TransferWarning] = []
    for name, source in Sources(sources):
        if not isinstance(source, Moments):
            raise NotMoments(name, source.X)
        kept[name] = _part_of(name, source, target.names, response)
        if extra := [n for n in source.names if n not in target.names]:
            cautions.append(DroppedColumns(name, extra))
    return Problem(target, kept, response, intercept), tuple(cautions)


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
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise NotNumeric(name, f"is the response and is not numeric ({error})", advice) from error


def _weights(weights: Any) -> Array | None:
    return None if weights is None else weights_as_numbers(weights)


def _open_source(name: str, X: Any, target: Table) -> Table:
    where = f"source {name!r}"
    table = open_table(np.asarray(X) if isinstance(X, list | tuple) else X, where)
    if not isinstance(table, ArrayTable):
        return table
    if len(table.names) > len(target.names):
        raise TooManyColumns(name, len(table.names), len(target.names))
    return ArrayTable(table.values, target.names[: len(table.names)])


def _rows_of(
    name: str,
    source: Given,
    table: Table,
    columns: Sequence[Column],
    response: str,
    own_name: str | None,
) -> TableRows:
    if source.y is None:
        if response not in table.names:
            raise MissingColumns([response], table.names, f"Source {name!r}")
        y = table.read([Column(response)], 0, table.rows)[:, 0]
    else:
        theirs = name_of(source.y)
        if theirs and own_name and theirs != own_name:
            raise DifferentResponse(name, theirs, own_name)
        if response in table.names:
            raise ResponseInFeatures(response, f"source {name!r}")
        y = numbers(source.y, response)
    has = tuple(c for c in columns if c.name in table.names and not table.is_void(c.name))
    if not has and table.rows:
        raise NoSharedColumn(name, table.names, [c.name for c in columns])
    return TableRows(table, has, response, y, _weights(source.weights), f"source {name!r}")


def _part_of(name: str, source: Moments, used: Sequence[str], response: str) -> Moments:
    """Return the moments of those columns of a source that the target has too."""
    if response not in source.names:
        raise MissingColumns([response], source.names, f"Source {name!r}")
    shared = [n for n in source.names if n in used]
    if shared == [response]:
        raise NoSharedColumn(name, source.names, [n for n in used if n != response])
    return source.select(shared)


def _read(
    rows: Mapping[str, TableRows], taken: Sequence[str]
) -> tuple[dict[str, Moments], dict[str, TableRows]]:
    """Take moments; where a value is missing, one source per pattern of missing columns."""
    moments: dict[str, Moments] = {}
    kept: dict[str, TableRows] = {}
    for name, source in rows.items():
        if not source.table.rows:
            continue
        try:
            read = {name: source.moments()}
            pieces = {name: source}
        except NotFinite:
            pieces = {}
            for lacks, piece in source.by_pattern().items():
                pieces[_lacking(name, lacks, (*taken, *moments, *pieces))] = piece
            read = {n: piece.moments() for n, piece in pieces.items()}
        moments |= read
        kept |= pieces
    return moments, kept


def _lacking(name: str, lacks: Sequence[str], taken: Collection[str]) -> str:
    """Name the rows of a table that lack some columns, unlike any other source."""
    if not lacks:
        return name
    full = f"{name} without {', '.join(lacks)}"
    while full in taken:
        full += " (too)"
    return full
