"""dask.array's least squares beside ours, on the same files and the same machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.answers import Answer, Target, ratios
from benchmarks.clock import in_words
from benchmarks.parquet_files import COLUMNS, NAMES, parquet_files
from poolwise import moments_of
from poolwise._typing import Array
from poolwise.linear.regress import regress

THREADS, FILES = 2, 8


def dask_array(*, quick: bool) -> list[Answer]:
    rows, rounds = (80_000, 1) if quick else (2_500_000, 3)
    with parquet_files(rows, FILES) as folder:
        works: dict[str, Callable[[], Array]] = {
            "theirs": partial(theirs, folder),
            "ours": partial(ours, folder),
        }
        first = {name: work() for name, work in works.items()}
        seconds: dict[str, list[float]] = {name: [] for name in works}
        for _ in range(rounds):
            for name, work in works.items():
                start = time.perf_counter()
                work()
                seconds[name].append(time.perf_counter() - start)
    apart = float(np.abs(first["ours"] - first["theirs"]).max())
    return [
        Answer(
            "dask_array",
            "dask.array.linalg.lstsq / ours, wall time",
            ratios(seconds["theirs"], seconds["ours"]),
            Target("at least 5", low=5.0),
            detail=f"{in_words(median(seconds['theirs']))} / {in_words(median(seconds['ours']))}; "
            f"{rows:,} x {COLUMNS} in {FILES} files of Parquet, {THREADS} threads each; "
            f"coefficients differ by {apart:.1g} at most",
        )
    ]


def theirs(folder: Path) -> Array:
    import dask
    import dask.array as da
    import dask.dataframe as dd

    with dask.config.set(scheduler="threads", num_workers=THREADS):
        rows = dd.read_parquet(folder)[["y", *NAMES]].to_dask_array(lengths=True)
        ones = da.ones((rows.shape[0], 1), chunks=(rows.chunks[0], 1))
        X, y = da.hstack([ones, rows[:, 1:]]).rechunk((rows.chunks[0], -1)), rows[:, 0]
        found: Array = da.linalg.lstsq(X, y)[0].compute()
    return found[1:]


def ours(folder: Path) -> Array:
    return regress(moments_of(folder, precision="fast", n_jobs=THREADS, progress=False), "y").coef
