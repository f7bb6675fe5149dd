"""Arrow C streams and lazy polars frames, read once, and pyarrow datasets."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw

from poolwise.errors import BadTable, NotInstalled
from poolwise.tables.arrow import kind_of
from poolwise.tables.rows import rows_at_once
from poolwise.tables.shards import ArrowShard, Part, Seen, Task, read_shard
from poolwise.tables.text_values import Kind

HELD = 2**26  # bytes of a stream that are kept in memory; more go to a temporary file
AHEAD = 1  # batches and fragments that pyarrow decodes before they are asked for, to hold few

kind_of_type = kind_of


class Stream:
    """A stream whose columns are known, and of which no row is read yet."""

    def __init__(self, table: Any, where: str) -> None:
        try:
            import pyarrow as pa
        except ImportError:
            raise NotInstalled.of(
                f"Reading {where} as a stream", "pyarrow", "io", "Or give the rows as a data frame."
            ) from None
        if nw.dependencies.is_polars_lazyframe(table):
            self.schema = table.clear().collect().to_arrow().schema
            self.batches: Any = _collected(table)
            return
        try:
            self.batches = pa.RecordBatchReader.from_stream(table)
        except (pa.ArrowException, TypeError):  # a stream of a single column, such as a series
            raise BadTable.unknown(type(table), where) from None
        self.schema = self.batches.schema


def _collected(frame: Any) -> Iterator[Any]:
    for part in frame.collect_batches():
        yield from part.to_arrow().to_batches()


def is_stream(table: Any) -> bool:
    """Return whether a table comes in batches and is not in memory already."""
    if nw.dependencies.is_polars_lazyframe(table):
        return hasattr(table, "collect_batches")
    if nw.dependencies.is_into_dataframe(table) or nw.dependencies.is_into_series(table):
        return False
    return hasattr(table, "__arrow_c_stream__")


def types_of(stream: Any) -> list[tuple[str, Any]]:
    """Return names and types of the columns of a stream or a dataset."""
    return [(field.name, field.type) for field in stream.schema]


@dataclass(frozen=True, eq=False)
class TableBatches:
    """Rows of a stream, which can be read again, or of a dataset, which are not kept.

    A stream runs once, when rows are first requested. The columns that may be needed are kept: in
    memory while they are small, then in a temporary file.
    """

    frame: Any
    names: tuple[str, ...]
    kinds: Mapping[str, Kind]
    where: str

    @property
    def rows(self) -> int | None:
        """Number of rows of a stream; None for a dataset, which would have to read text files."""
        return None if self._kept is None else self._kept.rows

    @property
    def size(self) -> float:
        """Bytes of a stream; 0 for a dataset."""
        return 0.0 if self._kept is None else float(self._kept.size)

    def each(self, task: Task, seen: Seen) -> Iterator[Any]:
        """Read all rows as one shard."""
        yield read_shard(task, self, seen).result

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        """Yield all rows of some columns."""
        if self._kept is not None:
            yield from ArrowShard(self._kept, tuple(self.kinds), self.where).parts(names)
            return
        batches = self.frame.to_batches(
            columns=list(names),
            batch_size=rows_at_once(len(names)),
            batch_readahead=AHEAD,
            fragment_readahead=AHEAD,
        )
        yield from ArrowShard(batches, tuple(names), self.where).parts(names)

    @cached_property
    def _kept(self) -> KeptBatches | None:
        if not isinstance(self.frame, Stream):
            return None
        kept = KeptBatches()
        for batch in self.frame.batches:
            kept.add(batch.select([*self.kinds]))
        kept.finish()
        return kept


class KeptBatches:
    """Batches, in memory or in a temporary file that is deleted with this object."""

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
        """Close the file after the last batch."""
        if self._writer is not None:
            self._writer.close()

    def __iter__(self) -> Iterator[Any]:
        import pyarrow as pa

        if self._writer is None:
            yield from self._batches
            return
        with pa.OSFile(self._path) as raw, pa.ipc.open_stream(raw) as reader:
            yield from reader
