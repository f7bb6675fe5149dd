"""Row sums: what one pass over rows adds up, chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poolwise.double_double import Array, two_sum
from poolwise.errors import BadWeights, NotRealNumbers, ShapeMismatch

Block: TypeAlias = tuple[Sequence[ArrayLike], ArrayLike | None]
"""Arrays that stand side by side, each with the same rows, and the weights of the rows."""

CHUNK = 4096  # rows; a chunk of 30 columns is a megabyte and stays in a core's cache
HEAD = 256  # rows whose mean is a good enough shift
FOLD = 64  # rows treated as one long row where columns do not matter
FAR = 100.0  # squared distance of a mean from its shift, in variances, that costs two digits
SMALLEST = 1e-280  # of a sum of squares: below, digits are lost to underflow
LARGEST = 1e150  # of a number or a weight: the square is finite, and so are sums of squares


class RowSums:
    """Sums and products of rows about a shift near their mean; the last column is all ones."""

    def __init__(self, z: Array, w: Array | None) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            if w is None:  # the first rows are near enough; weights may all lie on later ones
                z = z[:HEAD]
            steps = z - z[0]  # exactly zero in a constant column
            mean = steps.sum(axis=0) / len(z) if w is None else w @ steps / w.sum()
            self.shift = z[0] + mean
        self.shift[-1] = 0.0
        self.rows, self.gram = 0, np.zeros((z.shape[1], z.shape[1]))
        self.low, self.high = np.full(z.shape[1], np.inf), np.full(z.shape[1], -np.inf)

    def spans(self, z: Array) -> bool:
        """Widen the range to hold a chunk; say whether it holds numbers that can be squared."""
        for part in _folded(z):
            low, high = part.min(axis=0), part.max(axis=0)
            np.minimum(self.low, low.reshape(-1, z.shape[1]).min(axis=0), out=self.low)
            np.maximum(self.high, high.reshape(-1, z.shape[1]).max(axis=0), out=self.high)
        return bool((self.low >= -LARGEST).all() and (self.high <= LARGEST).all())

    def add(self, z: Array, w: Array | None) -> bool:
        """Add a chunk, which is overwritten; say whether all sums are still finite."""
        self.rows += len(z)
        with np.errstate(over="ignore", invalid="ignore"):
            for part in _folded(z):
                part -= self.shift if part.shape[1] == z.shape[1] else self._shifts
            if w is not None:
                z *= np.sqrt(w)[:, None]
            self.gram += z.T @ z
            return bool(np.isfinite(self.gram.diagonal()).all())

    @cached_property
    def _shifts(self) -> Array:
        return np.tile(self.shift, FOLD)

    def overflown(self) -> list[int]:
        """Return the columns whose squares overflow."""
        large = np.maximum(-self.low, self.high) > LARGEST
        return [int(j) for j in np.flatnonzero(large | ~np.isfinite(self.gram.diagonal()))]

    def vanished(self) -> list[int]:
        """Return the columns that vary, although the sum of their squares says they hardly do."""
        small = self.gram.diagonal() < SMALLEST
        return (
            [int(j) for j in np.flatnonzero(small & (self.low < self.high))] if small.any() else []
        )

    def is_far(self) -> bool:
        """Say whether the mean has moved so far from the shift that digits are being lost."""
        offset = self.gram[-1, :-1] ** 2 / self.gram[-1, -1]
        return bool((offset > FAR * (self.gram.diagonal()[:-1] - offset)).any())

    def parts(self) -> tuple[float, Array, Array, Array]:
        """Return the weight, the mean as two doubles, and the scatter."""
        weight, sums = float(self.gram[-1, -1]), self.gram[-1, :-1]
        scatter = self.gram[:-1, :-1] - np.outer(sums, sums) / weight
        at = np.arange(len(scatter))
        scatter[at, at] = np.maximum(scatter.diagonal(), 0.0)
        return weight, *two_sum(self.shift[:-1], sums / weight), scatter


def _folded(z: Array) -> list[Array]:
    """Return the same memory with many rows in one, so that a loop over columns is a long one."""
    rows, columns = z.shape
    if rows < 8 * FOLD:
        return [z]
    whole = rows - rows % FOLD
    return [p for p in (z[:whole].reshape(-1, FOLD * columns), z[whole:]) if len(p)]


def chunks(columns: int, blocks: Iterable[Block]) -> Iterator[tuple[Array, Array | None]]:
    """Yield chunks of at most ``CHUNK`` rows, a column of ones last, all in one buffer."""
    buffer = np.empty((0, columns + 1))
    for parts, weights in blocks:
        arrays = [_numbers(part) for part in parts]
        arrays = [a[:, None] if a.ndim == 1 else a for a in arrays]
        fit = all(a.ndim == 2 and len(a) == len(arrays[0]) for a in arrays)
        if not fit or sum(a.shape[1] for a in arrays) != columns:
            raise ShapeMismatch(columns, [a.shape for a in arrays])
        rows = len(arrays[0])
        w = None if weights is None else checked_weights(weights, rows)
        if len(buffer) < min(rows, CHUNK):
            buffer = np.empty((min(rows, CHUNK), columns + 1))
        for start in range(0, rows, CHUNK):
            size, at = min(CHUNK, rows - start), 0
            z = buffer[:size]
            for a in arrays:
                z[:, at : at + a.shape[1]] = a[start : start + size]
                at += a.shape[1]
            z[:, -1] = 1.0
            if w is None:
                yield z, None
                continue
            part = w[start : start + size]
            kept = np.flatnonzero(part)
            if len(kept):
                yield (z, part) if len(kept) == size else (z[kept], part[kept])


def _numbers(part: ArrayLike) -> NDArray[np.generic]:
    """Return an array of real numbers, not copied where it is one."""
    array = np.ma.filled(part.astype(np.float64), np.nan) if np.ma.isMA(part) else np.asarray(part)
    if array.dtype.kind == "O":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise NotRealNumbers(f"objects ({error})") from error
    if array.dtype.kind not in "fiub":
        raise NotRealNumbers(str(array.dtype))
    return array


def checked_weights(weights: ArrayLike, rows: int) -> Array:
    """Return weights as doubles, one per row, finite and not negative."""
    w = weights_as_numbers(weights)
    if w.shape != (rows,):
        raise BadWeights(f"Weights have shape {w.shape} for {rows:,} rows.")
    if not np.isfinite(w).all():
        raise BadWeights(f"{np.count_nonzero(~np.isfinite(w)):,} weights are NaN or infinite.")
    if (w < 0).any():
        raise BadWeights(f"{np.count_nonzero(w < 0):,} weights are negative, least {w.min():g}.")
    if (w > LARGEST).any():
        raise BadWeights(f"The largest weight, {w.max():g}, is above {LARGEST:g}.")
    return w


def weights_as_numbers(weights: ArrayLike) -> Array:
    """Return weights as doubles."""
    try:
        return np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadWeights(f"Weights are not numbers ({error}).") from error
