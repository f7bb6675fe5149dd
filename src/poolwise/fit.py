"""LinearFit, what every method returns, and regress(), least squares from moments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from poolwise.double_double import Array, Pair
from poolwise.errors import (
    BadOption,
    BeyondDoubles,
    DigitsLost,
    RankDeficient,
    TransferWarning,
    VarianceLeftOut,
)
from poolwise.least_squares import Solution, plain_residual, solve
from poolwise.moments import Moments

Ddof: TypeAlias = Literal["unbiased", "mle"]

POOR = 1e-6  # relative error of coefficients due to rounding that the user should know of


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

    @cached_property
    def intercept(self) -> float:
        """Prediction where all features are zero."""
        tail = np.zeros(len(self.coef) + 1) if self.tail is None else self.tail
        level, coef = Pair(np.array(self.level), tail[0]), Pair(self.coef, tail[1:])
        return float((level - (coef * Pair.of(self.centre)).total()).high)

    @cached_property
    def standard_errors(self) -> Array | None:
        """Standard errors of (intercept, coef), where there is a covariance."""
        if self.covariance is None:
            return None
        variance = recentred(self.covariance, self.centre, 0.0 * self.centre).diagonal().copy()
        if self.intercept_variance is not None:
            variance[0] = self.intercept_variance
        return np.sqrt(np.maximum(variance, 0.0))

    def times_units(self, units: Mapping[str, int], response: str) -> LinearFit:
        """Return the fit of columns that had been divided by powers of two before it was made.

        A noise or a covariance that no double can hold is left out, with a caution.
        """
        if not units:
            return self
        own = np.array([units.get(n, 0) for n in self.names], dtype=np.intp)
        theirs = units.get(response, 0)
        both = np.concatenate(([theirs], theirs - own))
        with np.errstate(over="ignore", under="ignore"):
            level = np.ldexp(self.level, theirs)
            coef = np.ldexp(self.coef, theirs - own)
            lost = ~np.isfinite(coef) | ((coef == 0.0) != (self.coef == 0.0))
            if lost.any():
                raise BeyondDoubles([self.names[j] for j in np.flatnonzero(lost)])
            covariance = _held(self.covariance, both[:, None] + both)
            noise = _held(self.noise, 2 * theirs)
            variance = _held(self.intercept_variance, 2 * theirs)
            sources = {n: _held(v, 2 * theirs) for n, v in self.source_noise.items()}
        cautions = self.cautions
        if (noise is None) > (self.noise is None) or (covariance is None) > (
            self.covariance is None
        ):
            cautions += (VarianceLeftOut(list(units)),)
        return replace(
            self,
            coef=coef,
            centre=np.ldexp(self.centre, own),
            level=float(level),
            covariance=covariance,
            noise=None if noise is None else float(noise),
            source_noise={n: None if v is None else float(v) for n, v in sources.items()},
            cautions=cautions,
            tail=None if self.tail is None else np.ldexp(self.tail, both),
            intercept_variance=None if variance is None else float(variance),
        )

    def predict(self, X: Array) -> Array:
        """Return the prediction for each row of features."""
        return (X - self.centre) @ self.coef + self.level


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
    solution = solve_named(moments, names, [response], intercept=intercept, ridge=ridge)
    free = moments.weight - solution.rank - intercept
    divisor = moments.weight if ddof == "mle" else free
    noise = float(solution.residual[0, 0]) / divisor if free > 0 else None
    coef, centre, level = solution.coef[:, 0], Pair.of(np.zeros(len(names))), Pair.of(0.0)
    intercept_variance = 0.0
    if intercept:
        mean = moments.mean_pair[moments.index(names)]
        centre = Pair.of(mean.high)
        tail = Pair.of(mean.low) * coef
        level = moments.mean_pair[moments.index([response])[0]] - tail.total()
        spread = mean * (solution.inverse @ mean[:, None])[:, 0]
        intercept_variance = float((Pair.of(1.0) / moments.weight_pair + spread.total()).high)
    covariance = None
    if noise is None or ridge != 0.0:
        at_zero = None
    else:
        at_zero = noise * intercept_variance
        covariance = np.zeros((len(names) + 1, len(names) + 1))
        covariance[0, 0] = noise / moments.weight if intercept else 0.0
        covariance[1:, 1:] = noise * solution.inverse.high
    return LinearFit(
        names=names,
        coef=coef.high,
        centre=centre.high,
        level=float(level.high),
        covariance=covariance,
        noise=noise,
        dropped={names[j]: f"constant in {where}" for j in solution.constant},
        cautions=cautions_of(solution, names, where),
        tail=np.concatenate(([level.low], coef.low)),
        intercept_variance=at_zero,
    )


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
    if intercept and free > 0:
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
    size = moments.scatter.diagonal() + moments.weight * moments.mean**2
    return solve(moments.scatter, at, to, ridge, size)


def cautions_of(
    solution: Solution, names: Sequence[str], where: str
) -> tuple[TransferWarning, ...]:
    """Return what should be said about a solution."""
    if solution.dependent:
        return (RankDeficient([names[j] for j in solution.dependent], where),)
    return (DigitsLost(where, solution.error),) if solution.error > POOR else ()


def _check_ddof(ddof: Ddof) -> None:
    if ddof not in ("unbiased", "mle"):
        raise BadOption("ddof", ddof, "'unbiased' or 'mle'")


def recentred(covariance: Array, old: Array, new: Array) -> Array:
    """Return a covariance of (level, coef) for a level at another centre."""
    T = np.eye(len(covariance))
    T[0, 1:] = new - old
    return T @ covariance @ T.T


def _held(value: Array | float | None, exponent: NDArray[np.intp] | int) -> Array | None:
    """Return a number or an array times a power of two, or None where a double cannot hold it."""
    if value is None:
        return None
    held: Array = np.ldexp(np.asarray(value, dtype=np.float64), exponent)
    fits = np.isfinite(held).all() and ((held == 0.0) == (np.asarray(value) == 0.0)).all()
    return held if fits else None
