"""LinearFit, what every method returns, and regress(), least squares from moments."""

from __future__ import annotations

from poolwise.fit.linear_fit import LinearFit, recentred
from poolwise.fit.regression import Ddof, noise_of, regress, solve_named, through_means

__all__ = [
    "Ddof",
    "LinearFit",
    "noise_of",
    "recentred",
    "regress",
    "solve_named",
    "through_means",
]

LinearFit.__module__ = __name__  # what a pickle and skops know it by
