"""DerivedColumn: a column that is computed from others by trees, and saved with the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from poolwise.boosting.trees import Trees
from poolwise.double_double import Array


@dataclass(frozen=True, eq=False)
class DerivedColumn:
    """What history alone would predict: the mean of several sums of trees.

    It is a function of ``inputs`` and of nothing else, so it is known wherever they are, in a
    source that lacks new columns as in the target.

    Parameters
    ----------
    name : str
        Name of the column.
    inputs : tuple of str
        The columns that it is computed from.
    features : tuple of str
        All columns that the trees may look at, in their order; they find no value in those that
        are not inputs.
    boosters : tuple of Trees
        The trees, one sum for each fold.
    trees : int
        How many of each sum count.
    """

    name: str
    inputs: tuple[str, ...]
    features: tuple[str, ...]
    boosters: tuple[Trees, ...]
    trees: int

    def masked(self, rows: Array, names: Sequence[str]) -> Array:
        """Return rows as the trees see them.

        Parameters
        ----------
        rows : array of shape (n, columns)
            Any rows that have the inputs.
        names : sequence of str
            Their columns.
        """
        seen = np.full((len(rows), len(self.features)), np.nan)
        at = [self.features.index(n) for n in self.inputs]
        seen[:, at] = rows[:, [names.index(n) for n in self.inputs]]
        return seen

    def values(self, rows: Array, names: Sequence[str]) -> Array:
        """Return the column for new rows."""
        seen = self.masked(rows, names)
        return mean_of([b.predict(seen, self.trees) for b in self.boosters])

    def times_units(self, features: Sequence[int], response: int) -> DerivedColumn:
        """Return the column of columns that had been divided by powers of two."""
        boosters = tuple(b.times_units(features, response) for b in self.boosters)
        return replace(self, boosters=boosters)


def mean_of(columns: Sequence[Array]) -> Array:
    """Return the mean of columns, added one after the other."""
    total = columns[0]
    for column in columns[1:]:
        total = total + column
    return total / len(columns)
