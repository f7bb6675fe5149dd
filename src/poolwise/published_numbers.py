"""Published numbers: what a paper prints, checked before anything is made of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from poolwise.double_double import Array
from poolwise.errors import UnusableModel

MOST_ROWS = 2**53  # that a double counts
SYMMETRIC = 1e-6  # share by which a matrix may differ from its transpose
INVERTIBLE = 1e-10  # least eigenvalue of a correlation matrix that leaves six digits of its inverse
ADVICE = "Give the covariance of coefficients, squares of standard errors on its diagonal"


def numbers(values: ArrayLike, what: str) -> Array:
    """Return finite numbers."""
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UnusableModel(
            f"{what} is not an array of numbers ({error})", "Give numbers"
        ) from None
    if bad := int(np.count_nonzero(~np.isfinite(found))):
        why = f"{what} holds NaN or infinity in {bad} of {found.size} places"
        raise UnusableModel(why, "Give the numbers that were printed")
    return found


def number(value: ArrayLike, what: str) -> float:
    """Return one finite number."""
    found = numbers(value, what)
    if found.shape:
        raise UnusableModel(f"{what} is an array of shape {found.shape}", "Give one number")
    return float(found)


def count(n: float, features: int) -> int:
    """Return the number of rows, which some write as 250.0."""
    whole = int(n) if isinstance(n, int | float | np.number) and n == n // 1 else -1
    if whole > MOST_ROWS or whole < 0:
        raise UnusableModel(
            f"n={n!r} is not a number of rows", f"Give a whole number up to {MOST_ROWS:g}"
        )
    if whole < features + 2:
        raise UnusableModel(
            f"n={n!r} rows leave nothing to estimate a noise of {features} features and an "
            "intercept from",
            f"Give the number of rows, at least {features + 2}",
        )
    return whole


def inverse(V: Array) -> Array:
    """Return the inverse of a covariance."""
    scaled, unit = correlations(V)
    least = float(np.linalg.eigvalsh(scaled)[0])
    if least < INVERTIBLE:
        raise UnusableModel(
            "its covariance is not positive definite, or hardly so: the least eigenvalue, with all "
            f"coefficients on one scale, is {least:.2g}",
            ADVICE,
        )
    root = np.linalg.inv(np.linalg.cholesky(scaled))
    with np.errstate(over="ignore"):
        inverse: Array = (root.T @ root) / unit[:, None] / unit
    return inverse


def correlations(V: Array) -> tuple[Array, Array]:
    """Return a covariance as correlations, and the standard errors."""
    unit = np.sqrt(np.maximum(V.diagonal(), 0.0))
    if not unit.all():
        raise UnusableModel("a coefficient has no positive variance", ADVICE)
    scaled = V / unit[:, None] / unit
    if (np.abs(scaled - scaled.T) > SYMMETRIC).any():
        raise UnusableModel("its covariance is not symmetric", ADVICE)
    return (scaled + scaled.T) / 2.0, unit
