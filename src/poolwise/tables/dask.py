"""Dask: each file or partition is summed by a worker, and the sums are added up here.

Dask schedules the tasks and repeats those of a lost worker.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial, reduce
from importlib import import_module
from operator import add
from typing import Any, Literal

from threadpoolctl import threadpool_limits

from poolwise.errors import BadOption, NotInstalled, NotNumeric, PoolwiseError, WorkersLost
from poolwise.tables.arrow import kind_as, kind_of
from poolwise.tables.shards import ArrowShard, FrameBatches, Part, Seen, Shard, Task, read_alone
from poolwise.tables.text_values import WORDS, Kind

PATIENCE = 60.0  # seconds between checks that workers are left
ADDED_AT_ONCE = 64  # partitions whose results one task of a local scheduler adds up


@dataclass(frozen=True, eq=False)
class DaskWorkers:
    """The workers of a ``distributed.Client``, which read files."""

    client: Any

    def each(self, task: Task, shards: Sequence[Shard], seen: Seen) -> Iterator[Any]:
        """Run a task on every shard; yield the results in the order of the shards."""
        if shards:
            read = partial(read_alone, task)
            send = partial(self.client.map, read, shards, pure=False)
            yield from _results(self.client, [shard.where for shard in shards], send, seen)


def workers(client: Any) -> DaskWorkers:
    """Return the workers of a client."""
    if client.asynchronous:
        raise BadOption.of("workers", client, "a client that is not asynchronous")
    return DaskWorkers(client)


class TableBatches(FrameBatches):
    """A Dask DataFrame, computed each time it is read, and only the columns that are needed."""

    def each(self, task: Task, seen: Seen) -> Iterator[Any]:
        """Sum all partitions on the cluster of the active client, or by a scheduler here."""
        from dask.base import get_scheduler
        from dask.delayed import delayed

        read = delayed(partial(_read_partition, task, self.kinds), pure=False)
        # One graph for all: partitions from a shuffle share it.
        tasks = {where: read(where, part) for where, part in self._partitions(task.names)}
        client = getattr(get_scheduler(), "__self__", None)
        if client is not None and hasattr(client, "submit"):
            send = partial(client.compute, [*tasks.values()])
            yield from _results(client, [*tasks], send, seen)
            return
        total, *more = tasks.values()
        for start in range(0, len(more), ADDED_AT_ONCE):  # a few results are held at a time
            total = delayed(_added, pure=False)(total, *more[start : start + ADDED_AT_ONCE])
        with threadpool_limits(1):
            done = total.compute()
        seen(done.rows, done.size)
        yield done.result

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        """Fetch the partitions one after the other."""
        for where, part in self._partitions(names):
            with _explained(where):
                frame = part.compute()
            yield from _partition(frame, names, self.kinds, where).parts(names)

    def _partitions(self, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
        labels = dict(zip(self.names, self.frame.columns, strict=True))
        for k, part in enumerate(self.frame[[labels[name] for name in names]].to_delayed()):
            yield f"partitions[{k}] of {self.where}", part


def types_of(frame: Any) -> list[tuple[str, Any]]:
    """Return names and types of the columns."""
    return [(str(name), dtype) for name, dtype in zip(frame.columns, frame.dtypes, strict=True)]


def kind_of_type(dtype: Any) -> Kind | Literal["any"] | None:
    """Return what a pandas type holds."""
    import pandas as pd
    import pyarrow as pa

    if str(dtype) == "object":
        return "any"
    try:
        return kind_of(pa.array(pd.Series([], dtype=dtype), from_pandas=True).type)
    except (pa.ArrowException, TypeError):  # complex numbers, for one
        return None


def _read_partition(task: Task, kinds: Mapping[str, Kind], where: str, frame: Any) -> Any:
    return read_alone(task, _partition(frame, task.names, kinds, where))


def _partition(frame: Any, names: Sequence[str], kinds: Mapping[str, Kind], where: str) -> Shard:
    """Return a computed partition, whose columns are these, in this order, as Arrow arrays."""
    import pyarrow as pa

    hint = "Convert it with astype, before Dask or in the frame, so that the types are true."
    columns = []
    for j, name in enumerate(names):
        column = frame.iloc[:, j]
        if hasattr(column.dtype, "categories"):  # numbers are written as Python does, not Arrow
            column = column.cat.rename_categories(str)
        try:
            values = pa.array(column, from_pandas=True)
        except pa.ArrowException as error:
            why = str(error).splitlines()[0]
            raise NotNumeric.of(name, f"of {where} cannot be read ({why})", hint) from error
        if kind_as(kind_of(values.type), kinds[name]) not in ("void", kinds[name]):
            promised = WORDS.get(kinds[name], "nothing")
            what = f"of {where} holds {values.type}, where the frame promises {promised}"
            raise NotNumeric.of(name, what, hint)
        columns.append(values)
    table = pa.Table.from_arrays(columns, names=list(names)).combine_chunks()
    return ArrowShard(table.to_batches(), tuple(names), where)


def _added(first: Any, *more: Any) -> Any:
    return reduce(add, more, first)


def _check_workers(client: Any, where: str) -> None:
    """Raise an error if a client is closed, or workers lack poolwise, which would wait forever."""
    if client.status != "running":
        raise WorkersLost.of("Dask", where, f"its client is {client.status}")
    with _explained(where):
        for found in client.run(import_module, __name__, on_error="return").values():
            if isinstance(found, ImportError):
                raise found


def _results(
    client: Any, names: Sequence[str], send: Callable[[], list[Any]], seen: Seen
) -> Iterator[Any]:
    """Yield results in order; release each on the cluster, and all others after an error."""
    _check_workers(client, names[0])
    futures, empty_looks = list[Any](), 0
    try:
        with threadpool_limits(1):  # before anything is sent: a worker may be a thread here
            with _explained(names[0]):
                futures = send()
            for where, future in zip(names, futures, strict=True):
                with _explained(where):
                    while empty_looks < 2:
                        with suppress(TimeoutError):
                            future.exception(timeout=PATIENCE)  # waits, and fetches no result
                            break
                        empty_looks = 0 if client.nthreads() else empty_looks + 1
                    else:
                        why = f"there has been no worker for {PATIENCE:g} seconds or more"
                        raise WorkersLost.of("Dask", where, why)
                    done = future.result()
                future.release()
                seen(done.rows, done.size)
                yield done.result
    finally:
        for future in futures:
            future.release()


@contextmanager
def _explained(where: str) -> Iterator[None]:
    """Convert errors of the cluster to errors of poolwise; errors about rows pass unchanged."""
    try:
        yield
    except PoolwiseError:
        raise
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package not in ("poolwise", "pyarrow"):
            raise
        hint = 'Install it on every worker: pip install "poolwise[dask,io]".'
        what = f"The workers of Dask cannot import {package}: their Python does not have it."
        raise NotInstalled(what, hint) from error
    except Exception as error:
        kind = type(error)
        if not (isinstance(error, CancelledError) or kind.__module__.startswith("distributed.")):
            raise
        why = re.split(r"\. |\n", str(error))[0].rstrip(".:")
        raise WorkersLost.of("Dask", where, f"{kind.__name__}: {why}") from error
