"""Folds: which fifth of a table each row is in, told row by row as they come.

Trees on all rows are grown without a fifth each time. What is made of the target alone costs less,
and is made without a tenth, half a fifth, each time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

FOLDS = 5
RUN = 8192  # sets of one row of each fold, drawn at a time


class Folds:
    """Gives rows their folds in the order of the table: of five rows that follow, one to each.

    Parameters
    ----------
    seed : int
        Tables that are read again get the same folds by the same seed.
    """

    def __init__(self, seed: int) -> None:
        self._drawn = _drawn(np.random.default_rng(seed))
        self._left = np.zeros(0, dtype=np.intp)

    def next(self, rows: int) -> NDArray[np.intp]:
        """Return the folds of the next rows, which do not depend on how many come at a time."""
        while len(self._left) < rows:
            self._left = np.concatenate((self._left, next(self._drawn)))
        found, self._left = self._left[:rows], self._left[rows:]
        return found


def _drawn(rng: np.random.Generator) -> Iterator[NDArray[np.intp]]:
    while True:
        sets = np.tile(np.arange(FOLDS, dtype=np.intp), (RUN, 1))
        yield rng.permuted(sets, axis=1).ravel()


def tenths(fold: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the tenth of each row, half a fold: of ten rows that follow, one is in each.

    Parameters
    ----------
    fold : array of int of shape (n,)
        The folds of all rows of a table, in their order.
    """
    return 2 * fold + np.arange(len(fold), dtype=np.intp) // FOLDS % 2
