"""Stack: candidates held within the range of the response, and their weighted mean."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from poolwise.boosting.candidates import PRIOR, Candidates
from poolwise.boosting.evidence import Evidence
from poolwise.boosting.folds import tenths
from poolwise.boosting.learning_rows import LearningRows
from poolwise.boosting.making import Made
from poolwise.boosting.partial_effects import PartialEffect, partial_effects
from poolwise.boosting.simplex import simplex_weights
from poolwise.boosting.spread import Spread
from poolwise.double_double import Array
from poolwise.problem import Problem

MARGIN = 0.05  # of the range of all responses, beyond which no candidate may go


@dataclass(frozen=True, eq=False)
class Stack:
    """A weighted mean of candidates, and how it did on target rows.

    Parameters
    ----------
    candidates : Candidates
        What predicts.
    weights : array of shape (candidates,)
        Not negative, and one in all.
    bounds : pair of float
        Each candidate is held between these.
    evidence : Evidence
        Errors on target rows that what predicts them was made without.
    spread : Spread
        How far responses are from their predictions.
    effects : tuple of PartialEffect
        Of each feature that some source lacks.
    """

    candidates: Candidates
    weights: Array
    bounds: tuple[float, float]
    evidence: Evidence
    spread: Spread
    effects: tuple[PartialEffect, ...] = ()

    def predict(self, rows: Array) -> Array:
        """Return the prediction for each row of features."""
        return _predicted(self.candidates, self.weights, self.bounds, rows)

    def restored(self, problem: Problem) -> Stack:
        """Return the stack for columns as the user knows them."""
        y = problem.units.get(problem.response, 0)
        low, high = (float(np.ldexp(b, y)) for b in self.bounds)
        return replace(
            self,
            candidates=self.candidates.restored(problem),
            bounds=(low, high),
            evidence=self.evidence.times_units(y),
            spread=self.spread.times_units(y),
            effects=tuple(e.times_units(problem.units.get(e.feature, 0), y) for e in self.effects),
        )


def stacked(problem: Problem, made: Made, target: LearningRows) -> Stack:
    """Weigh candidates by their errors on target rows that they were made without.

    Parameters
    ----------
    problem : Problem
        The target and its sources, without derived columns.
    made : Made
        The candidates.
    target : LearningRows
        The target's rows.
    """
    bounds, names = _bounds(problem), made.all.names
    said = np.clip(made.said, *bounds)
    prior = np.array([PRIOR[name] for name in names])
    errors = target.y[:, None] - said
    weights = simplex_weights(errors, prior, target.w)
    # Errors of the mean itself: with weights that the row has had no say in, either.
    own, tenth = np.empty(len(target.y)), tenths(target.fold)
    for k in np.unique(tenth):
        inside = tenth == k
        others = simplex_weights(errors[~inside], prior, target.w[~inside])
        own[inside] = target.y[inside] - weighted_mean(said[inside], others, bounds)
    old, _ = problem.history()  # a few old rows without a value do not make a column new
    new = [n for n in problem.features if n not in old]
    effects = partial_effects(
        [problem.features.index(n) for n in new],
        new,
        target.X,
        target.w,
        partial(_predicted, made.all, weights, bounds),
        [partial(_predicted, each, weights, bounds) for each in made.without],
    )
    return Stack(
        made.all,
        weights,
        bounds,
        Evidence.of(dict(zip(names, errors.T, strict=True)), own, target.w),
        Spread.of(own, target.w),
        effects,
    )


def _predicted(
    candidates: Candidates, weights: Array, bounds: tuple[float, float], rows: Array
) -> Array:
    """Return the weighted mean of what candidates say of rows."""
    return weighted_mean(candidates.predict(rows), weights, bounds)


def weighted_mean(said: Array, weights: Array, bounds: tuple[float, float]) -> Array:
    """Return the weighted mean of what candidates say, each held between bounds."""
    total = np.zeros(len(said))
    for weight, column in zip(weights, np.clip(said, *bounds).T, strict=True):
        total += weight * column
    return total


def _bounds(problem: Problem) -> tuple[float, float]:
    """Return the range of all responses, widened."""
    tables = [problem.target, *problem.sources.values()]
    at = [t.index([problem.response])[0] for t in tables]
    low = min(float(t.low[j]) for t, j in zip(tables, at, strict=True))
    high = max(float(t.high[j]) for t, j in zip(tables, at, strict=True))
    margin = MARGIN * (high - low)
    return low - margin, high + margin
