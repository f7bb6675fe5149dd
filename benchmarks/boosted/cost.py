"""The time of a fit relative to one fit of LightGBM, and memory as the history grows."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from unittest.mock import patch

import lightgbm
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.answers import Answer, Target, ratios
from benchmarks.boosted import OURS
from benchmarks.cells import stacked_rows
from benchmarks.clock import in_words, interleaved
from poolwise import PooledRegressor
from poolwise._typing import Array
from poolwise.methods.boosting.booster import BinnedRows, Grown, Growth

SHARED, NEW, TARGET = 9, 3, 300  # columns of both tables, of the target alone, and its rows


def cost(*, quick: bool, jobs: int) -> list[Answer]:
    """Compare the times of a fit and of LightGBM on the same rows; measure memory."""
    del jobs  # one after the other, because time is measured
    rows, rounds = (400, 1) if quick else (19_000, 3)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows + TARGET, SHARED + NEW))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, -1] + rng.normal(size=len(X))
    target, history = (X[rows:], y[rows:]), (X[:rows, :SHARED], y[:rows])
    stacked = stacked_rows(*target, history)

    def ours() -> object:
        return PooledRegressor(OURS).fit(*target, sources=history)

    def trees() -> object:
        options = {"num_threads": 1, "verbose": -1}
        return lightgbm.train(options, lightgbm.Dataset(*stacked, params=options))

    works: dict[str, Callable[[], object]] = {"ours": ours, "trees": trees}
    with threadpool_limits(1):
        seconds = interleaved(works, rounds, "Cost")
    sizes = (1000, 2000) if quick else (20_000, 40_000)
    peaks = [_peak(n) for n in sizes]
    return [
        Answer(
            "cost",
            "Time of a fit / a default fit of LightGBM on the rows stacked with NaN",
            ratios(seconds["ours"], seconds["trees"]),
            Target("at most 6", high=6.0),
            detail=f"{in_words(float(np.median(seconds['ours'])))}, in which it grows "
            f"{boosters_grown(ours)} sums of trees; {rows:,} rows of history, {TARGET} of the "
            f"target, {SHARED} of {SHARED + NEW} features shared, CPU time, one thread",
        ),
        Answer(
            "cost",
            f"Memory at {sizes[1]:,} rows of history / at {sizes[0]:,}",
            (peaks[1] / peaks[0],),
            Target("at most 2.2", high=2.2),
            detail=" and ".join(f"{p / 1e6:.0f} MB" for p in peaks) + " (tracemalloc)",
        ),
    ]


def boosters_grown(fit: Callable[[], object]) -> int:
    """Return how many sums of trees a fit of boosted pooling grows."""
    grown, grow = 0, BinnedRows.grow

    def counted(self: BinnedRows, response: Array, rows: NDArray[np.bool_], how: Growth) -> Grown:
        nonlocal grown
        grown += 1
        return grow(self, response, rows, how)

    with patch.object(BinnedRows, "grow", counted):
        fit()
    return grown


def _peak(rows: int) -> float:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows + 100, 12))
    y = X.sum(axis=1) + rng.normal(size=len(X))
    tracemalloc.start()
    PooledRegressor(OURS).fit(X[rows:], y[rows:], sources=(X[:rows, :10], y[:rows]))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(peak)
