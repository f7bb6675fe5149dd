"""Random futures of the target, with more rows.

Coefficients are drawn from the posterior of Bayes pooling, features with the target's means and
covariance. No rows are generated: the moments of a table with any number of rows are drawn
directly, by Bartlett's decomposition of the scatter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import helmert
from scipy.special import gammaincinv

from poolwise._typing import Array
from poolwise.evaluation.risk import COVERAGE, Risk, solved, without_sources
from poolwise.linear.linear_fit import LinearFit
from poolwise.linear.problem import Problem
from poolwise.moments.moments import Moments

MANY = (0.1, 0.9)  # quantiles of the futures
JITTER = 1e-10  # added to a correlation matrix, so that it has a root


@dataclass(frozen=True, eq=False)
class Features:
    """Means and covariance of the target's features, sorted by name.

    Where the target has hardly more rows than features, rows of independent features are added,
    whose variances come from all tables.
    """

    names: tuple[str, ...]
    mean: Array
    covariance: Array

    @classmethod
    def of(cls, problem: Problem) -> Features:
        """Return the features of a problem."""
        target, names = problem.target, tuple(sorted(problem.features))
        free = max(target.weight - 1.0, 0.0)
        more = max(len(names) + 2.0 - free, 0.0)
        own = target.scatter_between(names, names) + more * np.diag(_variances(problem, names))
        covariance: Array = own / (free + more)
        return cls(names, target.mean[target.index(names)], covariance)

    def design(self, centre: Array, names: tuple[str, ...]) -> Array:
        """Return the mean of products of (1, x - centre), for features in the order given."""
        at = [self.names.index(n) for n in names]
        u = np.append(1.0, self.mean[at] - centre)
        design = np.outer(u, u)
        design[1:, 1:] += self.covariance[np.ix_(at, at)]
        return design


def _variances(problem: Problem, names: tuple[str, ...]) -> Array:
    """Return the variance of each feature within all tables that have it."""
    squares, free = np.zeros(len(names)), np.zeros(len(names))
    for table in (problem.target, *problem.sources.values()):
        here = [j for j, n in enumerate(names) if n in table]
        at = table.index(names[j] for j in here)
        squares[here] += table.scatter.diagonal()[at]
        free[here] += max(table.weight - 1.0, 0.0)
    return squares / np.maximum(free, 1.0)


class Future:
    """One random future of the target.

    ``rank`` is the quantile of the noise in its posterior: evenly spaced ranks need fewer futures
    than random ones.
    """

    def __init__(
        self,
        problem: Problem,
        posterior: LinearFit,
        features: Features,
        rank: float,
        seed: list[int],
    ) -> None:
        self.target, self._features = problem.target, features
        self._rng = np.random.default_rng(seed)
        self._response = problem.response
        self.noise = _noise_at(posterior, rank)
        at = [posterior.names.index(n) for n in features.names]
        assert posterior.covariance is not None  # see risk.solved
        place = [0, *(1 + j for j in at)]
        covariance = posterior.covariance[np.ix_(place, place)]
        step = _root(covariance) @ self._rng.normal(size=len(place))
        self._coef = posterior.coef[at] + step[1:]
        moved = float((features.mean - posterior.centre[at]) @ self._coef)
        self._level = posterior.level + step[0] + moved
        self._spread = _root(features.covariance)

    def grow(self, rows: float) -> Moments:
        """Add new rows until the target has this many, and return it."""
        if (more := rows - self.target.weight) > 0.5:
            self.target = self.target + self._drawn(more)
        return self.target

    def _drawn(self, rows: float) -> Moments:
        """Return the moments of new rows."""
        p = len(self._features.names) + 1
        if rows <= p + 1:
            unit, weight = self._rng.normal(size=(max(round(rows), 1), p)), 1.0
        else:
            weight = rows / (p + 1)
            lower = np.tril(self._rng.normal(size=(p, p)), -1)
            lower[np.diag_indices(p)] = np.sqrt(self._rng.chisquare(rows - 1.0 - np.arange(p)))
            mean = self._rng.normal(size=p) / np.sqrt(rows)
            unit = mean + helmert(p + 1).T @ lower.T / np.sqrt(weight)
        step = unit[:, :-1] @ self._spread.T
        y = self._level + step @ self._coef + np.sqrt(self.noise) * unit[:, -1]
        names = (*self._features.names, self._response)
        drawn = np.column_stack((self._features.mean + step, y))
        new = Moments.of_rows(names, drawn, np.full(len(drawn), weight), precision="fast")
        return new.select(self.target.names)


def _noise_at(posterior: LinearFit, rank: float) -> float:
    noise, freedom = posterior.noise or 0.0, posterior.distribution.freedom
    share = 2.0 / (freedom - 4.0) if np.isfinite(freedom) and freedom > 4.0 else 0.0
    return noise * (share * float(gammaincinv(1.0 / share, rank)) if share > 1e-9 else 1.0)


def _root(covariance: Array) -> Array:
    """Return a lower triangular root, computed from correlations so that units do not matter."""
    size = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
    scale = np.where(size > 0.0, size, 1.0)
    correlation = covariance / np.outer(scale, scale)
    lower: Array = np.linalg.cholesky(correlation + JITTER * np.eye(len(size)))
    return size[:, None] * lower


@dataclass(frozen=True, eq=False)
class Outcome:
    """One future at one number of rows."""

    gain: float
    width: float
    width_alone: float
    errors: Array


def outcome_of(
    problem: Problem, future: Future, rows: float, features: Features, noise: float
) -> Outcome:
    """Fit a future target with and without history; ``noise`` is the variance known today."""
    then = replace(problem, target=future.grow(rows), target_rows=None, source_rows={})
    pooled, alone = (
        Risk(fit, features.design(fit.centre, fit.names))
        for fit in (solved(then), solved(without_sources(then)))
    )
    truth = future.noise if rows > problem.target.weight else noise
    return Outcome(
        gain=pooled.distance(alone.posterior) / truth,
        width=_width(pooled),
        width_alone=_width(alone),
        errors=np.sqrt(np.maximum(pooled.covariance.diagonal()[1:], 0.0)),
    )


def gain_range(found: Sequence[Outcome]) -> tuple[float, float]:
    """Return the range in which most futures have their gain."""
    low, high = np.quantile([o.gain for o in found], MANY)
    return float(low), float(high)


def _width(risk: Risk) -> float:
    half = risk.posterior.distribution.quantile(COVERAGE) * float(np.sqrt(risk.noise + risk.own))
    return 2.0 * half
