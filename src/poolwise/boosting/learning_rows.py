"""Learning rows: the rows that trees learn from, held as one array with NaN where columns lack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from poolwise.boosting.folds import Folds
from poolwise.double_double import Array
from poolwise.problem import Rows


@dataclass(frozen=True, eq=False)
class LearningRows:
    """Rows in memory.

    Parameters
    ----------
    X : array of shape (n, features)
        NaN where a row lacks the feature.
    y : array of shape (n,)
        The response.
    w : array of shape (n,)
        The weights.
    fold : array of int of shape (n,)
        The fold of each row.
    mark : int, default=0
        What tells whether rows that are read again are the same, in the same order.
    """

    X: Array
    y: Array
    w: Array
    fold: NDArray[np.intp]
    mark: int = 0

    @classmethod
    def read(
        cls,
        rows: Rows,
        has: Sequence[str],
        features: Sequence[str],
        response: str,
        *,
        seed: int,
        share: float = 1.0,
    ) -> LearningRows:
        """Read rows, all of them or a share that is drawn.

        Parameters
        ----------
        rows : Rows
            What to read.
        has : sequence of str
            The features that these rows have.
        features : sequence of str
            All features.
        response : str
            Name of the response.
        seed : int
            Of the folds and of the draw.
        share : float, default=1.0
            Chance of each row to be held.
        """
        folds, draw = Folds(seed), np.random.default_rng([seed, 1])
        at = [features.index(n) for n in has]
        parts, mark = [cls.none(len(features))], 0
        for block, weights in counted(rows, (*has, response)):
            fold, mark = folds.next(len(block)), marked(block, weights, mark)
            # Each row with the same chance, whatever its weight, which it keeps: so weighted sums
            # over the drawn rows are those over all, but for chance and a factor.
            kept = slice(None) if share >= 1.0 else draw.random(len(block)) < share
            own = block[kept]
            X = np.full((len(own), len(features)), np.nan)
            X[:, at] = own[:, :-1]
            w = np.ones(len(own)) if weights is None else weights[kept]
            parts.append(cls(X, own[:, -1].copy(), w, fold[kept]))
        return replace(cls.stacked(parts), mark=mark)

    @classmethod
    def none(cls, features: int) -> LearningRows:
        """Return no rows."""
        nothing = np.zeros(0)
        return cls(np.zeros((0, features)), nothing, nothing, np.zeros(0, dtype=np.intp))

    @classmethod
    def stacked(cls, parts: Sequence[LearningRows]) -> LearningRows:
        """Return the rows of all parts."""
        return cls(
            np.concatenate([p.X for p in parts]),
            np.concatenate([p.y for p in parts]),
            np.concatenate([p.w for p in parts]),
            np.concatenate([p.fold for p in parts]),
        )

    def take(self, rows: NDArray[np.bool_]) -> LearningRows:
        """Return some of the rows."""
        return LearningRows(self.X[rows], self.y[rows], self.w[rows], self.fold[rows])

    def outside(self, fold: int) -> LearningRows:
        """Return the rows that are not in a fold."""
        return self.take(self.fold != fold)

    @property
    def weights(self) -> Array | None:
        """The weights, unless all are one."""
        return None if (self.w == 1.0).all() else self.w


def counted(rows: Rows, names: Sequence[str]) -> Iterator[tuple[Array, Array | None]]:
    """Yield blocks of rows without those of weight zero, which are as if they were not there."""
    for block, weights in rows.blocks(names):
        if weights is None or weights.all():
            yield block, weights
        else:
            yield block[weights > 0.0], weights[weights > 0.0]


def marked(block: Array, weights: Array | None, mark: int) -> int:
    """Return the mark of rows that come after others, which does not depend on blocks.

    A weight is part of its row: without it, rows that have changed their weights would be the same.
    """
    own = block if weights is None else np.column_stack((block, weights))
    return crc32(np.ascontiguousarray(own).data, mark)
