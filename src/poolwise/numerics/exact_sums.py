"""Sums and products of rows as integers, so that the order of addition has no effect on any bit.

A double is an integer times a power of two, and so is every sum and product of doubles. Rows are
cut into slices whose products a matrix product adds up without rounding; the sums are collected in
integers of 64 bits and, from time to time, in Python's integers, which have no limit. Adding,
weighing and mapping are exact as well. Only the results, mean and scatter, are rounded, once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array
from poolwise.numerics.double_double import Pair, two_product, two_sum
from poolwise.numerics.row_sums import (
    FIRST,
    LATER,
    Buffer,
    cut_one,
    exponents,
    products,
    times_power,
)

Integers: TypeAlias = NDArray[np.object_]

MOST_SLICES = 22  # products of the finest bits are still in the range of doubles
SPARE = 2  # bits for numbers to come that are larger
ROOM = 512  # chunks: sums of 2**53 at most, added up in integers of 64 bits


@dataclass(frozen=True, eq=False)
class ExactSums:
    """Sums of ``w z z'`` over rows ``z``, whose last entry is a one."""

    gram: Integers  # in units of 2 ** (units[i] + units[j])
    units: NDArray[np.intp]  # exponents

    @classmethod
    def zero(cls, columns: int) -> ExactSums:
        """No rows."""
        size = columns + 1
        return cls(np.full((size, size), 0, dtype=object), np.zeros(size, dtype=np.intp))

    def __add__(self, other: ExactSums) -> ExactSums:
        units = np.minimum(self.units, other.units)
        return ExactSums(self._in(units) + other._in(units), units)

    def __sub__(self, other: ExactSums) -> ExactSums:
        return self + ExactSums(-other.gram, other.units)

    def weighed(self, factor: float) -> ExactSums:
        """Return the sums with all weights multiplied."""
        integer, exponent = _whole(factor)
        if exponent % 2:
            integer, exponent = 2 * integer, exponent - 1
        return ExactSums(self.gram * integer, self.units + exponent // 2)

    def mapped(self, matrix: Array, shift: Array) -> ExactSums:
        """Return the sums of the new columns ``matrix @ z + shift``."""
        full = np.zeros((len(matrix) + 1, len(self.gram)))
        full[:-1, :-1], full[:-1, -1], full[-1, -1] = matrix, shift, 1.0
        whole = np.full(full.shape, 0, dtype=object)
        units = np.zeros(len(full), dtype=np.intp)
        for i, row in enumerate(full):
            terms = {j: _whole(row[j]) for j in np.flatnonzero(row)}
            least = min((int(self.units[j]) + e for j, (_, e) in terms.items()), default=0)
            units[i] = least
            for j, (integer, e) in terms.items():
                whole[i, j] = integer << (int(self.units[j]) + e - least)
        return ExactSums(whole @ self.gram @ whole.T, units)

    def picked(self, columns: Sequence[int], values: Pair) -> ExactSums:
        """Return the sums of some columns; column -1 is constant and has a value of its own."""
        at = np.array([*columns, -1], dtype=np.intp)
        gram, units = self.gram[at[:, None], at], self.units[at]
        whole = [
            _whole(Fraction(high) + Fraction(low)) if j < 0 else (1, 0)
            for j, high, low in zip(columns, values.high, values.low, strict=True)
        ]
        integers = np.array([*(integer for integer, _ in whole), 1], dtype=object)
        powers = np.array([*(exponent for _, exponent in whole), 0], dtype=np.intp)
        return ExactSums(gram * np.outer(integers, integers), units + powers)

    def reduced(self) -> ExactSums:
        """Return the same sums in canonical units, which do not depend on the blocks of rows.

        No entry is a multiple of a smaller power of two than half the powers of its row and its
        column together, so all stay whole.
        """
        total, size = self.units[:, None] + self.units, len(self.units)
        powers = [
            [(g & -g).bit_length() - 1 + int(u) for g, u in zip(row, own, strict=True) if g]
            for row, own in zip(self.gram, total, strict=True)
        ]
        units = np.array([min(own, default=0) // 2 for own in powers], dtype=np.intp)
        steps = total - (units[:, None] + units)
        gram: Integers = np.full((size, size), 0, dtype=object)
        for i, j in np.ndindex(size, size):
            step = int(steps[i, j])
            gram[i, j] = self.gram[i, j] << step if step >= 0 else self.gram[i, j] >> -step
        return ExactSums(gram, units)

    def parts(self) -> tuple[Pair, Pair, Pair]:
        """Return weight, mean and scatter, each number rounded once."""
        weight, sums, one = self.gram[-1, -1], self.gram[:-1, -1], int(self.units[-1])
        own = self.units[:-1]
        mean = [nearest(s, weight, int(u) - one) for s, u in zip(sums, own, strict=True)]
        scatter = self.gram[:-1, :-1] * weight - np.outer(sums, sums)
        return (
            _pair(np.array(nearest(weight, 1, 2 * one))),
            _pair(np.array(mean).reshape(len(sums), 2)),
            _pairs(scatter, weight, own),
        )

    def about_zero(self) -> Pair:
        """Return the second moments about zero, each number rounded once."""
        return _pairs(self.gram[:-1, :-1], 1, self.units[:-1])

    def _in(self, units: NDArray[np.intp]) -> Integers:
        """Return the sums in units that are no larger."""
        if (units == self.units).all():
            return self.gram
        factors = np.array([1 << int(s) for s in self.units - units], dtype=object)
        gram: Integers = self.gram * np.outer(factors, factors)
        return gram


class ExactRun:
    """Exact sums of the rows read so far."""

    def __init__(self, columns: int) -> None:
        self.total = ExactSums.zero(columns)
        self.exponent: NDArray[np.intp] | None = None
        self.blank = np.full(columns + 1, True)
        self.weight_exponent = 0
        self.counts = (0, 0)
        self.integers, self.factors = np.zeros((0, 0), dtype=np.int64), np.zeros((0, 0))
        self.chunks = 0
        self._rest, self._slices, self._weighed = Buffer(), Buffer(), Buffer()

    def add(self, z: Array, w: Array | None, low: Array, high: Array) -> None:
        """Add a chunk; in two halves where its numbers are too far apart in size."""
        first = self.exponent is None
        try:
            self._add(z, w, low, high)
        except _TooFarApart as column:
            self._start_again()
            if not first:  # only from the numbers before
                self.add(z, w, low, high)
                return
            order = np.argsort(_sizes(z[column.index], w))
            for half in (order[: len(order) // 2], order[len(order) // 2 :]):
                part = z.take(half, axis=1)
                own = None if w is None else w[half]
                self.add(part, own, part.min(axis=1), part.max(axis=1))
                self._start_again()

    def _add(self, z: Array, w: Array | None, low: Array, high: Array) -> None:
        exponent = self._widen(low, high, w)
        rest = self._rest.of(1, z.shape)[0]
        try:
            with np.errstate(under="raise"):  # a bit would be lost
                times_power(z, -exponent[:, None], out=rest)
                right = self._sliced(rest.copy() if w is not None else rest, None, self._slices, 1)
                left = right
                if w is not None:
                    rest, tail = two_product(rest, np.ldexp(w, -self.weight_exponent))
                    left = self._sliced(rest, tail, self._weighed, 0)
        except FloatingPointError:
            least = np.abs(z).min(axis=1, where=z != 0.0, initial=np.inf)
            raise _TooFarApart(int(np.argmax(exponent - np.frexp(least)[1]))) from None
        self.blank = self.blank & (low == 0.0) & (high == 0.0)
        self._reshape((len(left), len(right)), len(z))
        gram = products(left, right).reshape(self.factors.shape)
        gram *= self.factors
        self.integers += gram.astype(np.int64)
        self.chunks += 1

    def _start_again(self) -> None:
        """Forget the sizes of the numbers so far, after their sums are collected."""
        self._collect()
        self.exponent, self.counts = None, (0, 0)
        self.blank = np.full(len(self.blank), True)

    def takes(self, low: Array, high: Array, w: Array | None) -> bool:
        """Return whether columns that were zero so far have no numbers below their units."""
        if self.exponent is None:
            return True
        return not (self.blank & (exponents(low, high) + SPARE < self.exponent)).any()

    def sums(self) -> ExactSums:
        """Return the sums of all rows so far."""
        self._collect()
        return self.total

    def _widen(self, low: Array, high: Array, w: Array | None) -> NDArray[np.intp]:
        """Make room for larger numbers, and for more of them; return the columns' exponents."""
        exponent = exponents(low, high) + SPARE
        exponent[-1] = 0  # the ones are equal to one, not below it
        heaviest = 0 if w is None else int(np.frexp(w.max())[1])
        heaviest += heaviest % 2  # half of it is a whole unit
        if self.exponent is None:
            self.exponent, self.weight_exponent = exponent, heaviest
        elif (exponent - SPARE > self.exponent).any() or heaviest > self.weight_exponent:
            self._collect()
            self.exponent = np.maximum(self.exponent, exponent)
            self.weight_exponent = max(self.weight_exponent, heaviest)
        elif self.chunks == ROOM:
            self._collect()
        return self.exponent

    def _sliced(self, rest: Array, tail: Array | None, buffer: Buffer, side: int) -> Array:
        count, slices = 0, buffer.of(len(buffer.memory), rest.shape)
        while count < self.counts[side] or rest.any():
            if count == MOST_SLICES:
                raise _TooFarApart(int(np.argmax(np.any(rest != 0.0, axis=1))))
            if count >= len(slices):
                slices = buffer.of(count + 1, rest.shape)
            cut_one(count, rest, slices[count])
            if tail is not None:
                rest, tail = two_sum(rest, tail)
            count += 1
        return slices[:count]

    def _reshape(self, counts: tuple[int, int], columns: int) -> None:
        """Make room for more slices."""
        if counts != self.counts:
            self._collect()
            left, right = (np.repeat(2.0 ** _bits(count), columns) for count in counts)
            self.counts, self.factors = counts, left[:, None] * right
            self.integers = np.zeros(self.factors.shape, dtype=np.int64)

    def _collect(self) -> None:
        """Move the sums from integers of 64 bits to Python's integers."""
        if self.exponent is None or not self.chunks:
            return
        size, (left, right) = len(self.exponent), self.counts
        blocks = self.integers.reshape(left, size, right, size).astype(object)
        finest = int(_bits(max(self.counts))[-1])
        gram = np.full((size, size), 0, dtype=object)
        for i, a in enumerate(_bits(left)):
            for j, b in enumerate(_bits(right)):
                gram = gram + blocks[i, :, j] * (1 << int(2 * finest - a - b))
        self.total += ExactSums(gram, self.exponent - finest + self.weight_exponent // 2)
        self.integers[...] = 0
        self.chunks = 0


class _TooFarApart(Exception):
    """Numbers of one column whose slices would not fit the range of doubles."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index


def _sizes(column: Array, w: Array | None) -> NDArray[np.intp]:
    """Return the powers of two that numbers, times their weights, are near; zeros are smallest."""
    size = np.where(column == 0.0, -5000, np.frexp(column)[1])
    return size if w is None else size + np.frexp(w)[1]


def _bits(count: int) -> NDArray[np.intp]:
    """Return how many bits after the point each slice ends."""
    return FIRST + LATER * np.arange(count)


def _whole(number: float | Fraction) -> tuple[int, int]:
    """Return an integer and an exponent of two whose product is a sum of doubles."""
    above, below = number.as_integer_ratio()
    return above, 1 - below.bit_length()


def _pair(values: Array) -> Pair:
    return Pair(values[..., 0].copy(), values[..., 1].copy())


def _pairs(numerators: Integers, divisor: int, units: NDArray[np.intp]) -> Pair:
    """Round a symmetric matrix ``numerators / divisor * 2 ** (units[i] + units[j])`` to pairs."""
    p, powers = len(numerators), units.tolist()
    high, low = np.zeros((p, p)), np.zeros((p, p))
    for i, row in enumerate(numerators.tolist()):
        left = zip(row[: i + 1], powers[: i + 1], strict=True)
        found = np.array([nearest(v, divisor, power + powers[i]) for v, power in left])
        high[i, : i + 1] = high[: i + 1, i] = found[:, 0]
        low[i, : i + 1] = low[: i + 1, i] = found[:, 1]
    return Pair(high, low)


def nearest(above: int, below: int, exponent: int) -> tuple[float, float]:
    """Return the pair of doubles nearest to ``above / below * 2**exponent``."""
    if exponent > 0:
        above <<= exponent
    else:
        below <<= -exponent
    high = above / below  # Python rounds a quotient of integers correctly
    n, d = high.as_integer_ratio()
    return high, (above * d - n * below) / (below * d)
