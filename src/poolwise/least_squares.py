"""Least squares from a scatter: scaling, rank, solution, inverse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poolwise.double_double import Array, Pair
from poolwise.scatter import Scatter

EPS = float(np.finfo(np.float64).eps)
PLAIN = 1e-4  # a pivot above this is far from zero: at most four digits are lost
# What may be left of a column's variance, per feature, before it counts as nothing: in doubles
# because sums of squares are rounded there, in pairs because the columns themselves are.
LEFT_IN_DOUBLES = 4 * EPS
LEFT_IN_PAIRS = 2.0**-84
SAFE = 1e-6  # share of an inverse in doubles that may be wrong, for refinement to mend it


@dataclass(frozen=True, eq=False)
class Solution:
    """Coefficients of several responses on the same features, and what they leave over.

    Parameters
    ----------
    coef : Pair of shape (p, q)
        One column per response. Constant features have coefficient zero.
    residual : array of shape (q, q)
        Scatter of the residuals; exactly zero where it cannot be told from rounding.
    inverse : Pair of shape (p, p)
        Inverse of the features' scatter, a generalised one where that is singular.
    rank : int
        Number of independent features.
    constant : tuple of int
        Features that do not vary.
    dependent : tuple of int
        Features that take part in an exact linear relation.
    error : float
        Estimate of the coefficients' relative error due to rounding, in standard deviations.
    """

    coef: Pair
    residual: Array
    inverse: Pair
    rank: int
    constant: tuple[int, ...]
    dependent: tuple[int, ...]
    error: float


class _Inverse(NamedTuple):
    """An inverse, a generalised one below full rank, and the features that are related."""

    values: Pair
    rank: int
    dependent: tuple[int, ...]


def solve(
    scatter: Scatter,
    features: Sequence[int],
    responses: Sequence[int],
    ridge: float = 0.0,
    about_zero: Array | None = None,
) -> Solution:
    r"""Minimise the residual scatter, plus ``ridge`` times the squared norm of the coefficients.

    All columns are scaled by powers of two to a diagonal in [1, 4), which loses no digit. The rank
    is found by a Cholesky factorisation with pivots, the columns scaled to a diagonal of one: the
    column of which the earlier ones leave most comes next, and a column counts as dependent if
    they leave at most :math:`4 p \varepsilon` of it, or :math:`2^{-84} p` where the scatter has
    two doubles, times what the column's distance from zero adds to its rounding. Well conditioned
    equations are solved in doubles and refined, others in pairs of doubles from the start. Below
    full rank the solution of least norm in units of standard deviations is taken, which does not
    depend on the units of the features.

    Parameters
    ----------
    scatter : Scatter
        Of features and responses.
    features, responses : sequence of int
        Which of its columns they are.
    ridge : float, default=0.0
        Penalty.
    about_zero : array, optional
        Sum of the squares of each column, where the scatter is about its mean: it tells how far
        the column's own rounding reaches.
    """
    p, order = len(features), [*features, *responses]
    picked = scatter.picked(order)
    S, size = picked.pair, picked.diagonal().copy()
    size[:p] += ridge
    far = np.ones(len(order))
    if about_zero is not None:
        far = np.maximum(about_zero[order] / np.where(size > 0.0, size, np.inf), 1.0)
    scale = np.where(size > 0.0, 2.0 ** -np.floor(np.log2(np.sqrt(np.where(size > 0, size, 1)))), 0)
    S = S.scaled(scale[:, None] * scale)
    varies = np.flatnonzero(size[:p] > 0.0)
    A, B, C = S[:p, :p], S[:p, p:], S[p:, p:]
    left = A
    if ridge:
        left = A + Pair.of(np.diag(scale[:p] ** 2)) * Pair.of(ridge)
    part = varies[:, None], varies
    inner = left if len(varies) == p else left[part]
    plain = _plain_inverse(inner.high)
    if scatter.is_plain and plain is not None and plain[1] * p < 1.0:
        found = _Inverse(Pair.of(plain[0]), len(varies), ())
        error = plain[1]
    else:
        least = LEFT_IN_DOUBLES if scatter.is_plain else LEFT_IN_PAIRS * far[varies]
        found = _inverse(inner, plain, least * len(varies))
        error = 0.0
        if scatter.is_plain:
            error = LEFT_IN_DOUBLES * _inflation(inner.high, found.values.high)
    inverse = found.values
    if len(varies) < p:
        inverse = Pair.of(np.zeros((p, p)))
        inverse.high[part], inverse.low[part] = found.values.high, found.values.low
    if scatter.is_plain:
        beta = inverse.high @ B.high
        beta += inverse.high @ (B.high - left.high @ beta)  # one step of refinement
        coef, residual = Pair.of(beta), _residual(A.high, B.high, C.high, beta)
    else:
        coef = inverse @ B
        coef = coef + Pair.of(inverse.high @ (B - left @ coef).high)
        residual = _residual_in_pairs(A, B, C, coef, far)
    back = scale[p:, None] * scale[p:]
    back = np.divide(1.0, back, out=np.zeros(back.shape), where=back > 0.0)
    to_coef = np.divide(1.0, scale[p:], out=np.zeros(len(order) - p), where=scale[p:] > 0.0)
    return Solution(
        coef=coef.scaled(scale[:p, None] * to_coef),
        residual=residual * back,
        inverse=inverse.scaled(scale[:p, None] * scale[:p]),
        rank=found.rank,
        constant=tuple(int(j) for j in np.flatnonzero(size[:p] <= 0.0)),
        dependent=tuple(int(varies[j]) for j in found.dependent),
        error=error,
    )


def plain_residual(scatter: Scatter, features: Sequence[int], response: int) -> float | None:
    """Return the residual scatter of one response where doubles are enough for it, else None.

    With all columns scaled to a diagonal of one and the response last, the last pivot of a Cholesky
    factor is the share that the features leave over. Small pivots are for :func:`solve` to judge.
    """
    if not scatter.is_plain:
        return None
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


def rounding_error(scatter: Scatter, features: Sequence[int]) -> float:
    """Estimate the relative error that rounding the scatter to doubles leaves in coefficients."""
    A = scatter.between(features, features)
    varies = np.flatnonzero(A.diagonal() > 0.0)
    plain = _plain_inverse(_unit_diagonal(A[varies[:, None], varies]))
    return np.inf if plain is None else plain[1]


def inverse_of(matrix: Array) -> Array:
    """Return the inverse of a scatter, a generalised one where it is singular."""
    return solve(Scatter.of(matrix.copy()), range(len(matrix)), ()).inverse.high


def _plain_inverse(A: Array) -> tuple[Array, float] | None:
    """Return the inverse in doubles and its error, or None where a matrix seems indefinite."""
    try:
        half = np.linalg.inv(np.linalg.cholesky(A))
    except np.linalg.LinAlgError:
        return None
    inverse = half.T @ half
    return inverse, LEFT_IN_DOUBLES * _inflation(A, inverse)


def _inflation(A: Array, inverse: Array) -> float:
    """Return a bound of the condition: features times the sum of their variance inflation."""
    return len(A) * float(inverse.diagonal() @ A.diagonal())


def _unit_diagonal(A: Array) -> Array:
    unit = 1.0 / np.sqrt(A.diagonal())
    return A * unit[:, None] * unit


def _residual(A: Array, B: Array, C: Array, beta: Array) -> Array:
    """Return the residual scatter as a quadratic form, which forgives small errors of beta."""
    residual: Array = C - B.T @ beta - beta.T @ B + beta.T @ A @ beta
    # What was added and subtracted to get there: with large coefficients that cancel, the rounding
    # of the terms is far above that of the total.
    size = np.abs(beta)
    terms = C.diagonal() + (size * (2.0 * np.abs(B) + np.abs(A) @ size)).sum(axis=0)
    return _cleared(residual, 4 * (len(A) + 1) * LEFT_IN_DOUBLES * terms)


def _residual_in_pairs(A: Pair, B: Pair, C: Pair, beta: Pair, far: Array) -> Array:
    residual = (C - B.T @ beta - beta.T @ (B - A @ beta)).high
    # The columns themselves are rounded: what is explained to their last digits is explained.
    p = len(A)
    terms = far[p:] * C.high.diagonal() + (far[:p] * A.high.diagonal()) @ beta.high**2
    return _cleared(residual, 16 * (p + 1) * LEFT_IN_PAIRS * terms)


def _cleared(residual: Array, rounding: Array) -> Array:
    """Set to zero what cannot be told from rounding."""
    zero = residual.diagonal() <= rounding
    residual[zero, :] = residual[:, zero] = 0.0
    return residual


def _inverse(A: Pair, plain: tuple[Array, float] | None, left: Array | float) -> _Inverse:
    """Return the inverse with all digits; columns of which at most ``left`` is left depend."""
    if plain is not None and plain[1] < SAFE:
        return _Inverse(_refined(A, plain[0]), len(A), ())
    unit = Pair.of(1.0 / np.sqrt(A.high.diagonal()))
    correlation = A * unit[:, None] * unit[None, :]
    factor, order = _cholesky(correlation, np.broadcast_to(left, len(A)))
    if len(order) == len(A):
        half = _inverse_of_lower(factor[order])[:, np.argsort(order)]
        return _Inverse(half.T @ half * unit[:, None] * unit[None, :], len(A), ())
    square = factor.T @ factor
    across = factor @ _inverse(square, _plain_inverse(square.high), 0.0).values
    null = 1.0 - (across @ factor.T).high.diagonal()
    related = tuple(int(j) for j in np.flatnonzero(null > 1e-10))
    return _Inverse(across @ across.T * unit[:, None] * unit[None, :], len(order), related)


def _refined(A: Pair, inverse: Array) -> Pair:
    """Mend an inverse by Newton's iteration, which doubles its digits each time."""
    X, one = Pair.of(inverse), Pair.eye(len(A))
    for _ in range(4):
        wrong = (one - A @ X).high
        X = X + Pair.of(X.high @ wrong)
        if np.abs(wrong).max(initial=0.0) < 1e-13:
            break
    return (X + X.T).scaled(0.5)


