"""Streams: whatever speaks the Arrow C stream, and lazy polars frames, read once."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw

from poolwise.errors import DuplicateColumns, NotInstalled, UnknownTable
from poolwise.tables.arrow_columns import Kind, kind_of, kinds_wanted
from poolwise.tables.streamed import A, Part, Reading, Seen, StreamedTable

HELD = 2**26  # bytes of a stream that are kept in memory; more go to a temporary file


@dataclass(frozen=True, eq=False)
class StreamBatches:
    """Rows of a stream, which can be read again although the stream cannot.

    The stream is run once, when rows are first asked for. Those columns that may be needed are kept
    as they come: in memory while that is little, in a temporary file from there on.

    Parameters
    ----------
    schema : pyarrow.Schema
        Of the stream.
    stream : iterable of pyarrow.RecordBatch
        It can be gone through once.
    kinds : mapping of str to Kind
        What the columns hold that may be read.
    where : str
        What to call the stream in an error.
    """

    schema: Any
    stream: Any
    kinds: Mapping[str, Kind]
    where: str

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns."""
        return tuple(self.schema.names)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self._kept.rows

    @property
    def size(self) -> float:
        """Bytes of what is kept."""
        return float(self._kept.size)

    @property
    def key(self) -> None:
        """Nobody can tell whether a stream is the same one."""

    def each(self, reading: Reading[A], seen: Seen, skip: int = 0) -> Iterator[A]:
        """Read all rows as one shard."""
        if not skip:
            yield reading(self, seen).result

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        """Yield all rows, from where they are kept."""
        for batch in self._kept:
            columns = {n: batch.column(n) for n in names}
            yield Part(columns, batch.num_rows, self.where, float(batch.nbytes))

    @cached_property
    def _kept(self) -> KeptBatches:
        kept = KeptBatches()
        for batch in self.stream:
            kept.add(batch.select([*self.kinds]))
        kept.finish()
        return kept


class KeptBatches:
    """Batches, in memory or in a temporary file that goes when this does."""

    def __init__(self) -> None:
        self.rows, self.size, self._batches, self._path = 0, 0, list[Any](), ""
        self._writer: Any = None

    def add(self, batch: Any) -> None:
        """Keep a batch."""
        import pyarrow as pa

        self.rows, self.size = self.rows + batch.num_rows, self.size + batch.nbytes
        self._batches.append(batch)
        if self._writer is None and self.size > HELD:
            handle, self._path = tempfile.mkstemp(prefix="poolwise_", suffix=".arrows")
            os.close(handle)
            weakref.finalize(self, os.unlink, self._path)
            self._writer = pa.ipc.new_stream(self._path, batch.schema)
        if self._writer is not None:
            for each in self._batches:
                self._writer.write_batch(each)
            self._batches.clear()

    def finish(self) -> None:
        """Say that there is no more to come."""
        if self._writer is not None:
            self._writer.close()

    def __iter__(self) -> Iterator[Any]:
        import pyarrow as pa

        if self._writer is None:
            yield from self._batches
            return
        with pa.OSFile(self._path) as raw, pa.ipc.open_stream(raw) as reader:
            yield from reader


def is_stream(table: Any) -> bool:
    """Say whether a table is one that comes in batches and is not in memory already."""
    if nw.dependencies.is_polars_lazyframe(table):
        return hasattr(table, "collect_batches")
    if nw.dependencies.is_into_dataframe(table) or nw.dependencies.is_into_series(table):
        return False
    return hasattr(table, "__arrow_c_stream__")


def open_stream(
    table: Any, where: str, texts: Mapping[str, bool], response: str | None
) -> StreamedTable:
    """Open a stream as a table, reading none of its rows yet.

    Parameters
    ----------
    table : object
        With ``__arrow_c_stream__``, or a polars LazyFrame.
    where : str
        What to call it in an error.
    texts : mapping of str to bool
        The features of the target, and whether they are text.
    response : str or None
        Name of the response, if one column is it.
    """
    try:
        import pyarrow as pa
    except ImportError:
        raise NotInstalled(
            f"Reading {where} as a stream", "pyarrow", "io", "Or give the rows as a data frame."
        ) from None
    if nw.dependencies.is_polars_lazyframe(table):
        schema, stream = table.clear().collect().to_arrow().schema, _collected(table)
    else:
        try:
            stream = pa.RecordBatchReader.from_stream(table)
        except (pa.ArrowException, TypeError):  # a stream of a single column, such as a series
            raise UnknownTable(type(table), where) from None
        schema = stream.schema
    if len(set(schema.names)) < len(schema.names):
        raise DuplicateColumns(schema.names, where)
    types = {field.name: field.type for field in schema}
    kinds = kinds_wanted(types, kind_of, where, texts, response)
    return StreamedTable(StreamBatches(schema, stream, kinds, where), where)


def _collected(frame: Any) -> Iterator[Any]:
    for part in frame.collect_batches():
        yield from part.to_arrow().to_batches()
