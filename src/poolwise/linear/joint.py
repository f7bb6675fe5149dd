r"""Mean and covariance of columns, from tables that have gaps.

The EM algorithm [1]_ needs the moments of each pattern of gaps alone. With the regression
:math:`B` of the lacking columns :math:`M` on the others :math:`O`, the rows of a pattern have the
expected scatter :math:`A S A^\top` with :math:`A = (I; B)`, plus :math:`\Sigma_{M\mid O}` for each
row. Other tables that have some of the columns contribute the scatter about their own means.

Standardised columns have a prior of :math:`m` rows without correlation, so that a table with fewer
rows than columns has a covariance too; :math:`m` follows from the correlations of pairs by oracle
approximating shrinkage [2]_.

References
----------
.. [1] A. P. Dempster, N. M. Laird, D. B. Rubin (1977). Maximum likelihood from incomplete data.
   JRSS B 39, 1-38.
.. [2] Y. Chen, A. Wiesel, Y. C. Eldar, A. O. Hero (2010). Shrinkage algorithms for MMSE covariance
   estimation. IEEE Transactions on Signal Processing 58, 5016-5029.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array
from poolwise.moments.moments import Moments

STEPS, CLOSE = 100, 3e-5  # of EM at most; change of a correlation that ends it
LEAST, MOST = 1e-6, 0.9  # share of the prior in the covariance
CONSTANT = 1e-12  # deviation, relative to the mean, that counts as zero

Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Joint:
    """Mean and covariance of columns.

    Parameters
    ----------
    names : tuple of str
        Names of the columns.
    mean, scale : array of shape (p,)
        Mean and standard deviation of each column.
    correlation : array of shape (p, p)
        Covariance of the columns over their scales, positive definite.
    informed : array of shape (p,)
        Share of the rows that have each column.
    """

    names: tuple[str, ...]
    mean: Array
    scale: Array
    correlation: Array
    informed: Array

    @cached_property
    def inverse(self) -> Array:
        """Inverse of the correlation."""
        return _inverse(self.correlation)

    def select(self, names: Sequence[str]) -> Joint:
        """Return some of the columns."""
        at = [self.names.index(n) for n in names]
        S, shares = self.correlation[np.ix_(at, at)], self.informed[at]
        return Joint(tuple(names), self.mean[at], self.scale[at], S, shares)

    def given(self, lacks: Places, has: Places) -> tuple[Array, Array]:
        """Return the regression of lacking columns on others, and its residual covariance."""
        B, left = relation(self.inverse, lacks, has)
        unit, spread = self.scale[lacks], np.where(self.scale > 0.0, self.scale, 1.0)[has]
        return B * (unit[:, None] / spread), left * np.outer(unit, unit)

    def filled(self, rows: Array, coef: Array | None = None) -> tuple[Array, Array]:
        """Fill gaps by their mean given the rest of the row.

        Parameters
        ----------
        rows : array of shape (n, p)
            A gap is NaN.
        coef : array of shape (p,), optional
            Of a linear model of the columns.

        Returns
        -------
        array of shape (n, p), array of shape (n,)
            The filled rows, and the variance of ``rows @ coef`` due to gaps.
        """
        gone, full, variance = np.isnan(rows), rows.copy(), np.zeros(len(rows))
        incomplete = np.flatnonzero(gone.any(axis=1))
        for index, lacks, has in _by_pattern(gone[incomplete]):
            at = incomplete[index]
            B, left = self.given(lacks, has)
            step = rows[np.ix_(at, has)] - self.mean[has]
            full[np.ix_(at, lacks)] = self.mean[lacks] + step @ B.T
            if coef is not None:
                variance[at] = max(float(coef[lacks] @ left @ coef[lacks]), 0.0)
        return full, variance


def _by_pattern(gone: NDArray[np.bool_]) -> Iterable[tuple[Places, Places, Places]]:
    """Yield the rows that lack the same columns, these columns, and the others."""
    if not len(gone):
        return
    packed = np.ascontiguousarray(np.packbits(gone, axis=1))
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).reshape(-1)
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(which, kind="stable")
    ends = np.cumsum(np.bincount(which))[:-1]
    for start, index in zip(first, np.split(order, ends), strict=True):
        yield index, np.flatnonzero(gone[start]), np.flatnonzero(~gone[start])


class Part(NamedTuple):
    """Moments of the rows that have the same columns."""

    has: Places
    lacks: Places
    mean: Array
    scatter: Array
    weight: float


def joint_of(
    names: Sequence[str], patterns: Iterable[Moments], others: Iterable[Moments] = ()
) -> Joint:
    """Return mean and covariance of columns, from moments that each have some of them.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    patterns : iterable of Moments
        Of the rows of one table, for each pattern of gaps.
    others : iterable of Moments
        Of other tables: they inform about the covariance, and about the mean of a column that has
        no value in the table.

    Returns
    -------
    Joint
        The posterior mode under the prior of uncorrelated rows.
    """
    names = tuple(names)
    own = [p for m in patterns if (p := part_of(m, names)) is not None]
    more = [p for m in others if m.weight > 1.0 and (p := part_of(m, names)) is not None]
    centre, scale, informed = _units(len(names), own, more)
    own, more = ([_scaled(p, centre, scale) for p in parts] for parts in (own, more))
    m = _prior_rows(len(names), own, more)
    rows = sum(part.weight for part in own)
    total = rows + sum(part.weight - 1.0 for part in more)
    groups = _groups(own)
    weights, prior = np.array([part.weight for part in own]), m * np.eye(len(names))
    mean, S = np.zeros(len(names)), np.eye(len(names))
    for _ in range(STEPS):
        K, T = _inverse(S), prior.copy()
        filled = np.empty((len(own), len(names)))
        for at, has, lacks, means in groups:
            B, left = relation(K, lacks, has)
            away = means - mean[has]
            filled[at[:, None], has] = means
            filled[at[:, None], lacks] = mean[lacks] + np.einsum("gij,gj->gi", B, away)
            expected = weights[at][:, None, None] * left
            np.add.at(T, (lacks[:, :, None], lacks[:, None, :]), expected)
            for k in np.flatnonzero([own[j].scatter.any() for j in at]):
                _add(T, own[at[k]], B[k])
        for part in more:
            B, left = relation(K, part.lacks, part.has)
            _add(T, part, B)
            T[part.lacks[:, None], part.lacks] += (part.weight - 1.0) * left
        mean = weights @ filled / rows
        away = filled - mean
        T += (weights[:, None] * away).T @ away
        before, S = S, T / (total + m)
        if np.abs(S - before).max() < CLOSE:
            break
    return Joint(names, centre + scale * mean, scale, S, informed)


def part_of(moments: Moments, names: Sequence[str]) -> Part | None:
    """Return the moments of the columns that rows have, or None if they have no column."""
    there = np.array([n in moments.place for n in names], dtype=np.bool_)
    if not there.any() or moments.weight == 0.0:
        return None
    at = [moments.place[n] for n in names if n in moments.place]
    scatter = moments.scatter.between(at, at)
    has, lacks = np.flatnonzero(there), np.flatnonzero(~there)
    return Part(has, lacks, moments.mean[at], scatter, moments.weight)


def relation(K: Array, lacks: Places, has: Places) -> tuple[Array, Array]:
    """Return regressions of lacking columns on others, from the inverse of a covariance."""
    rows = lacks[..., :, None]
    left = _inverse(K[rows, lacks[..., None, :]])
    return -left @ K[rows, has[..., None, :]], left


def _inverse(matrix: Array) -> Array:
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


def _groups(parts: Sequence[Part]) -> list[tuple[Places, Places, Places, Array]]:
    """Group patterns that lack equally many columns: positions, columns there and not, means."""
    counts = np.array([len(part.lacks) for part in parts])
    groups = []
    for count in np.unique(counts):
        at = np.flatnonzero(counts == count)
        alike = [part for part, k in zip(parts, counts, strict=True) if k == count]
        has, lacks = np.array([p.has for p in alike]), np.array([p.lacks for p in alike])
        means = np.array([p.mean for p in alike])
        groups.append((at, has, lacks, means))
    return groups


def _add(T: Array, part: Part, B: Array) -> None:
    """Add the scatter of filled rows, in place."""
    has, lacks = part.has, part.lacks
    T[has[:, None], has] += part.scatter
    if len(lacks):
        across = B @ part.scatter
        T[lacks[:, None], has] += across
        T[has[:, None], lacks] += across.T
        T[lacks[:, None], lacks] += across @ B.T


def _scaled(part: Part, centre: Array, scale: Array) -> Part:
    unit = np.where(scale > 0.0, scale, np.inf)[part.has]
    mean, scatter = (part.mean - centre[part.has]) / unit, part.scatter / np.outer(unit, unit)
    return part._replace(mean=mean, scatter=scatter)


def _units(columns: int, own: Sequence[Part], more: Sequence[Part]) -> tuple[Array, Array, Array]:
    """Return mean and deviation of each column where it is there, and the share of such rows."""
    weight, theirs, sums, their_sums, squares = (np.zeros(columns) for _ in range(5))
    for part in own:
        weight[part.has] += part.weight
        sums[part.has] += part.weight * part.mean
    for part in more:
        theirs[part.has] += part.weight - 1.0
        their_sums[part.has] += (part.weight - 1.0) * part.mean
        squares[part.has] += part.scatter.diagonal()
    is_own = weight > 0.0
    centre = np.where(is_own, sums, their_sums) / np.where(is_own, weight, np.maximum(theirs, 1.0))
    for part in own:
        squares[part.has] += part.scatter.diagonal()
        squares[part.has] += part.weight * (part.mean - centre[part.has]) ** 2
    there, gone = weight + theirs, sum(part.weight for part in own) - weight
    scale: Array = np.sqrt(squares / np.maximum(there, 1.0))
    scale[scale <= CONSTANT * np.abs(centre)] = 0.0
    return centre, scale, np.maximum(there, LEAST) / np.maximum(there + gone, LEAST)


def _prior_rows(columns: int, own: Sequence[Part], more: Sequence[Part]) -> float:
    """Return how many rows without correlation to add, from the rows that have both of a pair."""
    rows, products = np.zeros((columns, columns)), np.zeros((columns, columns))
    for part in own:
        at = np.ix_(part.has, part.has)
        rows[at] += part.weight
        products[at] += part.scatter + part.weight * np.outer(part.mean, part.mean)
    for part in more:
        at = np.ix_(part.has, part.has)
        rows[at] += part.weight - 1.0
        products[at] += part.scatter
    C, n, p = np.clip(products / np.maximum(rows, 1.0), -1.0, 1.0), max(rows.mean(), 1.0), columns
    square, trace = float(np.sum(C * C)), float(np.trace(C))
    above = (1.0 - 2.0 / p) * square + trace**2
    below = (n + 1.0 - 2.0 / p) * (square - trace**2 / p)
    share = float(np.clip(above / below, LEAST, MOST)) if below > 0.0 else MOST
    return float(n) * share / (1.0 - share)
