"""Spread: how far responses are from their predictions, by errors on rows that were left out."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Real

import numpy as np
from scipy.special import stdtrit

from poolwise.double_double import Array
from poolwise.errors import BadOption

MOST = 1000  # sizes that are kept, evenly spread over all


@dataclass(frozen=True, eq=False)
class Spread:
    r"""Sizes of errors, which say how wide an interval must be.

    An interval that is to hold a share :math:`c` of responses reaches as far as the error of rank
    :math:`\lceil c (n + 1) \rceil` by size: of exchangeable rows, the next one's error is not
    larger with that probability (conformal prediction). Where there are too few rows for such a
    rank it is Student's interval about errors of this size, and no narrower than the largest one.

    Parameters
    ----------
    rows : float
        How many rows, each counted by its weight.
    deviation : float
        Root of the mean squared error.
    sizes : array
        Sizes of the errors, rising; of more than a thousand, quantiles.
    """

    rows: float
    deviation: float
    sizes: Array

    @classmethod
    def of(cls, errors: Array, weights: Array) -> Spread:
        """Sum up errors of rows."""
        count = float(weights.sum()) ** 2 / float((weights**2).sum())
        order = np.argsort(np.abs(errors), kind="stable")
        sizes, share = np.abs(errors)[order], np.cumsum(weights[order]) / weights.sum()
        if len(sizes) > MOST or not (weights == weights[0]).all():
            wanted = (np.arange(MOST) + 1.0) / MOST
            sizes = sizes[np.minimum(np.searchsorted(share, wanted - 1e-12), len(sizes) - 1)]
        deviation = float(np.sqrt(np.average(errors**2, weights=weights)))
        return cls(count, deviation, sizes)

    def width(self, coverage: float) -> float:
        """Return half the width of an interval that holds a response with this probability."""
        if not (isinstance(coverage, Real) and 0.0 < coverage < 1.0):
            raise BadOption("coverage", coverage, "a number above 0 and below 1")
        share = math.ceil(coverage * (self.rows + 1.0) - 1e-9) / self.rows
        if share <= 1.0:
            return float(self.sizes[math.ceil(share * len(self.sizes) - 1e-9) - 1])
        own = max(self.rows - 1.0, 1.0)
        student = float(stdtrit(own, 0.5 + 0.5 * coverage)) * math.sqrt(1.0 + 1.0 / self.rows)
        return max(student * self.deviation, float(self.sizes[-1]))

    def times_units(self, response: int) -> Spread:
        """Return the spread of a response that had been divided by a power of two."""
        deviation = float(np.ldexp(self.deviation, response))
        return replace(self, deviation=deviation, sizes=np.ldexp(self.sizes, response))
