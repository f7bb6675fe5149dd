"""The time of a fit relative to its boosters, and memory as the history grows."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from unittest.mock import patch

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from benchmarks.answers import Answer, Target, ratios
from benchmarks.boosted import OURS
from benchmarks.clock import in_words
from poolwise import PooledRegressor
from poolwise._typing import Array
from poolwise.methods.boosting.booster import Grow, Growth, Learner, grower
from poolwise.methods.boosting.trees import Trees


def cost(*, quick: bool, jobs: int) -> list[Answer]:
    """Compare the times of a fit and of one booster; measure memory as the history grows."""
    del jobs  # one after the other, because time is measured
    rows, rounds = (400, 1) if quick else (4000, 3)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows + 100, 24))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, -1] + rng.normal(size=len(X))
    target, history = (X[rows:], y[rows:]), (X[:rows, :20], y[:rows])
    works: dict[str, Callable[[], object]] = {
        "ours": partial(PooledRegressor(OURS).fit, *target, sources=history),
        "booster": partial(HistGradientBoostingRegressor(max_iter=200).fit, *history),
    }
    seconds: dict[str, list[float]] = {name: [] for name in works}
    with threadpool_limits(1):
        for _ in range(rounds):
            for name, work in works.items():
                start = time.process_time()
                work()
                seconds[name].append(time.process_time() - start)
    boosters = boosters_grown(works["ours"])
    ours, booster = seconds["ours"], [boosters * s for s in seconds["booster"]]
    sizes = (1000, 2000) if quick else (20_000, 40_000)
    peaks = [_peak(n) for n in sizes]
    return [
        Answer(
            "cost",
            f"Time of a fit / one HistGradientBoosting x {boosters}",
            ratios(ours, booster),
            Target("at most 3", high=3.0),
            detail=f"{in_words(float(np.median(ours)))}; {rows:,} rows of history, 100 of the "
            "target, 24 features, one thread",
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
    grown = 0

    def counting(learner: Learner, seed: int) -> Grow:
        def counted(X: Array, y: Array, weights: Array | None, growth: Growth) -> Trees:
            nonlocal grown
            grown += 1
            return grow(X, y, weights, growth)

        grow = grower(learner, seed)
        return counted

    with patch("poolwise.methods.boosted_pooling.grower", counting):
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
