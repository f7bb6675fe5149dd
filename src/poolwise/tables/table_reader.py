"""Tables read as moments of the same columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array
from poolwise.errors import (
    LeftOut,
    NotFinite,
    NotNumeric,
    PoolwiseError,
    PoolwiseWarning,
    TooFewRows,
    raise_all,
)
from poolwise.linear.problem import Problem
from poolwise.linear.response_transform import AS_IS
from poolwise.moments.moments import Moments
from poolwise.numerics.options import PRECISIONS, Kept, Precision, chosen
from poolwise.tables.arrow_streams import is_stream
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
from poolwise.tables.gap_rows import ReadRows, read_rows, split_by_block
from poolwise.tables.inspection import (
    Inspection,
    describe,
    faults_of,
    inspect,
    no_feature,
    only_in_sources,
    swapped,
)
from poolwise.tables.memory import Table
from poolwise.tables.moments_table import (
    MomentsTable,
    all_named,
    columns_left_out,
    kinds_of,
    open_moments,
    part_of,
)
from poolwise.tables.response import Response, without_response
from poolwise.tables.rows import Pattern, TableRows, pattern_name
from poolwise.tables.shards import StreamedTable
from poolwise.tables.sources import Given, Sources, open_source, responses_of, rows_of
from poolwise.tables.streamed_rows import StreamedRows
from poolwise.tables.text_values import Kind
from poolwise.wording import plural

Opened: TypeAlias = Table | StreamedTable | MomentsTable
Held: TypeAlias = TableRows | StreamedRows | Moments


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
    filled: Mapping[str, Mapping[str, int]]  # gaps of each table that has some, by column
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


@dataclass(frozen=True, eq=False, kw_only=True)
class AtFit:
    """What an earlier fit decided, for rows that are added to it."""

    columns: tuple[Column, ...]
    levels: Mapping[str, Levels | None]
    problem: Problem
    blocks: Collection[str]  # its sources that were rows of X

    def moments_of(self, source: str) -> tuple[Moments, ...]:
        """Return the moments of a source, if the fit had one of this name."""
        found = self.problem.sources.get(source)
        return () if found is None else (found,)


@dataclass(frozen=True, eq=False, kw_only=True)
class TableReader:
    """Reads a target and its sources as moments of the same columns."""

    response: Response
    intercept: bool
    precision: Precision
    where: str = "the target"
    jobs: int = 1
    max_levels: int = MAX_LEVELS
    at_fit: AtFit | None = None

    def read(self, target: Table, y: Any, weights: Any, sources: Sources) -> Tables:
        """Turn each table into moments; after a fit, with the columns of that fit."""
        try:
            return self._read(target, y, weights, sources)
        except NotFinite as fault:
            found = {}
            if "transform" in fault.about:
                found = self._count_impossible(target, y, weights, sources)
            if not found:
                raise
            raise self.response.transform.refused(self.response.raw, found) from None

    def _count_impossible(
        self, target: Table, y: Any, weights: Any, sources: Sources
    ) -> dict[str, tuple[int, int]]:
        """Return, for each table that has some, its rows whose response cannot be transformed."""
        as_it_is = replace(self.response, transform=AS_IS)
        own = as_it_is.of_target(target, y, weights, self.where)
        each: dict[str, Iterable[tuple[Array, Array | None]]] = {self.where: [(own.y, own.weights)]}
        for name, source in sources:
            if not isinstance(source, Moments) and not is_stream(source.X):  # which is read once
                each[f"table {name!r}"] = responses_of(name, source, as_it_is, target.names)
        counts = {}
        for where, parts in each.items():
            found = [(self.response.transform.impossible(v, w), len(v)) for v, w in parts]
            if sum(n for n, _ in found):
                counts[where] = sum(n for n, _ in found), sum(rows for _, rows in found)
        return counts

    def _read(self, target: Table, y: Any, weights: Any, sources: Sources) -> Tables:
        before, given, where = self.at_fit, sources.named, self.where
        order, rows_given = target.names, target.rows
        if before is None and not rows_given:
            raise TooFewRows.empty_target(0)
        found = Inspection.at_fit(before.columns, where) if before else inspect(target, where)
        target, y, weights, positions = self.response.of_target(target, y, weights, where)
        if before is None and not target.rows:
            what = f"None of the {plural(rows_given, 'row')} of {where} has the response "
            raise TooFewRows(f"{what}{self.response.raw!r}.", "Is it the right column?")
        lost, names = rows_given - target.rows, tuple(found.kinds)
        ours, missing = target.levels(names, found.kinds), target.missing(names)
        tables = {n: self._open(n, source, found, ours, order) for n, source in given.items()}
        theirs, faults = levels_of_all(tables, found.kinds)
        said: list[ColumnAccount] = []
        if before is None:
            columns, said = self._columns(found, target, missing, ours, theirs)
            if self.response.strict:
                faults += faults_of([*found.left_out, *said])
                if lost:
                    faults.append(without_response(where, self.response.raw, lost, rows_given))
            missing = missing[:, [n in {c.name for c in columns} for n in names]]
        else:
            columns = before.columns
            check_known(ours, columns, "X")
            for name, known in theirs.items():
                check_known(known, columns, f"table {name!r}")
            if lost and self.response.strict:
                faults.append(without_response(where, self.response.raw, lost, rows_given))

        rows = TableRows(target, columns, self.response.name, y, weights, where, self.jobs)
        own, whole, blocks = self._split(rows, missing, tables)
        held: dict[str, Held] = {**blocks}
        cautions: list[PoolwiseWarning] = []
        if lost and before is not None:  # of a new fit, the account says it
            what = f"{plural(lost, 'row')} of {where} without {self.response.raw!r} were left out."
            cautions.append(LeftOut(what))
        for name, source in given.items():
            if name not in theirs:
                continue
            try:
                has = tuple(c for c in columns if c.name in theirs[name])
                held[name], told = self._rows(name, source, tables[name], has, columns, order)
                cautions += told
            except NotFinite as fault:  # rows without a response
                faults.append(fault)
        raise_all(faults)
        if before is None and any(c.levels is not None for c in columns):
            cautions += levels_apart(ours, all_named(tables, theirs), columns, where)

        read = {n: self._sum(n, rows) for n, rows in held.items() if not _is_empty(rows)}
        moments = {n: found.moments for n, found in read.items() if found.moments.names}
        others = tuple((before.problem.sources if before else moments).values())
        own_read = self._sum("", own, others)
        every = {where: own_read, **read}
        filled = {n: found.gaps for n, found in every.items() if found.gaps}
        cautions += [caution for found in read.values() for caution in found.cautions]
        lacks = {n: _lacked(block, columns) for n, block in blocks.items()}
        account: Account | None = None
        if before is None:
            counts = [TableAccount(where, own.count, lost)]
            counts += [TableAccount(n, blocks[n].count, lacks=lacks[n]) for n in blocks]
            counts += [rows_in(n, tables[n], held[n]) for n in tables]
            counts = [replace(t, filled=dict(filled.get(t.name, {}))) for t in counts]
            account = self._account([*said, *found.left_out], order, lacks, tables, counts)
            cautions = [*swapped(account), *cautions]  # it explains the others
        return Tables(
            target=own_read.moments,
            moments=moments,
            columns=columns,
            own=own,
            positions=positions[whole],
            target_rows=own_read.rows or own,
            rows={n: found.rows for n, found in read.items() if found.rows is not None},
            blocks=lacks,
            filled=filled,
            cautions=tuple(cautions),
            account=account,
        )

    def target_positions(self, stacked: Table) -> NDArray[np.intp]:
        """Return the positions of the target among stacked rows, as a new fit finds them."""
        if not stacked.rows:
            raise TooFewRows.empty_target(0)
        found = inspect(stacked, self.where)
        names = tuple(found.kinds)
        ours, missing = stacked.levels(names, found.kinds), stacked.missing(names)
        columns, _ = self._columns(found, stacked, missing, ours, {})
        missing = missing[:, [n in {c.name for c in columns} for n in names]]
        rows = TableRows(stacked, columns, None, None, None, self.where)
        return self._split(rows, missing, ())[1]

    def _open(
        self,
        name: str,
        source: Given | Moments,
        found: Inspection,
        ours: KnownLevels,
        order: Sequence[str],
    ) -> Opened:
        """Open a source, without reading its rows."""
        if not isinstance(source, Moments):
            return open_source(name, source, found.kinds, self.response, self.jobs, order)
        by_name: Mapping[str, Collection[str] | None] = {n: ours.get(n) for n in found.kinds}
        if self.at_fit is not None:
            by_name = kinds_of(self.at_fit.levels)
        return open_moments(name, source, by_name, self.response)

    def _columns(
        self,
        found: Inspection,
        target: Table,
        missing: NDArray[np.bool_],
        ours: KnownLevels,
        theirs: Mapping[str, KnownLevels],
    ) -> tuple[tuple[Column, ...], list[ColumnAccount]]:
        """Return the columns of a fit, and what is done with each column of the target."""
        names, complete = tuple(found.kinds), ours
        if missing.any():
            outputs = [1 if (known := ours.get(n)) is None else len(known) - 1 for n in names]
            whole = split_by_block(missing, names, outputs, theirs, self.intercept)[()]
            if len(whole) < target.rows:
                complete = target.take(whole).levels(names, found.kinds)
        columns = unify(
            names,
            ours,
            theirs,
            self.where,
            complete=complete,
            intercept=self.intercept,
            kinds=found.kinds,
            max_levels=self.max_levels,
            strict=self.response.strict,
        )
        said = describe(found, columns, ours, theirs, self.max_levels)
        used = {c.name for c in said if c.use}
        if names and not used:
            raise no_feature(self.where, said)
        return tuple(c for c in columns if c.name in used), said

    def _split(
        self, rows: TableRows, missing: NDArray[np.bool_], sources: Collection[str]
    ) -> tuple[TableRows, NDArray[np.intp], dict[str, TableRows]]:
        """Return the rows of the target, their positions, and the blocks of history."""
        if not missing.any():
            return rows, np.arange(rows.count), {}
        names = [c.name for c in rows.columns]
        outputs, before = [len(c.outputs) for c in rows.columns], self.at_fit
        known = before.blocks if before else ()
        may_be_new = not before or len(known) == len(before.problem.sources)
        split = split_by_block(
            missing, names, outputs, sources, self.intercept, known, may_be_new=may_be_new
        )
        whole = split.pop(())
        void = np.asarray(missing[whole].all(axis=0))
        if before is None and void.any():
            counts = zip(names, missing.sum(axis=0).tolist(), void.tolist(), strict=True)
            gone = {name: count for name, count, is_void in counts if is_void and count}
            raise TooFewRows.empty_target(rows.count, gone)
        blocks: dict[str, TableRows] = {}
        for lacks, index in split.items():
            block = pattern_name("rows", lacks, (*sources, *blocks), known)
            has = tuple(c for c in rows.columns if c.name not in lacks)
            blocks[block] = replace(rows.take(index), columns=has)
        return rows.take(whole) if split else rows, whole, blocks

    def _rows(
        self,
        name: str,
        source: Given | Moments,
        table: Opened,
        has: tuple[Column, ...],
        columns: tuple[Column, ...],
        order: Sequence[str],
    ) -> tuple[Held, list[PoolwiseWarning]]:
        """Return the rows of a source, or its moments, and warnings."""
        if isinstance(source, Moments):
            assert isinstance(table, MomentsTable)
            levels = self.at_fit.levels if self.at_fit else column_levels(columns)
            part, told = part_of(name, table, levels, self.response.name)
            wanted = (*encoded(columns), self.response.name)
            return part.select([n for n in wanted if n in part]), told
        assert not isinstance(table, MomentsTable)
        cautions: list[PoolwiseWarning] = []
        names = [c.name for c in columns]
        rows = rows_of(name, source, table, has, names, self.response, self.jobs)
        if _is_empty(rows):
            cautions.append(LeftOut.empty_source(name))
        matched = (*order, self.response.raw)
        if extra := [n for n in table.names if n not in matched]:
            lacking = [n for n in matched if n not in table.names]
            cautions.append(columns_left_out(name, extra, lacking))
        return rows, cautions

    def _sum(self, name: str, held: Held, others: tuple[Moments, ...] = ()) -> ReadRows:
        """Sum the rows of a source, or those of the target, which has no name here."""
        if isinstance(held, Moments):
            return ReadRows(held, None)
        if isinstance(held, TableRows):
            try:
                return ReadRows(held.moments(self.precision, intercept=self.intercept), held)
            except NotFinite:  # known when all rows are read, so that complete ones are read once
                pass
        before: tuple[Moments, ...] = ()
        if self.at_fit is not None:
            before = self.at_fit.moments_of(name) if name else (self.at_fit.problem.target,)
        return read_rows(name, held, self.intercept, self.precision, before, others)

    def _account(
        self,
        said: Sequence[ColumnAccount],
        order: Sequence[str],
        blocks: Mapping[str, tuple[str, ...]],
        tables: Mapping[str, Opened],
        counts: Sequence[TableAccount],
    ) -> Account:
        """Return the account of all columns and rows."""
        columns = only_in_sources(tables, (*order, self.response.raw), self.where)
        for c in sorted(said, key=lambda c: order.index(c.name), reverse=True):
            lacking = (n for n, lacks in blocks.items() if c.name in lacks)
            columns.insert(0, replace(c, lacking_in=(*lacking, *c.lacking_in)))
        answer = "read as 1 for yes and 0 for no" if self.response.kind == "truth" else ""
        return Account(self.response.raw, tuple(columns), tuple(counts), answer)


def _is_empty(held: Held) -> bool:
    return isinstance(held, TableRows) and not held.count


def _lacked(block: TableRows, columns: Sequence[Column]) -> tuple[str, ...]:
    return tuple(c.name for c in columns if c not in block.columns)


def levels_of_all(
    tables: Mapping[str, Opened], kinds: Mapping[str, Kind]
) -> tuple[dict[str, KnownLevels], list[PoolwiseError]]:
    """Return the levels of each table, and errors of those that hold other kinds of values."""
    found: dict[str, KnownLevels] = {}
    faults: list[PoolwiseError] = []
    for name, table in tables.items():
        try:
            found[name] = table.levels([n for n in table.names if n in kinds], kinds)
        except NotNumeric as error:
            faults.append(error)
    return found, faults


def rows_in(name: str, table: Any, held: Held) -> TableAccount:
    """Return how many rows of a source are used."""
    if isinstance(held, Moments):
        return TableAccount(name, held.rows)
    if isinstance(held, TableRows):
        return TableAccount(name, held.count, table.rows - held.count)
    tally = held.tally
    gone = tally.unanswered + (tally.incomplete if held.table.nulls == "drop" else 0)
    return TableAccount(name, tally.rows - gone, tally.unanswered)


def _read_again(moments: Moments, rows: Pattern, better: Kept) -> Moments:
    """Read a table with more digits, exactly only where that is cheap."""
    if better == "exact" and chosen("auto", moments.rows, len(moments.names)) == "fast":
        better = "accurate"
    if PRECISIONS.index(moments.precision) < PRECISIONS.index(better):
        return rows.moments(better)
    return moments
