"""Estimates of a solver, and the number of their correct digits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

CAP = 15.0  # digits that the certified values have


class Estimates(NamedTuple):
    """Coefficients, the intercept first if there is one, and their standard errors."""

    coefficients: Array
    standard_errors: Array

    def digits(self, certified: Estimates) -> tuple[float, float]:
        """Return the least log relative error of the coefficients and of the standard errors."""
        return (
            fewest_digits(self.coefficients, certified.coefficients),
            fewest_digits(self.standard_errors, certified.standard_errors),
        )


def fewest_digits(values: Array, certified: Array) -> float:
    r"""Return the least log relative error, between 0 and 15: the number of right digits.

    That is :math:`-\log_{10} |v - c| / |c|` for a value :math:`v` and its certified value
    :math:`c`, and :math:`-\log_{10} |v|` where :math:`c` is zero. NaN has no correct digit.
    """
    size = np.where(certified == 0.0, 1.0, np.abs(certified))
    error = float(np.max(np.abs(values - certified) / size))  # NaN if one of them is NaN
    if not np.isfinite(error):
        return 0.0
    return float(np.clip(-np.log10(error), 0.0, CAP)) if error > 0.0 else CAP
