"""The Problem of the arguments of fit.

Each table is opened and checked once, its columns are matched by name and encoded alike, and its
rows are summed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from poolwise.errors import PoolwiseWarning
from poolwise.linear.problem import Problem
from poolwise.linear.response_transform import AS_IS, ResponseTransform
from poolwise.numerics.options import Kept, Precision
from poolwise.tables.checked_tables import checked, checked_response
from poolwise.tables.column_account import Account
from poolwise.tables.encoding import MAX_LEVELS, Column, Levels, column_levels
from poolwise.tables.frames import FrameTable
from poolwise.tables.memory import open_table
from poolwise.tables.response import Response
from poolwise.tables.rows import TableRows
from poolwise.tables.sources import sources_of
from poolwise.tables.table_reader import TableReader
from poolwise.tables.text_values import DATES


@dataclass(frozen=True, eq=False, kw_only=True)
class MomentsIntake:
    """A problem, and how its columns were made."""

    problem: Problem
    columns: tuple[Column, ...]  # of the target, and their encoding
    levels: Mapping[str, Levels | None]  # of these columns, as moments are matched with them
    optional: frozenset[str]  # raw columns that some row or source lacks
    cautions: tuple[PoolwiseWarning, ...]  # what was left out or assumed
    response: str  # its name as it is; the problem's is that of the transformed one
    transform: ResponseTransform = AS_IS
    account: Account | None = None  # of all columns and rows, unless moments alone were given

    @property
    def without_units(self) -> list[str]:
        """Names of the encoded columns of texts and dates, which have no units to compare."""
        return [output for c in self.columns if c.kind in ("text", *DATES) for output in c.outputs]


@dataclass(frozen=True, eq=False, kw_only=True)
class Intake(MomentsIntake):
    """A problem whose target came as rows."""

    rows: TableRows  # of the target; a gap is NaN
    positions: NDArray[np.intp]  # of these rows in the target's table
    blocks: Mapping[str, tuple[str, ...]]  # history among the rows of X, and the columns it lacks
    filled: Mapping[str, Mapping[str, int]]  # gaps of each table that has some, by column
    own_name: str | None  # name of the response, where it is a named series
    precision: Precision  # with which tables are read


def gather(
    X: Any,
    y: Any,
    *,
    weights: Any = None,
    sources: Any = None,
    response: str = "y",
    intercept: bool = True,
    max_levels: int = MAX_LEVELS,
    strict: bool = False,
    precision: Precision = "auto",
    jobs: int = 1,
    estimator: BaseEstimator | None = None,
    target_name: str = "the target",
    transform: Any = None,
) -> Intake:
    """Match columns by name, encode levels, and turn each table into moments.

    A column without any value is one that a source lacks; other missing values are gaps, and rows
    with gaps count as far as they inform. Without sources, large patterns of missing columns among
    the rows of ``X`` become sources; see `split_by_block`.
    """
    if estimator is None:
        target = open_table(X, "X")
    else:
        target, y = checked(estimator, X, y, reset=True), checked_response(y)
    asked = Response.of(y, response, transform, strict=strict)
    reader = TableReader(
        response=asked,
        intercept=intercept,
        precision=precision,
        where=X.where if isinstance(X, FrameTable) else target_name,
        jobs=jobs,
        max_levels=max_levels,
    )
    tables = reader.read(target, y, weights, sources_of(sources, target.rows))
    if isinstance(X, FrameTable) and X.tell is not None:
        X.tell(tables.account)
    problem = tables.problem(asked.name, intercept)
    if precision == "auto" and (better := digits_needed(problem)) != "fast":
        problem = tables.read_again(better).problem(asked.name, intercept)
    return Intake(
        problem=problem,
        columns=tables.columns,
        levels=column_levels(tables.columns),
        optional=frozenset(lacking_somewhere(problem, tables.columns)),
        cautions=tables.cautions,
        response=asked.raw,
        transform=asked.transform,
        rows=tables.own,
        positions=tables.positions,
        blocks=tables.blocks,
        filled=tables.filled,
        own_name=asked.own_name,
        precision=precision,
        account=tables.account,
    )


def lacking_somewhere(problem: Problem, columns: Iterable[Column]) -> list[str]:
    """Return the raw columns that some source lacks."""
    everywhere = set(problem.seen_by_all())
    return [c.name for c in columns if not everywhere.issuperset(c.outputs)]


def digits_needed(problem: Problem) -> Kept:
    """Return the precision that all tables need together.

    Columns may be nearly dependent in all tables together, though not in any single one. And if
    one table had to be exact, so must the others: a sum has the digits of its least precise part.
    """
    tables = (problem.target, *problem.sources.values())
    if any(table.sums is not None for table in tables):
        return "exact"
    lacking = len(problem.features) - len(problem.seen_by_all())
    if not problem.sources or problem.target.rows <= lacking + 1:  # too few: no digits would help
        return "fast"
    pool = problem.target
    for source in problem.sources.values():
        pool += problem.filled(source)
    return pool.needed_precision(intercept=problem.intercept)
