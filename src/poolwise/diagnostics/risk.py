r"""Risk: how far predictions of two fits are apart, on rows like those of the target.

Given the data, the coefficients are :math:`\theta \sim N(\hat\theta, C)` by Bayes pooling. With
:math:`D`, the mean of :math:`u^\top u` over the target's rows, a fit :math:`a` has the squared
error :math:`(a - \theta)^\top D (a - \theta)` of its predictions, noise left aside. The gain of
:math:`b` over :math:`a` is the difference of two of these, and linear in :math:`\theta`:

.. math:: G = \lVert a - \hat\theta\rVert_D^2 - \lVert b - \hat\theta\rVert_D^2
   - 2 (a - b)^\top D (\theta - \hat\theta) .

So its mean and its variance, :math:`4 (a - b)^\top D C D (a - b)`, are known without a single draw.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from poolwise.double_double import Array
from poolwise.fit import LinearFit
from poolwise.intervals import quantile
from poolwise.methods.bayes_pooling import BayesPooling
from poolwise.problem import Problem
from poolwise.theory import Part

COVERAGE = 0.95  # of all intervals here


@dataclass(frozen=True, eq=False)
class Risk:
    """What Bayes pooling knows about the errors of predictions, in the units of the problem.

    Parameters
    ----------
    posterior : LinearFit
        Of Bayes pooling.
    design : array of shape (d + 1, d + 1)
        Mean of products of (1, x - centre) over the target's rows.
    """

    posterior: LinearFit
    design: Array

    @classmethod
    def of(cls, problem: Problem, posterior: LinearFit | None = None) -> Risk:
        """Return what is known about a problem.

        Parameters
        ----------
        problem : Problem
            Target and sources.
        posterior : LinearFit, optional
            Of Bayes pooling, if it is known already.
        """
        fit = solved(problem) if posterior is None else posterior
        return cls(fit, mean_design(problem, fit.centre))

    @property
    def covariance(self) -> Array:
        """Covariance of (level, coef)."""
        known = self.posterior.covariance
        assert known is not None  # see solved
        return known

    @property
    def noise(self) -> float:
        """Variance of a response about the line."""
        return self.posterior.noise or 0.0

    @property
    def own(self) -> float:
        """Mean squared error of the posterior mean, noise left aside."""
        return float(np.sum(self.covariance * self.design))

    def step(self, fit: LinearFit) -> Array:
        """Return (level, coef) of a fit, less that of the posterior mean."""
        mean = self.posterior
        level = fit.level - mean.level + float((mean.centre - fit.centre) @ fit.coef)
        return np.append(level, fit.coef - mean.coef)

    def distance(self, fit: LinearFit) -> float:
        """Return the mean squared difference of predictions, against the posterior mean."""
        step = self.step(fit)
        return max(float(step @ self.design @ step), 0.0)

    def gain(self, fit: LinearFit, over: LinearFit) -> tuple[float, float]:
        """Return mean and standard deviation of the gain of one fit over another."""
        apart = self.design @ (self.step(over) - self.step(fit))
        deviation = 2.0 * np.sqrt(max(float(apart @ self.covariance @ apart), 0.0))
        return self.distance(over) - self.distance(fit), float(deviation)

    def half_width(self, deviation: float) -> float:
        """Return how far an interval goes to both sides."""
        return quantile(self.posterior.tails, COVERAGE) * deviation


def solved(problem: Problem) -> LinearFit:
    """Return the fit of Bayes pooling; of few rows with the same response, as if it were sure."""
    fit = BayesPooling(bounds=None).solve(problem)
    if fit.covariance is not None:
        return fit
    return replace(fit, covariance=np.zeros((len(fit.names) + 1,) * 2), noise=0.0)


def without_sources(problem: Problem) -> Problem:
    """Return the target by itself."""
    return replace(problem, sources={}, source_rows={})


def mean_design(problem: Problem, centre: Array) -> Array:
    """Return the mean of products of (1, x - centre) over the target's rows."""
    target = problem.target
    return Part(target, 1.0).design(problem.features, centre) / target.weight