def _cholesky(A: Pair, left: Array) -> tuple[Pair, NDArray[np.intp]]:
    """Factor a matrix with unit diagonal, the largest pivot first, until no pivot is left.

    Returns the factor, one column per pivot, and the order of the pivots.
    """
    p = len(A)
    high, low = np.zeros((p, p)), np.zeros((p, p))
    order: list[int] = []
    still = np.arange(p)
    while len(still):
        pivots = A.high.diagonal() - left[still]
        j = int(np.argmax(pivots))
        if not pivots[j] > 0.0:
            break
        column = A[:, j] / A[j, j].sqrt()
        high[still, len(order)], low[still, len(order)] = column.high, column.low
        order.append(int(still[j]))
        rest = np.delete(np.arange(len(still)), j)
        A, column, still = A[rest[:, None], rest], column[rest], still[rest]
        A = A - column[:, None] * column[None, :]
    r = len(order)
    return Pair(high[:, :r], low[:, :r]), np.array(order, dtype=np.intp)


def _inverse_of_lower(L: Pair) -> Pair:
    """Invert a lower triangular matrix by forward substitution."""
    rest, inverse = Pair.eye(len(L)), Pair.eye(len(L))
    for k in range(len(L)):
        row = rest[0] / L[k, k]
        inverse.high[k], inverse.low[k] = row.high, row.low
        rest = rest[1:] - L[k + 1 :, k][:, None] * row[None, :]
    return inverse
