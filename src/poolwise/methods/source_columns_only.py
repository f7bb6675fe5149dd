"""Least squares over all rows, without the features that sources lack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import BaseEstimator

from poolwise.errors import LeftOut, PoolwiseWarning
from poolwise.linear.linear_fit import LinearFit
from poolwise.linear.noise import source_noises
from poolwise.linear.problem import Problem
from poolwise.linear.regress import regress
from poolwise.moments.moments import Moments

COMMON = 0.9  # share of the weight of the history that is nearly all of it


@dataclass(eq=False, repr=False)
class SourceColumnsOnly(BaseEstimator):
    r"""Least squares of all rows on the features of the history.

    .. math:: \min_{\theta'} \sum_{i \in T \cup S} (y_i - x'_i\theta')^2, \qquad \theta'' = 0

    The usual approach of dropping new columns. The features are those that nine tenths of the
    sources' weight have or, if no feature qualifies, those of the largest source; sources that
    lack one of them are left out.

    Assumes that the features which some source lacks add nothing, and that target and sources
    have the same reduced model.
    """

    def solve(self, problem: Problem) -> LinearFit:
        """Return the reduced fit; features that some source lacks get coefficient zero."""
        kept, sources = common_history(problem)
        y, intercept = problem.response, problem.intercept
        columns = (*kept, y)
        pool = problem.target.select(columns)
        for source in sources.values():
            pool += source.select(columns)
        reduced = regress(pool, y, intercept=intercept, label=problem.pool_name)
        own = regress(problem.target, y, kept, intercept=intercept)
        return replace(
            widened(reduced, problem.features),
            noise=own.noise,
            source_noise=source_noises(problem),
            covariance=None,
            cautions=reduced.cautions + left_out("source_columns_only", problem, sources),
            weights=dict.fromkeys(sources, 1.0),
            dropped={
                **reduced.dropped,
                **{n: "not in every table used" for n in problem.features if n not in kept},
            },
        )


def common_history(problem: Problem) -> tuple[tuple[str, ...], dict[str, Moments]]:
    """Return the features that nearly all of the history has, and the sources that have them.

    A few rows without a value do not take a column from all others. If no feature is common, the
    features are those of the largest source.
    """
    tables = problem.sources.values()
    enough = COMMON * sum(s.weight for s in tables)
    common = tuple(
        n for n in problem.features if sum(s.weight for s in tables if n in s.place) >= enough
    )
    for features in (common, *(problem.shared(s) for s in problem.largest_first().values())):
        used = {n: s for n, s in problem.sources.items() if s.place.keys() >= set(features)}
        if features and (used or not problem.sources):
            break
    return features, used


def left_out(
    method: str, problem: Problem, used: Mapping[str, Moments]
) -> tuple[PoolwiseWarning, ...]:
    """Return a warning if not all sources could be used."""
    rest = [name for name in problem.sources if name not in used]
    why = "they lack a feature that nearly all of the history, or its largest table, has"
    return (LeftOut.sources(method, rest, why),) if rest else ()


def widened(fit: LinearFit, features: tuple[str, ...]) -> LinearFit:
    """Return a fit over more features, the further ones with coefficient zero."""
    coef, centre = np.zeros(len(features)), np.zeros(len(features))
    at = [features.index(n) for n in fit.names]
    coef[at], centre[at] = fit.coef, fit.centre
    rounding = fit.rounding
    if rounding is not None:
        rounding = np.zeros(len(features) + 1)
        rounding[[0, *(j + 1 for j in at)]] = fit.rounding
    return replace(fit, names=features, coef=coef, centre=centre, rounding=rounding)
