"""The published data pooling, with its weight matrix of rows times rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def published_data_pooling(X_old: Array, y_old: Array, X: Array, y: Array) -> Array:
    """Return the coefficients, the intercept last, of features centred by the target's means.

    As published: an intercept column appended last, pseudo-inverses of the normal equations, noise
    variances with the number of rows as divisor, and the weights as a diagonal n x n matrix.
    """
    d, n, n_old = X.shape[1], len(X), len(X_old)
    centred = X.copy()
    centred[:, X_old.shape[1] :] -= X[:, X_old.shape[1] :].mean(axis=0)
    x_T = np.column_stack((centred, np.ones(n)))
    x_S = np.column_stack((X_old, np.ones(n_old)))
    filled = np.zeros((n_old, d + 1))
    filled[:, : X_old.shape[1]], filled[:, -1] = X_old, 1.0

    weights = (np.full(n_old, 1.0 / _noise(x_S, y_old)), np.full(n, 1.0 / _noise(x_T, y)))
    Z, z = np.concatenate((filled, x_T)), np.concatenate((y_old, y))
    W = np.diag(np.concatenate(weights))
    theta: Array = np.linalg.pinv(Z.T @ W @ Z, hermitian=True) @ Z.T @ W @ z
    return theta


def _noise(x: Array, y: Array) -> float:
    theta = np.linalg.pinv(x.T @ x, hermitian=True) @ x.T @ y
    return float(np.mean((y - x @ theta) ** 2))
