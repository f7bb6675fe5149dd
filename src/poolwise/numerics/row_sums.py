"""Sums of rows, chunk by chunk: in plain doubles, and in pairs through ordinary matrix products.

For pairs, each number is cut into slices of few bits (Ozaki, Ogita, Oishi, Rump: Error-free
transformations of matrix multiplication, Numerical Algorithms, 2012). Products of two such slices
are short, so a matrix product adds up a whole chunk of them without any rounding.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array
from poolwise.numerics.chunks import CHUNK, HEAD
from poolwise.numerics.double_double import Pair, about_mean, three_sum, two_product, two_sum

FAR = 100.0  # squared distance of a mean from its shift, in variances, that loses two digits
FAR_IN_PAIRS = 1e8  # the same: eight of some 28 digits
FEW = 24  # columns whose products are quicker in tiles
TILE = 256  # rows
FIRST, LATER = 21, 22  # bits of the first slice and of the others, which have a sign instead
assert CHUNK * 2 ** (2 * FIRST) <= 2**53  # the products of a chunk are added without rounding
SPARE = 8  # bits that a column may grow by before its shift has finer bits than its first slice
MOST = 2.0**48  # units of a first slice between zero and a shift


class RowSums:
    """Sums and products of rows; columns far from zero about a shift near their mean."""

    def __init__(self, z: Array, w: Array | None, low: Array, high: Array) -> None:
        self.shift = shift_of(z, w, low, high)
        self.far = np.flatnonzero(self.shift)
        self.gram = np.zeros((len(z), len(z)))

    def takes(self, low: Array, high: Array, w: Array | None) -> bool:
        """Return whether a chunk can be added about the shift of this run."""
        return not (heaviest(w) > self.gram[-1, -1] or mean_is_far(self.gram, FAR))

    def add(self, z: Array, w: Array | None, low: Array, high: Array) -> None:
        """Add a chunk, which is overwritten."""
        for j in self.far:
            z[j] -= self.shift[j]
        if w is not None:
            z *= np.sqrt(w)
        self.gram += gram_of(z)

    def parts(self) -> tuple[Pair, Pair, Pair]:
        """Return weight, mean and scatter of the rows so far."""
        weight, sums = self.gram[-1, -1], self.gram[-1, :-1]
        share = sums / np.sqrt(weight)
        scatter = (self.gram[:-1, :-1] + self.gram[:-1, :-1].T) / 2.0 - np.outer(share, share)
        at = np.arange(len(scatter))
        scatter[at, at] = np.maximum(scatter.diagonal(), 0.0)
        mean = Pair(*two_sum(self.shift[:-1], sums / weight))
        return Pair.of(weight), mean, Pair.of(scatter)


class SlicedSums:
    """Sums and products of rows in two doubles each, about a shift near the mean.

    Differences from the shift are not rounded: either the shift has few bits and is subtracted from
    the first slice, or the rounding error is added to the last.

    The sums need not be symmetric. Only their symmetric part is used.
    """

    def __init__(self, z: Array, w: Array | None, low: Array, high: Array) -> None:
        self.shift = shift_of(z, w, low, high)
        self.exponent = self._exponents(low, high)
        if w is None:  # else the shift may have to be one row; a constant column's is its value
            self.shift = np.where(low < high, rounded(self.shift, self.exponent), self.shift)
            self.exponent = self._exponents(low, high)
        self.far = np.flatnonzero(self.shift)
        self.near, self.away = np.sort((self.shift / 2.0, self.shift * 2.0), axis=0)
        self.is_short = has_few_bits(self.shift, self.exponent)
        self.weight_exponent = 0 if w is None else int(np.frexp(w.max())[1])
        self.gram = Pair(np.zeros((len(z), len(z))), np.zeros((len(z), len(z))))
        self._slices, self._weighed = Buffer(), Buffer()

    def takes(self, low: Array, high: Array, w: Array | None) -> bool:
        """Return whether a chunk can be added about the shift of this run."""
        blank = self.gram.high.diagonal() == 0.0  # so far: it has no unit yet
        if (blank & (self._exponents(low, high) < self.exponent)).any():
            return False
        if heaviest(w) > np.ldexp(self.gram.high[-1, -1], self.weight_exponent):
            return False
        return not mean_is_far(self.gram.high, FAR_IN_PAIRS)

    def add(self, z: Array, w: Array | None, low: Array, high: Array) -> None:
        """Add a chunk, which is overwritten."""
        self._widen(self._exponents(low, high), w)
        # Differences of numbers that are at most a factor of two apart are exact (Sterbenz).
        exact = (low >= self.near) & (high <= self.away)
        if w is None:
            self._add(z, exact)
        else:
            self._add_weighed(z, w, exact)

    def _add(self, z: Array, exact: NDArray[np.bool_]) -> None:
        """Add ``S'(S + 2 U + 2 V) + R'R``: slices S, U, V, and R, the remainder of the first."""
        slices, scale = self._slices.of(3, z.shape), -self.exponent
        S, U, V = slices
        late = self.is_short & ~exact
        tails = self._shifted(z, exact, late)
        times_power(z, scale[:, None], out=V)
        cut_one(0, V, S, rest=z)
        cut_one(1, z, U, rest=V)
        for j in self.far[late[self.far]]:
            S[j] -= np.ldexp(self.shift[j], scale[j])
        for j, lost in tails.items():
            lost = np.ldexp(lost, scale[j])
            V[j] += lost
            z[j] += lost
        G = 2.0 * product(S, slices[1:].reshape(-1, z.shape[1]))
        SU, SV = G[:, : len(z)], G[:, len(z) :]
        self.gram = three_sum(self.gram, gram_of(S), SU, SV + gram_of(z))

    def _add_weighed(self, z: Array, w: Array, exact: NDArray[np.bool_]) -> None:
        slices, scale = self._slices.of(3, z.shape), -self.exponent
        tails = self._shifted(z, exact, np.zeros(len(z), dtype=np.bool_))
        times_power(z, scale[:, None], out=slices[-1])
        light = np.ldexp(w, -self.weight_exponent)
        weighed = self._weighed.of(3, z.shape)
        weighed[-1], tail = two_product(slices[-1], light)
        cut(weighed)
        weighed[-1] += tail
        cut(slices)
        for j, lost in tails.items():
            slices[-1, j] += np.ldexp(lost, scale[j])
            weighed[-1, j] += light * np.ldexp(lost, scale[j])
        S, U, V = range(3)
        G = products(weighed, slices)
        total, rest = self.gram.high, self.gram.low
        for short in (G[S, :, S], G[S, :, U], G[U, :, S]):
            total, tail = two_sum(total, short)
            rest = rest + tail
        small = G[V, :, V] + (G[U, :, V] + G[V, :, U])
        rest = rest + (small + ((G[S, :, V] + G[V, :, S]) + G[U, :, U]))
        self.gram = Pair(total, rest)

    def _shifted(
        self, z: Array, exact: NDArray[np.bool_], late: NDArray[np.bool_]
    ) -> dict[int, Array]:
        """Subtract the shift in place, unless it is late; return the rounding error."""
        tails = {}
        for j in self.far[~late[self.far]]:
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
            self.exponent, self.is_short = wider, has_few_bits(self.shift, wider)
        if w is not None and (heavier := int(np.frexp(w.max())[1])) > self.weight_exponent:
            self.gram = self.gram.scaled(2.0 ** (self.weight_exponent - heavier))
            self.weight_exponent = heavier

    def parts(self) -> tuple[Pair, Pair, Pair]:
        """Return weight, mean and scatter of the rows so far."""
        return about_mean(self.gram, self.shift[:-1], self.exponent[:-1], self.weight_exponent)

    def _exponents(self, low: Array, high: Array) -> NDArray[np.intp]:
        exponent = exponents(low - self.shift, high - self.shift)
        exponent[-1] = 0  # the ones are equal to one, not below it
        return exponent


def rounded(shift: Array, exponent: NDArray[np.intp]) -> Array:
    """Round a shift to few bits, of the first slice of numbers that are below a power of two.

    A shift so large that differences from it are exact is not rounded.
    """
    units, short = in_units(shift, exponent), shift.copy()
    at = np.flatnonzero(np.abs(units) < MOST)
    few = np.rint(np.ldexp(units[at], -SPARE))
    short[at] = np.ldexp(few, exponent[at] - FIRST + SPARE)
    return short


def has_few_bits(shift: Array, exponent: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return where the first slice of a number, less the shift, is the first of the difference."""
    units = in_units(shift, exponent)
    few: NDArray[np.bool_] = (units == np.rint(units)) & (np.abs(units) < MOST)
    return few


