"""The Problem of the arguments of fit.

Each table is opened and checked once, its columns are matched by name and encoded alike, and its
rows are summed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import column_or_1d, validate_data

from poolwise.errors import BadColumns, LeftOut, NotNumeric, PoolwiseWarning, TooFewRows
from poolwise.linear.problem import Problem
from poolwise.linear.response_transform import AS_IS, ResponseTransform
from poolwise.moments.moments import Moments
from poolwise.numerics.chunks import weights_as_numbers
from poolwise.numerics.options import PRECISIONS, Kept, Precision, chosen
from poolwise.tables.encoding import (
    Column,
    KnownLevels,
    Levels,
    check_known,
    column_levels,
    encoded,
    levels_apart,
    unify,
)
from poolwise.tables.frames import FrameTable
from poolwise.tables.gap_rows import read_rows, split_by_block
from poolwise.tables.memory import (
    ArrayTable,
    Table,
    name_of,
    open_table,
    response_numbers,
    unmasked,
)
from poolwise.tables.moments_table import (
    MomentsTable,
    all_named,
    columns_left_out,
    kinds_of,
    open_moments,
    part_of,
)
from poolwise.tables.rows import Pattern, TableRows, pattern_name
from poolwise.tables.shards import StreamedTable
from poolwise.tables.sources import (
    Given,
    Sources,
    open_source,
    response_in_features,
    rows_of,
    sources_of,
)
from poolwise.tables.streamed_rows import StreamedRows
from poolwise.wording import listed


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


@dataclass(frozen=True, eq=False, kw_only=True)
class Intake(MomentsIntake):
    """A problem whose target came as rows."""

    rows: TableRows  # of the target; a gap is NaN
    positions: NDArray[np.intp]  # of these rows in the target's table
    blocks: Mapping[str, tuple[str, ...]]  # history among the rows of X, and the columns it lacks
    filled: Mapping[str, tuple[int, int]]  # values filled of each table with gaps, and all values
    own_name: str | None  # name of the response, where it is a named series
    precision: Precision  # with which tables are read


@dataclass(frozen=True, eq=False, kw_only=True)
class Tables:
    """The target and its sources, read."""

    target: Moments
    moments: dict[str, Moments]
    columns: tuple[Column, ...]
    own: TableRows  # rows of the target; a gap is NaN
    positions: NDArray[np.intp]  # of these rows in the target's table
    target_rows: Pattern  # without gaps
    rows: dict[str, Pattern]  # of the sources that came as rows
    blocks: Mapping[str, tuple[str, ...]]  # sources among the rows of X, and the columns they lack
    filled: Mapping[str, tuple[int, int]]  # values filled of each table with gaps, and all values
    cautions: tuple[PoolwiseWarning, ...]

    def problem(self, response: str, intercept: bool) -> Problem:
        """Return the problem."""
        own, where = self.target_rows, self.own.where
        return Problem(self.target, self.moments, response, intercept, own, self.rows, where)

    def read_again(self, better: Kept) -> Tables:
        """Read all rows with more digits."""
        own = _read_again(self.target, self.target_rows, better)
        read = {name: _read_again(self.moments[name], r, better) for name, r in self.rows.items()}
        return replace(self, target=own, moments=self.moments | read)


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
    estimator: BaseEstimator | None = None,
    target_name: str = "the target",
    transform: ResponseTransform = AS_IS,
) -> Intake:
    """Match columns by name, encode levels, and turn each table into moments.

    A column without any value is one that a source lacks; other missing values are gaps, and rows
    with gaps count as far as they inform. Without sources, large patterns of missing columns among
    the rows of ``X`` become sources; see `split_by_block`.
    """
    own_name = name_of(y)
    if estimator is None:
        target = open_table(X, "X")
    else:
        target, y = checked(estimator, X, y, reset=True), checked_response(y)
    response = own_name or response
    tables = read_tables(
        target,
        y,
        weights,
        sources_of(sources, target.rows),
        response,
        own_name,
        intercept=intercept,
        unseen_level=unseen_level,
        precision=precision,
        jobs=jobs,
        where=X.where if isinstance(X, FrameTable) else target_name,
        transform=transform,
    )
    problem = tables.problem(transform.named(response), intercept)
    if precision == "auto" and (better := digits_needed(problem)) != "fast":
        problem = tables.read_again(better).problem(problem.response, intercept)
    columns = tables.columns
    return Intake(
        problem=problem,
        columns=columns,
        levels=column_levels(columns),
        optional=frozenset(lacking_somewhere(problem, columns)),
        cautions=tables.cautions,
        response=response,
        transform=transform,
        rows=tables.own,
        positions=tables.positions,
        blocks=tables.blocks,
        filled=tables.filled,
        own_name=own_name,
        precision=precision,
    )


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
    fitted: Problem | None = None,
    jobs: int = 1,
    where: str = "the target",
    transform: ResponseTransform = AS_IS,
) -> Tables:
    """Turn each table into moments; after a fit, with the columns and the problem of that fit."""
    names, given, named = target.names, sources.named, transform.named(response)
    for taken in {response, named}.intersection(names):
        raise response_in_features(taken, "X")
    ours, missing, is_new = target.levels(names), target.missing(names), columns is None
    kinds = {n: ours.get(n) for n in names}
    if columns is not None:
        kinds = {c.name: c.levels for c in columns}
    tables = _opened(given, kinds, levels, response, jobs, transform)
    theirs = {n: t.levels([own for own in t.names if own in kinds]) for n, t in tables.items()}
    split = split_by_block(missing, names, ours, given, fitted, intercept)
    whole = split.pop(())
    if is_new and missing[whole].all(axis=0).any():
        void = np.asarray(missing[whole].all(axis=0) & missing.any(axis=0))
        counts = zip(names, missing.sum(axis=0).tolist(), void.tolist(), strict=True)
        raise TooFewRows.empty_target(target.rows, {n: k for n, k, is_void in counts if is_void})
    own_table = target if len(whole) == target.rows else target.take(whole)
    if columns is None:
        complete = ours if own_table is target else own_table.levels(names)
        columns = unify(
            names, ours, theirs, where, complete=complete, intercept=intercept, unseen=unseen_level
        )
    else:
        check_known(ours, columns, "X")
        for name, found in theirs.items():
            check_known(found, columns, f"table {name!r}")

    numbers = response_numbers(y, response)
    weights = None if weights is None else weights_as_numbers(weights)
    numbers = transform.transformed(numbers, response, where, weights)
    own = TableRows(target, columns, named, numbers, weights, where, jobs)
    rows: dict[str, TableRows | StreamedRows | Moments] = {}
    blocks: dict[str, tuple[str, ...]] = {}
    cautions: list[PoolwiseWarning] = []
    for lacks, index in split.items():
        block = pattern_name("rows", lacks, (*given, *rows), fitted.sources if fitted else ())
        has = tuple(c for c in columns if c.name not in lacks)
        rows[block], blocks[block] = replace(own.take(index), columns=has), lacks
    own = own if own_table is target else own.take(whole)
    for name, table in tables.items():
        source = given[name]
        if isinstance(table, MomentsTable):
            part, told = part_of(name, table, levels or column_levels(columns), named)
            order = (*encoded(columns), named)
            rows[name] = part.select([n for n in order if n in part])
            cautions += told
            continue
        assert not isinstance(source, Moments)
        has = tuple(c for c in columns if c.name in theirs[name])
        rows[name] = rows_of(name, source, table, has, names, response, own_name, jobs, transform)
        if not isinstance(table, StreamedTable) and not table.rows:
            cautions.append(LeftOut.empty_source(name))
        used = (*names, response)
        if extra := [n for n in table.names if n not in used]:
            lacking_here = [n for n in used if n not in table.names]
            cautions.append(columns_left_out(name, extra, lacking_here))
    if is_new and any(c.levels is not None for c in columns):
        cautions += levels_apart(ours, all_named(tables, theirs), columns, where)

    moments: dict[str, Moments] = {}
    kept: dict[str, Pattern] = {}
    filled: dict[str, tuple[int, int]] = {}
    for name, held in rows.items():
        if isinstance(held, Moments):
            moments[name] = held
            continue
        before = () if fitted is None or name not in fitted.sources else (fitted.sources[name],)
        read = read_rows(name, held, intercept, precision, before)
        cautions += read.cautions
        if read.rows is not None:
            moments[name], kept[name] = read.moments, read.rows
            filled |= {} if read.gaps is None else {name: read.gaps}
    others = moments if fitted is None else fitted.sources
    before = () if fitted is None else (fitted.target,)
    read_target = read_rows(where, own, intercept, precision, before, tuple(others.values()))
    filled |= {} if read_target.gaps is None else {where: read_target.gaps}
    return Tables(
        target=read_target.moments,
        moments=moments,
        columns=columns,
        own=own,
        positions=whole,
        target_rows=read_target.rows or own,
        rows=kept,
        blocks=blocks,
        filled=filled,
        cautions=tuple(cautions),
    )


def _opened(
    given: Mapping[str, Given | Moments],
    kinds: KnownLevels,
    levels: Mapping[str, Levels | None] | None,
    response: str,
    jobs: int,
    transform: ResponseTransform,
) -> dict[str, Table | StreamedTable | MomentsTable]:
    """Open each source, as the columns of the target or of the fit say."""
    texts = {n: known is not None for n, known in kinds.items()}
    by_name = kinds if levels is None else kinds_of(levels)
    return {
        name: (
            open_moments(name, source, by_name, response, transform)
            if isinstance(source, Moments)
            else open_source(name, source, texts, response, jobs)
        )
        for name, source in given.items()
    }


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


def _read_again(moments: Moments, rows: Pattern, better: Kept) -> Moments:
    """Read a table with more digits, exactly only where that is cheap."""
    if better == "exact" and chosen("auto", moments.rows, len(moments.names)) == "fast":
        better = "accurate"
    if PRECISIONS.index(moments.precision) < PRECISIONS.index(better):
        return rows.moments(better)
    return moments


def checked(estimator: BaseEstimator, X: Any, y: Any = "no_validation", *, reset: bool) -> Table:
    """Open a table whose names and shape scikit-learn has checked."""
    y = y if y is None else "no_validation"
    if _is_frame(X):
        table = open_table(X, "X")  # first: its errors are more specific than those of scikit-learn
        validate_data(estimator, _native(X), y, reset=reset, skip_check_array=True)
        return table
    if type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2 and X.shape[1]:
        validate_data(estimator, X, y, reset=reset, skip_check_array=True)
    else:
        X = unmasked(X) if np.ma.isMaskedArray(X) else X
        X = validate_data(
            estimator,
            X,
            y,
            reset=reset,
            dtype="numeric",
            ensure_all_finite=False,
            ensure_min_samples=0,
        )
    return open_table(X, "X")


def checked_response(y: Any) -> Any:
    """Let scikit-learn check a response, unless it is a vector or a series, which has a name."""
    is_series = hasattr(y, "to_list") or hasattr(y, "to_pylist")
    is_vector = isinstance(y, np.ndarray) and y.ndim == 1
    return y if is_series or is_vector else column_or_1d(y, warn=True)


def open_rows(
    estimator: BaseEstimator, X: Any, columns: Sequence[Column], optional: Collection[str] = ()
) -> tuple[Table, list[Column]]:
    """Open a table to predict, with those of the columns at fit that it has."""
    if not _is_frame(X):
        if texts := [c.name for c in columns if c.levels is not None]:
            raise NotNumeric.of(texts[0], "held text at fit", "Give a data frame, not an array.")
        array = checked(estimator, X, reset=False)
        assert isinstance(array, ArrayTable)
        return ArrayTable(array.values, tuple(c.name for c in columns)), list(columns)
    table = open_table(X, "X")
    there = [c for c in columns if c.name in table.names]
    lacking = {c.name for c in columns}.difference(table.names)
    if not (lacking and lacking <= set(optional)):
        validate_data(estimator, _native(X), "no_validation", reset=False, skip_check_array=True)
    elif table.names != (names := tuple(c.name for c in there)):
        what = f"X has its columns in the order {listed(table.names)}."
        if unknown := [n for n in table.names if n not in names]:
            what = f"X has {listed(unknown)}, not there at fit."
        raise BadColumns(what, f"It must have the columns {listed(names)}, in this order.")
    return table, there


def _native(X: Any) -> Any:
    """Return the data frame itself, which scikit-learn knows."""
    return X.frame.to_native() if isinstance(X, FrameTable) else X


def _is_frame(X: Any) -> bool:
    """Return whether X is a data frame; one of Dask counts, so that it raises an error later."""
    if isinstance(X, np.ndarray):
        return False
    if isinstance(X, FrameTable):  # opened by the command line, which names the file
        return True
    if nw.dependencies.is_dask_dataframe(X):
        return True
    is_stream = hasattr(X, "__arrow_c_stream__") or hasattr(X, "collect")
    return bool(nw.dependencies.is_into_dataframe(X)) or (is_stream and not hasattr(X, "__array__"))
