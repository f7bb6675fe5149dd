"""A splitter for cross-validation on stacked rows that tests on target rows only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from poolwise.errors import TooFewRows
from poolwise.tables.memory import open_table, unmasked


class TargetSplit:
    """Split stacked rows: test folds hold target rows only, training sets all history.

    Rows with a missing value are history: they are in every training set and in no test set.
    The complete rows, the target, are split by ``cv``.

    Parameters
    ----------
    cv : int or splitter, default=5
        How to split the complete rows; an integer means that many unshuffled folds.

    Examples
    --------
    >>> import numpy as np
    >>> from poolwise import TargetSplit
    >>> X = np.array([[1.0, np.nan], [2.0, np.nan], [3.0, 1.0], [4.0, 2.0]])
    >>> for train, test in TargetSplit(cv=2).split(X):
    ...     print(train, test)
    [0 1 3] [2]
    [0 1 2] [3]
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
            Passed to ``cv`` for the complete rows.

        Yields
        ------
        pair of arrays of int
            Positions of the training rows, all history included, and of the test rows.
        """
        table = open_table(X if nw.dependencies.is_into_dataframe(X) else unmasked(X), "X")
        incomplete = table.missing(table.names).any(axis=1)
        target, history = np.flatnonzero(~incomplete), np.flatnonzero(incomplete)
        if not len(target):
            raise TooFewRows.empty_target(table.rows, {"any column": table.rows})
        part_y = None if y is None else np.asarray(y)[target]
        part_groups = None if groups is None else np.asarray(groups)[target]
        for train, test in check_cv(self.cv).split(target[:, None], part_y, part_groups):
            yield np.sort(np.concatenate((history, target[train]))), target[test]

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups : object, optional
            Passed to ``cv``.

        Returns
        -------
        int
            Number of folds that ``split`` yields.
        """
        return int(check_cv(self.cv).get_n_splits(X, y, groups))

    def __repr__(self) -> str:
        return f"TargetSplit(cv={self.cv!r})"
