"""LinearFit, what every method returns, and regress(), least squares from moments."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from poolwise.chunks import LARGEST
from poolwise.double_double import Array, Pair, two_product, two_sum
from poolwise.errors import (
    BadOption,
    BeyondDoubles,
    DigitsLost,
    PredictionsBeyondDoubles,
    RankDeficient,
    TransferWarning,
    VarianceLeftOut,
)
from poolwise.inverse_root import EPS
from poolwise.least_squares import Solution, plain_residual, solve
from poolwise.moments import Moments
from poolwise.tails import NORMAL, Tails

Ddof: TypeAlias = Literal["unbiased", "mle"]

ROUNDED = 1e-8  # share of the coefficients that rounding may change without a word


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
        if _is_extreme(self.level, self.coef, self.centre):
            own, top = _units(self.centre, np.append(self.level, self.coef))
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
        own, top = _units(self.centre, errors)
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
                covariance=_all_held(self.covariance, both[:, None] + both),
                noise=held(self.noise, 2 * theirs),
                source_noise={n: held(v, 2 * theirs) for n, v in self.source_noise.items()},
                tail=None if self.tail is None else np.ldexp(self.tail, both),
                intercept_variance=held(self.intercept_variance, 2 * theirs),
                bounds=_bounds_held(self.bounds, theirs),
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
            own, top = _units(np.abs(step).max(axis=0), np.append(self.level, self.coef))
            scaled = self._times(-own, -top)
            with np.errstate(over="ignore"):
                predicted[beyond] = np.ldexp(np.ldexp(step, -own) @ scaled.coef + scaled.level, top)
            if count := np.count_nonzero(~np.isfinite(predicted[beyond])):
                raise PredictionsBeyondDoubles(int(count))
        return predicted


def regress(
    moments: Moments,
    response: str,
    features: Sequence[str] | None = None,
    *,
    intercept: bool = True,
    ridge: float = 0.0,
    ddof: Ddof = "unbiased",
    where: str = "the target",
) -> LinearFit:
    """Least squares of one column on others.

    Parameters
    ----------
    moments : Moments
        Of the features and the response.
    response : str
        Name of the response.
    features : sequence of str, optional
        Names of the features; all other columns unless given.
    intercept : bool, default=True
        Whether the line may miss the origin.
    ridge : float, default=0.0
        Added to the diagonal of the features' scatter.
    ddof : {"unbiased", "mle"}, default="unbiased"
        Divide the residual by (rows - coefficients), or by rows.
    where : str, default="the target"
        What to call the data in a caution.

    Returns
    -------
    LinearFit
        With covariance ``noise * inverse`` if ``noise`` is known and ``ridge`` is zero.
    """
    _check_ddof(ddof)
    others = [n for n in moments.names if n != response]
    names = tuple(others if features is None else features)
    if moments.units.any():
        scaled = moments.rescaled(moments.units)
        fit = regress(
            scaled, response, names, intercept=intercept, ridge=ridge, ddof=ddof, where=where
        )
        units = dict(zip(moments.names, moments.units.tolist(), strict=True))
        return fit.times_units(units, response, scaled.sizes())
    solution = solve_named(moments, names, [response], intercept=intercept, ridge=ridge)
    free = moments.weight - solution.rank - intercept
    divisor = moments.weight if ddof == "mle" else free
    noise = float(solution.residual[0, 0]) / divisor if free > 0 else None
    coef, centre, at_zero = solution.coef[:, 0], np.zeros(len(names)), None
    level, level_tail = 0.0, 0.0
    if intercept:
        at, y = moments.index(names), moments.index([response])[0]
        centre = moments.mean[at]
        below = moments.mean_tail[y] - moments.mean_tail[at] @ coef.high
        level, level_tail = map(float, two_sum(moments.mean[y], below))
        if solution.inverse.low.any():  # else doubles are enough
            mean = moments.mean_pair[at]
            spread = (mean * (solution.inverse @ mean[:, None])[:, 0]).total()
            at_zero = float((Pair.of(1.0) / moments.weight_pair + spread).high)
    covariance, cautions = None, cautions_of(solution, names, where)
    if noise is not None and ridge == 0.0:
        covariance = np.zeros((len(names) + 1, len(names) + 1))
        covariance[0, 0] = noise / moments.weight if intercept else 0.0
        with np.errstate(over="ignore"):
            covariance[1:, 1:] = noise * solution.inverse.high
        if not np.isfinite(covariance).all():
            covariance, cautions = None, (*cautions, VarianceLeftOut(names))
    return LinearFit(
        names=names,
        coef=coef.high,
        centre=centre,
        level=level,
        covariance=covariance,
        noise=noise,
        dropped={names[j]: f"constant in {where}" for j in solution.constant},
        cautions=cautions,
        tail=np.concatenate(([level_tail], coef.low)),
        intercept_variance=None if noise is None or at_zero is None else noise * at_zero,
        tails=Tails(free) if noise is not None else NORMAL,
    )


def through_means(
    moments: Moments, features: Sequence[str], response: str, coef: Array
) -> tuple[Array, float]:
    """Return centre and level of the model with these coefficients through the means.

    Parameters
    ----------
    moments, features, response
        As in :func:`regress`.
    coef : array of shape (d,)
        The coefficients.
    """
    at, y = moments.index(features), moments.index([response])[0]
    below = moments.mean_tail[y] - moments.mean_tail[at] @ coef  # the centre is a rounded mean
    return moments.mean[at], float(moments.mean[y] + below)


def noise_of(
    moments: Moments,
    response: str,
    features: Sequence[str],
    *,
    intercept: bool = True,
    ddof: Ddof = "unbiased",
) -> float | None:
    """Return the noise that `regress` would find, without its coefficients where that is quicker.

    Parameters
    ----------
    moments, response, features, intercept, ddof
        As in :func:`regress`.
    """
    _check_ddof(ddof)
    free = moments.weight - len(features) - intercept
    if intercept and free > 0 and not moments.units.any():
        at, y = moments.index(features), moments.index([response])[0]
        residual = plain_residual(moments.scatter, at, y)
        if residual is not None:
            return residual / (moments.weight if ddof == "mle" else free)
    return regress(moments, response, features, intercept=intercept, ddof=ddof).noise


def solve_named(
    moments: Moments,
    features: Sequence[str],
    responses: Sequence[str],
    *,
    intercept: bool = True,
    ridge: float = 0.0,
) -> Solution:
    """Least squares of several columns on the same features, by name."""
    at, to = moments.index(features), moments.index(responses)
    if not intercept:
        return solve(moments.about_zero(), at, to, ridge)
    if moments.scatter.is_plain:
        return solve(moments.scatter, at, to, ridge)
    size = moments.scatter.diagonal() + moments.weight * moments.mean**2
    return solve(moments.scatter, at, to, ridge, size)


def cautions_of(
    solution: Solution, names: Sequence[str], where: str
) -> tuple[TransferWarning, ...]:
    """Return what should be said about a solution."""
    if solution.dependent:
        return (RankDeficient([names[j] for j in solution.dependent], where),)
    if solution.error > ROUNDED:
        return (DigitsLost(where, solution.error, solution.better),)
    return ()


def _check_ddof(ddof: Ddof) -> None:
    if ddof not in ("unbiased", "mle"):
        raise BadOption("ddof", ddof, "'unbiased' or 'mle'")


def recentred(covariance: Array, old: Array, new: Array) -> Array:
    """Return a covariance of (level, coef) for a level at another centre."""
    T = np.eye(len(covariance))
    T[0, 1:] = new - old
    return T @ covariance @ T.T


def _all_held(values: Array | None, exponents: NDArray[np.intp]) -> Array | None:
    """Return numbers times powers of two, or None where doubles cannot hold all of them."""
    if values is None:
        return None
    with np.errstate(over="ignore", under="ignore"):
        held: Array = np.ldexp(values, exponents)
    fits = np.isfinite(held).all() and ((held == 0.0) == (values == 0.0)).all()
    return held if fits else None


def _bounds_held(bounds: tuple[float, float] | None, exponent: int) -> tuple[float, float] | None:
    """Return bounds times a power of two, the largest doubles where they are beyond."""
    if bounds is None:
        return None
    with np.errstate(over="ignore"):
        low, high = np.clip(np.ldexp(bounds, exponent), -LARGEST, LARGEST)
    return float(low), float(high)


def held(value: float | None, exponent: int) -> float | None:
    """Return a number times a power of two, or None where a double cannot hold it."""
    if value is None:
        return None
    one = _all_held(np.array([value]), np.array([exponent]))
    return None if one is None else float(one[0])


def _units(at: Array, model: Array) -> tuple[NDArray[np.intp], int]:
    """Return units of the features and of the response in which no term of a sum is above one.

    The terms are those of (level, coef), or of their errors, times features at a point.
    """
    own = np.where(at != 0.0, np.frexp(at)[1], -4000).astype(np.intp)
    size = np.frexp(model)[1] + np.append(0, own)
    return own, int(size.max(where=model != 0.0, initial=-4000))


def _is_extreme(*numbers: Array | float) -> bool:
    """Say whether a product of two of these, or of three, may be too large."""
    return any(np.abs(n).max(initial=0.0) > 1e100 for n in numbers)
