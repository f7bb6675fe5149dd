"""The paper's four methods on many small problems at once, as stacked solves.

The same numbers as ``poolwise.methods``, which the tests hold against each other. Each function
takes ``target`` of shape (R, n_T, p + 1) with columns shared, unseen, response, and ``source`` of
shape (R, n_S, s + 1) with columns shared, response.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from poolwise.double_double import Array
from poolwise.errors import BadOption
from poolwise.experiments.stacked_moments import StackedFit, StackedMoments, stacked_regress

CHUNK_BYTES = 4_000_000  # of kernel values held at a time


def target_only(target: Array, source: Array) -> StackedFit:
    """Least squares on each target."""
    return stacked_regress(StackedMoments.of_rows(target))


def data_pooling(
    target: Array,
    source: Array,
    *,
    ddof: str = "unbiased",
    weights: float | None = None,
    means: Mapping[str, float] | None = None,
) -> StackedFit:
    """Precision-weighted least squares over mean-filled sources.

    Parameters
    ----------
    target, source : array
        Rows.
    ddof : {"unbiased", "mle"}, default="unbiased"
        Divisor of the noise estimates: rows less coefficients, or rows.
    weights : float, optional
        Weight of a source row where a target row has weight one; estimated unless given.
    means : mapping of str to float, optional
        True mean of the unseen feature, where there is one and its mean is known.
    """
    T, S = StackedMoments.of_rows(target), StackedMoments.of_rows(source)
    ratio = _noise(T, ddof) / _noise(S, ddof) if weights is None else weights
    s, q = source.shape[2] - 1, target.shape[2] - source.shape[2]
    fill = T.mean[:, s : s + q] if means is None else _given(means, len(target), q)
    no_map = np.zeros((len(target), q, s))
    return stacked_regress(T + _filled(S, no_map, fill).weighed(ratio))


def feature_transfer(
    target: Array, source: Array, *, mean_weight: float = 1e5, ridge: float = 1.0
) -> StackedFit:
    """Fill unseen features by a linear map of the shared ones, then weigh all rows alike."""
    T, S = StackedMoments.of_rows(target), StackedMoments.of_rows(source)
    s = source.shape[2] - 1
    one = np.ones((len(target), 1))
    u_T, u_S = np.hstack((T.mean[:, :s], one)), np.hstack((S.mean[:, :s], one))
    new = T.mean[:, s:-1]

    n = T.weight[:, None, None]
    left = n * _outer(u_T, u_T) + mean_weight * _outer(u_S, u_S) + ridge * np.eye(s + 1)
    left[:, :s, :s] += T.scatter[:, :s, :s]
    right = n * _outer(u_T, new) + mean_weight * _outer(u_S, new)
    right[:, :s] += T.scatter[:, :s, s:-1]
    W = _solved(left, right)
    return stacked_regress(T + _filled(S, W[:, :-1].transpose(0, 2, 1), W[:, -1]))


def kernel_transfer(
    target: Array,
    source: Array,
    *,
    gamma: float | None = None,
    mean_weight: float = 1e5,
    ridge: float = 1.0,
) -> StackedFit:
    """Fill unseen features by a kernel expansion over target rows, then weigh all rows alike.

    The kernel values of a few problems are held at a time.
    """
    s = source.shape[2] - 1
    gamma = 1.0 / (s + 1) if gamma is None else gamma
    each = 8 * target.shape[1] * (source.shape[1] + target.shape[1])
    step = max(1, CHUNK_BYTES // each)
    filled = []
    for start in range(0, len(target), step):
        T, S = target[start : start + step], source[start : start + step]
        X, new = T[:, :, :s], T[:, :, s:-1]
        K_TT, K_ST = _kernel(X, X, gamma), _kernel(S[:, :, :s], X, gamma)
        k = K_ST.mean(axis=1)
        left = K_TT @ K_TT + mean_weight * _outer(k, k) + ridge * np.eye(T.shape[1])
        right = K_TT @ new + mean_weight * _outer(k, new.mean(axis=1))
        imputed = K_ST @ _solved(left, right)
        rows = np.concatenate((S[:, :, :s], imputed, S[:, :, s:]), axis=2)
        filled.append(StackedMoments.of_rows(rows))
    parts = ([getattr(m, f) for m in filled] for f in ("weight", "mean", "scatter"))
    pool = StackedMoments(*(np.concatenate(part) for part in parts))
    return stacked_regress(StackedMoments.of_rows(target) + pool)


STACKED: dict[str, Callable[..., StackedFit]] = {
    "target_only": target_only,
    "data_pooling": data_pooling,
    "feature_transfer": feature_transfer,
    "kernel_transfer": kernel_transfer,
}


def _noise(moments: StackedMoments, ddof: str) -> Array:
    coefficients = moments.mean.shape[1] if ddof == "unbiased" else 0  # features and intercept
    return stacked_regress(moments).residual / (moments.weight - coefficients)


def _given(means: Mapping[str, float], repetitions: int, unseen: int) -> Array:
    if len(means) != unseen:
        raise BadOption("means", dict(means), f"one mean for each of {unseen} unseen features")
    return np.tile(list(means.values()), (repetitions, 1))


def _filled(source: StackedMoments, slope: Array, level: Array) -> StackedMoments:
    """Put ``slope @ shared + level`` between the shared features and the response."""
    R, q, s = slope.shape
    matrix = np.zeros((R, s + q + 1, s + 1))
    matrix[:, range(s), range(s)] = 1.0
    matrix[:, s : s + q, :s] = slope
    matrix[:, -1, -1] = 1.0
    shift = np.zeros((R, s + q + 1))
    shift[:, s : s + q] = level
    return source.affine(matrix, shift)


def _kernel(z: Array, t: Array, gamma: float) -> Array:
    exponent = np.zeros((len(t), z.shape[1], t.shape[1]))
    for j in range(z.shape[2]):
        exponent -= gamma * (z[:, :, None, j] - t[:, None, :, j]) ** 2
    return np.exp(exponent, out=exponent)


def _solved(left: Array, right: Array) -> Array:
    unit = 1.0 / np.sqrt(np.diagonal(left, axis1=1, axis2=2))[:, :, None]
    return np.linalg.solve(left * unit * unit.transpose(0, 2, 1), right * unit) * unit


def _outer(a: Array, b: Array) -> Array:
    return a[:, :, None] * b[:, None, :]
