"""Moments of a table, of files or of a stream, without a target to match them with."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from typing import Any, Literal

import numpy as np

from poolwise._typing import AnyPath
from poolwise.errors import (
    BadFile,
    BadOption,
    LeftOut,
    NotFinite,
    PoolwiseWarning,
)
from poolwise.moments.moments import Moments
from poolwise.numerics.options import Precision, check_precision, checked_jobs
from poolwise.tables.all_columns import Opened, Wanted, open_columns
from poolwise.tables.encoding import Column, KnownLevels, encoded
from poolwise.tables.files import Files, Nulls
from poolwise.tables.memory import Table
from poolwise.tables.parts import PartedRows, Parts
from poolwise.tables.response import Response
from poolwise.tables.row_splitter import Lacks, Tally
from poolwise.tables.rows import Pattern, TableRows, pattern_name, without_features
from poolwise.tables.shards import StreamedTable
from poolwise.tables.streamed_rows import StreamedRows, check_few


def moments_of(
    source: Any,
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    texts: Sequence[str] = (),
    response: str | None = None,
    weights: str | None = None,
    nulls: Literal["raise", "drop"] | None = None,
    precision: Precision = "auto",
    n_jobs: int | None = None,
    parts: AnyPath | None = None,
    progress: bool | None = None,
) -> Moments:
    """Return the moments of all columns of a table or of files, without any target.

    Numbers and booleans are taken as they are. A column of text becomes one indicator per level,
    all of them (``site=coast``, ``site=inland``): the target decides which one a model leaves out.
    Columns, weights and nulls given here override those of ``Files``.

    Parameters
    ----------
    source : table, str, path, list of paths, or Files
        A table or a stream as in ``fit``, or files, which are read in batches.
    columns : sequence of str, optional
        The columns to take; all unless given. The response and the weights are always taken.
    drop : sequence of str
        Columns to leave out.
    texts : sequence of str
        Columns of CSV files that hold text, such as codes that look like numbers. For other columns
        the first rows of each file decide.
    response : str, optional
        The response of a model: this column is required and must be numeric.
    weights : str, optional
        The column of row weights.
    nulls : {"raise", "drop"}, default="raise"
        Treatment of null or NaN: raise an error, or leave the row out and count it. For moments of
        each pattern of missing columns see :func:`moments_by_pattern`.
    precision : {"auto", "fast", "accurate", "exact"}, default="auto"
        Digits of the second moments; see :class:`Moments`.
    n_jobs : int, optional
        Threads that read files, -1 for all processors; the result has the same bits for any number.
    parts : str or path, optional
        A folder for the moments of each file, as ``.moments.json``. A file is skipped when its
        moments exist and neither it nor the options have changed. After an interruption the same
        call continues. Exact moments have the same bits with and without it. For files only.
    progress : bool, optional
        Whether to show a bar; unless given, on a terminal and in a notebook.

    Returns
    -------
    Moments
        Of all rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from poolwise import moments_of
    >>> moments_of(pd.DataFrame({"site": ["coast", "inland", "coast"], "wear": [1.0, 2.0, 4.0]}))
    Moments(3 rows, weight 3, columns ['site=coast', 'site=inland', 'wear'])
    """
    if nulls not in (None, "raise", "drop"):
        raise BadOption.of("nulls", nulls, "'raise' or 'drop'; for 'split' see moments_by_pattern")
    files = _as_files(source)
    if isinstance(files, Files) and nulls is None and files.nulls == "drop":
        nulls = "drop"
    wanted = _wanted(files, columns, drop, texts, response, weights)
    job = MomentsJob(files, wanted, nulls or "raise", _name_of(files), precision, n_jobs, progress)
    return job.run(None if parts is None else Parts(parts))[()]


def moments_by_pattern(
    source: Any,
    *,
    name: str = "source",
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    texts: Sequence[str] = (),
    response: str | None = None,
    weights: str | None = None,
    precision: Precision = "auto",
    n_jobs: int | None = None,
    parts: AnyPath | None = None,
    progress: bool | None = None,
) -> dict[str, Moments]:
    """Return moments of the rows of each pattern of missing columns, named as ``fit`` names them.

    These are ``name`` for the rows that have all columns, ``name without load`` for those that
    lack ``load``, and so on, as in ``fit`` with ``sources={name: source}``. Every pattern is
    included, however few rows it has. A file without a column that others have is a pattern too.

    Parameters
    ----------
    source : table, str, path, list of paths, or Files
        As in :func:`moments_of`.
    name : str, default="source"
        Name of the source.
    response : str, optional
        The response of a model: rows without it raise an error. Unless given, rows that lack it are
        a pattern like others.
    columns, drop, texts, weights, precision, n_jobs, parts, progress
        As in :func:`moments_of`.

    Returns
    -------
    dict of str to Moments
        One entry per pattern, ready to be ``sources=`` of a fit.

    Examples
    --------
    >>> import pandas as pd
    >>> from poolwise import moments_by_pattern
    >>> rows = pd.DataFrame({"load": [1.0, None, 3.0], "wear": [1.0, 2.0, 4.0]})
    >>> moments_by_pattern(rows, name="pumps")
    {'pumps': Moments(2 rows, weight 2, columns ['load', 'wear']),
     'pumps without load': Moments(1 row, weight 1, columns ['wear'])}
    """
    files = _as_files(source)
    if isinstance(files, Files) and files.nulls != "split":
        raise BadOption.of("nulls", files.nulls, "'split' here; moments_of raises and drops")
    wanted = _wanted(files, columns, drop, texts, response, weights)
    job = MomentsJob(files, wanted, "split", name, precision, n_jobs, progress)
    found: dict[str, Moments] = {}
    for lacks, moments in job.run(None if parts is None else Parts(parts)).items():
        found[pattern_name(name, lacks, found)] = moments
    return found


@dataclass(frozen=True, eq=False)
class MomentsJob:
    """The columns to read, and how."""

    source: Any
    wanted: Wanted
    nulls: Nulls
    name: str
    precision: Precision = "auto"
    n_jobs: int | None = None
    progress: bool | None = None

    def run(self, parts: Parts | None = None) -> dict[Lacks, Moments]:
        """Read all rows; return moments by the columns that rows lack, in the order of the table.

        Unless rows are split, there is one entry, for rows that lack none.
        """
        check_precision(self.precision)
        cautions: list[PoolwiseWarning] = []
        try:
            found = self._found(self._open(parts), parts, cautions)
        except BadFile as error:
            column = error.about.get("column")
            if column is None:
                raise
            then = f"If {column!r} holds text, use texts=[{column!r}], or leave it out."
            raise BadFile(error.message, f"{error.hint} {then}", **error.about) from error
        if not any(moments.weight for moments in found.values()):
            cautions.append(LeftOut.empty_source(self.name))
        for caution in cautions:
            warnings.warn(caution, stacklevel=3)
        return found

    @property
    def _where(self) -> str:
        return f"table {self.name!r}"

    def _open(self, parts: Parts | None) -> Opened:
        source = self.source
        if isinstance(source, Files):
            source = replace(source, weights=self.wanted.weights, nulls=self.nulls)
        elif parts is not None:
            raise BadOption.of("parts", str(parts.folder), "None for a table or a stream")
        opened = open_columns(source, self.wanted, self._where, jobs=self.n_jobs)
        table = opened.table
        if not isinstance(table, StreamedTable):
            return opened
        shown = table.progress if self.progress is None else self.progress
        return replace(opened, table=replace(table, nulls=self.nulls, progress=shown))

    def _found(
        self, opened: Opened, parts: Parts | None, cautions: list[PoolwiseWarning]
    ) -> dict[Lacks, Moments]:
        table, response = opened.table, self.wanted.response if self.nulls == "split" else None
        tally = Tally()
        if isinstance(table, StreamedTable) and parts is not None:
            parted = PartedRows(
                table, opened.names, partial(self._columns, opened), response, parts
            )
            columns, found = parted.moments(self.precision)
            tally = parted.tally
        else:
            columns = self._columns(opened, table.levels(opened.names))
            features = tuple(c for c in columns if c.name != response)
            if not features:  # only the response, which is then a column like others
                features, response = columns, None
            rows: dict[Lacks, Pattern]
            if isinstance(table, StreamedTable):
                own_response = None if response is None else Response(response)
                streamed = StreamedRows(table, features, own_response, self.name)
                rows, tally = {**streamed.by_pattern(self.precision)}, streamed.tally
            else:
                own = self._rows_of(table, features, response, tally)
                rows = {**(own.by_pattern() if self.nulls == "split" else {(): own})}
            found = {lacks: r.moments(self.precision) for lacks, r in rows.items() if r.count}
        check_few(len(found) + tally.beyond, self._where)
        for moments in found.values():
            if moments.names in ((), (response,)):
                raise without_features(self._where, moments.rows)
        if self.nulls == "drop" and tally.incomplete:
            cautions.append(tally.rows_left_out(self.name))
        order = encoded(columns)
        ordered = {k: m.select([n for n in order if n in m]) for k, m in found.items()}
        return ordered if self.nulls == "split" else {(): Moments.empty(order)} | ordered

    def _columns(self, opened: Opened, levels: KnownLevels) -> tuple[Column, ...]:
        columns = opened.columns(levels, self.wanted, self._where)
        if self.nulls == "split":
            return tuple(c for c in columns if c.name in levels)
        return columns

    def _rows_of(
        self, table: Table, features: tuple[Column, ...], response: str | None, tally: Tally
    ) -> TableRows:
        """Return the rows of a table in memory, without those that are to be dropped."""
        own = (response, self.wanted.weights)
        raw = [*(c.name for c in features), *(n for n in own if n is not None)]
        gone = table.missing(raw)
        if self.nulls != "split" and gone.any():
            counts = {n: int(c) for n, c in zip(raw, gone.sum(axis=0), strict=True) if c}
            if self.nulls == "raise":
                hint = 'nulls="drop" leaves these rows out; moments_by_pattern splits them.'
                raise NotFinite.of(counts, table.rows, self._where, hint)
            whole = np.flatnonzero(~gone.any(axis=1))
            tally.add(Tally(table.rows, table.rows - len(whole), counts))
            table = table.take(whole)
        y, weights = (
            None if n is None else table.read([Column(n)], 0, table.rows)[:, 0] for n in own
        )
        jobs = checked_jobs(self.n_jobs)
        return TableRows(table, features, response, y, weights, self._where, jobs)


def _as_files(source: Any) -> Any:
    """Return files if paths were given, otherwise the table itself."""
    given = source if isinstance(source, list | tuple) and source else [source]
    return Files(source) if all(isinstance(g, str | PathLike) for g in given) else source


def _name_of(source: Any) -> str:
    if not isinstance(source, Files):
        return "table"
    if isinstance(source.paths, str | PathLike):
        return str(source.paths)
    first, more = next(iter(source.paths), "no files"), len(source.paths) - 1
    return f"{first} and {more:,} more" if more > 0 else str(first)


def _wanted(
    source: Any,
    columns: Sequence[str] | None,
    drop: Sequence[str],
    texts: Sequence[str],
    response: str | None,
    weights: str | None,
) -> Wanted:
    for option, given in {"columns": columns, "drop": drop, "texts": texts}.items():
        if isinstance(given, str):
            raise BadOption.of(option, given, "a list of names")
    if isinstance(source, Files):
        columns = source.columns if columns is None else columns
        weights = source.weights if weights is None else weights
    own = None if columns is None else tuple(map(str, columns))
    return Wanted(own, tuple(map(str, drop)), tuple(map(str, texts)), response, weights)
