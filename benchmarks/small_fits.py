"""The time of a fit from moments, relative to the linear system inside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from benchmarks.answers import Answer, ratios
from benchmarks.clock import in_words, interleaved
from benchmarks.tables import make_tables
from poolwise import Moments, PooledRegressor
from poolwise.linear.problem import Problem
from poolwise.methods.data_pooling import DataPooling

COLUMNS, NEW = 10, 3


def small_fits(*, quick: bool) -> list[Answer]:
    fits = 20 if quick else 1000
    problems = [_problem(seed) for seed in range(fits)]
    pairs = [(p.target, p.sources["source"]) for p in problems]
    rng = np.random.default_rng(0)
    systems = [_system(rng) for _ in range(fits)]
    model, method = PooledRegressor("data_pooling"), DataPooling()
    seconds = interleaved(
        {
            "regressor": partial(_each, lambda pair: model.fit_moments(*pair), pairs),
            "method": partial(_each, method.solve, problems),
            "solve": partial(_each, lambda system: np.linalg.solve(*system), systems),
        },
        rounds=1 if quick else 5,
        label="Small fits",
    )
    took = {name: in_words(median(s)) for name, s in seconds.items()}
    return [
        Answer(
            "small_fits",
            f"{fits:,} fit_moments / {fits:,} numpy.linalg.solve",
            ratios(seconds["regressor"], seconds["solve"]),
            detail=f"{took['regressor']} / {took['solve']}; {COLUMNS} features and an intercept",
        ),
        Answer(
            "small_fits",
            f"{fits:,} DataPooling().solve / the same",
            ratios(seconds["method"], seconds["solve"]),
            detail=f"{took['method']} / {took['solve']}",
        ),
    ]


def _problem(seed: int) -> Problem:
    t = make_tables(200, shared=COLUMNS - NEW, new=NEW, target_rows=50, seed=seed)
    names = tuple(f"x{j}" for j in range(COLUMNS))
    target = Moments.of_rows((*names, "y"), np.column_stack((t.X, t.y)))
    source = Moments.of_rows((*names[:-NEW], "y"), np.column_stack((t.X_old, t.y_old)))
    return Problem(target, {"source": source}, "y")


def _system(rng: np.random.Generator) -> tuple[Any, Any]:
    A = rng.standard_normal((50, COLUMNS + 1))
    return A.T @ A, rng.standard_normal(COLUMNS + 1)


def _each(work: Callable[[Any], object], items: Sequence[Any]) -> None:
    for item in items:
        work(item)
