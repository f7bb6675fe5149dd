"""How often intervals of boosted pooling hold new responses."""

from __future__ import annotations

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from benchmarks.answers import Answer, Target
from benchmarks.boosted import OURS
from benchmarks.truths import TRUTHS, simulated
from poolwise import PooledRegressor
from poolwise.moments.progress import tracked

TARGET_ROWS = 800  # in all draws of a kind together, at least


def coverage(*, quick: bool, jobs: int) -> list[Answer]:
    """Count how often intervals hold new responses."""
    cases = [(truth, rows) for truth in TRUTHS for rows in (10, 20, 40, 100, 300)]
    cases, fewest = (cases[:1], 2) if quick else (cases, 20)
    # More draws of small targets, whose coverage varies more.
    draws = [fewest if quick else max(fewest, TARGET_ROWS // rows) for _, rows in cases]
    work = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(_covered)(truth, rows, runs)
        for (truth, rows), runs in zip(cases, draws, strict=True)
    )
    shares = list(tracked(work, len(cases), "Coverage"))
    each = ", ".join(
        f"{truth} {rows}: {share:.3f}" for (truth, rows), share in zip(cases, shares, strict=True)
    )
    about = (
        f"{min(draws)} to {max(draws)} draws, more for few target rows, of 800 rows of history "
        f"each; truth and target rows: {each}"
    )
    ends = {"Least": min(shares), "Greatest": max(shares)}
    return [
        Answer(
            "coverage",
            f"{which} coverage of 95 % intervals of boosted_pooling",
            (share,),
            Target("0.92 to 0.97", 0.92, 0.97),
            detail=about if which == "Least" else "",
        )
        for which, share in ends.items()
    ]


def _covered(truth: str, rows: int, runs: int) -> float:
    held = []
    for seed in range(runs):
        t = simulated(truth, np.random.default_rng([seed, rows, 1]), history=800, target=rows)
        with threadpool_limits(1):
            model = PooledRegressor(OURS).fit(t.X, t.y, sources=(t.old, t.old_y))
            low, high = model.predict_interval(t.test).T
        held.append(float(np.mean((low <= t.test_y) & (t.test_y <= high))))
    return float(np.mean(held))
