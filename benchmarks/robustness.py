"""Bayes pooling where history is wrong: ``python -m benchmarks.robustness [--repetitions N]``.

Prints its mean squared error relative to least squares on the target alone: where a mean has
shifted, where coefficients differ, where new features depend on old ones, and where some of many
sources are bad. With ``--ablate``, the same with single design choices undone.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from unittest.mock import patch

import numpy as np

from benchmarks.report import versions
from poolwise import METHODS, Moments, Problem
from poolwise._typing import Array
from poolwise.methods.bayes import imputation, priors, pseudo_rows
from poolwise.moments.progress import tracked

TRUTH, LEVEL = np.array([2.0, -2.0]), 2.0  # as in the paper's simulations
SHIFTS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)
DIFFERENCES = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 5.0, 10.0)
NOISES = (0.3, 0.1, 0.03, 0.01)
CORRELATIONS = tuple(np.linspace(0.0, 0.9, 11).round(2).tolist())
NEARLY_DETERMINED = (0.95, 0.98, 0.99)
ROWS = (5, 8, 10, 15, 20, 30)
LITTLE = 1.03  # largest error with bad sources, relative to good ones alone
MIXES = {"1 good, 1 bad": (1, 1), "3 good, 1 bad": (3, 1), "8 good, 2 bad": (8, 2)}


@dataclass(frozen=True)
class Case:
    """Tables with two features, of which the source has the first, or both.

    Parameters
    ----------
    source_rows, target_rows : int
        Numbers of rows.
    mean : tuple of float
        Means of the features.
    shift : float
        Mean of the new feature in the source, less that in the target.
    difference : float
        Coefficient of the old feature in the source, less that in the target.
    correlation : float
        Of the features.
    noise : float
        Standard deviation of the noise, in both tables.
    whole : bool
        Whether the source has both features.
    """

    source_rows: int = 100
    target_rows: int = 15
    mean: tuple[float, float] = (0.0, 0.0)
    shift: float = 0.0
    difference: float = 0.0
    correlation: float = 0.0
    noise: float = 1.0
    whole: bool = False

    def problem(self, rng: np.random.Generator) -> Problem:
        """Draw a problem."""
        target = self._rows(self.target_rows, rng)
        source = self._rows(self.source_rows, rng, self.shift, self.difference)
        names = ("old", "new", "y")
        history = Moments.of_rows(names, source, precision="fast")
        return Problem(
            Moments.of_rows(names, target, precision="fast"),
            {"source": history if self.whole else history.select(("old", "y"))},
            "y",
        )

    def risk(self, coef: Array, intercept: float) -> float:
        """Return the mean squared error of predictions, noise included."""
        away = coef - TRUTH
        at_mean = intercept - LEVEL + np.array(self.mean) @ away
        c = self.correlation
        return float(self.noise**2 + at_mean**2 + away @ np.array([[1.0, c], [c, 1.0]]) @ away)

    def _rows(
        self, rows: int, rng: np.random.Generator, shift: float = 0.0, difference: float = 0.0
    ) -> Array:
        X = rng.normal(size=(rows, 2))
        X[:, 1] = self.correlation * X[:, 0] + np.sqrt(1.0 - self.correlation**2) * X[:, 1]
        X += np.array(self.mean) + np.array([0.0, shift])
        y = LEVEL + X @ (TRUTH + np.array([difference, 0.0])) + self.noise * rng.normal(size=rows)
        return np.column_stack((X, y))


Methods = Sequence[str]
PAPERS: Methods = ("target_only", "data_pooling", "bayes_pooling")


def risks(case: Case, methods: Methods, repetitions: int, seed: int = 0) -> dict[str, float]:
    """Return the mean squared error of each method, averaged over repetitions.

    Parameters
    ----------
    case : Case
        How tables are drawn.
    methods : sequence of str
        Names of methods.
    repetitions : int
        How many.
    seed : int, default=0
        Of the random numbers, the same for every case.
    """
    rng = np.random.default_rng(seed)
    solvers = [METHODS[name]() for name in methods]
    found = []
    for _ in range(repetitions):
        problem = case.problem(rng)
        fits = [solver.solve(problem) for solver in solvers]
        found.append([case.risk(fit.coef, fit.intercept) for fit in fits])
    return dict(zip(methods, np.mean(found, axis=0).tolist(), strict=True))


@dataclass(frozen=True)
class Question:
    """Cases along an axis, and the largest error of Bayes pooling relative to a baseline.

    Parameters
    ----------
    axis : str
        What varies.
    cases : mapping of float to Case
        By its value.
    most : float
        Largest ratio that is allowed.
    better_of : tuple of str
        Baseline: the best of these at each point.
    """

    axis: str
    cases: Mapping[float, Case]
    most: float
    better_of: tuple[str, ...] = ("target_only",)


QUESTIONS = {
    "the new feature's mean has shifted": Question(
        "shift", {s: Case(200, 15, (1.0, 1.0), shift=s) for s in SHIFTS}, 1.12
    ),
    "the old feature's coefficient differs": Question(
        "difference", {d: Case(200, 15, difference=d) for d in DIFFERENCES}, 1.12
    ),
    "a source has all features and a coefficient differs": Question(
        "difference", {d: Case(200, 15, difference=d, whole=True) for d in DIFFERENCES}, 1.2
    ),
    "a source with all features and little noise is wrong": Question(
        "noise", {s: Case(200, 15, difference=1.0, noise=s, whole=True) for s in NOISES}, 1.12
    ),
    "new and old feature correlate": Question(
        "correlation", {c: Case(100, 8, (0.0, 1.0), correlation=c) for c in CORRELATIONS}, 1.03
    ),
    "more target rows": Question("rows", {n: Case(100, n) for n in ROWS}, 1.0),
    "the new feature is nearly determined": Question(
        "correlation",
        {c: Case(1000, 30, correlation=c) for c in NEARLY_DETERMINED},
        1.03,
        ("target_only", "data_pooling"),
    ),
}


def several_sources(good: int, bad: int, repetitions: int, seed: int = 0) -> dict[str, float]:
    """Return errors with all sources, with the good ones alone, and with none.

    Eight features of which sources have five, twenty target rows, a hundred in each source; the
    coefficients of a bad source differ from the target's as much as these do from zero.

    Parameters
    ----------
    good, bad : int
        Numbers of sources.
    repetitions, seed : int
        As in ``risks``.
    """
    rng = np.random.default_rng(seed)
    names = tuple(f"x{j}" for j in range(8))
    found = []
    for _ in range(repetitions):
        truth = rng.normal(size=8)
        target = _moments(names, truth, 20, rng)
        own = (*names[:5], "y")
        sources = {
            f"{k}": _moments(names, truth + (k >= good) * rng.normal(size=8), 100, rng).select(own)
            for k in range(good + bad)
        }
        kept = dict(list(sources.items())[:good])
        method = METHODS["bayes_pooling"]()
        fits = [
            method.solve(Problem(target, sources, "y")),
            method.solve(Problem(target, kept, "y")),
            METHODS["target_only"]().solve(Problem(target, {}, "y")),
        ]
        found.append([1.0 + fit.intercept**2 + np.sum((fit.coef - truth) ** 2) for fit in fits])
    words = ("all sources", "good ones alone", "target_only")
    return dict(zip(words, np.mean(found, axis=0).tolist(), strict=True))


def _moments(names: tuple[str, ...], truth: Array, rows: int, rng: np.random.Generator) -> Moments:
    X = rng.normal(size=(rows, len(truth)))
    y = X @ truth + rng.normal(size=rows)
    return Moments.of_rows((*names, "y"), np.column_stack((X, y)), precision="fast")


def _undone(module: object, **values: object) -> AbstractContextManager[object]:
    undone: AbstractContextManager[object] = patch.multiple(module, **values)
    return undone


ABLATIONS: dict[str, Callable[[], AbstractContextManager[object]]] = {
    "one account of the imputation": lambda: _undone(
        imputation, VERSIONS={"each": 1.0, "together": 1e-12, "none": 1e-12}
    ),
    "no relation with probability 0.2": lambda: _undone(imputation, NO_RELATION=0.2),
    "coarse grid of the noise": lambda: _undone(priors, ENOUGH_FREE=np.inf),
    "a source agrees with probability 0.7": lambda: _undone(pseudo_rows, AGREES=0.7),
    "no conflict without end": lambda: _undone(pseudo_rows, ENDLESS=1e-9),
}


def report(repetitions: int, *, show: bool | None = None) -> Iterator[str]:
    """Yield lines, one table for each question.

    Parameters
    ----------
    repetitions : int
        Per point.
    show : bool, optional
        Whether to show a progress bar.
    """
    for title, question in QUESTIONS.items():
        methods = tuple(dict.fromkeys((*question.better_of, *PAPERS)))
        points = tracked(question.cases.items(), len(question.cases), title, show=show)
        found = {at: risks(case, methods, repetitions) for at, case in points}
        ratio = {
            at: r["bayes_pooling"] / min(r[m] for m in question.better_of)
            for at, r in found.items()
        }
        yield f"Mean squared error where {title}"
        yield "  ".join([f"{question.axis:<14}", *(f"{at:>6g}" for at in found)])
        for m in methods:
            yield "  ".join([f"{m:<14}", *(f"{r[m]:>6.4g}" for r in found.values())])
        worst = max(ratio.values())
        against = " and ".join(question.better_of)
        verdict = "met" if worst <= question.most else "MISSED"
        yield (
            f"bayes_pooling over the better of {against}: at most {worst:.3f} "
            f"(target: {question.most:g}): {verdict}"
        )
        yield ""
    yield "Mean squared error with several sources, of which some are bad"
    for title, (good, bad) in MIXES.items():
        found_sources = several_sources(good, bad, max(repetitions // 4, 1))
        cells = ", ".join(f"{what} {risk:.3f}" for what, risk in found_sources.items())
        worst = found_sources["all sources"] / found_sources["good ones alone"]
        verdict = "met" if worst <= LITTLE else "MISSED"
        yield f"{title}: {cells}; ratio {worst:.3f} (target: {LITTLE:g}): {verdict}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the report, and return 1 if a target is missed.

    Parameters
    ----------
    arguments : sequence of str, optional
        Command-line arguments; those of the process unless given.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks.robustness")
    parser.add_argument("--repetitions", type=int, default=400)
    parser.add_argument("--ablate", action="store_true", help="also with single choices undone")
    options = parser.parse_args(arguments)
    print(versions(["poolwise", "numpy", "scipy"]))
    print()
    missed = False
    for line in report(options.repetitions):
        print(line, flush=True)
        missed |= line.endswith("MISSED")
    for title, undone in ABLATIONS.items() if options.ablate else ():
        print(f"\n== {title} ==\n")
        with undone():
            for line in report(options.repetitions):
                print(line, flush=True)
    return int(missed)


if __name__ == "__main__":
    raise SystemExit(main())
