"""Boosted pooling with LightGBM's trees beside scikit-learn's, if LightGBM is installed."""

from __future__ import annotations

import time
from importlib.util import find_spec
from itertools import product

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.answers import Answer, ratios
from benchmarks.truths import TRUTHS, simulated
from poolwise import PooledRegressor
from poolwise.methods.boosted_pooling import BoostedPooling
from poolwise.methods.boosting.booster import Learner

LEARNERS: tuple[Learner, Learner] = ("lightgbm", "sklearn")


def learners(*, quick: bool, jobs: int) -> list[Answer]:
    """Compare errors and CPU times of whole fits."""
    del jobs  # one after the other, because time is measured
    if find_spec("lightgbm") is None:
        return []
    answers, draws = [], 1 if quick else 3
    for history in (400,) if quick else (400, 4000):
        error: dict[str, list[float]] = {name: [] for name in LEARNERS}
        seconds: dict[str, list[float]] = {name: [] for name in LEARNERS}
        for truth, seed in product(TRUTHS, range(draws)):
            t = simulated(truth, np.random.default_rng([seed, 2]), history=history, target=100)
            with threadpool_limits(1):
                for name in LEARNERS:
                    model = PooledRegressor(BoostedPooling(learner=name))
                    start = time.process_time()
                    model.fit(t.X, t.y, sources=(t.old, t.old_y))
                    seconds[name].append(time.process_time() - start)
                    left = t.test_y - model.predict(t.test)
                    error[name].append(float(np.sqrt(np.mean(left**2))))
        for what, found in (("RMSE", error), ("time of a fit", seconds)):
            answers.append(
                Answer(
                    "learners",
                    f"LightGBM / scikit-learn, {what}, {history:,} rows of history",
                    ratios(found["lightgbm"], found["sklearn"]),
                    detail=""
                    if what == "RMSE"
                    else f"{draws} draws of each truth, a target of "
                    "100 rows, 7 features; CPU time, one thread",
                )
            )
    return answers
