"""The sources' model, with its residual explained by the new features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from poolwise.linear.linear_fit import LinearFit
from poolwise.linear.problem import Problem
from poolwise.linear.regress import regress
from poolwise.methods.source_columns_only import common_history, left_out
from poolwise.moments.moments import Moments


@dataclass(eq=False, repr=False)
class Offset(BaseEstimator):
    r"""The source's model, plus a regression of its residual on the new features.

    .. math:: \hat\gamma = \arg\min \sum_{i \in S} (y_i - x'_i\gamma)^2, \qquad
       \hat\theta'' = \arg\min \sum_{i \in T} (y_i - x'_i\hat\gamma - x''_i\theta'')^2

    The usual correction of an existing model. Several sources are stacked, on the same features
    as in ``source_columns_only``. (A residual regressed on *all* columns is target-only least
    squares.)

    Assumes that the old model holds in the target and that the new features are uncorrelated with
    the shared ones; if they are not, their effect is split wrongly.
    """

    def solve(self, problem: Problem) -> LinearFit:
        """Return the two fits joined."""
        y, intercept = problem.response, problem.intercept
        if not problem.sources:
            return problem.target_fit
        kept, sources = common_history(problem)
        stacked = Moments.empty((*kept, y))
        for source in sources.values():
            stacked += source.select((*kept, y))
        old = regress(stacked, y, intercept=intercept, label="the history")

        new = tuple(n for n in problem.features if n not in kept)
        columns = (*kept, *new, y)
        residual = np.eye(len(columns))[len(kept) :]
        residual[-1, : len(kept)] = -old.coef  # y - x' gamma
        left = problem.target.select(columns).affine((*new, y), residual, np.zeros(len(new) + 1))
        update = regress(left, y, intercept=intercept, label=problem.target_name)

        known = dict(zip(kept, old.coef, strict=True)) | dict(zip(new, update.coef, strict=True))
        coef = np.array([known[n] for n in problem.features])
        centre, level = np.zeros(len(coef)), 0.0
        if intercept:
            target, at = problem.target, problem.target.index(problem.features)
            j = target.place[y]
            centre = target.mean[at]
            below = target.mean_tail[j] - target.mean_tail[at] @ coef  # the centre is rounded
            level = float(target.mean[j] + below)
        return LinearFit(
            names=problem.features,
            coef=coef,
            centre=centre,
            level=level,
            noise=update.noise,
            source_noise=dict.fromkeys(sources, old.noise),
            weights=dict.fromkeys(sources, 1.0),
            dropped={**old.dropped, **update.dropped},
            cautions=old.cautions + update.cautions + left_out("offset", problem, sources),
        )
