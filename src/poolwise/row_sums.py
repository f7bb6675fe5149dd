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
FEW = 24  # columns whose products are quicker in tiles
TILE = 256  # rows


class Parts(NamedTuple):
    """What a run over rows has found."""

    weight: Pair
    mean: Pair
    scatter: Pair


class RowSums:
    """Sums and products of rows; columns far from zero about a shift near their mean."""

    def __init__(self, z: Array, w: Array | None, low: Array, high: Array) -> None:
        self.units = units_of(low, high)
        self.shift = np.ldexp(shift_of(z, w, low, high), -self.units)
        self.far = np.flatnonzero(self.shift)
        self.unusual = np.flatnonzero(self.units)
        self.seen = np.zeros(len(z))
        self.gram = np.zeros((len(z), len(z)))

    def takes(self, low: Array, high: Array, w: Array | None) -> bool:
        """Say whether a chunk can be added in the units and about the shift of this run."""
        size = self._size(low, high)
        if (
            size.max() > 2.0**USUAL
            or heaviest(w) > self.gram[-1, -1]
            or mean_is_far(self.gram, FAR)
        ):
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
        self.gram += gram_of(z)
        self.seen = np.maximum(self.seen, self._size(low, high))

    def _size(self, low: Array, high: Array) -> Array:
        size = np.maximum(-low, high)
        if not len(self.unusual):
            return size
        with np.errstate(over="ignore"):  # then it is too large, whatever it is
            return np.ldexp(size, -self.units)

    def parts(self, units: NDArray[np.intp]) -> Parts:
        """Return what there is so far, columns in units of powers of two."""
        weight, sums = self.gram[-1, -1], self.gram[-1, :-1]
        share = sums / np.sqrt(weight)
        scatter = (self.gram[:-1, :-1] + self.gram[:-1, :-1].T) / 2.0 - np.outer(share, share)
        at = np.arange(len(scatter))
        scatter[at, at] = np.maximum(scatter.diagonal(), 0.0)
        mean = Pair(*two_sum(self.shift[:-1], sums / weight))
        if (power := self.units[:-1] - units).any():
            mean, scatter = mean.times_powers(power), np.ldexp(scatter, power[:, None] + power)
        return Parts(Pair.of(weight), mean, Pair.of(scatter))


def gram_of(z: Array) -> Array:
    """Return ``z @ z.T``, whose halves may differ in the last bit."""
    if len(z) > FEW:
        return z @ z.T
    gram = np.empty((len(z), len(z)))
    gram[:-1] = product(z[:-1], z)
    gram[-1, :-1], gram[-1, -1] = gram[:-1, -1], z[-1] @ z[-1]
    return gram


def product(left: Array, right: Array) -> Array:
    """Return ``left @ right.T``, by tiles of rows: small products need no copies of what goes in.

    Not for a matrix and itself: NumPy then calls another function, which makes copies.
    """
    rows = left.shape[1]
    if len(left) > FEW or rows % TILE:
        return left @ right.T
    tiles = [a.reshape(len(a), rows // TILE, TILE).transpose(1, 0, 2) for a in (left, right)]
    total: Array = (tiles[0] @ tiles[1].transpose(0, 2, 1)).sum(axis=0)
    return total


def mean_is_far(gram: Array, limit: float) -> bool:
    """Say whether a mean has moved so far from its shift that digits are being lost."""
    offset = (gram[-1, :-1] / np.sqrt(gram[-1, -1])) ** 2
    return bool((offset > limit * (gram.diagonal()[:-1] - offset)).any())


def heaviest(w: Array | None) -> float:
    """Return the largest weight of a chunk."""
    return 1.0 if w is None else float(w.max())


def exponents(low: Array, high: Array) -> NDArray[np.intp]:
    """Return the least powers of two that no number of a column reaches."""
    size = np.maximum(-low, high)
    return np.where(size > 0.0, np.frexp(size)[1], 0).astype(np.intp)


def units_of(low: Array, high: Array) -> NDArray[np.intp]:
    """Return the units to hold columns in: one, but for numbers whose squares might overflow."""
    size = np.maximum(-low, high)
    if size.max(initial=TINY) <= 2.0**USUAL and size.min(initial=TINY) >= TINY:
        return np.zeros(len(size), dtype=np.intp)
    usual = (size <= 2.0**USUAL) & ((size >= TINY) | (size == 0.0))
    return np.where(usual, 0, exponents(low, high))


def shift_of(z: Array, w: Array | None, low: Array, high: Array) -> Array:
    """Return a number near the mean of each column, or zero where that saves no digits.

    Of a constant column it is the value. Where one row outweighs all others it is that row's.
    """
    if w is None:  # the first rows are near enough; weights may all lie on later ones
        steps = z[:, :HEAD] - z[:, :1]  # exactly zero in a constant column
        shift: Array = z[:, 0] + steps.mean(axis=1)
        shift[np.abs(shift) <= (high - low) / 8.0] = 0.0  # a standard deviation is a few eighths
    else:
        heavy = z[:, int(np.argmax(w))]
        shift = heavy + (z - heavy[:, None]) @ (w / w.sum())
    shift[-1] = 0.0
    return shift
