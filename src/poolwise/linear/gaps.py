r"""Moments of a table with gaps, as informative as its rows are; predictions of rows with gaps.

A row that lacks the features :math:`M` and has :math:`O` follows

.. math:: y = \theta_O x_O + \theta_M \operatorname E[x_M \mid x_O] + e, \qquad
   \operatorname{Var} e = \sigma^2 + v, \quad v = \theta_M^\top\Sigma_{M\mid O}\theta_M .

So with its gaps filled by their mean given the other features, it is a row of weight
:math:`\sigma^2/(\sigma^2 + v)` in a regression without gaps [1]_. Moments hold such rows like any
others, so all methods, standard errors and intervals are those of moments, with two corrections.

The relation :math:`\operatorname E[x_M \mid x_O]` is estimated, and its error is the same for all
rows with the gap. If a share :math:`s_j` of the rows has column :math:`j`, the error of the
coefficients is that of independent rows in which the column's part of :math:`v` is
:math:`1/s_j` times as large. So the weight is :math:`w = \sigma^2/(\sigma^2 + v_s)` with

.. math:: v_s = \sum_{jk \in M} \theta_j \theta_k (\Sigma_{M\mid O})_{jk} / \sqrt{s_j s_k} .

A weight counts as repetitions of a row. Rows of weights :math:`w_i` leave the squares
:math:`(N - k)\sigma^2` after a fit of :math:`k` coefficients, where
:math:`N = \sum w_i (1 + v_i/\sigma^2)`, and repetitions would leave :math:`(W - k)\sigma^2` with
:math:`W = \sum w_i`: the squares of the response are reduced by the difference.

Coefficients and :math:`\sigma^2` are those of the weighted rows themselves, by iteration. A table
that has few rows per coefficient takes those of the joint distribution of features and response,
which is shrunk, and their covariance is added to :math:`\theta\theta^\top`.

Assumes that gaps are at random given the values that a row has, and that features are linearly
related.

References
----------
.. [1] R. J. A. Little (1992). Regression with missing X's: a review. JASA 87, 1227-1237.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array
from poolwise.linear.fit import Fit, FitParts, Record
from poolwise.linear.joint import Joint, Places, joint_of
from poolwise.linear.student_t import NORMAL
from poolwise.moments.moments import Moments

STEPS = 4  # of coefficients and weights
ENOUGH = 4.0  # rows per coefficient, as information, of which coefficients are taken
LEAST_WEIGHT = 1e-3  # of a row with gaps, so that one row has not all the weight
DEPENDENT = 1e-10  # singular value, relative to the largest, that counts as zero


@dataclass(frozen=True, eq=False)
class Filled:
    """Moments of a table whose gaps were filled, and how its features are distributed."""

    moments: Moments
    joint: Joint


@dataclass(frozen=True, eq=False)
class _Pattern:
    """Filled moments of the rows with the same gaps."""

    moments: Moments
    lacks: Places
    left: Array  # residual covariance of the lacking features


def filled(
    names: Sequence[str],
    response: str,
    patterns: Sequence[Moments],
    *,
    before: Iterable[Moments] = (),
    others: Iterable[Moments] = (),
    intercept: bool = True,
) -> Filled:
    """Return the moments of a table with gaps.

    Parameters
    ----------
    names : sequence of str
        Names of its columns, among them the response.
    response : str
        The response, which has no gaps.
    patterns : sequence of Moments
        Of its rows, for each pattern of gaps.
    before : iterable of Moments
        Of further rows of the same table, which are not in the result.
    others : iterable of Moments
        Of other tables, whose features are related alike.
    intercept : bool, default=True
        Whether models of the moments have an intercept.

    Returns
    -------
    Filled
        Moments with the number of rows, and the weight that they have as information; and the joint
        distribution of the features.
    """
    names, features = tuple(names), tuple(n for n in names if n != response)
    known = [m.select([n for n in m.names if n != response]) for m in others if len(m.names) > 1]
    given = [*patterns, *before]
    both = joint_of((*features, response), given, known)
    low, top = np.full(len(names), np.inf), np.full(len(names), -np.inf)
    for m in patterns:  # the range of values, not of fills
        at_own = [names.index(n) for n in m.names]
        low[at_own] = np.minimum(low[at_own], m.low)
        top[at_own] = np.maximum(top[at_own], m.high)
    own = [names.index(n) for n in features]
    x, d = _with_constants(both.select(features), low[own], top[own]), len(features)
    each = [_filled(m, names, x) for m in patterns]
    B, left = both.given(np.array([d]), np.arange(d))
    weights, squares = _weights(
        each, names, response, x, B[0], float(left[0, 0]), sum(m.weight for m in given), intercept
    )
    total = Moments.total(
        names,
        (p.moments if w == 1.0 else w * p.moments for w, p in zip(weights, each, strict=True)),
    )
    at, high = total.place[response], total.scatter.high.copy()
    high[at, at] -= squares
    seen = low <= top
    made = replace(
        total,
        rows=sum(m.rows for m in patterns),
        scatter=replace(total.scatter, high=high),
        low=np.where(seen, low, total.mean),
        high=np.where(seen, top, total.mean),
        sums=None,
    )
    return Filled(made, x)


def _with_constants(x: Joint, low: Array, top: Array) -> Joint:
    """Return the distribution in a table in which some columns have one value.

    Other tables may show how such a column varies, and fills that vary a little would decide its
    scale.
    """
    is_constant = low == top
    mean, scale = np.where(is_constant, low, x.mean), np.where(is_constant, 0.0, x.scale)
    return replace(x, mean=mean, scale=scale)


def _filled(m: Moments, names: tuple[str, ...], x: Joint) -> _Pattern:
    """Fill the gaps of a pattern."""
    there = np.array([n in m.place for n in x.names], dtype=np.bool_)
    has, lacks = np.flatnonzero(there), np.flatnonzero(~there)
    if not len(lacks):
        return _Pattern(replace(m.select(names), sums=None), lacks, np.zeros((0, 0)))
    B, left = x.given(lacks, has)
    place = {n: j for j, n in enumerate(names)}
    A, shift = np.zeros((len(names), len(m.names))), np.zeros(len(names))
    A[[place[n] for n in m.names], range(len(m.names))] = 1.0
    at = [place[x.names[j]] for j in lacks]
    A[np.ix_(at, [m.place[x.names[j]] for j in has])] = B
    shift[at] = x.mean[lacks] - B @ x.mean[has]
    return _Pattern(replace(m, sums=None).affine(names, A, shift), lacks, left)


def _weights(
    each: Sequence[_Pattern],
    names: tuple[str, ...],
    response: str,
    x: Joint,
    theta: Array,
    noise: float,
    rows: float,
    intercept: bool,
) -> tuple[Array, float]:
    """Return the weight of each pattern, and the squares of the response that are too many."""
    y = names.index(response)
    at = np.array([j for j in range(len(names)) if j != y])
    n = np.array([p.moments.weight for p in each])
    means = np.array([p.moments.mean for p in each])
    scatters = np.array([p.moments.scatter.high for p in each])
    shares = np.sqrt(np.outer(x.informed, x.informed))
    unit = np.where(x.scale > 0.0, x.scale, np.inf)
    second = np.outer(theta, theta)
    second += noise * x.inverse / np.outer(unit, unit) / (rows * shares)
    w, excess = np.ones(len(each)), 0.0
    for _ in range(STEPS):
        v, v_shared = (
            np.array([float(np.sum(p.left * M[np.ix_(p.lacks, p.lacks)])) for p in each])
            for M in (second, second / shares)
        )
        v, v_shared = np.maximum(v, 0.0), np.maximum(v_shared, 0.0)
        w = np.maximum(noise / np.maximum(noise + v_shared, 1e-300), LEAST_WEIGHT)
        w[v_shared == 0.0] = 1.0
        W = float(w @ n)
        mean = (w * n) @ means / W if intercept else np.zeros(len(names))
        away = means - mean
        S = np.tensordot(w, scatters, axes=1) + ((w * n)[:, None] * away).T @ away
        size = np.sqrt(np.maximum(S.diagonal()[at], 1e-300))
        solved = np.linalg.lstsq(
            S[np.ix_(at, at)] / np.outer(size, size), S[at, y] / size, rcond=DEPENDENT
        )
        coef, k = solved[0] / size, int(solved[2]) + intercept
        left = max(float(S[y, y] - coef @ S[at, y]), 0.0)
        N = W if noise <= 0.0 else float((w * n) @ (1.0 + v / noise))
        if k >= W or left <= 0.0:
            return w, (1.0 - W / N) * left
        excess = (1.0 - (W - k) / (N - k)) * left
        if ENOUGH * k > W:
            break
        theta, noise = coef, left / (N - k)
        second = np.outer(theta, theta)
    return w, excess


@dataclass(frozen=True, eq=False)
class FilledFit:
    """A fit for rows with gaps, which are NaN: they are filled by their mean given the others.

    The variance of a prediction includes the variance of the filled values, times the linear
    coefficients.
    """

    fit: Fit
    joint: Joint  # of the features, in the order of the fit

    def predict(self, rows: Array) -> Array:
        """Return the prediction for each row."""
        return self.fit.predict(self._filled(rows)[0])

    def deviation(self, rows: Array) -> Array | None:
        """Return the standard deviation of a new response about each prediction, if known."""
        full, more = self._filled(rows)
        deviation = self.fit.deviation(full)
        return None if deviation is None else np.sqrt(deviation**2 + more)

    def half_width(self, rows: Array, coverage: float) -> Array | None:
        """Return half the width of the interval that holds each response, if known."""
        full, more = self._filled(rows)
        width, deviation = self.fit.half_width(full, coverage), self.fit.deviation(full)
        if width is None or deviation is None:
            return None
        normal = NORMAL.quantile(coverage) * np.sqrt(more)
        known = deviation > 0.0
        wider = np.sqrt(1.0 + more / np.where(known, deviation, 1.0) ** 2)
        return np.where(known, width * wider, normal)

    def beyond(self, rows: Array, predicted: Array, least: float = 0.0) -> NDArray[np.intp]:
        """Return the places of predictions moved to a bound, by more than ``least``."""
        return self.fit.beyond(self._filled(rows)[0], predicted, least)

    def gap_variance(self, rows: Array) -> Array:
        """Return the variance of each prediction that is due to the gaps of its row."""
        return self._filled(rows)[1]

    def parts(self) -> FitParts:
        """Return the parts of the fit."""
        return self.fit.parts()

    def record(self) -> Record:
        """Return plain data of the fit."""
        return self.fit.record()

    def _filled(self, rows: Array) -> tuple[Array, Array]:
        linear = self.fit.parts().plain or self.fit.parts().linear
        return self.joint.filled(rows, linear.coef[: len(self.joint.names)])
