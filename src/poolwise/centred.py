"""Centred: weight, mean, scatter and range of columns that have places instead of names.

`Moments` are these numbers and names. Whatever adds rows, weighs them or maps their columns is
done here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from poolwise.double_double import Array, Pair
from poolwise.exact_sums import ExactSums
from poolwise.precision import Kept
from poolwise.row_sums import Parts, units_of
from poolwise.scatter import Scatter


@dataclass(frozen=True, eq=False, slots=True)
class Centred:
    """The numbers of moments, of rows that have a weight.

    Parameters
    ----------
    weight : Pair
        Sum of the rows' weights.
    mean : Pair of shape (p,)
        Weighted mean of each column.
    scatter : Scatter
        Centred second moments.
    low, high : array of shape (p,)
        Range of each column, in true units.
    units : array of int of shape (p,)
        Mean and scatter are in units of two to this power.
    sums : ExactSums or None
        What mean and scatter were read off, where nothing was rounded.
    """

    weight: Pair
    mean: Pair
    scatter: Scatter
    low: Array
    high: Array
    units: NDArray[np.intp]
    sums: ExactSums | None = None

    @classmethod
    def of_sums(cls, sums: ExactSums, low: Array, high: Array) -> Centred:
        """Read weight, mean and scatter off exact sums."""
        units = units_of(low, high)
        weight, mean, fractions = sums.parts(units)
        return cls(weight, mean, Scatter.of_fractions(fractions), low, high, units, sums)

    @classmethod
    def of_parts(
        cls, parts: Parts, low: Array, high: Array, units: NDArray[np.intp], *, plain: bool
    ) -> Centred:
        """Take over what a run over rows has found, with one double per second moment or two."""
        scatter = Scatter.of(parts.scatter.high) if plain else Scatter.of_pair(parts.scatter)
        return cls(parts.weight, parts.mean, scatter, low, high, units)

    @property
    def precision(self) -> Kept:
        """How many digits the scatter has."""
        if self.sums is not None:
            return "exact"
        return "fast" if self.scatter.is_plain else "accurate"

    def __add__(self, other: Centred) -> Centred:
        """Stack the rows of both."""
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        if self.sums is not None and other.sums is not None:
            return Centred.of_sums(self.sums + other.sums, low, high)
        units = units_of(low, high)
        left, right = self.in_units(units), other.in_units(units)
        scatter = left.scatter + right.scatter
        step = right.mean - left.mean
        if scatter.is_plain:
            weight = Pair.of(left.weight.high + right.weight.high)
            share = Pair.of(right.weight.high / weight.high)
            both = Pair.of(left.weight.high * share.high)
        else:
            weight = left.weight + right.weight
            share = right.weight / weight
            both = left.weight * share
        mean, scatter = left.mean + share * step, scatter.plus_outer(step, both)
        return Centred(weight, mean, scatter, low, high, units)

    def weighed(self, factor: float) -> Centred:
        """Multiply the weight of every row."""
        if self.sums is not None:
            return Centred.of_sums(self.sums.weighed(factor), self.low, self.high)
        return replace(self, weight=self.weight * Pair.of(factor), scatter=factor * self.scatter)

    def mapped(self, matrix: Array, shift: Array) -> Centred:
        """Replace the columns by ``matrix @ z + shift``; their range is a bound."""
        up, down = np.maximum(matrix, 0.0), np.minimum(matrix, 0.0)
        low = up @ self.low + down @ self.high + shift
        high = up @ self.high + down @ self.low + shift
        if self.sums is not None:
            return Centred.of_sums(self.sums.mapped(matrix, shift), low, high)
        units = units_of(low, high)
        matrix, shift = np.ldexp(matrix, self.units - units[:, None]), np.ldexp(shift, -units)
        mean = Pair.of(shift) + (Pair.of(matrix) * self.mean[None, :]).T.total()
        return Centred(self.weight, mean, self.scatter.mapped(matrix), low, high, units)

    def picked(self, at: Sequence[int]) -> Centred:
        """Return some of the columns, in the order given."""
        return Centred(
            self.weight,
            self.mean[at],
            self.scatter.picked(at),
            self.low[at],
            self.high[at],
            self.units[at],
            None if self.sums is None else self.sums.picked(at),
        )

    def placed(self, columns: Sequence[int], at: Sequence[int], values: Pair) -> Centred:
        """Return some of the columns, put among constant ones whose values are given."""
        mean, tail = values.high.copy(), values.low.copy()
        sums = None
        if self.sums is not None:
            place = dict(zip(at, columns, strict=True))
            sums = self.sums.picked(
                [place.get(j, -1) for j in range(len(mean))],
                [
                    Fraction(1) if j in place else Fraction(mean[j]) + Fraction(tail[j])
                    for j in range(len(mean))
                ],
            )
        low, high = mean.copy(), mean.copy()
        low[at], high[at] = self.low[columns], self.high[columns]
        units = units_of(low, high)
        mean, tail = np.ldexp(mean, -units), np.ldexp(tail, -units)
        mean[at], tail[at] = self.mean.high[columns], self.mean.low[columns]
        scatter = self.scatter.placed(columns, at, len(mean))
        return Centred(self.weight, Pair(mean, tail), scatter, low, high, units, sums)

    def in_units(self, units: NDArray[np.intp]) -> Centred:
        """Hold the same columns in other units."""
        if (units == self.units).all():
            return self
        power = self.units - units
        mean, scatter = self.mean.times_powers(power), self.scatter.times_powers(power)
        return replace(self, mean=mean, scatter=scatter, units=units)

    def rescaled(self, exponents: NDArray[np.intp]) -> Centred:
        """Divide the columns by powers of two."""
        sums = None if self.sums is None else self.sums.rescaled(exponents)
        low, high = np.ldexp(self.low, -exponents), np.ldexp(self.high, -exponents)
        held = self.in_units(exponents)
        return replace(held, units=0 * exponents, sums=sums, low=low, high=high)

    def unscaled(self, exponents: NDArray[np.intp]) -> Centred:
        """Multiply the columns by the powers of two that they were divided by."""
        sums = None if self.sums is None else self.sums.rescaled(-exponents)
        low, high = np.ldexp(self.low, exponents), np.ldexp(self.high, exponents)
        return replace(self, units=self.units + exponents, sums=sums, low=low, high=high)

    def about_zero(self) -> Scatter:
        """Return the second moments about zero instead of about the mean."""
        if self.sums is not None:
            return Scatter.of_fractions(self.sums.about_zero(self.units))
        return self.scatter.plus_outer(self.mean, self.weight)
