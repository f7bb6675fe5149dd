"""LinearFit, what every method returns, and regress(), least squares from moments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from poolwise.double_double import Array
from poolwise.errors import BadOption, RankDeficient, TransferWarning
from poolwise.least_squares import Solution, plain_residual, solve
from poolwise.moments import Moments

Ddof: TypeAlias = Literal["unbiased", "mle"]


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

    @property
    def intercept(self) -> float:
        """Prediction where all features are zero."""
        return float(self.level - self.centre @ self.coef)

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
    covariance = None
    if noise is not None and ridge == 0.0:
        covariance = np.zeros((len(names) + 1, len(names) + 1))
        covariance[0, 0] = noise / moments.weight if intercept else 0.0
        covariance[1:, 1:] = noise * solution.inverse
    return LinearFit(
        names=names,
        coef=solution.coef[:, 0],
        centre=moments.mean[moments.index(names)] if intercept else np.zeros(len(names)),
        level=moments.mean_of(response) if intercept else 0.0,
        covariance=covariance,
        noise=noise,
        dropped={names[j]: f"constant in {where}" for j in solution.constant},
        cautions=cautions_of(solution, names, where),
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
    scatter = moments.scatter if intercept else moments.about_zero()
    return solve(scatter, moments.index(features), moments.index(responses), ridge)


def cautions_of(
    solution: Solution, names: Sequence[str], where: str
) -> tuple[TransferWarning, ...]:
    """Return what should be said about a solution."""
    if not solution.dependent:
        return ()
    return (RankDeficient([names[j] for j in solution.dependent], where),)


def _check_ddof(ddof: Ddof) -> None:
    if ddof not in ("unbiased", "mle"):
        raise BadOption("ddof", ddof, "'unbiased' or 'mle'")
