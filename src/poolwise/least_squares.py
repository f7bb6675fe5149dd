"""Least squares from a scatter: scaling, rank, solution, inverse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poolwise.double_double import Array
from poolwise.scatter import Scatter

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Solution:
    """Coefficients of several responses on the same features, and what they leave over.

    Parameters
    ----------
    coef : array of shape (p, q)
        One column per response. Constant features have coefficient zero.
    residual : array of shape (q, q)
        Scatter of the residuals; exactly zero where it cannot be told from rounding.
    inverse : array of shape (p, p)
        Inverse of the features' scatter, a generalised one where that is singular.
    rank : int
        Number of independent features.
    constant : tuple of int
        Features that do not vary.
    dependent : tuple of int
        Features that take part in an exact linear relation.
    """

    coef: Array
    residual: Array
    inverse: Array
    rank: int
    constant: tuple[int, ...]
    dependent: tuple[int, ...]


def solve(
    scatter: Scatter, features: Sequence[int], responses: Sequence[int], ridge: float = 0.0
) -> Solution:
    r"""Minimise the residual scatter, plus ``ridge`` times the squared norm of the coefficients.

    The features' matrix :math:`A` is scaled by powers of two to a diagonal in [1, 4), so no digit
    is lost. Its rank is the number of eigenvalues above :math:`4 p \varepsilon` times the
    largest, once the diagonal is made one. At full rank, Cholesky with one step of refinement;
    below it, the solution of least norm in units of standard deviations, which does not depend on
    the units of the features.
    """
    S = scatter.rounded()
    A = S[np.ix_(features, features)] + ridge * np.eye(len(features))
    B, C = S[np.ix_(features, responses)], S[np.ix_(responses, responses)]
    varies = np.flatnonzero(A.diagonal() > 0.0)
    scale = 2.0 ** -np.floor(np.log2(np.sqrt(A.diagonal()[varies])))
    scaled = A[np.ix_(varies, varies)] * np.outer(scale, scale)
    inverse_scaled, rank, dependent = _inverse(scaled)
    right = B[varies] * scale[:, None]
    beta = inverse_scaled @ right
    beta += inverse_scaled @ (right - scaled @ beta)  # one step of refinement

    coef = np.zeros(B.shape)
    coef[varies] = beta * scale[:, None]
    inverse = np.zeros(A.shape)
    inverse[np.ix_(varies, varies)] = inverse_scaled * np.outer(scale, scale)
    return Solution(
        coef=coef,
        residual=_residual(A - ridge * np.eye(len(features)), B, C, coef),
        inverse=inverse,
        rank=rank,
        constant=tuple(int(j) for j in np.flatnonzero(A.diagonal() <= 0.0)),
        dependent=tuple(int(varies[j]) for j in dependent),
    )


def _inverse(A: Array) -> tuple[Array, int, tuple[int, ...]]:
    if not A.size:
        return A, 0, ()
    unit = 1.0 / np.sqrt(A.diagonal())  # exactly standard deviations: the norm knows no units
    values, vectors = np.linalg.eigh(A * np.outer(unit, unit))
    kept = values > 4 * len(A) * EPS * values[-1]
    rank = int(np.count_nonzero(kept))
    if rank < len(A):
        null = vectors[:, ~kept]
        related = np.flatnonzero((null**2).sum(axis=1) > 1e-10)
        U = unit[:, None] * vectors[:, kept]
        return (U / values[kept]) @ U.T, rank, tuple(int(j) for j in related)
    half = np.linalg.solve(np.linalg.cholesky(A), np.eye(len(A)))
    return half.T @ half, rank, ()


def _residual(A: Array, B: Array, C: Array, coef: Array) -> Array:
    """Return the residual scatter as a quadratic form, which forgives small errors of coef."""
    residual: Array = C - B.T @ coef - coef.T @ B + coef.T @ A @ coef
    # What was added and subtracted to get there: with large coefficients that cancel, the rounding
    # of the terms is far above that of the total.
    size = np.abs(coef)
    terms = C.diagonal() + (size * (2.0 * np.abs(B) + np.abs(A) @ size)).sum(axis=0)
    zero = residual.diagonal() <= 16 * (len(A) + 1) * EPS * terms
    residual[zero, :] = residual[:, zero] = 0.0
    return residual
