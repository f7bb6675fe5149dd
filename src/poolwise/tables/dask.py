"""Dask: the workers of a cluster, which are sent the names of files and send back sums."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import islice
from typing import Any, NamedTuple
from uuid import uuid4

from threadpoolctl import ThreadpoolController, threadpool_limits

from poolwise.errors import BadOption, NotOnWorkers, TransferError, WorkersLost
from poolwise.tables.streamed import A, Done, Reading, Seen, Shard

AHEAD = 4  # shards in flight per thread of a cluster
FEWEST_AHEAD = 64  # and so many while it has few threads: a cluster may grow with its work
PATIENCE = 60.0  # seconds between two looks whether there are workers left to wait for


@dataclass(frozen=True, eq=False)
class DaskWorkers:
    """Workers of a cluster.

    One that is lost changes no result: others read again what it had not handed over.

    Parameters
    ----------
    client : distributed.Client
        Of the cluster.
    """

    client: Any

    def each(self, reading: Reading[A], shards: Sequence[Shard], seen: Seen) -> Iterator[A]:
        """Read every shard; yield the results in the order of the shards."""
        if not shards:
            return
        check_workers(self.client, shards[0].where)
        ahead = max(FEWEST_AHEAD, AHEAD * sum(self.client.nthreads().values()))
        for done in results_in_order(self.client, self._sent(reading, shards), ahead):
            seen(done.rows, done.size)
            yield done.result

    def _sent(self, reading: Reading[A], shards: Sequence[Shard]) -> Iterator[Sent]:
        run = uuid4().hex  # that no result of another run is taken for one of this
        for k, shard in enumerate(shards):
            with _on_cluster(shard.where):
                future = self.client.submit(read, reading, shard, key=f"read-shard-{run}-{k}")
            yield Sent(shard.where, future)


class Sent(NamedTuple):
    """What a cluster was asked for, and a name for it in an error."""

    where: str
    future: Any


def workers(client: Any) -> DaskWorkers:
    """Return the workers of a client."""
    if client.asynchronous:
        raise BadOption("workers", client, "a client that is not asynchronous")
    return DaskWorkers(client)


def read(reading: Reading[A], shard: Shard) -> Done[A]:
    """Read a shard, on a worker."""
    with _pools().limit(limits=1):  # the shards are what is done side by side
        return reading(shard)


@cache
def _pools() -> ThreadpoolController:
    """Return the pools of threads of this process; to find them takes longer than a small shard."""
    return ThreadpoolController()


def check_workers(client: Any, where: str) -> None:
    """Refuse a client that is closed, and workers without poolwise, which would fall silent."""
    if client.status != "running":
        raise WorkersLost("Dask", where, f"its client is {client.status}")
    with _on_cluster(where):
        for found in client.run(import_module, __name__, on_error="return").values():
            if isinstance(found, ImportError):
                raise found


def results_in_order(client: Any, sent: Iterator[Sent], ahead: int) -> Iterator[Any]:
    """Yield results in the order in which they were asked for, and let the cluster forget them.

    Parameters
    ----------
    client : distributed.Client
        Of the cluster.
    sent : iterator of Sent
        Each is asked for when its turn comes.
    ahead : int
        How many may be waited for at a time.
    """
    waiting, had_workers = deque[Sent](), bool(client.nthreads())
    try:
        with threadpool_limits(1):  # before anything is sent: a worker may be a thread here
            waiting.extend(islice(sent, ahead))
            while waiting:
                where, future = waiting[0]
                with _on_cluster(where):
                    found = _result(client, future, where, had_workers=had_workers)
                had_workers = True
                waiting.popleft()
                future.release()
                waiting.extend(islice(sent, 1))
                yield found
    finally:
        for _, future in waiting:
            future.release()


def _result(client: Any, future: Any, where: str, *, had_workers: bool) -> Any:
    """Wait for a result, and for the first worker, but not for workers that are all gone."""
    empty_looks = 0
    while empty_looks < 2:
        try:
            return future.result(timeout=PATIENCE)
        except TimeoutError:
            if future.done():  # the rows raised it, or the result came just after we gave up
                return future.result()
        there = bool(client.nthreads())
        had_workers = had_workers or there
        empty_looks = empty_looks + 1 if had_workers and not there else 0
    raise WorkersLost("Dask", where, f"no worker is left, for {PATIENCE:g} seconds and more")


@contextmanager
def _on_cluster(where: str) -> Iterator[None]:
    """Say in our words what went wrong with the cluster; what rows raised is left as it is."""
    try:
        yield
    except TransferError:
        raise
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package not in ("poolwise", "pyarrow"):
            raise
        advice = 'Install it on every worker: pip install "poolwise[dask,io]".'
        raise NotOnWorkers(package, "Dask", advice) from error
    except Exception as error:
        kind = type(error)
        if not (isinstance(error, CancelledError) or kind.__module__.startswith("distributed.")):
            raise
        why = f"{kind.__name__}: {str(error).partition('. ')[0].rstrip('.')}"
        raise WorkersLost("Dask", where, why) from error
