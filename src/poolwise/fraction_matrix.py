"""FractionMatrix: a symmetric matrix of fractions, none of them rounded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from poolwise.double_double import Array, Pair

Integers: TypeAlias = NDArray[np.object_]


@dataclass(frozen=True, eq=False)
class FractionMatrix:
    """A symmetric matrix with one divisor and a power of two for each row and column.

    Parameters
    ----------
    numerators : array of int, of shape (p, p)
        The numbers are ``numerators[i, j] / divisor * 2 ** (units[i] + units[j])``.
    divisor : int
        Positive.
    units : array of shape (p,)
        Exponents.
    """

    numerators: Integers
    divisor: int
    units: NDArray[np.intp]

    def pair(self) -> Pair:
        """Return the pairs of doubles nearest to the numbers."""
        p, units = len(self.numerators), self.units.tolist()
        high, low = np.zeros((p, p)), np.zeros((p, p))
        for i, row in enumerate(self.numerators.tolist()):
            left = zip(row[: i + 1], units[: i + 1], strict=True)
            found = np.array([nearest(v, self.divisor, unit + units[i]) for v, unit in left])
            high[i, : i + 1] = high[: i + 1, i] = found[:, 0]
            low[i, : i + 1] = low[: i + 1, i] = found[:, 1]
        return Pair(high, low)

    def picked(self, columns: Sequence[int]) -> FractionMatrix:
        """Return some rows and columns, in the order given."""
        at = np.asarray(columns, dtype=np.intp)
        return FractionMatrix(self.numerators[at[:, None], at], self.divisor, self.units[at])

    def placed(self, at: Sequence[int], width: int) -> FractionMatrix:
        """Return the matrix with rows and columns of zeros among its own."""
        numerators, units = np.full((width, width), 0, dtype=object), np.zeros(width, dtype=np.intp)
        there = np.asarray(at, dtype=np.intp)
        numerators[there[:, None], there], units[there] = self.numerators, self.units
        return FractionMatrix(numerators, self.divisor, units)

    def times_powers(self, exponents: NDArray[np.intp]) -> FractionMatrix:
        """Return the matrix with rows and columns multiplied by powers of two."""
        return FractionMatrix(self.numerators, self.divisor, self.units + exponents)

    def left_by(self, beta: Pair) -> tuple[Array, Array]:
        r"""Return what coefficients leave of the last columns: their slope and residual.

        With the matrix in blocks :math:`A, B, C`, these are :math:`B - A\beta` and
        :math:`C - B'\beta - \beta'(B - A\beta)`, each number rounded once.
        """
        p, q = beta.high.shape
        whole, units = np.full((p + q, q), 0, dtype=object), [0] * q
        for k in range(q):  # minus beta, and one for the response itself, in the rows' own units
            column = [
                -(Fraction(h) + Fraction(t)) * Fraction(2) ** int(self.units[j])
                for j, (h, t) in enumerate(zip(beta.high[:, k], beta.low[:, k], strict=True))
            ]
            column += [Fraction(2) ** int(self.units[p + i]) * (i == k) for i in range(q)]
            units[k] = 1 - max(value.denominator for value in column).bit_length()
            whole[:, k] = [int(value * Fraction(2) ** -units[k]) for value in column]
        slope, residual = np.zeros((p, q)), np.zeros((q, q))
        left = self.numerators @ whole
        square = whole.T @ left
        for k in range(q):
            for j in range(p):
                exponent = int(self.units[j]) + units[k]
                slope[j, k], _ = nearest(left[j, k], self.divisor, exponent)
            for i in range(q):
                residual[i, k], _ = nearest(square[i, k], self.divisor, units[i] + units[k])
        return slope, residual


def nearest(above: int, below: int, exponent: int) -> tuple[float, float]:
    """Return the pair of doubles nearest to ``above / below * 2**exponent``."""
    if exponent > 0:
        above <<= exponent
    else:
        below <<= -exponent
    high = above / below  # Python rounds a quotient of integers correctly
    n, d = high.as_integer_ratio()
    return high, (above * d - n * below) / (below * d)
