"""Spark: files that Spark's workers read, and Spark DataFrames as sources.

Both go through ``mapInArrow``, which classic sessions and those of Spark Connect have. What goes to
the workers and what comes back is pickled, since that is how Spark itself sends functions: whoever
could tamper with these bytes could run code in any Spark session.
"""

from __future__ import annotations

import pickle
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

from threadpoolctl import threadpool_limits

from poolwise.errors import BadOption, DuplicateColumns, NotOnWorkers, TransferError, WorkersLost
from poolwise.tables.arrow_columns import Kind, kinds_wanted
from poolwise.tables.streamed import A, Done, Part, Reading, Seen, Shard, StreamedTable

FOUND = "number long, found binary"  # of a shard or partition, and what was found in it
NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "boolean")
KINDS: dict[str, Kind] = dict.fromkeys(NUMBERS, "number")
KINDS |= {"string": "text", "char": "text", "varchar": "text", "void": "void"}
FIRST = 16  # shards of the first job, before it is known how long they take
MOST = 1024  # shards of one job
PAUSE = 5.0  # seconds: a quicker job is followed by one of twice the shards; the bar moves between
HELD = 2**27  # bytes of results that one job may bring here


@dataclass(frozen=True, eq=False)
class SparkWorkers:
    """The workers of a Spark session.

    Parameters
    ----------
    session : pyspark.sql.SparkSession
        A classic one, or one of Spark Connect.
    """

    session: Any

    def each(self, reading: Reading[A], shards: Sequence[Shard], seen: Seen) -> Iterator[A]:
        """Read every shard; yield the results in the order of the shards.

        A job reads some of them, each in a task of its own. A task that Spark runs again finds the
        same again, and what it finds is used once.
        """
        start, count = 0, FIRST
        while start < len(shards):
            some = shards[start : start + count]
            begun = time.monotonic()
            work = ReadShards(pickle.dumps(reading), tuple(map(pickle.dumps, some)))
            numbers = partial(self.session.range, 0, len(some), 1, len(some))
            found = _run(work, numbers, some[0].where)
            is_quick, largest = time.monotonic() - begun < PAUSE, max(map(len, found.values()))
            for number in range(len(some)):
                yield _opened(found.pop(number), seen)
            start += len(some)
            count = min(count * (1 + is_quick), MOST, 1 + HELD // largest)


def workers(session: Any) -> SparkWorkers:
    """Return the workers of a Spark session."""
    if not hasattr(session, "createDataFrame"):
        raise BadOption("workers", session, "a SparkSession, where it is of pyspark")
    return SparkWorkers(session)


@dataclass(frozen=True)
class ReadShards:
    """What a Spark task does for files: read the shards whose numbers are its rows.

    Parameters
    ----------
    reading : bytes
        The pickled Reading.
    shards : tuple of bytes
        The pickled shards: names of files, and no rows.
    """

    reading: bytes
    shards: tuple[bytes, ...]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield what was found, shard by shard."""
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield _found(number, self.reading, pickle.loads(self.shards[number]))


@dataclass(frozen=True, eq=False)
class SparkBatches:
    """The rows of a Spark DataFrame; a partition is a shard, and is read where it is.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        The rows.
    names : tuple of str
        Names of all columns.
    kinds : mapping of str to Kind
        What the columns hold that may be read.
    where : str
        What to call the frame in an error.
    """

    frame: Any
    names: tuple[str, ...]
    kinds: Mapping[str, Kind]
    where: str

    @property
    def rows(self) -> None:
        """To know how many there are, Spark would have to count."""

    @property
    def size(self) -> float:
        """Not known, either."""
        return 0.0

    @property
    def key(self) -> None:
        """Nobody can tell whether a frame is the same one."""

    def each(self, reading: Reading[A], seen: Seen, skip: int = 0) -> Iterator[A]:
        """Read all partitions in one job; yield the results in the order of the partitions."""
        names = tuple(reading.task.names)
        work = ReadPartition(pickle.dumps(reading), names, self.where)
        found = _run(work, partial(self._columns, names), self.where)
        for number in sorted(found)[skip:]:
            yield _opened(found.pop(number), seen)

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        """Bring all rows here, a partition or two at a time."""
        import pyarrow as pa

        packed = self._columns(names).mapInArrow(_packed, "rows binary")
        for row in packed.toLocalIterator(prefetchPartitions=True):
            with pa.ipc.open_stream(row[0]) as stream:
                yield from ArrowPartition(stream, tuple(names), self.where).parts(names)

    def _columns(self, names: Sequence[str]) -> Any:
        """Select by position: in a name, a dot means something to Spark, and case does not."""
        numbered = self.frame.toDF(*(f"c{k}" for k in range(len(self.names))))
        return numbered.select(*(f"c{self.names.index(n)}" for n in names))


@dataclass(frozen=True)
class ReadPartition:
    """What a Spark task does for a DataFrame: read its rows as one shard.

    Parameters
    ----------
    reading : bytes
        The pickled Reading.
    names : tuple of str
        The columns, in order.
    where : str
        What to call the frame in an error.
    """

    reading: bytes
    names: tuple[str, ...]
    where: str

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield what was found, unless there was no row."""
        from pyspark import TaskContext

        context, first = TaskContext.get(), next(batches, None)
        if context is not None and first is not None:  # one result, whatever is left of the rows
            partition = ArrowPartition(chain([first], batches), self.names, self.where)
            yield _found(context.partitionId(), self.reading, partition)


@dataclass(frozen=True, eq=False)
class ArrowPartition:
    """Rows in Arrow batches, as a shard.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        The rows.
    names : tuple of str
        What to call the columns.
    where : str
        What to call the rows in an error.
    """

    batches: Any
    names: tuple[str, ...]
    where: str

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        """Yield the rows."""
        for batch in self.batches:
            columns = dict(zip(self.names, batch.columns, strict=True))
            some = {n: columns[n] for n in names}
            yield Part(some, batch.num_rows, self.where, float(batch.nbytes))


def open_frame(
    table: Any, where: str, texts: Mapping[str, bool], response: str | None
) -> StreamedTable:
    """Open a Spark DataFrame as a table; see :func:`poolwise.tables.clusters.open_frame`."""
    types = {f.name: f.dataType.simpleString() for f in table.schema.fields}
    if len(types) < len(table.columns):
        raise DuplicateColumns(table.columns, where)
    kinds = kinds_wanted(types, _kind_of, where, texts, response)
    return StreamedTable(SparkBatches(table, tuple(types), kinds, where), where)


def _kind_of(name: str) -> Kind | None:
    return KINDS.get(re.split(r"[ (<]", name)[0])  # string collate ..., decimal(10,2), array<...>


def _run(work: Any, frame: Callable[[], Any], where: str) -> dict[int, bytes]:
    """Run a job; return what was found, by the number of the shard or partition."""
    from pyspark.errors import PySparkRuntimeError, PythonException

    try:
        return dict(map(tuple, frame().mapInArrow(work, FOUND).collect()))
    except PySparkRuntimeError as error:  # the session was stopped
        raise WorkersLost("Spark", where, str(error).splitlines()[0].rstrip(".")) from error
    except PythonException as error:
        if not (missing := re.search(r"No module named '([\w.]+)'", str(error))):
            raise
        raise NotOnWorkers(
            missing[1],
            "Spark",
            "Set PYSPARK_PYTHON to a Python that has it before the session starts, or install it "
            'on every worker: pip install "poolwise[spark]".',
        ) from None


def _found(number: int, reading: bytes, shard: Shard) -> Any:
    """Read a shard on a worker; return what was found, or what poolwise complains about."""
    import pyarrow as pa

    with threadpool_limits(1):  # the tasks are what is done side by side
        try:
            found: Any = pickle.loads(reading)(shard)
        except TransferError as error:  # to be raised by the driver, and not to be tried again
            found = error
    return pa.record_batch({"number": [number], "found": [pickle.dumps(found)]})


def _opened(found: bytes, seen: Seen) -> Any:
    """Return what a worker found, or raise what it complained about."""
    done: Done[Any] | TransferError = pickle.loads(found)
    if isinstance(done, TransferError):
        raise done
    seen(done.rows, done.size)
    return done.result


def _packed(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield each batch as the bytes of one cell, so that rows leave Spark as they came."""
    import pyarrow as pa

    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        yield pa.record_batch({"rows": [sink.getvalue().to_pybytes()]})
