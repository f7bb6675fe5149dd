"""Columns: features in the order of their correlation with the response, the new ones last."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from poolwise.double_double import Array
from poolwise.experiments.specs import Protocol


def ordered(rows: Array, protocol: Protocol) -> Array:
    """Return the features by absolute correlation with the response, ascending, and the response.

    Constant columns are left out. Under ``"published"`` places in the matrix without constant
    columns are looked up in the matrix with them, as the published program does: where there are
    constant columns, as in sml alone, other columns are taken than meant, constant ones too.

    Parameters
    ----------
    rows : array of shape (n, d + 1)
        Features and, last, the response.
    protocol : {"published", "corrected"}
        Whether that slip is made.
    """
    X, y = rows[:, :-1], rows[:, -1]
    varying = np.ptp(X, axis=0) > 0.0
    order = _by_correlation(X[:, varying], y)
    taken = X[:, order] if protocol == "published" else X[:, varying][:, order]
    return np.column_stack((taken, y))


def with_product(rows: Array, new_features: int) -> Array:
    """Append the best shared feature times the best new one, and add it to the response.

    Parameters
    ----------
    rows : array of shape (n, d + 1)
        What ``ordered`` returns.
    new_features : int
        How many of the features are new: the last ones.
    """
    X, y = rows[:, :-1], rows[:, -1]
    product = X[:, -new_features - 1] * X[:, -1]
    return np.column_stack((X, product, y + product))


def _by_correlation(X: Array, y: Array) -> NDArray[np.intp]:
    correlations = [np.corrcoef(x, y)[0, 1] for x in X.T]
    return np.argsort(np.abs(correlations), kind="stable")
