"""The time of a fit of bayes_pooling from moments, relative to its unavoidable factors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import log
from statistics import median

import numpy as np
from numpy.typing import NDArray

from benchmarks.answers import Answer, Target, ratios
from benchmarks.clock import in_words, interleaved
from poolwise import Moments
from poolwise.linear.problem import Problem
from poolwise.methods.bayes.evidence import points
from poolwise.methods.bayes.scaling import scaled
from poolwise.methods.bayes.share_of_history import model
from poolwise.methods.bayes_pooling import BayesPooling

SOURCE_ROWS = 300
# Features, half of them new; sources; target rows. Few rows leave more points of the grid open.
CASES: tuple[tuple[int, int, int, Target | None], ...] = (
    (10, 1, 50, Target("under 10 ms", high=10.0)),
    (10, 1, 11, None),
    (20, 1, 80, None),
    (32, 1, 116, Target("under 30 ms", high=30.0)),
    (32, 1, 33, None),
    (10, 2, 50, None),
    (32, 2, 116, None),
    (8, 50, 44, Target("under 1 s", high=1000.0)),
)
FEW, MANY = 25, 100  # sources, of which the time is compared


def bayes(*, quick: bool) -> list[Answer]:
    count, rounds = (1, 1) if quick else (6, 7)
    answers = [
        answer
        for features, sources, rows, target in CASES[: 2 if quick else None]
        for answer in _fits(
            [_problem(features, sources, s, rows) for s in range(count)], target, rounds
        )
    ]
    return [*answers, _growth(5 if quick else 1, rounds=1 if quick else 5)]


def _fits(problems: Sequence[Problem], target: Target | None, rounds: int) -> list[Answer]:
    """Return the time of a fit, and its ratio to the time of the factors alone."""
    p, known = problems[0], [model(scaled(problem)).evidence for problem in problems]
    looked_at = sum(len(k.search()[0]) + len(points(k).cells) for k in known) // len(problems)
    size = len(p.features) + 2
    stack = np.broadcast_to(_positive(size), (looked_at, size, size))
    seconds = interleaved(
        {
            "fit": partial(_solve_each, problems),
            "stack": partial(np.linalg.cholesky, stack),
            "one": partial(np.linalg.cholesky, stack[0]),
        },
        rounds,
        "Bayes pooling",
    )
    fit = [s / len(problems) for s in seconds["fit"]]
    took = {name: in_words(median(s)) for name, s in seconds.items()}
    of_one = median(ratios(fit, seconds["one"]))
    what = f"{len(p.features)} features, {len(p.sources)} source{'s' * (len(p.sources) > 1)}"
    what += f", {p.target.rows} rows"
    return [
        Answer(
            "bayes",
            f"Fit of bayes_pooling, {what}",
            tuple(1e3 * s for s in fit),
            target,
            "ms",
            f"from moments; half of the features new; each source {SOURCE_ROWS} rows, "
            f"{len(p.sources) // 3} of them in conflict",
        ),
        Answer(
            "bayes",
            f"The same / numpy.linalg.cholesky of {looked_at:,} matrices",
            ratios(fit, seconds["stack"]),
            detail=f"{in_words(median(fit))} / {took['stack']}; the matrices of {size} x {size} "
            f"that the search looks at; one of them alone: {took['one']}, ratio {of_one:,.0f}",
        ),
    ]


def _growth(shrink: int, rounds: int) -> Answer:
    """Return how the time grows with the sources."""
    few, many = FEW // shrink, MANY // shrink
    works: dict[str, Callable[[], object]] = {
        f"{n}": partial(_solve_each, [_problem(8, n, 0)]) for n in (few, many)
    }
    first, last = interleaved(works, rounds, "Bayes pooling, sources").values()
    return Answer(
        "bayes",
        "Log-log slope of the time of such a fit in sources",
        tuple(log(r) / log(many / few) for r in ratios(last, first)),
        Target("at most 1.1", high=1.1),
        detail=f"{few}: {in_words(median(first))}, {many}: {in_words(median(last))}; 8 features",
    )


def _solve_each(problems: Sequence[Problem]) -> None:
    for problem in problems:
        BayesPooling().solve(problem)


def _problem(features: int, sources: int, seed: int, rows: int = 44) -> Problem:
    """Return correlated normal features and noise of variance one; sources lack the last half."""
    rng = np.random.default_rng(seed)
    names = [f"x{j}" for j in range(features)]
    mix = np.eye(features) + rng.standard_normal((features, features)) / (2 * features**0.5)
    effects = rng.standard_normal(features)

    def table(count: int, kept: int, conflict: float) -> Moments:
        X = rng.standard_normal((count, features)) @ mix
        own = effects + conflict * rng.standard_normal(features)
        y = X @ own + rng.standard_normal(count)
        return Moments.of_rows((*names[:kept], "y"), np.column_stack((X[:, :kept], y)))

    target, in_conflict = table(rows, features, 0.0), sources // 3
    history = {
        f"s{k}": table(SOURCE_ROWS, features // 2, float(k < in_conflict)) for k in range(sources)
    }
    return Problem(target, history, "y")


def _positive(size: int) -> NDArray[np.float64]:
    rows = np.random.default_rng(0).standard_normal((3 * size, size))
    return rows.T @ rows
