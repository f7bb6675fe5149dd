"""LinearFit: a linear model about a centre, and how it came about."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poolwise.chunks import LARGEST
from poolwise.double_double import Array, two_product
from poolwise.errors import (
    BeyondDoubles,
    PredictionsBeyondDoubles,
    TransferWarning,
    VarianceLeftOut,
)
from poolwise.fit.powers_of_two import all_held, bounds_held, held, is_extreme, units_of_terms
from poolwise.inverse_root import EPS
from poolwise.moments import Moments
from poolwise.tails import NORMAL, Tails


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A linear model, and how it came about.

    The model is held about a centre, ``level + (x - centre) @ coef``: with features far from zero
    that keeps digits which ``intercept + x @ coef`` throws away.

    Parameters
    ----------
    names : tuple of str
        Features, in the order of ``coef``.
    coef : array of shape (d,)
        Coefficients.
    centre : array of shape (d,)
        A point amid the data; zero in a model without intercept.
    level : float
        Prediction at the centre.
    covariance : array of shape (d + 1, d + 1) or None
        Covariance of (level, coef); None where the theory of the method gives none.
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
    cautions : tuple of TransferWarning
        What the user should know; the regressor gives them as warnings.
    tail : array of shape (d + 1,) or None
        What rounding took from (level, coef), where it is known.
    intercept_variance : float or None
        Variance of the intercept, where it is known with more digits than the covariance gives.
    tails : Tails
        How many standard deviations an interval takes.
    bounds : tuple of float or None
        Predictions are held between these.
    conflict : mapping of str to float
        Probability that a source contradicts the target, where the method judges it.
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
    cautions: tuple[TransferWarning, ...] = ()
    tail: Array | None = None
    intercept_variance: float | None = None
    tails: Tails = NORMAL
    bounds: tuple[float, float] | None = None
    conflict: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def intercept(self) -> float:
        """Prediction where all features are zero."""
        if is_extreme(self.level, self.coef, self.centre):
            own, top = units_of_terms(self.centre, np.append(self.level, self.coef))
            with np.errstate(over="ignore"):
                intercept = float(np.ldexp(self._times(-own, -top).intercept, top))
            if not math.isfinite(intercept):
                raise BeyondDoubles(["(intercept)"])
            return intercept
        product, low = two_product(self.coef, -self.centre)
        terms = [self.level, *product, *low]
        if self.tail is not None:
            terms += [self.tail[0], *(self.tail[1:] * -self.centre)]
        return math.fsum(terms)  # rounded once

    @cached_property
    def standard_errors(self) -> Array | None:
        """Standard errors of (intercept, coef), where there is a covariance."""
        if self.covariance is None:
            return None
        errors: Array = np.sqrt(np.maximum(self.covariance.diagonal(), 0.0))
        if self.intercept_variance is not None:
            errors[0] = np.sqrt(self.intercept_variance)
            return errors
        own, top = units_of_terms(self.centre, errors)
        at, unit = np.append(1.0, -np.ldexp(self.centre, -own)), np.append(0, own) - top
        with np.errstate(over="ignore"):  # no covariance is above the product of two errors
            scaled = np.clip(np.ldexp(self.covariance, unit[:, None] + unit), -1.0, 1.0)
            errors[0] = np.ldexp(np.sqrt(max(at @ scaled @ at, 0.0)), top)
        return errors

    def times_units(
        self, units: Mapping[str, int], response: str, sizes: Mapping[str, float]
    ) -> LinearFit:
        """Return the fit of columns that had been divided by powers of two before it was made.

        A noise or a covariance that no double can hold is left out, with a caution. A coefficient
        that no double can hold is zero if that changes no prediction.

        Parameters
        ----------
        units : mapping of str to int
            The powers of two, of those columns that were divided.
        response : str
            Name of the response.
        sizes : mapping of str to float
            The largest number of each column, after division.

        Returns
        -------
        LinearFit
            For columns in the user's units.
        """
        if not units:
            return self
        own = np.array([units.get(n, 0) for n in self.names], dtype=np.intp)
        theirs = units.get(response, 0)
        fit = self._times(own, theirs)
        coef = np.where(np.isfinite(fit.coef), fit.coef, 0.0)
        lost = np.abs(self.coef - np.ldexp(coef, own - theirs))
        lost *= np.array([sizes[n] for n in self.names])
        finest = math.ldexp(1.0, -1074 - theirs)  # of a response, after division
        if (beyond := np.flatnonzero(lost > max(EPS * sizes[response], finest))).size:
            raise BeyondDoubles([self.names[j] for j in beyond])
        if not math.isfinite(fit.level):
            raise BeyondDoubles(["(intercept)"])
        tail = None
        if fit.tail is not None:
            tail = np.where(np.append(True, coef != 0.0), fit.tail, 0.0)
        fit = replace(fit, coef=coef, tail=tail)
        if fit.standard_errors is not None and not np.isfinite(fit.standard_errors).all():
            fit = replace(fit, covariance=None)
        was, now = (self.noise, self.covariance), (fit.noise, fit.covariance)
        if any(n is None and w is not None for n, w in zip(now, was, strict=True)):
            return replace(fit, cautions=(*fit.cautions, VarianceLeftOut(list(units))))
        return fit

    def _times(self, own: NDArray[np.intp], theirs: int) -> LinearFit:
        """Return the fit of features and a response that are multiplied by powers of two."""
        both = np.concatenate(([theirs], theirs - own))
        with np.errstate(over="ignore", under="ignore"):
            centre = np.clip(np.ldexp(self.centre, own), -LARGEST, LARGEST)
            # A subnormal or a huge centre is rounded; then the level is taken there.
            level = self.level + (np.ldexp(centre, -own) - self.centre) @ self.coef
            return replace(
                self,
                coef=np.ldexp(self.coef, both[1:]),
                centre=centre,
                level=float(np.ldexp(level, theirs)),
                covariance=all_held(self.covariance, both[:, None] + both),
                noise=held(self.noise, 2 * theirs),
                source_noise={n: held(v, 2 * theirs) for n, v in self.source_noise.items()},
                tail=None if self.tail is None else np.ldexp(self.tail, both),
                intercept_variance=held(self.intercept_variance, 2 * theirs),
                bounds=bounds_held(self.bounds, theirs),
            )

    def predict(self, X: Array) -> Array:
        """Return the prediction for each row of features."""
        return self.bounded(self.line(X))

    def bounded(self, line: Array) -> Array:
        """Hold predictions within the bounds."""
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
            raise PredictionsBeyondDoubles(int(count))
        deviations: Array = np.sqrt(np.maximum(variance, self.noise))
        return deviations

    def line(self, X: Array) -> Array:
        """Return the linear model at each row of features, whatever the bounds."""
        with np.errstate(over="ignore", invalid="ignore"):
            predicted = (X - self.centre) @ self.coef + self.level
        if np.isfinite(predicted).all():
            return predicted
        beyond = np.flatnonzero(np.isfinite(X).all(axis=1) & ~np.isfinite(predicted))
        if len(beyond):  # or only some of their terms are, which cancel
            step = X[beyond] - self.centre
            own, top = units_of_terms(np.abs(step).max(axis=0), np.append(self.level, self.coef))
            scaled = self._times(-own, -top)
            with np.errstate(over="ignore"):
                predicted[beyond] = np.ldexp(np.ldexp(step, -own) @ scaled.coef + scaled.level, top)
            if count := np.count_nonzero(~np.isfinite(predicted[beyond])):
                raise PredictionsBeyondDoubles(int(count))
        return predicted


def recentred(covariance: Array, old: Array, new: Array) -> Array:
    """Return a covariance of (level, coef) for a level at another centre."""
    T = np.eye(len(covariance))
    T[0, 1:] = new - old
    return T @ covariance @ T.T
