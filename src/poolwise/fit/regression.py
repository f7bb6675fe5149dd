"""regress(): least squares from moments, by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from poolwise.double_double import Array, Pair, two_sum
from poolwise.errors import BadOption, DigitsLost, RankDeficient, TransferWarning, VarianceLeftOut
from poolwise.fit.linear_fit import LinearFit
from poolwise.least_squares import Solution, plain_residual, solve
from poolwise.moments import Moments
from poolwise.tails import NORMAL, Tails

Ddof: TypeAlias = Literal["unbiased", "mle"]

ROUNDED = 1e-8  # share of the coefficients that rounding may change without a word


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


def _check_ddof(ddof: Ddof) -> None:
    if ddof not in ("unbiased", "mle"):
        raise BadOption("ddof", ddof, "'unbiased' or 'mle'")


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
