"""Least squares from a scatter: scaling, rank, solution, inverse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poolwise.double_double import Array
from poolwise.scatter import Scatter

EPS = float(np.finfo(np.float64).eps)
PLAIN = 1e-4  # a pivot above this is far from zero: at most four digits are lost
RANK_TOLERANCE = 4 * EPS  # times the number of features and the largest eigenvalue


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
    A = scatter.between(features, features)
    B, C = scatter.between(features, responses), scatter.between(responses, responses)
    size = A.diagonal() + ridge
    varies = np.flatnonzero(size > 0.0)
    scale = np.zeros(len(size))
    scale[varies] = 2.0 ** -np.floor(np.log2(np.sqrt(size[varies])))
    scaled = A * scale[:, None] * scale
    if ridge:
        scaled[np.diag_indices_from(scaled)] += ridge * scale**2
    if len(varies) == len(size):
        inverse, rank, dependent = _inverse(scaled)
    else:
        part = varies[:, None], varies
        inverse = np.zeros(A.shape)
        inverse[part], rank, dependent = _inverse(scaled[part])
    right = B * scale[:, None]
    beta = inverse @ right
    beta += inverse @ (right - scaled @ beta)  # one step of refinement
    coef = beta * scale[:, None]
    return Solution(
        coef=coef,
        residual=_residual(A, B, C, coef),
        inverse=inverse * scale[:, None] * scale,
        rank=rank,
        constant=tuple(int(j) for j in np.flatnonzero(size <= 0.0)),
        dependent=tuple(int(varies[j]) for j in dependent),
    )


def plain_residual(scatter: Scatter, features: Sequence[int], response: int) -> float | None:
    """Return the residual scatter of one response where nothing is near singular, else None.

    With all columns scaled to a diagonal of one and the response last, the last pivot of a Cholesky
    factor is the share that the features leave over. Small pivots are for :func:`solve` to judge.
    """
    S = scatter.between([*features, response], [*features, response])
    size = S.diagonal()
    if not size.min() > 0.0:
        return None
    unit = 1.0 / np.sqrt(size)
    try:
        pivots = np.linalg.cholesky(S * unit[:, None] * unit).diagonal() ** 2
    except np.linalg.LinAlgError:
        return None
    return float(pivots[-1] * size[-1]) if pivots.min() > PLAIN else None


def inverse_of(matrix: Array) -> Array:
    """Return the inverse of a scatter, a generalised one where it is singular."""
    return solve(Scatter.of(matrix.copy()), range(len(matrix)), ()).inverse


def _inverse(A: Array) -> tuple[Array, int, tuple[int, ...]]:
    if not A.size:
        return A, 0, ()
    p, unit = len(A), 1.0 / np.sqrt(A.diagonal())  # exactly standard deviations: no units
    correlation = A * unit[:, None] * unit
    inverse = _cholesky_inverse(correlation)
    # No eigenvalue is below 1/trace(inverse) or above p: most problems need no eigenvalues.
    if inverse is None or RANK_TOLERANCE * p**2 * np.trace(inverse) > 1.0:
        values, vectors = np.linalg.eigh(correlation)
        kept = values > RANK_TOLERANCE * p * values[-1]
        if inverse is None or not kept.all():
            null = vectors[:, ~kept]
            related = np.flatnonzero((null**2).sum(axis=1) > 1e-10)
            U = unit[:, None] * vectors[:, kept]
            return (U / values[kept]) @ U.T, int(kept.sum()), tuple(int(j) for j in related)
    return inverse * unit[:, None] * unit, p, ()


def _cholesky_inverse(A: Array) -> Array | None:
    """Return the inverse, or None where rounding has made a matrix indefinite."""
    try:
        half = np.linalg.inv(np.linalg.cholesky(A))
    except np.linalg.LinAlgError:
        return None
    return half.T @ half


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
