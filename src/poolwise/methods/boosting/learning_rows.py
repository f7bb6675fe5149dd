"""Rows that trees learn from, and their folds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array
from poolwise.linear.problem import Problem, Rows

FOLDS = 5
RUN = 8192  # sets of one row of each fold, drawn at a time


class Folds:
    """Folds of rows in the order of the table: of five consecutive rows, one in each fold.

    A table that is read again gets the same folds from the same seed.
    """

    def __init__(self, seed: int) -> None:
        self._drawn = _drawn(np.random.default_rng(seed))
        self._left = np.zeros(0, dtype=np.intp)

    def next(self, rows: int) -> NDArray[np.intp]:
        """Return the folds of the next rows; the sizes of blocks have no effect."""
        while len(self._left) < rows:
            self._left = np.concatenate((self._left, next(self._drawn)))
        found, self._left = self._left[:rows], self._left[rows:]
        return found


def _drawn(rng: np.random.Generator) -> Iterator[NDArray[np.intp]]:
    while True:
        sets = np.tile(np.arange(FOLDS, dtype=np.intp), (RUN, 1))
        yield rng.permuted(sets, axis=1).ravel()


def tenths(fold: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the tenth of each row, half a fold: of ten consecutive rows, one is in each."""
    return 2 * fold + np.arange(len(fold), dtype=np.intp) // FOLDS % 2


@dataclass(frozen=True, eq=False)
class LearningRows:
    """Rows in memory."""

    X: Array  # NaN where a row lacks the feature
    y: Array
    w: Array  # weights
    fold: NDArray[np.intp]
    mark: int = 0  # checksum of the rows in their order, to compare with a second pass

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
        """Read rows that have some of the features: all rows, or a random share of them."""
        folds, draw = Folds(seed), np.random.default_rng([seed, 1])
        at = [features.index(n) for n in has]
        parts, mark = [cls.none(len(features))], 0
        for block, weights in counted(rows, (*has, response)):
            fold, mark = folds.next(len(block)), marked(block, weights, mark)
            # Rows are drawn with equal probability and keep their weights, so weighted sums over
            # them estimate those over all rows, up to a factor.
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

    @property
    def weights(self) -> Array | None:
        """The weights, unless all are one."""
        return None if (self.w == 1.0).all() else self.w


def counted(rows: Rows, names: Sequence[str]) -> Iterator[tuple[Array, Array | None]]:
    """Yield blocks without the rows of weight zero."""
    for block, weights in rows.blocks(names):
        if weights is None or weights.all():
            yield block, weights
        else:
            yield block[weights > 0.0], weights[weights > 0.0]


def marked(block: Array, weights: Array | None, mark: int) -> int:
    """Update a checksum with rows and weights; the sizes of blocks have no effect."""
    own = block if weights is None else np.column_stack((block, weights))
    return crc32(np.ascontiguousarray(own).data, mark)


def target_rows(problem: Problem) -> int:
    """Count the rows of the target that have a weight."""
    rows = problem.target_rows
    if rows is None:
        return 0
    return sum(len(block) for block, _ in counted(rows, (problem.response,)))
