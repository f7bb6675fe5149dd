"""Trees as plain arrays, means of several sums of trees, and columns derived by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array

Places = NDArray[np.intp]

EVERY_VALUE = float(np.finfo(np.float64).max)  # threshold that separates only missing values
AT_ONCE = 2**18  # leaves looked up at a time, so that they stay in cache


@dataclass(frozen=True, eq=False)
class Trees:
    """A sum of trees, independent of the library that grew them.

    The nodes of all trees are numbered; the children of a node come after it. A leaf is its own
    child, so that further steps have no effect.
    """

    baseline: float  # where the sum begins
    roots: Places  # the first node of each tree
    feature: Places  # the column that a node splits on
    threshold: Array  # rows up to it go left
    missing_left: NDArray[np.bool_]  # rows without a value go left
    left: Places  # child of each node
    right: Places
    value: Array  # added by a leaf

    def __post_init__(self) -> None:
        for array in vars(self).values():
            if isinstance(array, np.ndarray):
                array.setflags(write=False)

    @cached_property
    def depth(self) -> int:
        """Steps from a root to the deepest leaf."""
        depth = np.zeros(len(self.feature), dtype=np.intp)
        for node in np.flatnonzero(self.left != np.arange(len(self.left))):  # parents come first
            depth[[self.left[node], self.right[node]]] = depth[node] + 1
        return int(depth.max(initial=0))

    def predict(self, rows: Array, trees: int | None = None) -> Array:
        """Return the sum of the first trees, or of all of them, for each row."""
        return self.staged(rows, [len(self.roots) if trees is None else trees])[:, 0]

    def staged(self, rows: Array, stages: Sequence[int]) -> Array:
        """Return the sums of the first trees, one column for each number of them."""
        most = max(stages, default=0)
        sums = np.empty((len(rows), len(stages)))
        size = max(1, AT_ONCE // max(most, 1))
        for start in range(0, len(rows), size):
            part = np.ascontiguousarray(rows[start : start + size], dtype=np.float64)
            added = np.full((len(part), most + 1), self.baseline)
            added[:, 1:] = self.value[self._leaves(part, most)]
            # Added in order for any number of rows, so that the sums have the same bits.
            sums[start : start + size] = added.cumsum(axis=1)[:, list(stages)]
        return sums

    def _leaves(self, rows: Array, trees: int) -> Places:
        """Return the leaf of each row in each tree."""
        values, width = rows.ravel(), rows.shape[1]
        first = np.arange(len(rows), dtype=np.intp)[:, None] * width
        at = np.repeat(self.roots[None, :trees], len(rows), axis=0)
        for _ in range(self.depth):
            x = values[first + self.feature[at]]
            with np.errstate(invalid="ignore"):
                goes_left = (x <= self.threshold[at]) | (np.isnan(x) & self.missing_left[at])
            at = np.where(goes_left, self.left[at], self.right[at])
        return at

    def first(self, trees: int) -> Trees:
        """Return the first trees alone."""
        end = int(self.roots[trees]) if trees < len(self.roots) else len(self.feature)
        names = ("feature", "threshold", "missing_left", "left", "right", "value")
        return Trees(
            self.baseline, self.roots[:trees], *(getattr(self, name)[:end] for name in names)
        )


@dataclass(frozen=True, eq=False)
class TreeMean:
    """The mean of several sums of trees, plus a constant."""

    boosters: tuple[Trees, ...]
    trees: int  # of each sum that count
    constant: float = 0.0

    @classmethod
    def joined(cls, means: Sequence[TreeMean]) -> TreeMean:
        """Return the mean of means of one sum each."""
        boosters = tuple(b for mean in means for b in mean.boosters)
        return cls(boosters, means[0].trees, sum(m.constant for m in means) / len(means))

    def predict(self, rows: Array) -> Array:
        """Return the value of each row."""
        return mean_of([b.predict(rows, self.trees) for b in self.boosters]) + self.constant


@dataclass(frozen=True, eq=False)
class DerivedColumn:
    """The prediction from history alone: the mean of several sums of trees.

    It is a function of ``inputs`` only, so it is known in every table that has them.
    """

    name: str
    inputs: tuple[str, ...]
    features: tuple[str, ...]  # columns of the trees, in their order; all but the inputs are masked
    boosters: tuple[Trees, ...]  # one sum for each fold
    trees: int  # of each sum that count

    def masked(self, rows: Array, names: Sequence[str]) -> Array:
        """Return rows of these columns as the trees see them."""
        seen = np.full((len(rows), len(self.features)), np.nan)
        at = [self.features.index(n) for n in self.inputs]
        seen[:, at] = rows[:, [names.index(n) for n in self.inputs]]
        return seen

    def values(self, rows: Array, names: Sequence[str]) -> Array:
        """Return the column for new rows."""
        seen = self.masked(rows, names)
        return mean_of([b.predict(seen, self.trees) for b in self.boosters])


def mean_of(columns: Sequence[Array]) -> Array:
    """Return the mean of columns, added one after the other."""
    total = columns[0]
    for column in columns[1:]:
        total = total + column
    return total / len(columns)
