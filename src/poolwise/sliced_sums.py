"""Sliced sums: products of rows with twice the digits, through ordinary matrix products.

Each number is cut into slices of few bits (Ozaki, Ogita, Oishi, Rump: Error-free transformations
of matrix multiplication, Numerical Algorithms, 2012). Products of two such slices are short, so a
matrix product adds up a whole chunk of them without any rounding.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from poolwise.chunks import CHUNK
from poolwise.double_double import Array, Pair, two_product, two_sum
from poolwise.row_sums import Parts, exponents, heaviest, mean_is_far, shift_of

FAR = 1e8  # squared distance of a mean from its shift, in variances: eight of some 28 digits
FIRST, LATER = 21, 22  # bits of the first slice and of the others, which have a sign instead
assert CHUNK * 2 ** (2 * FIRST) <= 2**53  # so many products are added without rounding


class SlicedSums:
    """Sums and products of rows in two doubles each, about a shift near the mean.

    What a difference from the shift loses to rounding is kept, and added to the last slice.
    """

    def __init__(self, z: Array, w: Array | None, low: Array, high: Array) -> None:
        self.shift = shift_of(z, w, low, high)
        self.far = np.flatnonzero(self.shift)
        self.exponent = self._exponents(low, high)
        self.weight_exponent = 0 if w is None else int(np.frexp(w.max())[1])
        self.gram = Pair.of(np.zeros((len(z), len(z))))
        self._slices, self._weighed = Buffer(), Buffer()

    def takes(self, low: Array, high: Array, w: Array | None) -> bool:
        """Say whether a chunk can be added in the units and about the shift of this run."""
        blank = self.gram.high.diagonal() == 0.0  # so far: it has no unit yet
        if (blank & (self._exponents(low, high) < self.exponent)).any():
            return False
        if heaviest(w) > np.ldexp(self.gram.high[-1, -1], self.weight_exponent):
            return False
        return not mean_is_far(self.gram.high, FAR)

    def add(self, z: Array, w: Array | None, low: Array, high: Array) -> None:
        """Add a chunk, which is overwritten."""
        self._widen(self._exponents(low, high), w)
        slices, scale = self._slices.of(3, z.shape), -self.exponent
        tails = self._shifted(z, low, high)
        times_power(z, scale[:, None], out=slices[-1])
        weighed = slices
        if w is not None:
            light = np.ldexp(w, -self.weight_exponent)
            weighed = self._weighed.of(3, z.shape)
            weighed[-1], tail = two_product(slices[-1], light)
            cut(weighed)
            weighed[-1] += tail
        cut(slices)
        for j, lost in tails.items():
            slices[-1, j] += np.ldexp(lost, scale[j])
            if w is not None:
                weighed[-1, j] += light * np.ldexp(lost, scale[j])
        S, U, V = range(3)
        G = products(weighed, slices)
        total, rest = self.gram.high, self.gram.low
        for exact in (G[S, :, S], G[S, :, U], G[U, :, S]):
            total, tail = two_sum(total, exact)
            rest = rest + tail
        small = G[V, :, V] + (G[U, :, V] + G[V, :, U])
        rest = rest + (small + ((G[S, :, V] + G[V, :, S]) + G[U, :, U]))
        self.gram = Pair(total, rest)

    def _shifted(self, z: Array, low: Array, high: Array) -> dict[int, Array]:
        """Subtract the shift in place; return what rounding took, where it took something.

        Differences of numbers that are at most a factor of two apart are exact (Sterbenz).
        """
        near, away = np.sort((self.shift / 2.0, self.shift * 2.0), axis=0)
        exact = (low >= near) & (high <= away)
        tails = {}
        for j in self.far:
            if exact[j]:
                z[j] -= self.shift[j]
            else:
                z[j], tails[int(j)] = two_sum(z[j], -self.shift[j : j + 1])
        return tails

    def _widen(self, exponent: NDArray[np.intp], w: Array | None) -> None:
        """Make room for larger numbers, in units that are powers of two."""
        if (exponent > self.exponent).any():
            wider = np.maximum(exponent, self.exponent)
            factor = np.ldexp(1.0, self.exponent - wider)
            self.gram = self.gram.scaled(factor[:, None] * factor)
            self.exponent = wider
        if w is not None and (heavier := int(np.frexp(w.max())[1])) > self.weight_exponent:
            self.gram = self.gram.scaled(2.0 ** (self.weight_exponent - heavier))
            self.weight_exponent = heavier

    def parts(self, units: NDArray[np.intp]) -> Parts:
        """Return what there is so far, columns in units of powers of two."""
        gram = self.gram + Pair.of(0.0)  # the low part below half a unit of the high one
        weight, sums = gram[-1, -1], gram[:-1, -1]
        mean = sums / weight
        scatter = gram[:-1, :-1] - mean[:, None] * sums[None, :]
        scatter = (scatter + scatter.T).scaled(0.5 * 2.0**self.weight_exponent)
        flat = np.flatnonzero(scatter.high.diagonal() <= 0.0)
        scatter.high[flat, flat] = scatter.low[flat, flat] = 0.0
        power, shift = self.exponent[:-1] - units, Pair.of(np.ldexp(self.shift[:-1], -units))
        return Parts(
            weight.scaled(2.0**self.weight_exponent),
            shift + mean.times_powers(power),
            scatter.times_powers(power[:, None] + power),
        )

    def _exponents(self, low: Array, high: Array) -> NDArray[np.intp]:
        exponent = exponents(low - self.shift, high - self.shift)
        exponent[-1] = 0  # ones are not below one, but at most
        return exponent


class Buffer:
    """Slices of a chunk, in the same memory as long as chunks have the same shape."""

    def __init__(self) -> None:
        self.memory = np.empty((0, 0, 0))

    def of(self, count: int, shape: tuple[int, ...]) -> Array:
        """Return room for slices, with what is in it so far."""
        if self.memory.shape[1:] != shape:
            self.memory = np.empty((count, *shape))
        elif len(self.memory) < count:
            self.memory = np.concatenate((self.memory, np.empty((count, *shape))))
        return self.memory[:count]


def times_power(z: Array, exponent: NDArray[np.intp], out: Array) -> None:
    """Multiply by powers of two, in two steps where one of them is beyond the range of doubles."""
    half = exponent // 2 if np.abs(exponent).max() > 1000 else 0 * exponent
    np.multiply(z, np.ldexp(1.0, exponent - half), out=out)
    if half.any():
        out *= np.ldexp(1.0, half)


def cut(slices: Array) -> None:
    """Cut the numbers below one in the last slice into all slices; the last keeps the rest."""
    for k, part in enumerate(slices[:-1]):
        cut_one(k, slices[-1], part)


def cut_one(k: int, rest: Array, part: Array) -> None:
    """Move the bits of slice ``k`` from the rest to a part of its own."""
    far = 1.5 * 2.0 ** (52 - FIRST - LATER * k)  # a sum with it has no finer bits
    np.add(rest, far, out=part)
    part -= far
    rest -= part


def products(left: Array, right: Array) -> Array:
    """Return the products of all slices, summed over rows: slice, column, slice, column."""
    (k, p, n), (m, q, _) = left.shape, right.shape
    return (left.reshape(k * p, n) @ right.reshape(m * q, n).T).reshape(k, p, m, q)
