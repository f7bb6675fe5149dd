"""What an estimator was given as X and y: scikit-learn's checks, and X as a table of ours."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import column_or_1d, validate_data

from poolwise.errors import NotNumeric, OtherColumns
from poolwise.tables import Table, open_table
from poolwise.tables.arrays import ArrayTable, unmasked
from poolwise.tables.columns import Column


def checked(estimator: BaseEstimator, X: Any, y: Any = "no_validation", *, reset: bool) -> Any:
    """Let scikit-learn check names and shape, and turn what is no data frame into an array.

    Parameters
    ----------
    estimator : estimator
        Where it keeps the names, or has kept them.
    X : array-like or data frame
        Features.
    y : array-like, optional
        The response, of which it is only checked that it is there.
    reset : bool
        Whether this is a fit; else names and shape must be those of the fit.
    """
    y = y if y is None else "no_validation"
    if is_frame(X):
        open_table(X, "X")  # says what is wrong with a table better than what follows
        validate_data(estimator, X, y, reset=reset, skip_check_array=True)
        return X
    if type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2 and X.shape[1]:
        validate_data(estimator, X, y, reset=reset, skip_check_array=True)
        return X
    X = unmasked(X) if np.ma.isMaskedArray(X) else X
    return validate_data(
        estimator, X, y, reset=reset, dtype="numeric", ensure_all_finite=False, ensure_min_samples=0
    )


def checked_response(y: Any) -> Any:
    """Let scikit-learn check what is neither a series, which keeps its name, nor a vector."""
    is_series = hasattr(y, "to_list") or hasattr(y, "to_pylist")
    is_vector = isinstance(y, np.ndarray) and y.ndim == 1
    return y if is_series or is_vector else column_or_1d(y, warn=True)


def open_whole(estimator: BaseEstimator, X: Any, columns: Sequence[Column]) -> Table:
    """Open a table that has all the columns of the fit.

    Parameters
    ----------
    estimator, X, columns
        As in :func:`open_rows`.
    """
    if is_frame(X):
        checked(estimator, X, reset=False)
    return open_rows(estimator, X, columns, ())[0]


def open_rows(
    estimator: BaseEstimator, X: Any, columns: Sequence[Column], optional: Collection[str]
) -> tuple[Table, list[Column]]:
    """Open a table to predict, with those of the columns at fit that it has.

    Parameters
    ----------
    estimator : estimator
        A fitted one.
    X : array-like or data frame
        Features.
    columns : sequence of Column
        The columns at fit.
    optional : collection of str
        Those that a data frame may lack.
    """
    if is_frame(X):
        table = open_table(X, "X")
        lacking = {c.name for c in columns}.difference(table.names)
        there = [c for c in columns if c.name not in lacking]
        names = [c.name for c in there]
        if not (lacking and lacking <= set(optional)):
            checked(estimator, X, reset=False)
        elif table.names != tuple(names):
            raise OtherColumns(table.names, names)
        return table, there
    if texts := [c.name for c in columns if c.levels is not None]:
        raise NotNumeric(texts[0], "held text at fit", "Give a data frame, not an array.")
    array = open_table(np.asarray(checked(estimator, X, reset=False)), "X")
    assert isinstance(array, ArrayTable)
    return ArrayTable(array.values, tuple(c.name for c in columns)), list(columns)


def is_frame(X: Any) -> bool:
    """Say whether something is a data frame, and not to be made an array.

    A Dask data frame counts as one, so that it is refused and not computed.
    """
    if isinstance(X, np.ndarray):
        return False
    if nw.dependencies.is_dask_dataframe(X):
        return True
    is_stream = hasattr(X, "__arrow_c_stream__") or hasattr(X, "collect")
    return bool(nw.dependencies.is_into_dataframe(X)) or (is_stream and not hasattr(X, "__array__"))
