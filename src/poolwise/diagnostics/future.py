"""Future: what the target may look like once it has more rows.

New rows are drawn from the model as it is known today: coefficients from the posterior of Bayes
pooling, features with the target's means and covariance. Rows themselves are never made; a table of
any number of rows is drawn as its moments, with Bartlett's decomposition of the scatter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import helmert
from scipy.special import gammaincinv

from poolwise.double_double import Array
from poolwise.fit import LinearFit
from poolwise.moments import Moments
from poolwise.problem import Problem

JITTER = 1e-10  # of a correlation matrix, so that it has a root


@dataclass(frozen=True, eq=False)
class Features:
    """Where the target's features lie, and how they spread.

    Parameters
    ----------
    names : tuple of str
        Sorted, so that draws do not depend on the order of columns.
    mean : array of shape (d,)
        Their means.
    covariance : array of shape (d, d)
        Their covariance.
    """

    names: tuple[str, ...]
    mean: Array
    covariance: Array

    @classmethod
    def of(cls, problem: Problem) -> Features:
        """Return those of a problem.

        Where the target has hardly more rows than features, as many rows of independent features
        are added as are wanting; how much each of these spreads is known from all tables.
        """
        target, names = problem.target, tuple(sorted(problem.features))
        d, free = len(names), max(target.weight - 1.0, 0.0)
        wanting = max(d + 2.0 - free, 0.0)
        own = target.scatter_between(names, names) + wanting * np.diag(_variances(problem, names))
        covariance: Array = own / (free + wanting)
        return cls(names, target.mean[target.index(names)], covariance)

    def root(self) -> Array:
        """Return a lower triangular root of the covariance."""
        size = np.sqrt(self.covariance.diagonal())
        scale = np.where(size > 0.0, size, 1.0)
        correlation = self.covariance / np.outer(scale, scale)
        lower: Array = np.linalg.cholesky(correlation + JITTER * np.eye(len(size)))
        return lower * size[:, None]

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
    """One way in which the target may go on.

    Parameters
    ----------
    problem : Problem
        Target and sources of today.
    posterior : LinearFit
        Of Bayes pooling, today.
    features : Features
        How features are distributed.
    rank : float
        Where the noise is in its posterior, between zero and one: evenly spread ranks need fewer
        futures than draws.
    seed : list of int
        Of the draws.
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
        centre, coef = posterior.centre[at], posterior.coef[at]
        assert posterior.covariance is not None  # see risk.solved
        place = [0, *(1 + j for j in at)]
        step = _normal(posterior.covariance[np.ix_(place, place)], self._rng)
        self._coef = coef + step[1:]
        self._level = posterior.level + step[0] + float((features.mean - centre) @ self._coef)
        self._root = features.root()

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
        step = unit[:, :-1] @ self._root.T
        y = self._level + step @ self._coef + np.sqrt(self.noise) * unit[:, -1]
        names = (*self._features.names, self._response)
        drawn = np.column_stack((self._features.mean + step, y))
        new = Moments.of_rows(names, drawn, np.full(len(drawn), weight), precision="fast")
        return new.select(self.target.names)


def _noise_at(posterior: LinearFit, rank: float) -> float:
    """Return a quantile of the noise, as surely as it is known."""
    noise, freedom = posterior.noise or 0.0, posterior.tails.freedom
    share = 2.0 / (freedom - 4.0) if np.isfinite(freedom) and freedom > 4.0 else 0.0
    factor = share * float(gammaincinv(1.0 / share, rank)) if share > 1e-9 else 1.0
    return noise * factor


def _normal(covariance: Array, rng: np.random.Generator) -> Array:
    """Draw from a normal distribution, whatever the units."""
    size = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
    scale = np.where(size > 0.0, size, 1.0)
    lower = np.linalg.cholesky(covariance / np.outer(scale, scale) + JITTER * np.eye(len(size)))
    drawn: Array = size * (lower @ rng.normal(size=len(size)))
    return drawn
