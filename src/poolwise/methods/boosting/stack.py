"""The weighted mean of candidates: weights, errors, intervals and partial effects."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import combinations
from numbers import Real
from typing import Self, TypeAlias

import numpy as np
from scipy.special import stdtrit

from poolwise._typing import Array
from poolwise.errors import BadOption
from poolwise.linear.fit import HeldOutErrors, PartialEffect
from poolwise.linear.problem import Problem
from poolwise.methods.bayes_pooling import response_range
from poolwise.methods.boosting.candidates import PRIOR, Candidates, Made
from poolwise.methods.boosting.learning_rows import LearningRows, tenths
from poolwise.methods.source_columns_only import common_history

STEPS = {1: 1, 2: 40, 3: 20, 4: 14, 5: 10, 6: 8}  # of a weight, by the number of candidates
FEW = 6  # steps where there are more candidates


def simplex_weights(errors: Array, prior: Array, weights: Array | None = None) -> Array:
    r"""Return the posterior mean of weights that are not negative and sum to one.

    With :math:`R` the second moments of the candidates' errors on :math:`n` rows, the likelihood of
    weights :math:`a` is :math:`(a^\top R a)^{-n/2}`, as for normal errors of unknown variance; the
    prior is Dirichlet's. ``errors`` has the shape (n, candidates).
    """
    count = errors.shape[1]
    steps = STEPS.get(count, FEW)
    grid = _grid(count, steps)
    w = np.ones(len(errors)) if weights is None else weights
    size = float(np.abs(errors).max(initial=0.0)) or 1.0
    scaled = errors / size
    moments = (scaled * w[:, None]).T @ scaled
    square = np.einsum("gi,ij,gj->g", grid, moments, grid)
    least = max(float(square.max()) * 1e-30, 1e-300)
    log = -0.5 * w.sum() * np.log(np.maximum(square, least))
    log += np.log(grid + 0.5 / steps) @ (prior - 1.0)
    chance = np.exp(log - log.max())
    found: Array = chance @ grid / chance.sum()
    return found


@lru_cache(maxsize=8)
def _grid(count: int, steps: int) -> Array:
    """Return all weights that are multiples of a step."""
    bars = np.array(list(combinations(range(steps + count - 1), count - 1)), dtype=np.intp)
    ends = np.full((len(bars), 1), -1), np.full((len(bars), 1), steps + count - 1)
    grid: Array = (np.diff(np.hstack((ends[0], bars, ends[1])), axis=1) - 1) / steps
    grid.setflags(write=False)
    return grid


MOST = 1000  # sizes that are kept, evenly spread over all


@dataclass(frozen=True, eq=False)
class Spread:
    r"""Sizes of errors, which determine the width of intervals.

    An interval that is to hold a share :math:`c` of responses reaches as far as the error of rank
    :math:`\lceil c (n + 1) \rceil` by size: of exchangeable rows, the next one's error is not
    larger with that probability (conformal prediction). Where there are too few rows for such a
    rank it is Student's interval about errors of this size, and no narrower than the largest one.
    """

    rows: float  # effective number of rows, by their weights
    deviation: float  # root mean squared error
    sizes: Array  # absolute errors, ascending; of more than a thousand, quantiles

    @classmethod
    def of(cls, errors: Array, weights: Array) -> Spread:
        """Summarise the errors of rows."""
        count = float(weights.sum()) ** 2 / float((weights**2).sum())
        order = np.argsort(np.abs(errors), kind="stable")
        sizes, share = np.abs(errors)[order], np.cumsum(weights[order]) / weights.sum()
        if len(sizes) > MOST or not (weights == weights[0]).all():
            wanted = (np.arange(MOST) + 1.0) / MOST
            sizes = sizes[np.minimum(np.searchsorted(share, wanted - 1e-12), len(sizes) - 1)]
        deviation = float(np.sqrt(np.average(errors**2, weights=weights)))
        return cls(count, deviation, sizes)

    def width(self, coverage: float) -> float:
        """Return half the width of an interval that holds a response with this probability."""
        if not (isinstance(coverage, Real) and 0.0 < coverage < 1.0):
            raise BadOption.of("coverage", coverage, "a number above 0 and below 1")
        share = math.ceil(coverage * (self.rows + 1.0) - 1e-9) / self.rows
        if share <= 1.0:
            return float(self.sizes[math.ceil(share * len(self.sizes) - 1e-9) - 1])
        own = max(self.rows - 1.0, 1.0)
        student = float(stdtrit(own, 0.5 + 0.5 * coverage)) * math.sqrt(1.0 + 1.0 / self.rows)
        return max(student * self.deviation, float(self.sizes[-1]))


Predict: TypeAlias = Callable[[Array], Array]

SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)  # quantiles of the feature at which it is held
MOST_ROWS = 60  # of the target, spread evenly, over which predictions are averaged


@dataclass(frozen=True, eq=False)
class EffectRows:
    """Target rows over which partial effects are averaged, when they are asked for."""

    places: tuple[int, ...]  # of the features, in the columns of X
    names: tuple[str, ...]
    X: Array
    weights: Array
    without: tuple[Candidates, ...]  # each made without a part of the target

    @classmethod
    def of(cls, problem: Problem, target: LearningRows, without: Sequence[Candidates]) -> Self:
        """Choose rows for the effects of new features."""
        old, _ = common_history(problem)  # a few old rows without a value do not make a column new
        names = tuple(n for n in problem.features if n not in old)
        places = tuple(problem.features.index(n) for n in names)
        count = len(target.y)
        rows = np.unique(np.linspace(0, count - 1, min(MOST_ROWS, count)).astype(np.intp))
        return cls(places, names, target.X[rows], target.w[rows], tuple(without))

    def effects(self, predict: Predict, without: Sequence[Predict]) -> tuple[PartialEffect, ...]:
        """Return the effect of each feature; models without parts of the target give its error."""
        effects = []
        for place, name in zip(self.places, self.names, strict=True):
            values = np.unique(np.quantile(self.X[:, place], SHARES, method="inverted_cdf"))
            if len(values) < 2:
                continue
            moved = np.repeat(self.X[None], len(values), axis=0)
            moved[:, :, place] = values[:, None]
            flat = moved.reshape(-1, self.X.shape[1])

            def curve(model: Predict, flat: Array = flat, count: int = len(values)) -> Array:
                said = model(flat).reshape(count, -1)
                means = np.average(said, axis=1, weights=self.weights)
                centred: Array = means - means.mean()
                return centred

            own, parts = curve(predict), np.array([curve(model) for model in without])
            deviations = _jackknife(parts)
            effects.append(
                PartialEffect(
                    name,
                    tuple(values.tolist()),
                    tuple(own.tolist()),
                    tuple(deviations.tolist()),
                    float(own[-1] - own[0]),
                    float(_jackknife(parts[:, -1:] - parts[:, :1])[0]),
                )
            )
        return tuple(effects)


def _jackknife(parts: Array) -> Array:
    """Return standard errors from estimates, each made without one part of the data."""
    count = len(parts)
    spread = ((parts - parts.mean(axis=0)) ** 2).sum(axis=0) * (count - 1) / count
    deviations: Array = np.sqrt(spread)
    return deviations


MARGIN = 0.05  # of the range of all responses, beyond which no candidate may go


@dataclass(frozen=True, eq=False)
class Stack:
    """A weighted mean of candidates, and its errors on target rows."""

    candidates: Candidates
    weights: Array  # of the candidates
    bounds: tuple[float, float]  # between which each candidate is held
    held_out: HeldOutErrors  # errors on target rows
    spread: Spread  # of responses about their predictions
    effects_from: EffectRows | tuple[PartialEffect, ...] = ()  # of features that sources lack

    @cached_property
    def effects(self) -> tuple[PartialEffect, ...]:
        """The effects of features that sources lack, computed when they are first asked for."""
        rows = self.effects_from
        if isinstance(rows, tuple):
            return rows
        without = [partial(_predicted, c, self.weights, self.bounds) for c in rows.without]
        return rows.effects(self.predict, without)

    def predict(self, rows: Array) -> Array:
        """Return the prediction for each row of features."""
        return _predicted(self.candidates, self.weights, self.bounds, rows)


def stacked(problem: Problem, made: Made, target: LearningRows) -> Stack:
    """Weigh candidates by their errors on target rows that they were made without."""
    low, high = response_range(problem)
    margin, names = MARGIN * (high - low), made.all.names
    bounds = low - margin, high + margin
    said = np.clip(made.said, *bounds)
    prior = np.array([PRIOR[name] for name in names])
    errors = target.y[:, None] - said
    weights = simplex_weights(errors, prior, target.w)
    # Errors of the mean itself, with weights that were chosen without the row.
    own, tenth = np.empty(len(target.y)), tenths(target.fold)
    for k in np.unique(tenth):
        inside = tenth == k
        others = simplex_weights(errors[~inside], prior, target.w[~inside])
        own[inside] = target.y[inside] - weighted_mean(said[inside], others, bounds)
    return Stack(
        made.all,
        weights,
        bounds,
        held_out_errors(dict(zip(names, errors.T, strict=True)), own, target.w),
        Spread.of(own, target.w),
        EffectRows.of(problem, target, made.without),
    )


def _predicted(
    candidates: Candidates, weights: Array, bounds: tuple[float, float], rows: Array
) -> Array:
    return weighted_mean(candidates.predict(rows), weights, bounds)


def weighted_mean(said: Array, weights: Array, bounds: tuple[float, float]) -> Array:
    """Return the weighted mean of predictions, each held between bounds."""
    total = np.zeros(len(said))
    for weight, column in zip(weights, np.clip(said, *bounds).T, strict=True):
        total += weight * column
    return total


def held_out_errors(errors: Mapping[str, Array], own: Array, weights: Array) -> HeldOutErrors:
    """Summarise errors of candidates and of their weighted mean on target rows."""
    before = _root_mean(errors["linear"], weights) or 1.0
    falls = (errors["linear"] / before) ** 2 - (own / before) ** 2
    fall = float(np.average(falls, weights=weights))
    count = float(weights.sum()) ** 2 / float((weights**2).sum())
    spread = float(np.average((falls - fall) ** 2, weights=weights))
    return HeldOutErrors(
        rows=len(own),
        errors={name: _root_mean(e, weights) for name, e in errors.items()},
        error=_root_mean(own, weights),
        fall=fall,
        fall_error=float(np.sqrt(spread / max(count - 1.0, 1.0))),
    )


def _root_mean(errors: Array, weights: Array) -> float:
    return float(np.sqrt(np.average(errors**2, weights=weights)))
