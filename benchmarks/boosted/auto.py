"""How often auto takes trees, and its error relative to the better method."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from benchmarks.answers import Answer
from benchmarks.boosted import OURS
from benchmarks.truths import TRUTHS, simulated
from poolwise import PooledRegressor
from poolwise.methods.boosted_pooling import BoostedPooling
from poolwise.moments.progress import tracked

CHOICES = ("bayes_pooling", OURS)


class Choices(NamedTuple):
    """How often auto took trees in all draws of a kind, and its error over the better one."""

    trees: int
    ratio: float


def auto(*, quick: bool, jobs: int) -> list[Answer]:
    """Count how often it takes trees, and compare with the better method of each kind."""
    cases = [(truth, rows) for truth in TRUTHS for rows in (15, 40, 100)]
    cases, runs = (cases[:1], 1) if quick else (cases, 5)
    work = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(_chosen)(truth, rows, runs) for truth, rows in cases
    )
    found = list(tracked(work, len(cases), "Auto"))
    each = ", ".join(
        f"{truth} {rows}: {f.trees} ({f.ratio:.3f})"
        for (truth, rows), f in zip(cases, found, strict=True)
    )
    return [
        Answer(
            "auto",
            "RMSE of auto / the better of bayes_pooling and boosted_pooling",
            tuple(f.ratio for f in found),
            detail=f"{runs} draws of 400 rows of history for each truth and number of target rows; "
            f"in how many of them it took trees, and the ratio: {each}",
        )
    ]


def _chosen(truth: str, rows: int, runs: int) -> Choices:
    squared: dict[str, list[float]] = {name: [] for name in ("auto", *CHOICES)}
    trees = 0
    for seed in range(runs):
        t = simulated(truth, np.random.default_rng([seed, rows, 3]), history=400, target=rows)
        with threadpool_limits(1):
            for name, errors in squared.items():
                model = PooledRegressor(name).fit(t.X, t.y, sources=(t.old, t.old_y))
                errors.append(float(np.mean((t.test_y - model.predict(t.test)) ** 2)))
                trees += name == "auto" and isinstance(model.method_, BoostedPooling)
    error = {name: float(np.sqrt(np.mean(s))) for name, s in squared.items()}
    return Choices(trees, error["auto"] / min(error[name] for name in CHOICES))
