"""Error-free sums and products, and pairs of doubles that hold twice the digits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array

_SPLITTER = 134217729.0  # 2**27 + 1
FEW = 2**11  # products of two numbers that are quicker one by one
SLICES = 5  # of a pair in a matrix product: together more than its 106 bits


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Return ``s, e`` with ``s = fl(a + b)`` and ``s + e == a + b`` exactly (Knuth 1969)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def three_sum(pair: Pair, a: Array, b: Array, rest: Array) -> Pair:
    """Return ``pair + a + b + rest``; the rest is small and added in doubles."""
    s, e = two_sum(pair.high, a)
    s, more = two_sum(s, b)
    return Pair(s, pair.low + ((e + more) + rest))


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Return ``p, e`` with ``p = fl(a * b)`` and ``p + e == a * b`` exactly (Dekker 1971)."""
    p = a * b
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    return p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low


def _split(a: Array) -> tuple[Array, Array]:
    c = _SPLITTER * a
    high = c - (c - a)
    return high, a - high


@dataclass(frozen=True, eq=False, slots=True)
class Pair:
    """An array of numbers, each the sum of two doubles: the rounded number and the remainder.

    That is about 32 digits: sums and products have errors of a few units of :math:`2^{-104}`. They
    have the same bits on all machines, except large matrix products, which go through BLAS.
    """

    high: Array
    low: Array

    __array_ufunc__ = None  # an array on the left defers to this class

    @classmethod
    def of(cls, values: Array | float) -> Pair:
        """Return doubles as pairs."""
        high = np.asarray(values, dtype=np.float64)
        return cls(high, np.zeros(high.shape))

    @classmethod
    def eye(cls, size: int) -> Pair:
        """Return the unit matrix."""
        return cls.of(np.eye(size))

    def __reduce__(self) -> tuple[Callable[..., Pair], tuple[Array, Array]]:
        return Pair, (self.high, self.low)

    def __len__(self) -> int:
        return len(self.high)

    def __getitem__(self, at: Any) -> Pair:
        return Pair(self.high[at], self.low[at])

    @property
    def T(self) -> Pair:  # noqa: N802  NumPy's name
        """The transpose."""
        return Pair(self.high.T, self.low.T)

    def __neg__(self) -> Pair:
        return Pair(-self.high, -self.low)

    def __add__(self, other: Pair) -> Pair:
        s, e = two_sum(self.high, other.high)
        return _joined(s, e + (self.low + other.low))

    def __sub__(self, other: Pair) -> Pair:
        return self + -other

    def __mul__(self, other: Pair) -> Pair:
        p, e = two_product(self.high, other.high)
        return _joined(p, e + (self.high * other.low + self.low * other.high))

    def __truediv__(self, other: Pair) -> Pair:
        first = self.high / other.high
        rest = self - other * Pair.of(first)
        second = rest.high / other.high
        rest = rest - other * Pair.of(second)
        quotient = _joined(first, second)
        return _joined(quotient.high, quotient.low + rest.high / other.high)

    def plus_outer(self, vector: Pair, factor: Pair) -> Pair:
        """Return the sum with ``factor * vector vector'``."""
        return self + vector[:, None] * vector[None, :] * factor

    def sqrt(self) -> Pair:
        """Return the square roots of positive numbers."""
        root = Pair.of(np.sqrt(self.high))
        return _joined(root.high, (self - root * root).high / (2.0 * root.high))

    def scaled(self, factor: Array | float) -> Pair:
        """Return the product with powers of two, which is exact."""
        return Pair(self.high * factor, self.low * factor)

    def times_powers(self, exponents: NDArray[np.intp]) -> Pair:
        """Return the product with two to the power of these."""
        return Pair(np.ldexp(self.high, exponents), np.ldexp(self.low, exponents))

    def total(self) -> Pair:
        """Return the sum along the first axis, by halves."""
        high, low = self.high, self.low
        if not len(high):
            return Pair.of(np.zeros(high.shape[1:]))
        while (rows := len(high)) > 1:
            half = rows // 2
            both = Pair(high[:half], low[:half]) + Pair(high[half : 2 * half], low[half : 2 * half])
            odd = slice(2 * half, rows)
            high = np.concatenate((both.high, high[odd])) if rows % 2 else both.high
            low = np.concatenate((both.low, low[odd])) if rows % 2 else both.low
        return Pair(high[0], low[0])

    def plus(self, others: Iterable[Pair]) -> Pair:
        """Return the sum with many pairs of the same shape, one after the other in one place."""
        high, low = self.high.copy(), self.low.copy()
        s, t, e = np.empty(high.shape), np.empty(high.shape), np.empty(high.shape)
        for other in others:  # two_sum in place
            np.add(high, other.high, out=s)
            np.subtract(s, high, out=t)
            np.subtract(s, t, out=e)
            np.subtract(high, e, out=e)
            np.subtract(other.high, t, out=t)
            e += t
            e += other.low
            low += e
            high, s = s, high
        return Pair(*two_sum(high, low))

    def __matmul__(self, other: Pair) -> Pair:
        """Return the matrix product; a large one slice by slice, by BLAS."""
        (m, k), n = self.high.shape, other.high.shape[1]
        if m * k * n <= FEW:
            return (self.T[:, :, None] * other[:, None, :]).total()
        bits = (53 - max(k - 1, 1).bit_length()) // 2  # k products of two slices add up exactly
        left, up = _slices(self, bits)
        right, across = _slices(other.T, bits)
        left, right = left.reshape(SLICES * m, k), right.reshape(SLICES * n, k)
        G = (left @ right.T).reshape(SLICES, m, SLICES, n)
        high, low = G[0, :, 0], np.zeros((m, n))
        for order in (1, 2):
            for i in range(order + 1):
                high, tail = two_sum(high, G[i, :, order - i])
                low = low + tail
        small = [G[i, :, order - i] for order in (4, 3) for i in range(order + 1)]
        product = _joined(high, low + sum(small))
        return product.scaled(np.ldexp(1.0, up[:, None] + across))


