"""Trees: a boosted sum of decision trees as plain arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poolwise.double_double import Array

Places = NDArray[np.intp]

EVERY_VALUE = float(np.finfo(np.float64).max)  # a threshold that parts rows with and without one
AT_ONCE = 2**18  # leaves looked up at a time, so that they stay in cache


@dataclass(frozen=True, eq=False)
class Trees:
    """A sum of trees, without a trace of the library that grew them.

    A node of all trees is a place in these arrays; the children of a node come after it. A leaf is
    its own child, so that one step may be made too many.

    Parameters
    ----------
    baseline : float
        Where the sum begins.
    roots : array of int of shape (trees,)
        The first node of each tree.
    feature : array of int of shape (nodes,)
        The column that a node looks at.
    threshold : array of shape (nodes,)
        Rows up to it go left.
    missing_left : array of bool of shape (nodes,)
        Whether rows without a value go left.
    left, right : array of int of shape (nodes,)
        The children.
    value : array of shape (nodes,)
        What a leaf adds.
    """

    baseline: float
    roots: Places
    feature: Places
    threshold: Array
    missing_left: NDArray[np.bool_]
    left: Places
    right: Places
    value: Array

    def __post_init__(self) -> None:
        for array in vars(self).values():
            if isinstance(array, np.ndarray):
                array.setflags(write=False)

    @cached_property
    def depth(self) -> int:
        """Steps from a root to the leaf that is farthest from one."""
        depth = np.zeros(len(self.feature), dtype=np.intp)
        for node in np.flatnonzero(self.left != np.arange(len(self.left))):  # parents come first
            depth[[self.left[node], self.right[node]]] = depth[node] + 1
        return int(depth.max(initial=0))

    def predict(self, rows: Array, trees: int | None = None) -> Array:
        """Return the sum of the first trees, or of all of them, for each row."""
        return self.staged(rows, [len(self.roots) if trees is None else trees])[:, 0]

    def staged(self, rows: Array, stages: Sequence[int]) -> Array:
        """Return the sums of the first so many trees, one column for each of them.

        Parameters
        ----------
        rows : array of shape (n, columns)
            NaN says that a row lacks the column.
        stages : sequence of int
            Numbers of trees.
        """
        most = max(stages, default=0)
        sums = np.empty((len(rows), len(stages)))
        size = max(1, AT_ONCE // max(most, 1))
        for start in range(0, len(rows), size):
            part = np.ascontiguousarray(rows[start : start + size], dtype=np.float64)
            added = np.full((len(part), most + 1), self.baseline)
            added[:, 1:] = self.value[self._leaves(part, most)]
            # One after the other, whatever the number of rows: so the sums have the same bits.
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

    def times_units(self, features: Sequence[int], response: int) -> Trees:
        """Return the trees of columns that had been divided by powers of two before they grew.

        Parameters
        ----------
        features : sequence of int
            The power of two of each column.
        response : int
            That of the response.
        """
        own = np.asarray(features, dtype=np.intp)
        is_value = self.threshold < EVERY_VALUE
        units = np.where(is_value, own[self.feature], 0)
        return Trees(
            float(np.ldexp(self.baseline, response)),
            self.roots,
            self.feature,
            np.ldexp(self.threshold, units),
            self.missing_left,
            self.left,
            self.right,
            np.ldexp(self.value, response),
        )
