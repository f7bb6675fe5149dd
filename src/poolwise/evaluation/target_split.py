"""A splitter for cross-validation on stacked rows that tests on target rows only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from poolwise.tables.memory import open_table, unmasked
from poolwise.tables.response import Response
from poolwise.tables.table_reader import TableReader


class TargetSplit:
    """Split stacked rows: test folds hold target rows only, training sets all history.

    Rows that lack the same columns are history if there are more of them than coefficients and they
    are at least 15 % of all rows, as in :meth:`PooledRegressor.fit`: they are in every training set
    and in no test set. All other rows, the target, are split by ``cv``; they may have gaps.

    Parameters
    ----------
    cv : int or splitter, default=5
        How to split the target rows; an integer means that many unshuffled folds.

    Examples
    --------
    >>> import numpy as np
    >>> from poolwise import TargetSplit
    >>> X = np.arange(14.0).reshape(7, 2)
    >>> X[:3, 1] = np.nan
    >>> for train, test in TargetSplit(cv=2).split(X):
    ...     print(train, test)
    [0 1 2 5 6] [3 4]
    [0 1 2 3 4] [5 6]
    """

    def __init__(self, cv: Any = 5) -> None:
        self.cv = cv

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield training and test rows.

        Parameters
        ----------
        X : array-like or data frame
            Stacked rows.
        y, groups : array-like, optional
            Passed to ``cv`` for the target rows.

        Yields
        ------
        pair of arrays of int
            Positions of the training rows, all history included, and of the test rows.
        """
        target, *given = _of_target(X, y, groups)
        history = np.setdiff1d(np.arange(len(X)), target)
        for train, test in check_cv(self.cv).split(target[:, None], *given):
            yield np.sort(np.concatenate((history, target[train]))), target[test]

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups : object, optional
            As for ``split``.

        Returns
        -------
        int
            Number of folds that ``split`` yields.
        """
        given = (X, y, groups) if X is None else _of_target(X, y, groups)
        return int(check_cv(self.cv).get_n_splits(*given))

    def __repr__(self) -> str:
        return f"TargetSplit(cv={self.cv!r})"


def _of_target(X: Any, y: Any, groups: Any) -> tuple[Any, Any, Any]:
    """Return the positions of the target rows, and their responses and groups."""
    table = open_table(X if nw.dependencies.is_into_dataframe(X) else unmasked(X), "X")
    reader = TableReader(response=Response("y"), intercept=True, precision="fast", where="X")
    target = reader.target_positions(table)
    y, groups = (None if own is None else np.asarray(own)[target] for own in (y, groups))
    return target, y, groups
