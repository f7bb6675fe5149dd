"""MomentsJob: one reading of a table or of files, which may be long, and may be killed."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, TypeAlias

import numpy as np

from poolwise.errors import (
    BadOption,
    BeginsAnew,
    EmptySource,
    NotFinite,
    RowsDropped,
    TransferWarning,
    UnreadableFile,
)
from poolwise.moments import Moments
from poolwise.options import checked_jobs
from poolwise.precision import Precision, check_precision
from poolwise.tables import Table
from poolwise.tables.checkpoint import Checkpoint
from poolwise.tables.columns import Column, encoded
from poolwise.tables.every_column import Opened, Wanted, open_columns
from poolwise.tables.files import Files, Nulls
from poolwise.tables.patterns import Pattern
from poolwise.tables.row_splitter import Lacks
from poolwise.tables.rows import TableRows
from poolwise.tables.streamed import StreamedTable
from poolwise.tables.streamed_rows import StreamedRows

AnyCheckpoint: TypeAlias = str | PathLike[str] | Checkpoint


@dataclass(frozen=True, eq=False)
class MomentsJob:
    """What to read, and what of it to keep.

    Parameters
    ----------
    source : object
        A table, a stream, or :class:`poolwise.Files`.
    wanted : Wanted
        Which columns.
    nulls : {"split", "drop", "raise"}
        What a missing value does.
    name : str
        Name of the source.
    precision, n_jobs, progress
        As in :func:`poolwise.moments_of`.
    """

    source: Any
    wanted: Wanted
    nulls: Nulls
    name: str
    precision: Precision = "auto"
    n_jobs: int | None = None
    progress: bool | None = None

    def run(self, checkpoint: AnyCheckpoint | None = None) -> dict[Lacks, Moments]:
        """Read all rows; return moments by the columns that rows lack, all of them in one order.

        Unless they are split by that, there is one entry, for rows that lack none.
        """
        check_precision(self.precision)
        is_ours = checkpoint is not None and not isinstance(checkpoint, Checkpoint)
        kept = Checkpoint(checkpoint) if isinstance(checkpoint, str | PathLike) else checkpoint
        try:
            opened = self._open(kept)
            found, cautions = self._read(opened, opened.columns(self.wanted, self._where))
        except UnreadableFile as error:
            if error.column is None:
                raise
            then = f"If {error.column!r} holds text, say texts=[{error.column!r}], or leave it out."
            raise UnreadableFile(error.file, error.form, error.why, error.column, then) from error
        if kept is not None and kept.is_anew:
            cautions.append(BeginsAnew(str(kept.path)))
        if kept is not None and is_ours:
            kept.remove()
        if not any(moments.weight for moments in found.values()):
            cautions.append(EmptySource(self.name))
        for caution in cautions:
            warnings.warn(caution, stacklevel=3)
        return found

    @property
    def _where(self) -> str:
        return f"source {self.name!r}"

    def _open(self, checkpoint: Checkpoint | None) -> Opened:
        source = self.source
        if isinstance(source, Files):
            source = replace(source, weights=self.wanted.weights, nulls=self.nulls)
        opened = open_columns(source, self.wanted, self._where, jobs=self.n_jobs)
        table = opened.table
        if isinstance(table, StreamedTable):
            if checkpoint is None or table.batches.key is not None:
                shown = table.progress if self.progress is None else self.progress
                table = replace(table, nulls=self.nulls, progress=shown, checkpoint=checkpoint)
                return replace(opened, table=table)
        elif checkpoint is None:
            return opened
        what = (
            "None for a table or a stream, of which nobody can tell whether its rows are the same "
            "when they are read again. Files can have one"
        )
        raise BadOption("checkpoint", str(checkpoint.path), what)

    def _read(
        self, opened: Opened, columns: tuple[Column, ...]
    ) -> tuple[dict[Lacks, Moments], list[TransferWarning]]:
        table, response, cautions = opened.table, None, list[TransferWarning]()
        if self.nulls == "split":
            columns = tuple(c for c in columns if not table.is_void(c.name))
            response = self.wanted.response
        features = tuple(c for c in columns if c.name != response)
        if not features:  # the response alone, which is then a column like others
            features, response = columns, None
        rows: dict[Lacks, Pattern]
        if isinstance(table, StreamedTable):
            streamed = StreamedRows(table, features, response, self.name)
            rows = {**streamed.by_pattern(self.precision)}
            cautions += streamed.cautions()
        else:
            held = self._rows_of(table, features, response, cautions)
            split = held.by_pattern() if self.nulls == "split" else {(): held}
            rows = {lacks: own for lacks, own in split.items() if own.count}
        order = encoded(columns)
        found: dict[Lacks, Moments] = {}
        if self.nulls != "split":
            found[()] = Moments.empty(order)
        for lacks, own in rows.items():
            moments = own.moments(self.precision)
            found[lacks] = moments.select([n for n in order if n in moments])
        return found, cautions

    def _rows_of(
        self,
        table: Table,
        features: tuple[Column, ...],
        response: str | None,
        cautions: list[TransferWarning],
    ) -> TableRows:
        """Return the rows of a table in memory, without those that are to be dropped."""
        own = (response, self.wanted.weights)
        raw = [*(c.name for c in features), *(n for n in own if n is not None)]
        gone = table.missing(raw)
        if self.nulls != "split" and gone.any():
            counts = {n: int(c) for n, c in zip(raw, gone.sum(axis=0), strict=True) if c}
            if self.nulls == "raise":
                then = 'nulls="drop" leaves these rows out; moments_by_pattern splits them.'
                raise NotFinite(counts, table.rows, self._where, then)
            whole = np.flatnonzero(~gone.any(axis=1))
            cautions.append(RowsDropped(self.name, counts, table.rows - len(whole), table.rows))
            table = table.take(whole)
        y, weights = (
            None if n is None else table.read([Column(n)], 0, table.rows)[:, 0] for n in own
        )
        jobs = checked_jobs(self.n_jobs)
        return TableRows(table, features, response, y, weights, self._where, jobs)