def in_units(shift: Array, exponent: NDArray[np.intp]) -> Array:
    """Return how many units of a first slice there are between zero and a shift."""
    with np.errstate(over="ignore"):  # then there are too many
        return np.ldexp(shift, FIRST - exponent)


class Buffer:
    """Slices of a chunk, in the same memory as long as chunks have the same shape."""

    def __init__(self) -> None:
        self.memory = np.empty((0, 0, 0))

    def of(self, count: int, shape: tuple[int, ...]) -> Array:
        """Return the buffer for slices, with its content so far."""
        if self.memory.shape[1:] != shape:
            self.memory = np.empty((count, *shape))
        elif len(self.memory) < count:
            self.memory = np.concatenate((self.memory, np.empty((count, *shape))))
        return self.memory[:count]


def times_power(z: Array, exponent: NDArray[np.intp], out: Array) -> None:
    """Multiply by powers of two, in two steps where one of them is beyond the range of doubles."""
    if np.abs(exponent).max() <= 1000:
        np.multiply(z, np.ldexp(1.0, exponent), out=out)
        return
    half = exponent // 2
    np.multiply(z, np.ldexp(1.0, exponent - half), out=out)
    out *= np.ldexp(1.0, half)


def cut(slices: Array) -> None:
    """Cut the numbers below one in the last slice into all slices; the last keeps the rest."""
    for k, part in enumerate(slices[:-1]):
        cut_one(k, slices[-1], part)


