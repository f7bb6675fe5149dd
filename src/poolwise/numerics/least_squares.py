"""Least squares from a scatter: scaling, rank, solution, inverse."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poolwise._typing import Array
from poolwise.numerics.double_double import Pair, two_product
from poolwise.numerics.inverse_root import LEFT_IN_PAIRS, InverseRoot, inverse_root
from poolwise.numerics.scatter import LEFT_IN_DOUBLES, Scatter, inflation

FARTHEST = 2.0**100  # squared distance from zero, in variances, at which no digit is left
# Share of the terms of a residual that is rounding: of sums in pairs, and of sums rounded once.
ROUNDED_SUMS, ROUNDED_ONCE = 2.0**-88, 2.0**-104
# Relative error of these, to be multiplied by the condition.
LEFT_IN_SUMS, LEFT_IN_ONCE = 2.0**-98, 2.0**-104
STEPS = 3  # of refinement where equations are hard
PLAIN = 1e-4  # a pivot above this is far from zero: at most four digits are lost


@dataclass(frozen=True, eq=False)
class Solution:
    """Coefficients of several responses on the same features, and their residuals."""

    coef: Pair  # one column per response; zero for constant features
    residual: Array  # scatter of the residuals, exactly zero where it may be only rounding
    inverse: Pair  # of the features' scatter, a generalised one where that is singular
    rank: int
    constant: tuple[int, ...]  # features that do not vary
    dependent: tuple[int, ...]  # features that take part in an exact linear relation
    error: float  # estimated rounding error of standardised coefficients
    better: str  # the precision that would make it smaller, or empty


def solve(
    scatter: Scatter,
    features: Sequence[int],
    responses: Sequence[int],
    ridge: float | Array = 0.0,
    about_zero: Array | None = None,
    *,
    exact: bool = False,
) -> Solution:
    r"""Minimise the residual scatter, plus ``ridge`` times the squared norm of the coefficients.

    All columns are scaled by powers of two to a diagonal in [1, 4), which loses no digit. The rank
    is found by a Cholesky factorisation with pivots, the columns scaled to a diagonal of one: the
    column of which the earlier ones leave most comes next, and a column counts as dependent if
    they leave at most :math:`4 p \varepsilon` of it, or :math:`2^{-84} p` where the scatter has
    two doubles, times what the column's distance from zero adds to its rounding. Well conditioned
    equations are solved in doubles and refined, others in pairs of doubles. Below full rank the
    standardised coefficients have least norm.

    ``about_zero`` are the sums of squares of the columns where the scatter is about the means, and
    ``exact`` says that the scatter was rounded once, from exact sums.
    """
    p, order = len(features), [*features, *responses]
    picked = scatter.picked(order)
    size = picked.high.diagonal().copy()
    size[:p] += ridge
    there = size > 0.0
    scale = np.where(there, 2.0 ** -np.floor(np.log2(np.where(there, size, 1.0)) / 2.0), 0.0)
    S = picked.pair.scaled(scale[:, None] * scale)
    left = S[:p, :p]  # of the equations; without the ridge it gives the residual
    if np.any(ridge):
        left = left + Pair.of(np.diag(scale[:p] ** 2)) * Pair.of(ridge)
    varies = np.flatnonzero(there[:p])
    part = varies[:, None], varies
    far = np.ones(len(order))
    if about_zero is not None and not scatter.is_plain:
        far = np.clip(about_zero[order] / np.where(there, size, np.inf), 1.0, FARTHEST)
    root = inverse_root(
        left[part] if len(varies) < p else left,
        None if scatter.is_plain else LEFT_IN_PAIRS * far[varies],
    )
    H = root.values
    if len(varies) < p:
        H = Pair.of(np.zeros((len(root.values), p)))
        H.high[:, varies], H.low[:, varies] = root.values.high, root.values.low
    if scatter.is_plain:
        coef, residual = _in_doubles(S.high, left.high, H.high)
    else:
        share = ROUNDED_ONCE if exact else ROUNDED_SUMS
        coef, residual = _in_pairs(S, left, root._replace(values=H), far, share)
    inverse = H.T @ H if root.is_refined else Pair.of(H.high.T @ H.high)
    back = np.divide(1.0, scale[p:], out=np.zeros(len(order) - p), where=there[p:])
    return Solution(
        coef=coef.scaled(scale[:p, None] * back),
        residual=residual * back[:, None] * back,
        inverse=inverse.scaled(scale[:p, None] * scale[:p]),
        rank=root.rank,
        constant=tuple(int(j) for j in np.flatnonzero(~there[:p])),
        dependent=tuple(int(varies[j]) for j in root.dependent),
        error=inflation(left.high, H.high)
        * (LEFT_IN_DOUBLES if scatter.is_plain else LEFT_IN_ONCE if exact else LEFT_IN_SUMS),
        better="accurate" if scatter.is_plain else "" if exact else "exact",
    )


def plain_residual(scatter: Scatter, features: Sequence[int], response: int) -> float | None:
    """Return the residual scatter of one response where doubles are enough for it, else None.

    With all columns scaled to a diagonal of one and the response last, the last pivot of a Cholesky
    factor is the share that the features do not explain. :func:`solve` handles small pivots.
    """
    if not scatter.is_plain:
        return None
    at = np.array([*features, response], dtype=np.intp)
    S = scatter.high[at[:, None], at]
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
    return solve(Scatter(matrix.copy()), range(len(matrix)), ()).inverse.high


def _in_doubles(S: Array, left: Array, H: Array) -> tuple[Pair, Array]:
    """Return coefficients and residual scatter in doubles, with one step of refinement."""
    p = len(left)
    A, B, C = S[:p, :p], S[:p, p:], S[p:, p:]
    beta = H.T @ (H @ B)
    beta += H.T @ (H @ (B - left @ beta))
    # Small errors of beta have a second-order effect on this form.
    residual: Array = C - B.T @ beta - beta.T @ B + beta.T @ A @ beta
    # The size of its terms: if large coefficients cancel, these have much larger rounding errors
    # than the total.
    size = np.abs(beta)
    terms = C.diagonal() + (size * (2.0 * np.abs(B) + np.abs(A) @ size)).sum(axis=0)
    return Pair.of(beta), _cleared(residual, 4 * (p + 1) * LEFT_IN_DOUBLES * terms)


def _in_pairs(
    S: Pair, left: Pair, root: InverseRoot, far: Array, share: float
) -> tuple[Pair, Array]:
    """Return coefficients and residual scatter with all digits."""
    p, H = len(left), root.values
    A, B, C = S[:p, :p], S[:p, p:], S[p:, p:]
    less = _exact_rest if root.is_hard else _rest
    beta = H.T @ (H @ B) if root.is_refined else Pair.of(H.high.T @ (H.high @ B.high))
    for _ in range(STEPS if root.is_hard else 1):
        wrong = less(B, left, beta).high
        beta = beta + Pair.of(H.high.T @ (H.high @ wrong))
    slope = less(B, A, beta)
    # Small errors of beta have a second-order effect on this form.
    residual = less(C - slope.T @ beta, B.T, beta).high
    # The columns themselves are rounded: a residual in their last digits counts as zero.
    terms = far[p:] * C.high.diagonal() + (far[:p] * A.high.diagonal()) @ beta.high**2
    return beta, _cleared(residual, (p + 1) * share * terms)


def _rest(start: Pair, left: Pair, right: Pair) -> Pair:
    """Return ``start - left @ right``."""
    return start - left @ right


def _exact_rest(start: Pair, left: Pair, right: Pair) -> Pair:
    """Return ``start - left @ right``, rounded once, to double."""
    m, n = start.high.shape
    rest = np.empty((m, n))
    for j in range(n):
        products = [
            part
            for a in (left.high, left.low)
            for b in (right.high[:, j], right.low[:, j])
            for part in two_product(a, -b)
        ]
        terms = np.column_stack((*products, start.high[:, j], start.low[:, j]))
        rest[:, j] = [math.fsum(row) for row in terms.tolist()]
    return Pair.of(rest)


def _cleared(residual: Array, rounding: Array) -> Array:
    """Set residuals to zero that may be only rounding."""
    zero = residual.diagonal() <= rounding
    residual[zero, :] = residual[:, zero] = 0.0
    return residual
