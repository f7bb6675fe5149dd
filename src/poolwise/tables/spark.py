"""Spark: each file or partition is summed by a task, and the sums are added up here.

Files and DataFrames both go through ``mapInArrow``, which classic sessions and Spark Connect have.
Tasks and results are pickled, as Spark itself sends functions.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

from poolwise.errors import BadOption, NotInstalled, PoolwiseError, WorkersLost
from poolwise.tables.shards import ArrowShard, FrameBatches, Part, Seen, Shard, Task, read_alone
from poolwise.tables.text_values import Kind

FOUND = "number long, found binary"  # of a shard or partition, and its result
NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "boolean")
KINDS: dict[str, Kind] = dict.fromkeys(NUMBERS, "number")
KINDS |= {"string": "text", "char": "text", "varchar": "text", "void": "void"}
KINDS |= {"date": "date", "timestamp": "date", "timestamp_ntz": "date"}
SHARDS = 256  # of one job, so that few results are here at a time, and the bar moves


@dataclass(frozen=True, eq=False)
class SparkWorkers:
    """The workers of a ``SparkSession``, which read files."""

    session: Any

    def each(self, task: Task, shards: Sequence[Shard], seen: Seen) -> Iterator[Any]:
        """Run a task on every shard; yield the results in the order of the shards."""
        for start in range(0, len(shards), SHARDS):
            some = tuple(shards[start : start + SHARDS])
            numbers = partial(self.session.range, 0, len(some), 1, len(some))
            found = _run(partial(_read_shards, task, some), numbers, some[0].where)
            for number in range(len(some)):
                yield _opened(found.pop(number), seen)


def workers(session: Any) -> SparkWorkers:
    """Return the workers of a Spark session."""
    if not hasattr(session, "createDataFrame"):
        raise BadOption.of("workers", session, "a SparkSession")
    return SparkWorkers(session)


class TableBatches(FrameBatches):
    """A Spark DataFrame, whose partitions are read where they are."""

    def each(self, task: Task, seen: Seen) -> Iterator[Any]:
        """Sum all partitions in one job; yield the results in the order of the partitions."""
        names = tuple(task.names)
        work = partial(_read_partition, task, names, self.where)
        found = _run(work, partial(self._columns, names), self.where)
        for number in sorted(found):
            yield _opened(found.pop(number), seen)

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        """Fetch all rows, a partition or two at a time."""
        import pyarrow as pa

        packed = self._columns(names).mapInArrow(_packed, "rows binary")
        for row in packed.toLocalIterator(prefetchPartitions=True):
            with pa.ipc.open_stream(row[0]) as stream:
                yield from ArrowShard(stream, tuple(names), self.where).parts(names)

    def _columns(self, names: Sequence[str]) -> Any:
        """Select by position: Spark interprets dots in names and ignores case."""
        numbered = self.frame.toDF(*(f"c{k}" for k in range(len(self.names))))
        return numbered.select(*(f"c{self.names.index(n)}" for n in names))


def types_of(frame: Any) -> list[tuple[str, str]]:
    """Return names and types of the columns."""
    return [(field.name, field.dataType.simpleString()) for field in frame.schema.fields]


def kind_of_type(name: str) -> Kind | None:
    """Return the kind of values of a Spark type."""
    return KINDS.get(re.split(r"[ (<]", name)[0])  # string collate ..., decimal(10,2), array<...>


def _run(work: Any, frame: Callable[[], Any], where: str) -> dict[int, bytes]:
    """Run a job; return the pickled results by the number of the shard or partition."""
    from pyspark.errors import PySparkRuntimeError, PythonException

    try:
        return dict(map(tuple, frame().mapInArrow(work, FOUND).collect()))
    except PySparkRuntimeError as error:  # the session was stopped
        raise WorkersLost.of("Spark", where, str(error).splitlines()[0].rstrip(".")) from error
    except PythonException as error:
        if not (missing := re.search(r"No module named '([\w.]+)'", str(error))):
            raise
        raise NotInstalled(
            f"The workers of Spark cannot import {missing[1]}: their Python does not have it.",
            "Set PYSPARK_PYTHON to a Python that has it before the session starts, or install it "
            'on every worker: pip install "poolwise[spark]".',
        ) from None


def _read_shards(task: Task, shards: Sequence[Shard], batches: Iterator[Any]) -> Iterator[Any]:
    """Run by a worker: its rows are the numbers of the shards to read."""
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield _found(number, task, shards[number])


def _read_partition(
    task: Task, names: tuple[str, ...], where: str, batches: Iterator[Any]
) -> Iterator[Any]:
    """Run by a worker: read the rows of a partition as one shard, if there are any."""
    from pyspark import TaskContext

    context, first = TaskContext.get(), next(batches, None)
    if context is not None and first is not None:
        partition = ArrowShard(chain([first], batches), names, where)
        yield _found(context.partitionId(), task, partition)


def _found(number: int, task: Task, shard: Shard) -> Any:
    """Return the result of a shard, or the error that the driver should raise without retries."""
    import pyarrow as pa

    try:
        found: Any = read_alone(task, shard)
    except PoolwiseError as error:
        found = error
    return pa.record_batch({"number": [number], "found": [pickle.dumps(found)]})


def _opened(found: bytes, seen: Seen) -> Any:
    done = pickle.loads(found)
    if isinstance(done, PoolwiseError):
        raise done
    seen(done.rows, done.size)
    return done.result


def _packed(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield each batch as the bytes of one cell, so that Spark does not change the rows."""
    import pyarrow as pa

    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        yield pa.record_batch({"rows": [sink.getvalue().to_pybytes()]})
