"""Random tables: a target, and a source without the target's last columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DISTINCT = 1_000_000  # rows; a longer source repeats them


@dataclass(frozen=True, eq=False)
class Tables:
    """Source and target as C-ordered arrays of doubles; the source lacks the last columns."""

    X_old: NDArray[np.float64]
    y_old: NDArray[np.float64]
    X: NDArray[np.float64]
    y: NDArray[np.float64]

    def sources(self, rows: int | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the first rows of the source, without a copy."""
        return self.X_old[:rows], self.y_old[:rows]


def make_tables(
    rows: int, *, shared: int = 30, new: int = 3, target_rows: int = 200, seed: int = 0
) -> Tables:
    """Return normal features, unit coefficients, and noise of variance one."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((target_rows, shared + new))
    y = X.sum(axis=1) + rng.standard_normal(target_rows)
    X_old = rng.standard_normal((min(rows, DISTINCT), shared))
    y_old = X_old.sum(axis=1)
    y_old += rng.standard_normal(len(y_old))
    return Tables(_repeated(X_old, rows), _repeated(y_old, rows), X, y)


def _repeated(block: NDArray[np.float64], rows: int) -> NDArray[np.float64]:
    if len(block) == rows:
        return block
    whole = np.empty((rows, *block.shape[1:]))
    for start in range(0, rows, len(block)):
        whole[start : start + len(block)] = block[: rows - start]
    return whole
