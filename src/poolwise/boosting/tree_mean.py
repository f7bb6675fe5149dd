"""Tree mean: the mean of several sums of trees, of which each was grown without some rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poolwise.boosting.derived_column import mean_of
from poolwise.boosting.trees import Trees
from poolwise.double_double import Array


@dataclass(frozen=True, eq=False)
class TreeMean:
    """The mean of several sums of trees, and a constant.

    Parameters
    ----------
    boosters : tuple of Trees
        The sums.
    trees : int
        How many trees of each count.
    constant : float, default=0.0
        What is added.
    """

    boosters: tuple[Trees, ...]
    trees: int
    constant: float = 0.0

    @classmethod
    def joined(cls, means: Sequence[TreeMean]) -> TreeMean:
        """Return the mean of means of one sum each."""
        boosters = tuple(b for mean in means for b in mean.boosters)
        return cls(boosters, means[0].trees, sum(m.constant for m in means) / len(means))

    def predict(self, rows: Array) -> Array:
        """Return the value of each row."""
        return mean_of([b.predict(rows, self.trees) for b in self.boosters]) + self.constant

    def times_units(self, columns: Sequence[int], response: int) -> TreeMean:
        """Return the mean for columns that had been divided by powers of two."""
        boosters = tuple(b.times_units(columns, response) for b in self.boosters)
        return TreeMean(boosters, self.trees, float(np.ldexp(self.constant, response)))
