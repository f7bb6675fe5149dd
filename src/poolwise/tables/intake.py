"""The Problem of the arguments of fit.

Each table is opened and checked once, its columns are matched by name and encoded alike, and its
rows are summed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from poolwise.errors import (
    LeftOut,
    NotNumeric,
    PoolwiseError,
    PoolwiseWarning,
    TooFewRows,
    raise_all,
)
from poolwise.linear.problem import Problem
from poolwise.linear.response_transform import AS_IS, ResponseTransform
from poolwise.moments.moments import Moments
from poolwise.numerics.chunks import weights_as_numbers
from poolwise.numerics.options import PRECISIONS, Kept, Precision, chosen
from poolwise.tables.checked_tables import checked, checked_response
from poolwise.tables.column_account import Account, ColumnAccount, TableAccount
from poolwise.tables.encoding import (
    MAX_LEVELS,
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
from poolwise.tables.inspection import (
    Inspection,
    describe,
    faults_of,
    inspect,
    no_feature,
    only_in_sources,
    swapped,
)
from poolwise.tables.memory import (
    Table,
    name_of,
    open_table,
    response_numbers,
    says_yes_or_no,
)
from poolwise.tables.moments_table import (
    MomentsTable,
    all_named,
    columns_left_out,
    kinds_of,
    open_moments,
    part_of,
)
from poolwise.tables.row_splitter import without_response
from poolwise.tables.rows import Pattern, TableRows, pattern_name, with_response
from poolwise.tables.shards import StreamedTable
from poolwise.tables.sources import (
    Sources,
    open_source,
    response_in_features,
    rows_of,
    sources_of,
)
from poolwise.tables.streamed_rows import StreamedRows
from poolwise.tables.text_values import Kind
from poolwise.wording import plural


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
        return [output for c in self.columns if c.kind in ("text", "date") for output in c.outputs]


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
    account: Account | None  # of a new fit

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
    max_levels: int = MAX_LEVELS,
    strict: bool = False,
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
        max_levels=max_levels,
        strict=strict,
        precision=precision,
        jobs=jobs,
        where=X.where if isinstance(X, FrameTable) else target_name,
        transform=transform,
    )
    if isinstance(X, FrameTable) and X.tell is not None:
        X.tell(tables.account)
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
        account=tables.account,
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
    max_levels: int = MAX_LEVELS,
    strict: bool = False,
    columns: tuple[Column, ...] | None = None,
    levels: Mapping[str, Levels | None] | None = None,
    fitted: Problem | None = None,
    jobs: int = 1,
    where: str = "the target",
    transform: ResponseTransform = AS_IS,
) -> Tables:
    """Turn each table into moments; after a fit, with the columns and the problem of that fit."""
    given, named, is_new = sources.named, transform.named(response), columns is None
    for taken in {response, named}.intersection(target.names):
        raise response_in_features(taken, "X")
    is_yes, numbers = says_yes_or_no(y), response_numbers(y, response)
    weights = None if weights is None else weights_as_numbers(weights)
    order, rows_given = target.names, target.rows
    found = inspect(target, where) if columns is None else Inspection.at_fit(columns, where)
    names, kinds = tuple(found.kinds), found.kinds
    target, numbers, weights, there = with_response(target, numbers, weights)
    if is_new and rows_given and not target.rows:
        what = f"None of the {plural(rows_given, 'row')} of {where} has the response {response!r}."
        raise TooFewRows(what, "Is it the right column?")
    numbers = transform.transformed(numbers, response, where, weights)
    ours = target.levels(names, kinds)
    by_name = {n: ours.get(n) for n in names} if levels is None else kinds_of(levels)
    answer: Kind = "truth" if is_yes else "number"
    tables = {
        name: (
            open_moments(name, source, by_name, response, transform)
            if isinstance(source, Moments)
            else open_source(name, source, kinds, response, jobs, answer, order)
        )
        for name, source in given.items()
    }
    theirs, lost = levels_of_all(tables, kinds), rows_given - target.rows
    said: list[ColumnAccount] = []
    if columns is None:
        outputs = [1 if (known := ours.get(n)) is None else len(known) - 1 for n in names]
        whole = split_by_block(target.missing(names), names, outputs, given, fitted, intercept)[()]
        complete = ours
        if len(whole) < target.rows:
            complete = target.take(whole).levels(names, kinds)
        how: dict[str, Any] = {"intercept": intercept, "kinds": kinds, "max_levels": max_levels}
        columns = unify(names, ours, theirs, where, complete=complete, **how)
        said = [describe(found, c, ours, theirs, max_levels) for c in columns]
        if strict:
            faults = faults_of([*found.left_out, *said])
            faults += [without_response(where, response, lost, rows_given)] if lost else []
            raise_all(faults)
        used = {c.name for c in said if c.use}
        columns = tuple(replace(c, strict=strict) for c in columns if c.name in used)
        if order and not columns:
            raise no_feature(where, said)
        names = tuple(c.name for c in columns)
    else:
        check_known(ours, columns, "X")
        for name, their_own in theirs.items():
            check_known(their_own, columns, f"table {name!r}")

    missing, outputs = target.missing(names), [len(c.outputs) for c in columns]
    split = split_by_block(missing, names, outputs, given, fitted, intercept)
    whole = split.pop(())
    if is_new and missing[whole].all(axis=0).any():
        void = np.asarray(missing[whole].all(axis=0) & missing.any(axis=0))
        counts = zip(names, missing.sum(axis=0).tolist(), void.tolist(), strict=True)
        raise TooFewRows.empty_target(target.rows, {n: k for n, k, is_void in counts if is_void})
    own = TableRows(target, columns, named, numbers, weights, where, jobs)
    rows: dict[str, TableRows | StreamedRows | Moments] = {}
    blocks: dict[str, tuple[str, ...]] = {}
    cautions: list[PoolwiseWarning] = []
    for lacks, index in split.items():
        block = pattern_name("rows", lacks, (*given, *rows), fitted.sources if fitted else ())
        has = tuple(c for c in columns if c.name not in lacks)
        rows[block], blocks[block] = replace(own.take(index), columns=has), lacks
    own = own if len(whole) == target.rows else own.take(whole)
    for name, table in tables.items():
        source = given[name]
        if isinstance(table, MomentsTable):
            part, told = part_of(name, table, levels or column_levels(columns), named)
            rows[name] = part.select([n for n in (*encoded(columns), named) if n in part])
            cautions += told
            continue
        assert not isinstance(source, Moments)
        has = tuple(c for c in columns if c.name in theirs[name])
        read_as = (transform, answer)
        rows[name] = rows_of(
            name, source, table, has, names, response, own_name, jobs, *read_as, strict=strict
        )
        if isinstance(own_rows := rows[name], TableRows) and not own_rows.count:
            cautions.append(LeftOut.empty_source(name))
        matched = (*order, response)
        if extra := [n for n in table.names if n not in matched]:
            lacking_here = [n for n in matched if n not in table.names]
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
    account: Account | None = None
    if is_new:
        said_of_response = "read as 1 for yes and 0 for no" if is_yes else ""
        in_blocks = (TableAccount(n, len(split[lacks]), 0, 0, lacks) for n, lacks in blocks.items())
        in_sources = (rows_in(name, tables[name], rows[name]) for name in tables)
        counted = (TableAccount(where, len(whole), lost), *in_blocks, *in_sources)
        every = tuple(replace(t, filled=filled.get(t.name, (0, 0))[0]) for t in counted)
        extras = only_in_sources(tables, (*order, response), where)
        own_columns = []
        for c in sorted((*said, *found.left_out), key=lambda c: order.index(c.name)):
            there_not = (n for n, lacks in blocks.items() if c.name in lacks)
            own_columns.append(replace(c, lacking_in=(*there_not, *c.lacking_in)))
        account = Account(response, (*own_columns, *extras), every, said_of_response)
        cautions += swapped(account)
    return Tables(
        target=read_target.moments,
        moments=moments,
        columns=columns,
        own=own,
        positions=there[whole],
        target_rows=read_target.rows or own,
        rows=kept,
        blocks=blocks,
        filled=filled,
        cautions=tuple(cautions),
        account=account,
    )


def levels_of_all(
    tables: Mapping[str, Table | StreamedTable | MomentsTable], kinds: Mapping[str, Kind]
) -> dict[str, KnownLevels]:
    """Return the levels of each table; raise one error for all that hold other kinds of values."""
    found: dict[str, KnownLevels] = {}
    faults: list[PoolwiseError] = []
    for name, table in tables.items():
        try:
            found[name] = table.levels([n for n in table.names if n in kinds], kinds)
        except NotNumeric as error:
            faults.append(error)
    raise_all(faults)
    return found


def rows_in(name: str, table: Any, held: TableRows | StreamedRows | Moments) -> TableAccount:
    """Return how many rows of a source are used."""
    if isinstance(held, Moments):
        return TableAccount(name, held.rows)
    if isinstance(held, TableRows):
        return TableAccount(name, held.count, table.rows - held.count)
    tally = held.tally
    gone = tally.unanswered + (tally.incomplete if held.table.nulls == "drop" else 0)
    return TableAccount(name, tally.rows - gone, tally.unanswered)


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
