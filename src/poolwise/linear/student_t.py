"""The distribution of an estimate divided by its standard deviation."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Literal

import numpy as np
from scipy.special import ndtri, stdtrit

from poolwise.errors import BadOption


@dataclass(frozen=True)
class StudentT:
    """Student's distribution, or the normal one.

    Standard deviations are computed from an estimate of the noise, "plugged in", or from its
    posterior mean, which includes the uncertainty of the noise: "averaged".
    """

    freedom: float = float("inf")  # degrees of freedom; infinite for the normal distribution
    deviation: Literal["plugged in", "averaged"] = "plugged in"

    def quantile(self, coverage: float) -> float:
        """Return the half-width of an interval with this coverage, in standard deviations."""
        if not (isinstance(coverage, Real) and 0.0 < coverage < 1.0):
            raise BadOption.of("coverage", coverage, "a number above 0 and below 1")
        upper = 0.5 + 0.5 * coverage
        if not np.isfinite(self.freedom):
            return float(ndtri(upper))
        found = float(stdtrit(self.freedom, upper))
        if self.deviation == "plugged in":
            return found
        return found * float(np.sqrt((self.freedom - 2.0) / self.freedom))


NORMAL = StudentT()
