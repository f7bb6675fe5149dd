"""Effort: how often to fit, so that a report of many columns and sources is still made in minutes.

It depends on the size of the problem alone, never on a clock: the same data give the same report.
"""

from __future__ import annotations

from dataclasses import dataclass

from poolwise.problem import Problem


@dataclass(frozen=True)
class Effort:
    """How often to fit.

    Parameters
    ----------
    repeats : int
        How often the target rows are split to compare methods.
    folds : int
        Folds in which residuals are found.
    draws : int
        Futures that are drawn for the plan.
    """

    repeats: int
    folds: int
    draws: int

    @classmethod
    def of(cls, problem: Problem, *, grows_trees: bool = False) -> Effort:
        """Return what a problem can take, and less if each fit grows trees."""
        if grows_trees:
            return cls(repeats=1, folds=5, draws=16)
        seconds = fit_seconds(len(problem.features), len(problem.sources))
        if seconds <= 0.2:
            return cls(repeats=5, folds=10, draws=16)
        if seconds <= 0.8:
            return cls(repeats=2, folds=10, draws=8)
        return cls(repeats=1, folds=5, draws=4)


def fit_seconds(features: int, sources: int) -> float:
    """Return about how long one fit of Bayes pooling takes, measured on one core of 2024.

    Within a factor of two for 10 to 60 features and 1 to 20 sources.

    Parameters
    ----------
    features, sources : int
        Their numbers.
    """
    alone = 0.25 if sources <= 1 else 1.0  # one source needs no search over settings
    return 1e-3 * alone * float(features**1.4 * max(sources, 1) ** 0.6)
