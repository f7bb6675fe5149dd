"""Intervals: where coefficients and new responses lie with a given probability."""

from __future__ import annotations

from numbers import Real

import numpy as np
from scipy.special import ndtri, stdtrit

from poolwise.double_double import Array
from poolwise.errors import BadOption, NoUncertainty
from poolwise.fit import LinearFit
from poolwise.tails import Tails


def quantile(tails: Tails, coverage: float) -> float:
    """Return how many standard deviations on both sides hold a share of all cases.

    Parameters
    ----------
    tails : Tails
        Of an estimate.
    coverage : float
        The share, between zero and one.
    """
    if not (isinstance(coverage, Real) and 0.0 < coverage < 1.0):
        raise BadOption("coverage", coverage, "a number above 0 and below 1")
    upper = 0.5 + 0.5 * coverage
    if not np.isfinite(tails.freedom):
        return float(ndtri(upper))
    found = float(stdtrit(tails.freedom, upper))
    if tails.deviation == "plugged in":
        return found
    return found * float(np.sqrt((tails.freedom - 2.0) / tails.freedom))


def coefficient_intervals(fit: LinearFit, coverage: float = 0.95) -> Array | None:
    """Return the interval of the intercept and of each coefficient, where their errors are known.

    Parameters
    ----------
    fit : LinearFit
        A fit.
    coverage : float, default=0.95
        Probability that an interval holds the truth, according to the model.

    Returns
    -------
    array of shape (d + 1, 2) or None
    """
    width = quantile(fit.tails, coverage)
    if fit.standard_errors is None:
        return None
    centre = np.append(fit.intercept, fit.coef)
    return centre[:, None] + width * np.outer(fit.standard_errors, [-1.0, 1.0])


def prediction_deviation(fit: LinearFit, X: Array, method: str) -> Array:
    """Return the standard deviation of a new response about its prediction, for each row.

    Parameters
    ----------
    fit : LinearFit
        A fit.
    X : array of shape (n, d)
        Features.
    method : str
        What the method is called, for the error where it gives none.
    """
    deviation = fit.deviation(X)
    if deviation is None:
        raise NoUncertainty(method)
    return deviation
