"""Unseen features predicted from shared ones by a kernel (DSFT-nl), which needs rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.spatial.distance import cdist

from poolwise._typing import Array
from poolwise.errors import NeedsRows
from poolwise.linear.linear_fit import LinearFit
from poolwise.linear.problem import Problem, Rows
from poolwise.methods.feature_transfer import Imputing, fit_of_imputed, varying
from poolwise.moments.moments import Moments
from poolwise.numerics.chunks import Block
from poolwise.numerics.options import Precision, check_number
from poolwise.wording import listed

LARGE_EXPONENT = 1e4  # beyond, the difference of two terms loses more than four digits
NOTHING = 1e-60  # smaller imputed values are set to zero: Moments refuses columns below 1e-75
CHUNK_BYTES = 1_000_000  # of kernel values held at a time, so that they stay in cache


@dataclass(eq=False, repr=False)
class KernelTransfer(Imputing):
    r"""Fill unseen features by a kernel expansion over target rows, then weigh all rows alike.

    With :math:`K_{TT}` the kernel between target rows and :math:`\bar k` the mean over source
    rows of the kernel with each target row, the map :math:`q` of each source minimises

    .. math:: \lVert K_{TT} q - X''_T \rVert^2 + a \lVert \bar k^\top q - \bar x''_T \rVert^2
       + b \lVert q \rVert^2

    (DSFT-nl [1]_ with a radial kernel). The middle term is of rank one, so the source is streamed
    twice and no matrix of source rows by source rows is formed.

    Assumes that the unseen features are a smooth function of the shared ones, without error.
    Kernel width and penalty depend on the units of the columns.

    Parameters
    ----------
    gamma : float, optional
        The kernel is :math:`\exp(-\gamma \lVert x - z \rVert^2)`; one over the number of shared
        features plus one unless given (as published).
    mean_weight : float, default=1e5
        Weight :math:`a` of the difference of means.
    ridge : float, default=1.0
        Weight :math:`b` of the map's squared norm.

    References
    ----------
    .. [1] Wei, Ke, Goh. A General Domain Specific Feature Transfer Framework for Hybrid Domain
       Adaptation. IEEE Transactions on Knowledge and Data Engineering, 2019.
    """

    gamma: float | None = None
    mean_weight: float = 1e5
    ridge: float = 1.0

    def solve(self, problem: Problem) -> LinearFit:
        """Return the fit of the target and the filled sources."""
        check_number("ridge", self.ridge, positive=True)
        check_number("mean_weight", self.mean_weight)
        if self.gamma is not None:
            check_number("gamma", self.gamma, positive=True)
        lacking = [n for n, s in problem.sources.items() if varying(problem, s)]
        rowless = [n for n in lacking if n not in problem.source_rows]
        if lacking and problem.target_rows is None:
            rowless.insert(0, problem.target_name)
        if rowless:
            raise NeedsRows(
                "kernel_transfer reads the rows of every table that lacks a column, and of "
                f"{listed(rowless)} only moments are available.",
                "Give the rows, or use feature_transfer, which needs only moments.",
            )
        pool = problem.target
        for name, source in problem.sources.items():
            if name in lacking:
                pool += self._filled(problem, source, problem.source_rows[name])
            else:
                pool += problem.filled(source)
        return fit_of_imputed(problem, pool)

    def _filled(self, problem: Problem, source: Moments, rows: Rows) -> Moments:
        assert problem.target_rows is not None
        shared, unseen = problem.shared(source), varying(problem, source)
        gamma = 1.0 / (len(shared) + 1) if self.gamma is None else self.gamma
        centre = problem.target.mean[problem.target.index(shared)]  # does not change distances

        blocks = list(problem.target_rows.blocks((*shared, *unseen)))
        T = np.concatenate([block for block, _ in blocks])
        w = np.concatenate([np.ones(len(b)) if v is None else v for b, v in blocks])
        T, new = T[w > 0, : len(shared)] - centre, T[w > 0, len(shared) :]
        w = w[w > 0]

        kernel = _Kernel(T, gamma)
        K = kernel(T)
        k_mean = np.zeros(len(T))
        for z, v in _chunks(rows, shared, len(T)):
            k_mean += v @ kernel(z - centre)
        k_mean /= source.weight

        new_mean = problem.target.mean[problem.target.index(unseen)]
        left = (K * w) @ K + self.mean_weight * np.outer(k_mean, k_mean)
        left[np.diag_indices_from(left)] += self.ridge / w  # repeated rows share their q
        right = (K * w) @ new + self.mean_weight * np.outer(k_mean, new_mean)
        q = _solved(left, right)

        def filled() -> Iterator[Block]:
            for z, v in _chunks(rows, (*shared, problem.response), len(T)):
                imputed = kernel(z[:, :-1] - centre) @ q
                imputed[np.abs(imputed) < NOTHING] = 0.0  # far from all target rows
                yield (z, imputed), v

        columns = (*shared, problem.response, *unseen)
        precision: Precision = "fast" if source.precision == "fast" else "accurate"
        moments = Moments.of_blocks(columns, filled(), precision=precision)
        return problem.filled(moments)


class _Kernel:
    r"""The radial kernel of any rows with fixed rows :math:`t`, as one matrix product.

    :math:`-\gamma \lVert z - t \rVert^2` is the product of :math:`(z, \lVert z \rVert^2, 1)` with
    :math:`(2\gamma t, -\gamma, -\gamma\lVert t \rVert^2)`. Where these terms are so large that
    their difference would lose digits, squared differences are summed instead, which takes longer.
    """

    def __init__(self, T: Array, gamma: float) -> None:
        squares = (T**2).sum(axis=1, keepdims=True)
        ones = np.ones_like(squares)
        self.T, self.gamma, self.largest = T, gamma, float(squares.max())
        self.columns = np.hstack((2.0 * T, -ones, -squares)).T * gamma

    def __call__(self, z: Array) -> Array:
        squares = (z**2).sum(axis=1, keepdims=True)
        if self.gamma * (self.largest + squares.max()) > LARGE_EXPONENT:
            distances = cdist(z, self.T, "sqeuclidean")
            return np.asarray(np.exp(-self.gamma * distances))
        exponent: Array = np.hstack((z, squares, np.ones_like(squares))) @ self.columns
        np.minimum(exponent, 0.0, out=exponent)  # rounding may make a zero distance negative
        return np.exp(exponent, out=exponent)


def _solved(left: Array, right: Array) -> Array:
    """Solve positive definite equations; by least norm where rounding has made them singular."""
    unit = 1.0 / np.sqrt(left.diagonal())[:, None]
    left, right = left * unit * unit.T, right * unit
    try:
        solution = scipy.linalg.cho_solve(scipy.linalg.cho_factor(left), right)
    except np.linalg.LinAlgError:
        solution = np.linalg.lstsq(left, right, rcond=None)[0]
    return np.asarray(solution * unit)


def _chunks(rows: Rows, names: Sequence[str], width: int) -> Iterator[tuple[Array, Array]]:
    size = max(1, CHUNK_BYTES // (8 * width))
    for block, weights in rows.blocks(names):
        w = np.ones(len(block)) if weights is None else weights
        for start in range(0, len(block), size):
            yield block[start : start + size], w[start : start + size]
