"""Tables whose names and shape scikit-learn has checked, at fit and to predict."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import column_or_1d, validate_data

from poolwise.errors import BadColumns, LeftOut, NotNumeric
from poolwise.tables.encoding import Column
from poolwise.tables.frames import FrameTable
from poolwise.tables.memory import ArrayTable, Table, open_table, unmasked
from poolwise.tables.text_values import DATES
from poolwise.wording import listed


def checked(estimator: BaseEstimator, X: Any, y: Any = "no_validation", *, reset: bool) -> Table:
    """Open a table whose names and shape scikit-learn has checked."""
    y = y if y is None else "no_validation"
    if _is_frame(X):
        table = open_table(X, "X")  # first: its errors are more specific than those of scikit-learn
        validate_data(estimator, _native(X), y, reset=reset, skip_check_array=True)
        return table
    if type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2 and X.shape[1]:
        validate_data(estimator, X, y, reset=reset, skip_check_array=True)
    else:
        X = unmasked(X) if np.ma.isMaskedArray(X) else X
        X = validate_data(
            estimator,
            X,
            y,
            reset=reset,
            dtype="numeric",
            ensure_all_finite=False,
            ensure_min_samples=0,
        )
    return open_table(X, "X")


def checked_response(y: Any) -> Any:
    """Let scikit-learn check a response, unless it is a vector or a series, which has a name."""
    is_series = hasattr(y, "to_list") or hasattr(y, "to_pylist")
    is_vector = isinstance(y, np.ndarray) and y.ndim == 1
    return y if is_series or is_vector else column_or_1d(y, warn=True)


def open_rows(
    estimator: BaseEstimator,
    X: Any,
    columns: Sequence[Column],
    left_out: Collection[str],
    optional: Collection[str] = (),
) -> tuple[Table, list[Column]]:
    """Open a table to predict, with those of the columns at fit that it has.

    Columns that were left out at fit may be there or not; a note names further ones.
    """
    at_fit: Any = getattr(estimator, "feature_names_in_", ())
    if not _is_frame(X):
        if texts := [c.name for c in columns if c.kind in ("text", *DATES)]:
            raise NotNumeric.of(texts[0], "held text at fit", "Give a data frame, not an array.")
        array = checked(estimator, X, reset=False)
        assert isinstance(array, ArrayTable)
        names = tuple(map(str, at_fit)) or tuple(c.name for c in columns)
        return ArrayTable(array.values, names), list(columns)
    table = open_table(X, "X")
    there = [c for c in columns if c.name in table.names]
    lacking = {c.name for c in columns}.difference(table.names)
    if lacking - {*optional} or not len(at_fit):
        validate_data(estimator, _native(X), "no_validation", reset=False, skip_check_array=True)
    used = [c.name for c in there]
    if used != [n for n in table.names if n in used]:
        what = f"X has its columns in the order {listed([n for n in table.names if n in used])}."
        raise BadColumns(what, f"It must have the columns {listed(used)}, in this order.")
    known = {*at_fit, *left_out}
    if len(at_fit) and (extra := [n for n in table.names if n not in known]):
        what = f"X has columns that were not there at fit: {listed(extra)}. They are ignored."
        warnings.warn(LeftOut(what, extra=tuple(extra)), stacklevel=4)
    return table, there


def _native(X: Any) -> Any:
    """Return the data frame itself, which scikit-learn knows."""
    return X.frame.to_native() if isinstance(X, FrameTable) else X


def _is_frame(X: Any) -> bool:
    """Return whether X is a data frame; one of Dask counts, so that it raises an error later."""
    if isinstance(X, np.ndarray):
        return False
    if isinstance(X, FrameTable):  # opened by the command line, which names the file
        return True
    if nw.dependencies.is_dask_dataframe(X):
        return True
    is_stream = hasattr(X, "__arrow_c_stream__") or hasattr(X, "collect")
    return bool(nw.dependencies.is_into_dataframe(X)) or (is_stream and not hasattr(X, "__array__"))
