"""Workers: who reads the shards of a table: threads of this process, or a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from poolwise.errors import BadOption
from poolwise.options import checked_jobs
from poolwise.tables.streamed import A, Reading, Seen, Shard

CLUSTERS = {"distributed": "dask", "pyspark": "spark"}  # package -> our module


class Workers(Protocol):
    """Whoever can read shards."""

    def each(self, reading: Reading[A], shards: Sequence[Shard], seen: Seen) -> Iterator[A]:
        """Read every shard; yield the results in the order of the shards."""
        ...


@dataclass(frozen=True)
class Threads:
    """Threads of this process; with ``joblib.parallel_config("loky")``, processes.

    Parameters
    ----------
    jobs : int
        How many; -1 for as many as there are processors.
    """

    jobs: int = 1

    def each(self, reading: Reading[A], shards: Sequence[Shard], seen: Seen) -> Iterator[A]:
        """Read every shard; yield the results in the order of the shards."""
        with threadpool_limits(1):  # else bits might depend on how many threads BLAS has left
            if self.jobs == 1 or len(shards) < 2:
                for shard in shards:
                    yield reading(shard, seen).result
                return
            pool = Parallel(n_jobs=self.jobs, prefer="threads", return_as="generator")
            for done in pool(delayed(reading)(shard) for shard in shards):
                seen(done.rows, done.size)
                yield done.result


def workers_of(given: Any, jobs: int | None = None) -> Workers:
    """Return the workers that somebody named.

    Parameters
    ----------
    given : int, distributed.Client, SparkSession or None
        A number of threads, or a cluster.
    jobs : int, optional
        The number of threads where none is given; one by default.
    """
    if given is None:
        return Threads(checked_jobs(jobs))
    if isinstance(given, int):
        return Threads(checked_jobs(given, "workers"))
    for kind in type(given).__mro__:
        if module := CLUSTERS.get(kind.__module__.partition(".")[0]):
            found: Workers = import_module(f"poolwise.tables.{module}").workers(given)
            return found
    what = "a number of threads, a Dask client or a Spark session"
    raise BadOption("workers", given, what)
