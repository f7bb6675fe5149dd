"""Least squares from moments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from poolwise._typing import Array
from poolwise.errors import BadOption, DigitsLost, PoolwiseWarning, RankDeficient
from poolwise.linear.linear_fit import LinearFit
from poolwise.linear.student_t import NORMAL, StudentT
from poolwise.moments.moments import Moments
from poolwise.numerics.double_double import Pair, two_sum
from poolwise.numerics.least_squares import Solution, solve

Ddof: TypeAlias = Literal["unbiased", "mle"]

ROUNDED = 1e-8  # relative rounding error of coefficients that needs no warning


def regress(
    moments: Moments,
    response: str,
    features: Sequence[str] | None = None,
    *,
    intercept: bool = True,
    ridge: float | Array = 0.0,
    ddof: Ddof = "unbiased",
    label: str = "the data",
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
        Whether to fit an intercept.
    ridge : float or array of shape (d,), default=0.0
        Added to the diagonal of the features' scatter.
    ddof : {"unbiased", "mle"}, default="unbiased"
        Divide the residual by (rows - coefficients), or by rows.
    label : str, default="the data"
        Name of the data in warnings.

    Returns
    -------
    LinearFit
        With covariance ``noise * inverse`` if ``noise`` is known and ``ridge`` is zero.
    """
    if ddof not in ("unbiased", "mle"):
        raise BadOption.of("ddof", ddof, "'unbiased' or 'mle'")
    others = [n for n in moments.names if n != response]
    names = tuple(others if features is None else features)
    solution = solve_named(moments, names, [response], intercept=intercept, ridge=ridge)
    free = moments.weight - solution.rank - intercept
    divisor = moments.weight if ddof == "mle" else free
    noise = float(solution.residual[0, 0]) / divisor if free > 0 else None
    coef, centre, at_zero = solution.coef[:, 0], np.zeros(len(names)), None
    level, level_tail = 0.0, 0.0
    if intercept:
        at, y = [moments.place[n] for n in names], moments.place[response]
        centre = moments.mean[at]
        below = moments.mean_tail[y] - moments.mean_tail[at] @ coef.high
        level, level_tail = map(float, two_sum(moments.mean[y], below))
        if solution.inverse.low.any():  # else doubles are enough
            mean = moments.mean_pair[at]
            spread = (mean * (solution.inverse @ mean[:, None])[:, 0]).total()
            at_zero = float((Pair.of(1.0) / moments.weight_pair + spread).high)
    covariance = None
    if noise is not None and not np.any(ridge):
        covariance = np.zeros((len(names) + 1, len(names) + 1))
        covariance[0, 0] = noise / moments.weight if intercept else 0.0
        covariance[1:, 1:] = noise * solution.inverse.high
    return LinearFit(
        names=names,
        coef=coef.high,
        centre=centre,
        level=level,
        covariance=covariance,
        noise=noise,
        dropped={names[j]: f"constant in {label}" for j in solution.constant},
        cautions=cautions_of(solution, names, label),
        rounding=np.concatenate(([level_tail], coef.low)),
        intercept_variance=None if noise is None or at_zero is None else noise * at_zero,
        distribution=StudentT(free) if noise is not None else NORMAL,
    )


def solve_named(
    moments: Moments,
    features: Sequence[str],
    responses: Sequence[str],
    *,
    intercept: bool = True,
    ridge: float | Array = 0.0,
) -> Solution:
    """Least squares of several columns on the same features, by name."""
    at, to, exact = moments.index(features), moments.index(responses), moments.sums is not None
    if not intercept:
        return solve(moments.about_zero(), at, to, ridge, exact=exact)
    size = moments.scatter.high.diagonal() + moments.weight * moments.mean**2
    return solve(moments.scatter, at, to, ridge, size, exact=exact)


def cautions_of(
    solution: Solution, names: Sequence[str], label: str
) -> tuple[PoolwiseWarning, ...]:
    """Return warnings about a solution."""
    if solution.dependent:
        return (RankDeficient.of([names[j] for j in solution.dependent], label),)
    if solution.error > ROUNDED:
        what = (
            f"The columns of {label} are so nearly dependent that rounding may change the "
            f"coefficients by about {solution.error:.0e} of their size."
        )
        hint = "Drop or combine some of them."
        if solution.better:
            hint = f"Compute the moments again with precision={solution.better!r}."
        return (DigitsLost(what, hint, precision=solution.better),)
    return ()
