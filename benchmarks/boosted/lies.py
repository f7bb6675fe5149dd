"""Boosted pooling with a history of wrong responses, beside models without it."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from joblib import Parallel, delayed
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from benchmarks.answers import Answer, Target
from benchmarks.boosted import OURS
from benchmarks.truths import TRUTHS, simulated
from poolwise import PooledRegressor
from poolwise._typing import Array
from poolwise.errors import DataWarning
from poolwise.moments.progress import tracked


def on_lies(*, quick: bool, jobs: int) -> list[Answer]:
    """Compare with models without history, where its responses are wrong."""
    lies: dict[str, Callable[[Array, np.random.Generator], Array]] = {
        "permuted": lambda y, rng: rng.permutation(y),
        "flipped": lambda y, _: 2.0 * y.mean() - y,
        "shifted by 3 sd": lambda y, _: y + 3.0 * y.std(),
    }
    cases = [(truth, lie, rows) for truth in TRUTHS for lie in lies for rows in (40, 100)]
    cases, runs = (cases[:1], 1) if quick else (cases, 10)
    work = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(_lied)(truth, lies[lie], rows, runs) for truth, lie, rows in cases
    )
    found = list(tracked(work, len(cases), "Lies"))
    named = {f"{t}, {lie}, {n} rows": r for (t, lie, n), r in zip(cases, found, strict=True)}
    worst = max(named, key=named.__getitem__)
    return [
        Answer(
            "lies",
            "Wrong history: RMSE / the better of target_only and trees on the target",
            (max(found),),
            Target("at most 1.1", high=1.1),
            detail=f"the worst of {len(cases)} kinds ({worst}), mean of {runs} draws of 1,000 rows "
            f"of history; median {np.median(found):.3f}",
        )
    ]


def _lied(
    truth: str, lie: Callable[[Array, np.random.Generator], Array], rows: int, runs: int
) -> float:
    squared: dict[str, list[float]] = {"ours": [], "line": [], "trees": []}
    for seed in range(runs):
        rng = np.random.default_rng([seed, rows])
        t = simulated(truth, rng, history=1000, target=rows)
        old_y = lie(t.old_y, rng)
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # so it looks, shifted by 3 sd
            fitted = {
                "ours": PooledRegressor(OURS).fit(t.X, t.y, sources=(t.old, old_y)),
                "line": PooledRegressor("target_only").fit(t.X, t.y),
                "trees": target_trees().fit(t.X, t.y),
            }
            for name, model in fitted.items():
                squared[name].append(float(np.mean((t.test_y - model.predict(t.test)) ** 2)))
    error = {name: float(np.sqrt(np.mean(s))) for name, s in squared.items()}
    return error["ours"] / min(error["line"], error["trees"])


def target_trees() -> HistGradientBoostingRegressor:
    """Return trees as one would grow them on a small table; by default a leaf has 20 rows."""
    return HistGradientBoostingRegressor(
        max_iter=150,
        max_leaf_nodes=8,
        learning_rate=0.05,
        min_samples_leaf=5,
        early_stopping=False,
        random_state=0,
    )
