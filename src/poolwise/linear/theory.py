r"""The paper's theory as functions: variance, transfer gain, and its sign.

All of it is stated for (level, coef), the prediction at a centre and the coefficients. With the
row :math:`u = (1, x - \text{centre})`, :math:`\Sigma_k = \sum_{i \in k} w_i u_i^\top u_i`.

References
----------
.. [1] Silvestrin, van Zanten, Hoogendoorn, Koole. Transfer Learning Across Datasets with
   Different Input Dimensions: An Algorithm and Analysis for the Linear Regression Case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from poolwise._typing import Array
from poolwise.errors import TooFewRows
from poolwise.linear.linear_fit import LinearFit, recentred
from poolwise.linear.problem import Problem
from poolwise.linear.regress import solve_named
from poolwise.moments.moments import Moments
from poolwise.numerics.least_squares import inverse_of
from poolwise.numerics.options import check_number

POOR_VARIANCE = 1e-3  # largest relative rounding error of a variance that is returned


@dataclass(frozen=True, eq=False)
class PooledTable:
    r"""One table of a pooled fit.

    Parameters
    ----------
    moments : Moments
        Of all features of the model; those that a source lacks are filled with a constant.
    noise : float
        Variance of a row's residual, :math:`\sigma_k^2`.
    weight : float, optional
        Weight :math:`\alpha_k` of a row; the optimal :math:`1/\sigma_k^2` unless given.
    """

    moments: Moments
    noise: float
    weight: float | None = None

    def __post_init__(self) -> None:
        check_number("noise", self.noise, positive=self.weight is None)

    @property
    def alpha(self) -> float:
        """Weight of a row."""
        return 1.0 / self.noise if self.weight is None else self.weight

    def design(self, features: Sequence[str], centre: Array) -> Array:
        r"""Return :math:`\Sigma_k`."""
        step = self.moments.mean[self.moments.index(features)] - centre
        row = np.concatenate(([1.0], step))
        design = self.moments.weight * np.outer(row, row)
        design[1:, 1:] += self.moments.scatter_between(features, features)
        return design


def pooled_variance(
    parts: Sequence[PooledTable], features: Sequence[str], centre: Array, *, intercept: bool = True
) -> Array:
    r"""Variance of the pooled estimator for any weights.

    .. math:: \operatorname{Var}(\hat\theta_\alpha) = M^{-1} \Bigl(\sum_k \alpha_k^2 \sigma_k^2
       \Sigma_k\Bigr) M^{-1}, \qquad M = \sum_k \alpha_k \Sigma_k

    (eq. 6 of [1]_, for any number of sources). With the optimal weights it is :math:`M^{-1}`.
    Assumes that each table has the same coefficients, and that a source's unseen features have
    the value they were filled with as mean and are uncorrelated with the others.

    Parameters
    ----------
    parts : sequence of PooledTable
        The target and the sources.
    features : sequence of str
        Features of the model.
    centre : array of shape (d,)
        Where the level is taken.
    intercept : bool, default=True
        Whether the level is estimated; if not, its row and column are zero and the centre must be
        zero.

    Returns
    -------
    array of shape (d + 1, d + 1)
    """
    designs = [part.design(features, centre) for part in parts]
    most = max(p.alpha * p.moments.weight for p in parts) or 1.0
    shares = [p.alpha / most for p in parts]  # the unit of the weights does not matter
    weighed = [a * S for a, S in zip(shares, designs, strict=True)]
    M = sum(weighed)
    middle = sum(a * p.noise * S for a, p, S in zip(shares, parts, weighed, strict=True))
    M_inverse = _inverse(np.asarray(M), intercept=intercept)
    return np.asarray(M_inverse @ middle @ M_inverse)


def variance_gain(
    target: PooledTable,
    sources: Sequence[PooledTable],
    features: Sequence[str],
    centre: Array,
    *,
    intercept: bool = True,
) -> Array:
    r"""Variance of target-only least squares minus the variance of the pooled estimator.

    It is the matrix :math:`H` between :math:`x` and its transpose in eq. 11 of [1]_; parameters as
    in :func:`pooled_variance`.
    """
    _require_full_rank(target, features, intercept=intercept)
    alone = pooled_variance([target], features, centre, intercept=intercept)
    return alone - pooled_variance([target, *sources], features, centre, intercept=intercept)


def optimal_variance_gain(
    target: PooledTable,
    sources: Sequence[PooledTable],
    features: Sequence[str],
    centre: Array,
    *,
    intercept: bool = True,
) -> Array:
    r"""Return `variance_gain` at the optimal weights, in the form that shows its sign.

    With :math:`A = \Sigma_T / \sigma^2` and :math:`R^\top R = \sum_s \Sigma_s / \sigma_s^2`,
    Woodbury's identity gives

    .. math:: H = A^{-1} R^\top (I + R A^{-1} R^\top)^{-1} R A^{-1},

    positive semidefinite as a square (the theorem of non-negative gain in [1]_, whose form with
    :math:`C^{-1}` needs sources of full rank). It is computed as that square, so its sign
    survives rounding.
    """
    _require_full_rank(target, features, intercept=intercept)
    A_inverse = pooled_variance(
        [PooledTable(target.moments, target.noise)], features, centre, intercept=intercept
    )
    d = len(features)
    C = np.zeros((d + 1, d + 1)) + sum(s.design(features, centre) / s.noise for s in sources)
    if not intercept:
        C[0, :] = C[:, 0] = 0.0
    size = np.sqrt(C.diagonal())  # zero for features that no source has: so are R's columns then
    scale = np.where(size > 0.0, size, 1.0)
    values, vectors = np.linalg.eigh(C / np.outer(scale, scale))
    R = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T * size
    L = np.linalg.cholesky(np.eye(d + 1) + R @ A_inverse @ R.T)
    half = np.linalg.solve(L, R @ A_inverse)
    return np.asarray(half.T @ half)


def gain_at(H: Array, X: ArrayLike, centre: Array) -> Array:
    r"""Transfer gain :math:`\mathcal G(x) = u H u^\top` at given points (eq. 10 of [1]_)."""
    u = np.insert(np.atleast_2d(np.asarray(X, dtype=np.float64)) - centre, 0, 1.0, axis=1)
    return np.asarray(np.einsum("ij,jk,ik->i", u, H, u))


def expected_gain(H: Array, moments: Moments, features: Sequence[str], centre: Array) -> float:
    """Transfer gain, averaged over the rows of a table."""
    design = PooledTable(moments, 1.0).design(features, centre) / moments.weight
    return float(np.sum(H * design))


def transfer_gain_of(problem: Problem, fit: LinearFit) -> float | None:
    """Return the expected transfer gain of a fit over the target's rows.

    It follows from the model, with estimated noise. None where the fit has no covariance, the
    target alone does not determine its coefficients, the gain overflows, or the columns are so
    nearly dependent that no digit of the gain would be correct.
    """
    alone = problem.target_fit
    if not problem.sources or (fit.weights and not any(fit.weights.values())):
        return 0.0
    if fit.covariance is None or alone.covariance is None or alone.cautions:
        return None
    if problem.target.rounding_error(problem.features) > POOR_VARIANCE:
        return None
    ratio = fit.noise / alone.noise if fit.noise and alone.noise else 1.0  # of their divisors
    with np.errstate(over="ignore", invalid="ignore"):
        H = recentred(ratio * alone.covariance, alone.centre, fit.centre) - fit.covariance
        gain = expected_gain(H, problem.target, fit.names, fit.centre)
    return gain if np.isfinite(gain) else None


def empirical_gain(alone: LinearFit, pooled: LinearFit, X: ArrayLike, y: ArrayLike) -> float:
    """Mean squared error of one fit minus the error of another, on rows new to both.

    This is eq. 13 of [1]_, and eq. 14 too, since a fit carries the shift of its features.
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    return float(np.mean((y - alone.predict(X)) ** 2 - (y - pooled.predict(X)) ** 2))


def _require_full_rank(target: PooledTable, features: Sequence[str], *, intercept: bool) -> None:
    rank = solve_named(target.moments, features, (), intercept=intercept).rank
    if rank < len(features):
        raise TooFewRows(
            f"The target determines {rank} of {len(features)} coefficients, so the variance of "
            "target-only least squares is infinite and there is no gain to compute.",
            "Leave out dependent features, or collect more rows.",
        )


def _inverse(M: Array, *, intercept: bool) -> Array:
    if intercept:
        return inverse_of(M)
    inverse = np.zeros_like(M)
    inverse[1:, 1:] = inverse_of(M[1:, 1:])
    return inverse
