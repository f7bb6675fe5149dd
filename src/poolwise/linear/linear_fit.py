"""A linear model about a centre, with its uncertainty."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array
from poolwise.errors import OutOfRange, PoolwiseWarning
from poolwise.linear.fit import FitParts, Record, plain
from poolwise.linear.student_t import NORMAL, StudentT
from poolwise.moments.moments import Moments
from poolwise.numerics.double_double import two_product
from poolwise.wording import plural


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A linear model with its uncertainty.

    The model is stored about a centre, ``level + (x - centre) @ coef``: with features far from zero
    this keeps digits that ``intercept + x @ coef`` loses.

    Parameters
    ----------
    names : tuple of str
        Features, in the order of ``coef``.
    coef : array of shape (d,)
        Coefficients.
    centre : array of shape (d,)
        A point near the middle of the data; zero in a model without intercept.
    level : float
        Prediction at the centre.
    covariance : array of shape (d + 1, d + 1) or None
        Covariance of (level, coef); None for a method without a theory of it.
    noise : float or None
        Variance of the target's residual; None where it cannot be estimated.
    source_noise : mapping of str to float or None
        The same for each source, given the features it has.
    weights : mapping of str to float
        Weight of a row of each source, where a target row has weight one.
    pool : Moments or None
        Target and imputed sources together, where the method imputes: any of their columns can be
        regressed on any others afterwards.
    dropped : mapping of str to str
        Features with coefficient zero by decision, and why.
    cautions : tuple of PoolwiseWarning
        Warnings for the user, which the regressor issues.
    rounding : array of shape (d + 1,) or None
        The part of (level, coef) that was lost to rounding, where it is known.
    intercept_variance : float or None
        Variance of the intercept, where it is known with more digits than the covariance gives.
    distribution : StudentT
        Distribution of an estimate divided by its standard deviation.
    bounds : tuple of float or None
        Predictions are clipped to these.
    conflict, level_conflict : mapping of str to float
        Probability that a source contradicts the target, and that it does so in its level alone,
        where the method judges it.
    share : float or None
        Share of the fit with sources in the mean that predicts; the rest is a fit without them.
    reason : str
        Why this fit, where there was a choice.
    chosen : Method or None
        The method that was chosen.
    """

    names: tuple[str, ...]
    coef: Array
    centre: Array
    level: float
    covariance: Array | None = None
    noise: float | None = None
    source_noise: Mapping[str, float | None] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    pool: Moments | None = None
    dropped: Mapping[str, str] = field(default_factory=dict)
    cautions: tuple[PoolwiseWarning, ...] = ()
    rounding: Array | None = None
    intercept_variance: float | None = None
    distribution: StudentT = NORMAL
    bounds: tuple[float, float] | None = None
    conflict: Mapping[str, float] = field(default_factory=dict)
    level_conflict: Mapping[str, float] = field(default_factory=dict)
    share: float | None = None
    reason: str = ""
    chosen: Any = None

    @cached_property
    def intercept(self) -> float:
        """Prediction where all features are zero."""
        product, low = two_product(self.coef, -self.centre)
        terms = [self.level, *product, *low]
        if self.rounding is not None:
            terms += [self.rounding[0], *(self.rounding[1:] * -self.centre)]
        return math.fsum(terms)  # rounded once

    @cached_property
    def standard_errors(self) -> Array | None:
        """Standard errors of (intercept, coef), if the covariance is known."""
        if self.covariance is None:
            return None
        errors: Array = np.sqrt(np.maximum(self.covariance.diagonal(), 0.0))
        if self.intercept_variance is not None:
            errors[0] = np.sqrt(self.intercept_variance)
            return errors
        at = np.append(1.0, -self.centre)
        errors[0] = np.sqrt(max(at @ self.covariance @ at, 0.0))
        return errors

    def predict(self, X: Array) -> Array:
        """Return the prediction for each row of features."""
        return self.bounded(self.line(X))

    def bounded(self, line: Array) -> Array:
        """Clip predictions to the bounds."""
        return line if self.bounds is None else np.clip(line, *self.bounds)

    def deviation(self, X: Array) -> Array | None:
        r"""Return the standard deviation of a new response about its prediction, for each row.

        With the row :math:`u = (1, x - \text{centre})` it is the root of
        :math:`u \operatorname{Cov} u^\top + \sigma^2`; None where the covariance of the
        coefficients or the noise is not known.
        """
        if self.covariance is None or self.noise is None:
            return None
        step = X - self.centre
        with np.errstate(over="ignore", invalid="ignore"):
            slope = 2.0 * self.covariance[0, 1:] @ step.T
            slope += np.einsum("ij,jk,ik->i", step, self.covariance[1:, 1:], step, optimize=True)
            variance = self.covariance[0, 0] + slope + self.noise
        if count := np.count_nonzero(~np.isfinite(variance)):
            raise _out_of_range(int(count))
        deviations: Array = np.sqrt(np.maximum(variance, self.noise))
        return deviations

    def half_width(self, X: Array, coverage: float) -> Array | None:
        """Return half the width of each row's interval; None where no deviation is known.

        Parameters
        ----------
        X : array of shape (n, d)
            Features.
        coverage : float
            Probability that an interval holds the response.

        Returns
        -------
        array of shape (n,) or None
        """
        deviation = self.deviation(X)
        return None if deviation is None else self.distribution.quantile(coverage) * deviation

    def beyond(self, X: Array, predicted: Array, least: float = 0.0) -> NDArray[np.intp]:
        """Return the places of predictions that were moved to a bound.

        Parameters
        ----------
        X : array of shape (n, d)
            Features.
        predicted : array of shape (n,)
            Their predictions.
        least : float, default=0.0
            Only those that were moved by more than this.

        Returns
        -------
        array of int
        """
        if self.bounds is None:
            return np.empty(0, dtype=np.intp)
        at = np.flatnonzero((predicted <= self.bounds[0]) | (predicted >= self.bounds[1]))
        return at[np.abs(self.line(X[at]) - predicted[at]) > least] if len(at) else at

    def gap_variance(self, X: Array) -> Array:
        """Return zeros: these rows have no gaps."""
        return np.zeros(len(X))

    def leading(self, X: Array) -> list[str]:
        """Return the features that move the predictions of these rows most, in their order."""
        moved = np.abs((X - self.centre) * self.coef).sum(axis=0)
        order = np.argsort(-moved, kind="stable")
        return [self.names[j] for j in order if moved[j] >= 0.1 * moved.sum() > 0.0]

    def parts(self) -> FitParts:
        """Return the fit as the only part."""
        return FitParts(self, reason=self.reason, chosen=self.chosen)

    def record(self) -> Record:
        """Return everything but the pool and the chosen method as plain data."""

        def finite(value: float) -> float | None:
            return None if math.isinf(value) else value

        own = {f.name: getattr(self, f.name) for f in fields(self)}
        own["cautions"] = [{"kind": type(c).__name__, "message": str(c)} for c in self.cautions]
        own["distribution"] = plain(self.distribution, finite)
        own["bounds"] = plain(self.bounds, finite)
        del own["pool"], own["chosen"]
        return {"kind": "linear", **plain(own)}

    def line(self, X: Array) -> Array:
        """Return the linear model at each row of features, without bounds."""
        with np.errstate(over="ignore", invalid="ignore"):
            predicted = (X - self.centre) @ self.coef + self.level
        if not np.isfinite(predicted).all():
            beyond = np.isfinite(X).all(axis=1) & ~np.isfinite(predicted)
            if count := np.count_nonzero(beyond):
                raise _out_of_range(int(count))
        return predicted


def _out_of_range(rows: int) -> OutOfRange:
    return OutOfRange(
        f"The predictions of {plural(rows, 'row')} are beyond the range of doubles.",
        "Are the columns in the units of the data at fit?",
    )


def recentred(covariance: Array, old: Array, new: Array) -> Array:
    """Return a covariance of (level, coef) for a level at another centre."""
    T = np.eye(len(covariance))
    T[0, 1:] = new - old
    return T @ covariance @ T.T


def coefficient_intervals(fit: LinearFit) -> Array | None:
    """Return the 95 % intervals of intercept and coefficients, where their errors are known."""
    if fit.standard_errors is None:
        return None
    width, centre = fit.distribution.quantile(0.95), np.append(fit.intercept, fit.coef)
    return centre[:, None] + width * np.outer(fit.standard_errors, [-1.0, 1.0])
