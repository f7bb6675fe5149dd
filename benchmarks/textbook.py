"""The four methods of the paper for one run, written plainly, in time linear in the rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

Array = NDArray[np.float64]

MEAN_WEIGHT, RIDGE = 1e5, 1.0


def textbook_errors(
    X_old: Array, y_old: Array, X: Array, y: Array, test: Array, *, product: bool = False
) -> list[float]:
    """Return the test errors of OLS, DSFT, DSFT-nl and DP, the response last in ``test``.

    A direct implementation of the paper: least squares and normal equations of raw rows, a weight
    for each row, and a kernel of source rows by target rows. With a product, the last feature is
    the product of the last shared and the last new one.
    """
    d = X_old.shape[1]
    shared, new = _with_one(X[:, :d]), X[:, d:]
    history = _with_one(X_old)
    both = np.concatenate((y, y_old))

    alone = np.linalg.lstsq(_with_one(X), y)[0]
    parts = new[:, : new.shape[1] - product]
    pooled = []
    for filled in (
        _imputed(shared, history, parts),
        _imputed(_kernel(shared, shared), _kernel(history, shared), parts),
    ):
        made = [X_old[:, -1] * filled[:, -1]] if product else []
        source = _with_one(np.column_stack((X_old, filled, *made)))
        pooled.append(_solve(np.vstack((_with_one(X), source)), both))
    centre = np.concatenate((np.zeros(d), new.mean(axis=0)))
    centred = _with_one(X - centre)
    zeros = np.column_stack((X_old, np.zeros((len(X_old), new.shape[1]))))
    weights = np.repeat(
        (1.0 / _noise(centred, y), 1.0 / _noise(history, y_old)), (len(X), len(X_old))
    )
    dp = _solve(np.vstack((centred, _with_one(zeros))), both, weights)

    T, t = _with_one(test[:, :-1]), test[:, -1]
    fits = [(T, alone), *((T, coef) for coef in pooled), (_with_one(test[:, :-1] - centre), dp)]
    return [float(np.sqrt(np.mean((t - rows @ coef) ** 2))) for rows, coef in fits]


def _imputed(target: Array, source: Array, new: Array) -> Array:
    mean = source.mean(axis=0)
    left = target.T @ target + MEAN_WEIGHT * np.outer(mean, mean) + RIDGE * np.eye(len(mean))
    right = target.T @ new + MEAN_WEIGHT * np.outer(mean, new.mean(axis=0))
    return source @ np.linalg.solve(left, right)


def _kernel(rows: Array, centres: Array) -> Array:
    kernel: Array = np.exp(-cdist(rows, centres, "sqeuclidean") / rows.shape[1])
    return kernel


def _solve(rows: Array, y: Array, weights: Array | None = None) -> Array:
    weighed = rows if weights is None else rows * weights[:, None]
    # Some targets have constant columns, and equations without a unique solution.
    return np.asarray(np.linalg.lstsq(weighed.T @ rows, weighed.T @ y)[0], np.float64)


def _noise(rows: Array, y: Array) -> float:
    return float(np.mean((y - rows @ np.linalg.lstsq(rows, y)[0]) ** 2))


def _with_one(X: Array) -> Array:
    return np.column_stack((X, np.ones(len(X))))
