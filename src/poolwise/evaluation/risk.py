r"""Expected errors of predictions on rows like the target's, from the posterior of Bayes pooling.

Given the data, the coefficients are :math:`\theta \sim N(\hat\theta, C)`. With :math:`D`, the mean
of :math:`u^\top u` over the target's rows, a fit :math:`a` has the squared error
:math:`(a - \theta)^\top D (a - \theta)` of its predictions, apart from noise. The gain of
:math:`b` over :math:`a` is the difference of two of these, and linear in :math:`\theta`:

.. math:: G = \lVert a - \hat\theta\rVert_D^2 - \lVert b - \hat\theta\rVert_D^2
   - 2 (a - b)^\top D (\theta - \hat\theta) .

So its mean and its variance, :math:`4 (a - b)^\top D C D (a - b)`, are known without simulation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from html import escape
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from poolwise._typing import Array
from poolwise.errors import BadTable, NeedsRows
from poolwise.linear.linear_fit import LinearFit
from poolwise.linear.problem import Problem
from poolwise.linear.theory import PooledTable
from poolwise.methods.bayes_pooling import BayesPooling
from poolwise.wording import html_table, text_table

COVERAGE = 0.95  # of all intervals here
Shown: TypeAlias = list[str | tuple[list[str], list[list[str]]]]
"""Sentences, and tables: names of columns, and rows."""


class Findings:
    """Base of dataclasses that print as text and convert to plain data."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists, numbers and strings."""
        return asdict(self)  # type: ignore[call-overload, no-any-return]

    def shown(self) -> Shown:
        """Return what is printed."""
        raise NotImplementedError

    def __str__(self) -> str:
        parts = [[part] if isinstance(part, str) else text_table(*part) for part in self.shown()]
        return "\n".join(line for part in parts for line in part)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return "".join(
            f"<p>{escape(part)}</p>" if isinstance(part, str) else html_table(*part)
            for part in self.shown()
        )


@dataclass(frozen=True, eq=False)
class Risk:
    """The posterior of Bayes pooling, and the mean of products of (1, x - centre) in the target."""

    posterior: LinearFit
    design: Array

    @classmethod
    def of(cls, problem: Problem, posterior: LinearFit | None = None) -> Risk:
        """Return the risk of a problem, whose posterior may be known already."""
        fit = solved(problem) if posterior is None else posterior
        target = problem.target
        return cls(
            fit, PooledTable(target, 1.0).design(problem.features, fit.centre) / target.weight
        )

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
        """Mean squared error of the posterior mean, apart from noise."""
        return float(np.sum(self.covariance * self.design))

    def step(self, fit: LinearFit) -> Array:
        """Return (level, coef) of a fit, minus the posterior mean."""
        return difference(fit, self.posterior)

    def distance(self, fit: LinearFit) -> float:
        """Return the mean squared difference of predictions, against the posterior mean."""
        step = self.step(fit)
        return max(float(step @ self.design @ step), 0.0)

    def gain(self, fit: LinearFit, over: LinearFit) -> tuple[float, float]:
        """Return mean and standard deviation of the gain of one fit over another."""
        apart = self.design @ (self.step(over) - self.step(fit))
        deviation = 2.0 * np.sqrt(max(float(apart @ self.covariance @ apart), 0.0))
        return self.distance(over) - self.distance(fit), float(deviation)

    def gain_interval(self, fit: LinearFit, over: LinearFit) -> dict[str, float]:
        """Return the gain of one fit over another and, relative to the noise, its 95 % interval."""
        mean, deviation = self.gain(fit, over)
        half = self.posterior.distribution.quantile(COVERAGE) * deviation
        ends = {"relative": mean, "low": mean - half, "high": mean + half}
        return {"gain": mean, **{end: value / self.noise for end, value in ends.items()}}


def difference(fit: LinearFit, other: LinearFit) -> Array:
    """Return (level, coef) of one fit minus those of another, at the centre of the other."""
    level = fit.level - other.level + float((other.centre - fit.centre) @ fit.coef)
    return np.append(level, fit.coef - other.coef)


def problem_of(given: Any) -> Problem:
    """Return a problem, or the problem of a fitted regressor."""
    if isinstance(given, Problem):
        return given
    if isinstance(given, BaseEstimator) and hasattr(given, "fit"):
        check_is_fitted(given)
        if getattr(given, "problem_", given) is None:
            raise NeedsRows.moments_left_out("a diagnosis")
    found = getattr(given, "problem_", None)
    if isinstance(found, Problem):
        return found
    raise BadTable(
        f"A {type(given).__name__} cannot be diagnosed: it has no target and no sources.",
        hint="Give a fitted PooledRegressor or a Problem.",
    )


def solved(problem: Problem) -> LinearFit:
    """Return the fit of Bayes pooling; where the response is constant, without uncertainty."""
    fit = BayesPooling(bounds=None).solve(problem)
    if fit.covariance is not None:
        return fit
    return replace(fit, covariance=np.zeros((len(fit.names) + 1,) * 2), noise=0.0)


def without_sources(problem: Problem) -> Problem:
    """Return the target by itself."""
    return replace(problem, sources={}, source_rows={})


def largest_difference(sizes: Mapping[str, float]) -> str:
    """Return the name of the largest difference, with its size in standard errors."""
    if not sizes:
        return "-"
    name = max(sizes, key=lambda n: abs(sizes[n]))
    return f"{name}: {sizes[name]:+.1f} standard errors"