def about_mean(
    gram: Pair, shift: Array, powers: NDArray[np.intp], weight_power: int
) -> tuple[Pair, Pair, Pair]:
    """Return weight, mean and scatter from sums of products whose last column is ones.

    Columns were shifted and then divided by two to these powers, and so were the weights.
    """
    gram = (gram + gram.T).scaled(0.5)
    weight, sums = gram[-1, -1], gram[:-1, -1]
    mean = sums / weight
    scatter = gram[:-1, :-1] - mean[:, None] * sums[None, :]
    scatter = (scatter + scatter.T).scaled(0.5 * 2.0**weight_power)
    flat = np.flatnonzero(scatter.high.diagonal() <= 0.0)
    scatter.high[flat, flat] = scatter.low[flat, flat] = 0.0
    return (
        weight.scaled(2.0**weight_power),
        Pair.of(shift) + mean.times_powers(powers),
        scatter.times_powers(powers[:, None] + powers),
    )


def stacked(
    first: tuple[Pair, Pair], second: tuple[Pair, Pair], *, plain: bool
) -> tuple[Pair, Pair, Pair, Pair]:
    r"""Stack two tables, each given by its weight and its mean.

    With weights :math:`W_1, W_2`, returns their sum :math:`W`, the mean of all rows, the step from
    the first mean to the second, and the factor :math:`W_1 W_2 / W` of the squared step, which the
    scatter of all rows has in addition to the two scatters.
    """
    (w, mean), (v, other) = first, second
    step = other - mean
    if plain:  # the digits of doubles are enough
        weight = Pair.of(w.high + v.high)
        share = Pair.of(v.high / weight.high)
        return weight, mean + share * step, step, Pair.of(w.high * share.high)
    weight = w + v
    share = v / weight
    return weight, mean + share * step, step, w * share


def _joined(high: Array, low: Array) -> Pair:
    """Return a pair whose low part is below half a unit of the high one (Dekker 1971)."""
    s = high + low
    return Pair(s, low - (s - high))


def _slices(pair: Pair, bits: int) -> tuple[Array, NDArray[np.intp]]:
    """Cut the numbers of each row, divided by a power of two, into slices of a few bits."""
    size = np.abs(pair.high).max(axis=1, initial=0.0)
    exponent = np.where(size > 0.0, np.frexp(size)[1], 0).astype(np.intp)
    rest = pair.scaled(np.ldexp(1.0, -exponent)[:, None])
    slices = np.empty((SLICES, *rest.high.shape))
    high, low = rest.high, rest.low
    for k in range(SLICES - 1):
        far = 1.5 * 2.0 ** (52 - bits * (k + 1))  # a sum with it has no finer bits
        slices[k] = (high + far) - far
        high = high - slices[k]
        if k == 1:
            high, low = two_sum(high, low)
    slices[-1] = high + low
    return slices, exponent
