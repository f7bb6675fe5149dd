"""For a matrix A, a matrix H with H'H its inverse, as accurate as the digits of A allow.

Solving with H twice instead of with the inverse once keeps errors of the weak directions of A out
of the strong ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array
from poolwise.numerics.double_double import Pair
from poolwise.numerics.scatter import LEFT_IN_DOUBLES, root_in_doubles

# Share of a column's variance, per feature, below which it counts as zero: in pairs because the
# columns themselves are rounded.
LEFT_IN_PAIRS = 2.0**-84
# Relative error of an inverse in doubles that is accepted, and that refinement can correct.
ENOUGH, SAFE = 1e-13, 1e-6
PANEL = 32  # pivots between two updates of the whole matrix
# Squared share of a feature in the directions that are missing, for it to be named.
RELATED_IN_DOUBLES, RELATED_IN_PAIRS = 1e-10, 1e-20


class InverseRoot(NamedTuple):
    """The root, its number of rows, and how it was found."""

    values: Pair
    rank: int
    dependent: tuple[int, ...]
    is_refined: bool  # has more digits than doubles
    is_hard: bool  # nearly singular, or singular


def inverse_root(A: Pair, left: Array | None) -> InverseRoot:
    """Return an inverse root of a positive semidefinite matrix with a diagonal near one.

    Columns of which the others leave at most the share ``left`` of the variance are dependent; it
    is None if the matrix has the digits of doubles only.
    """
    start, error = root_in_doubles(A.high)
    if error <= (1.0 / max(len(A), 1) if left is None else ENOUGH):
        return InverseRoot(Pair.of(start), len(A), (), is_refined=False, is_hard=False)
    if left is not None and error < SAFE:
        root = _of_matrix(A, start)
        return InverseRoot(root, len(A), (), is_refined=True, is_hard=False)
    share = np.full(len(A), LEFT_IN_DOUBLES) if left is None else left
    unit = Pair.of(1.0 / np.sqrt(A.high.diagonal()))
    factor, order = _cholesky(A * unit[:, None] * unit[None, :], len(A) * share)
    if len(order) == len(A):
        root = _of_lower(factor[order])[:, np.argsort(order)]
        return InverseRoot(root * unit[None, :], len(A), (), is_refined=True, is_hard=True)
    # Least norm: factor (factor' factor)^-2 factor' is the square of the root's transpose.
    square = factor.T @ factor
    start, error = root_in_doubles(square.high)
    known = error < SAFE
    within = (
        _of_matrix(square, start) if known else inverse_root(square, np.zeros(len(order))).values
    )
    root = within.T @ (within @ factor.T)
    null = (Pair.eye(len(A)) - factor @ root).high.diagonal()
    least = RELATED_IN_DOUBLES if left is None else RELATED_IN_PAIRS
    dependent = tuple(int(j) for j in np.flatnonzero(null > least))
    return InverseRoot(root * unit[None, :], len(order), dependent, is_refined=True, is_hard=True)


def _of_matrix(A: Pair, start: Array) -> Pair:
    one = Pair.eye(len(A))
    return _mended(start, lambda H: one - H @ A @ H.T, 0.5)


def _of_lower(L: Pair) -> Pair:
    one = Pair.eye(len(L))
    start = np.linalg.inv(L.high).astype(np.float64)
    return _mended(start, lambda H: one - H @ L, 1.0)


def _mended(start: Array, wrong_with: Callable[[Pair], Pair], share: float) -> Pair:
    """Repeat Newton's step until the error is below the resolution of pairs."""
    root, first = Pair.of(start), 0.0
    for _ in range(8):
        wrong = wrong_with(root).high
        root = root + Pair.of(share * (wrong @ root.high))
        size = float(np.abs(wrong).max(initial=0.0))
        first = first or size  # each step leaves about this share of the error
        if size * first < 1e-24:
            break
    return root


def _cholesky(A: Pair, left: Array) -> tuple[Pair, NDArray[np.intp]]:
    """Factor a matrix with unit diagonal, the largest pivot first, until no pivot is left.

    Returns the factor, one column per pivot, and the order of the pivots. The diagonal is kept up
    to date; the rest of the matrix once in a panel of pivots, as a matrix product.
    """
    p, order = len(A), np.empty(0, dtype=np.intp)
    high, low = np.zeros((p, p)), np.zeros((p, p))
    still = np.arange(p)
    while True:
        panel, chosen = _panel(A, left[still])
        done, k = len(order), len(chosen)
        high[still, done : done + k], low[still, done : done + k] = panel.high, panel.low
        order = np.concatenate((order, still[chosen]))
        rest = np.delete(np.arange(len(still)), chosen)
        if k < PANEL or not len(rest):
            return Pair(high[:, : len(order)], low[:, : len(order)]), order
        A, still, panel = A[rest[:, None], rest], still[rest], panel[rest]
        A = A - panel @ panel.T


def _panel(A: Pair, left: Array) -> tuple[Pair, list[int]]:
    """Return the next columns of the factor, at most ``PANEL``, and their pivots."""
    p, chosen = len(A), list[int]()
    panel, diagonal = Pair.of(np.zeros((p, min(p, PANEL)))), A[np.arange(p), np.arange(p)]
    for k in range(min(p, PANEL)):
        pivots = diagonal.high - left
        pivots[chosen] = 0.0
        j = int(np.argmax(pivots))
        if not pivots[j] > 0.0:
            break
        before = panel[:, :k]
        column = A[:, j] - (before @ before[j][:, None])[:, 0]
        column = column / diagonal[j].sqrt()
        column.high[chosen] = column.low[chosen] = 0.0  # they have been accounted for
        panel.high[:, k], panel.low[:, k] = column.high, column.low
        diagonal = diagonal - column * column
        chosen.append(j)
    return panel[:, : len(chosen)], chosen