def cut_one(k: int, numbers: Array, part: Array, rest: Array | None = None) -> None:
    """Write the bits of slice ``k`` to its part, and the remainder to the rest.

    The rest is where the numbers were, unless another place is given.
    """
    far = 1.5 * 2.0 ** (52 - FIRST - LATER * k)  # a sum with it has no finer bits
    np.add(numbers, far, out=part)
    part -= far
    np.subtract(numbers, part, out=numbers if rest is None else rest)


def products(left: Array, right: Array) -> Array:
    """Return the products of all slices, summed over rows: slice, column, slice, column."""
    (k, p, n), (m, q, _) = left.shape, right.shape
    return (left.reshape(k * p, n) @ right.reshape(m * q, n).T).reshape(k, p, m, q)


def gram_of(z: Array) -> Array:
    """Return ``z @ z.T``, whose halves may differ in the last bit."""
    if len(z) > FEW:
        return z @ z.T
    gram = np.empty((len(z), len(z)))
    gram[:-1] = product(z[:-1], z)
    gram[-1, :-1], gram[-1, -1] = gram[:-1, -1], z[-1] @ z[-1]
    return gram


def product(left: Array, right: Array) -> Array:
    """Return ``left @ right.T``, by tiles of rows: small products need no copies of their inputs.

    Not for a matrix and itself: NumPy then calls another function, which makes copies.
    """
    rows = left.shape[1]
    if len(left) > FEW or rows % TILE:
        return left @ right.T
    tiles = [a.reshape(len(a), rows // TILE, TILE).transpose(1, 0, 2) for a in (left, right)]
    total: Array = (tiles[0] @ tiles[1].transpose(0, 2, 1)).sum(axis=0)
    return total


def mean_is_far(gram: Array, limit: float) -> bool:
    """Return whether a mean is so far from its shift that digits are lost."""
    offset = (gram[-1, :-1] / np.sqrt(gram[-1, -1])) ** 2
    return bool((offset > limit * (gram.diagonal()[:-1] - offset)).any())


def heaviest(w: Array | None) -> float:
    """Return the largest weight of a chunk."""
    return 1.0 if w is None else float(w.max())


def exponents(low: Array, high: Array) -> NDArray[np.intp]:
    """Return the least powers of two that no number of a column reaches."""
    size = np.maximum(-low, high)
    return np.where(size > 0.0, np.frexp(size)[1], 0).astype(np.intp)


def shift_of(z: Array, w: Array | None, low: Array, high: Array) -> Array:
    """Return a number near the mean of each column, or zero where that saves no digits.

    For a constant column it is the value; if one row outweighs all others, its value.
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
