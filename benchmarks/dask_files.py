"""The cost of files on a Dask cluster, relative to one process.

``python -m benchmarks.dask_files [--quick]`` writes Parquet files, fits with them in this process
and on two Dask workers, and removes them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.answers import Answer, Target, ratios
from benchmarks.clock import in_words
from benchmarks.parquet_files import COLUMNS, NAMES, made_up_table, parquet_files
from benchmarks.report import as_text
from poolwise import Files, PooledRegressor
from poolwise.moments.progress import tracked

FILES, TARGET_ROWS, TARGET_SEED, WORKERS = 8, 100, 1000, 2


def dask_files(*, quick: bool) -> list[Answer]:
    from distributed import Client, LocalCluster

    rows, rounds = (40_000, 1) if quick else (2_000_000, 5)
    options = {"n_workers": WORKERS, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        TemporaryDirectory() as folder,
        LocalCluster(**options, local_directory=folder) as cluster,
        Client(cluster, set_as_default=False) as client,
        parquet_files(rows, FILES) as history,
    ):
        works = {"one": lambda: fit(history, 1), "dask": lambda: fit(history, client)}
        cpu, wall = _seconds(works, client, rounds)
    size = f"{rows:,} x {COLUMNS} in {FILES} files of Parquet"
    return [
        Answer(
            "dask_files",
            f"Fit with files on {WORKERS} Dask workers / in one process, CPU time",
            ratios(cpu["dask"], cpu["one"]),
            Target("at most 2.5", high=2.5),
            detail=f"{in_words(median(cpu['dask']))} of client, scheduler and workers together / "
            f"{in_words(median(cpu['one']))}; {size}",
        ),
        Answer(
            "dask_files",
            "The same in wall time",
            ratios(wall["dask"], wall["one"]),
            detail=f"{in_words(median(wall['dask']))} / {in_words(median(wall['one']))}",
        ),
    ]


def fit(history: Path, workers: Any) -> Any:
    target = made_up_table(TARGET_SEED, TARGET_ROWS).to_pandas()
    model = PooledRegressor("data_pooling")
    return model.fit(
        target[NAMES], target["y"], sources=Files(history, workers=workers, progress=False)
    ).coef_


def _seconds(
    works: dict[str, Callable[[], Any]], client: Any, rounds: int
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Return CPU and wall seconds of each work in each round, after one unseen run of each."""
    first, *others = [work() for work in works.values()]
    assert all(np.array_equal(first, other) for other in others)  # to the last bit
    cpu, wall = ({name: list[float]() for name in works} for _ in range(2))
    for _ in tracked(range(rounds), rounds, "Dask over files"):
        for name, work in works.items():
            before, start = _cpu(client), time.perf_counter()
            work()
            wall[name].append(time.perf_counter() - start)
            cpu[name].append(_cpu(client) - before)
    return cpu, wall


def _cpu(client: Any) -> float:
    """Return CPU seconds of this process, where the scheduler is too, and of the workers."""
    return time.process_time() + sum(client.run(time.process_time).values())


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.dask_files", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small files, no target judged")
    quick = parser.parse_args().quick
    with threadpool_limits(1):  # as Dask holds its workers
        print(as_text(dask_files(quick=quick), judged=not quick))


if __name__ == "__main__":
    main()
