"""From what fit was given to a Problem: names, levels, missing columns, sources."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from poolwise.errors import TransferWarning
from poolwise.precision import Precision
from poolwise.problem import Problem
from poolwise.second_reading import digits_needed
from poolwise.table_reading import Tables, read_tables
from poolwise.tables import Table, open_table
from poolwise.tables.columns import Column
from poolwise.tables.moments_table import Levels
from poolwise.tables.responses import name_of
from poolwise.tables.rows import TableRows
from poolwise.tables.sources import Sources


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
    jobs: int = 1,
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
    jobs : int, default=1
        Threads that read files and add up rows.
    """
    target = open_table(np.asarray(X) if isinstance(X, list | tuple) else X, "X")
    own_name = name_of(y)
    response = own_name or response
    tables = read_tables(
        target,
        y,
        weights,
        Sources.of(sources, target.rows),
        response,
        own_name,
        intercept=intercept,
        unseen_level=unseen_level,
        precision=precision,
        jobs=jobs,
    )
    problem = tables.problem(response, intercept)
    if precision == "auto" and (better := digits_needed(problem)) != "fast":
        problem = tables.read_again(better).problem(response, intercept)
    optional = tables.lacking.union(lacking_somewhere(problem, tables.columns))
    return Intake(problem, tables.columns, tables.complete, optional, tables.cautions)


def gather_more(
    target: Table,
    y: Any,
    *,
    columns: tuple[Column, ...],
    levels: Mapping[str, Levels | None],
    known: Collection[str],
    response: str,
    own_name: str | None = None,
    weights: Any = None,
    sources: Any = None,
    intercept: bool = True,
    precision: Precision = "auto",
    jobs: int = 1,
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
    own_name : str, optional
        The name that the response brought along at fit, which those of sources must not contradict.
    weights, sources, intercept, precision, jobs
        As in :func:`gather`.
    """
    return read_tables(
        target,
        y,
        weights,
        Sources(sources),  # scikit-learn, which may cut it, calls fit alone
        response,
        own_name,
        intercept=intercept,
        precision=precision,
        columns=columns,
        levels=levels,
        known=known,
        jobs=jobs,
    )


def lacking_somewhere(problem: Problem, columns: Iterable[Column]) -> list[str]:
    """Return the raw columns that some source lacks."""
    everywhere = set(problem.seen_by_all())
    return [c.name for c in columns if not everywhere.issuperset(c.outputs)]
