"""Numbers of a fit times powers of two: where doubles hold them, and in which units they do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from poolwise.chunks import LARGEST
from poolwise.double_double import Array


def held(value: float | None, exponent: int) -> float | None:
    """Return a number times a power of two, or None where a double cannot hold it."""
    if value is None:
        return None
    one = all_held(np.array([value]), np.array([exponent]))
    return None if one is None else float(one[0])


def all_held(values: Array | None, exponents: NDArray[np.intp]) -> Array | None:
    """Return numbers times powers of two, or None where doubles cannot hold all of them."""
    if values is None:
        return None
    with np.errstate(over="ignore", under="ignore"):
        held: Array = np.ldexp(values, exponents)
    fits = np.isfinite(held).all() and ((held == 0.0) == (values == 0.0)).all()
    return held if fits else None


def bounds_held(bounds: tuple[float, float] | None, exponent: int) -> tuple[float, float] | None:
    """Return bounds times a power of two, the largest doubles where they are beyond."""
    if bounds is None:
        return None
    with np.errstate(over="ignore"):
        low, high = np.clip(np.ldexp(bounds, exponent), -LARGEST, LARGEST)
    return float(low), float(high)


def units_of_terms(at: Array, model: Array) -> tuple[NDArray[np.intp], int]:
    """Return units of the features and of the response in which no term of a sum is above one.

    The terms are those of (level, coef), or of their errors, times features at a point.
    """
    own = np.where(at != 0.0, np.frexp(at)[1], -4000).astype(np.intp)
    size = np.frexp(model)[1] + np.append(0, own)
    return own, int(size.max(where=model != 0.0, initial=-4000))


def is_extreme(*numbers: Array | float) -> bool:
    """Say whether a product of two of these, or of three, may be too large."""
    return any(np.abs(n).max(initial=0.0) > 1e100 for n in numbers)
