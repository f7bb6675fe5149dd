"""Row sums: what one pass over rows adds up in plain doubles, chunk by chunk."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poolwise.chunks import HEAD
from poolwise.double_double import Array, Pair, two_sum

FAR = 100.0  # squared distance of a mean from its shift, in variances, that costs two digits
USUAL = 200  # columns below 2**-200 or above 2**200 are held in units of their own
TINY = 2.0**-USUAL


class Parts(NamedTuple):
    """What a run over rows has found, each column in units of a power of two."""

    weight: Pair
    mean: Pair
    scatter: Pair
    units: NDArray[np.intp]


class RowSums:
    """Sums and products of rows; columns far from zero about a shift near their mean."""

    def __init__(self, z: Array, w: Array | None, low: Array, high: Array) -> None:
        self.units = units_of(exponents(low, high))
        shift = middle(z, w)
        self.shift = np.where(is_far(shift, low, high), np.ldexp(shift, -self.units), 0.0)
        self.far = np.flatnonzero(self.shift)
        self.unusual = np.flatnonzero(self.units)
        self.seen = np.zeros(len(z))
        self.gram = np.zeros((len(z), len(z)))

    def takes(self, low: Array, high: Array) -> bool:
        """Say whether a chunk can be added in the units and about the shift of this run."""
        size = self._size(low, high)
        if size.max() > 2.0**USUAL or mean_is_far(self.gram, FAR):
            return False
        # Numbers this small must not be the largest of their column: their squares would vanish.
        return bool(
            size.min() > TINY or ((size == 0.0) | (np.maximum(size, self.seen) > TINY)).all()
        )

    def add(self, z: Array, w: Array | None, low: Array, high: Array) -> None:
        """Add a chunk, which is overwritten."""
        for j in self.unusual:
            z[j] = np.ldexp(z[j], -self.units[j])
        for j in self.far:
            z[j] -= self.shift[j]
        if w is not None:
            z *= np.sqrt(w)
        self.gram += z @ z.T
        self.seen = np.maximum(self.seen, self._size(low, high))

    def _size(self, low: Array, high: Array) -> Array:
        size = np.maximum(-low, high)
        return np.ldexp(size, -self.units) if len(self.unusual) else size

    def parts(self) -> Parts:
        """Return what there is so far."""
        weight, sums = self.gram[-1, -1], self.gram[-1, :-1]
        scatter = self.gram[:-1, :-1] - np.outer(sums, sums) / weight
        at = np.arange(len(scatter))
        scatter[at, at] = np.maximum(scatter.diagonal(), 0.0)
        mean = Pair(*two_sum(self.shift[:-1], sums / weight))
        return Parts(Pair.of(weight), mean, Pair.of(scatter), self.units[:-1])


def is_far(shift: Array, low: Array, high: Array) -> NDArray[np.bool_]:
    """Say which columns lie so far from zero that a shift saves digits."""
    return np.abs(shift) > (high - low) / 8.0  # a standard deviation is a few eighths of that


def mean_is_far(gram: Array, limit: float) -> bool:
    """Say whether a mean has moved so far from its shift that digits are being lost."""
    offset = gram[-1, :-1] ** 2 / gram[-1, -1]
    return bool((offset > limit * (gram.diagonal()[:-1] - offset)).any())


def exponents(low: Array, high: Array) -> NDArray[np.intp]:
    """Return the least powers of two that no number of a column reaches."""
    size = np.maximum(-low, high)
    return np.where(size > 0.0, np.frexp(size)[1], 0).astype(np.intp)


def units_of(exponent: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the units to hold columns in: one, but for numbers whose squares might overflow."""
    return np.where(np.abs(exponent) > USUAL, exponent, 0)


def middle(z: Array, w: Array | None) -> Array:
    """Return a number near the mean of each column; of a constant one, its value."""
    if w is None:  # the first rows are near enough; weights may all lie on later ones
        z = z[:, :HEAD]
    steps = z - z[:, :1]  # exactly zero in a constant column
    mean = steps.mean(axis=1) if w is None else steps @ (w / w.sum())
    shift: Array = z[:, 0] + mean
    shift[-1] = 0.0
    return shift
