"""Conditions that the moments of any rows satisfy, for files and for differences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array

INDEFINITE = 1e-8  # least eigenvalue of a correlation matrix, per column, that rounding explains
LAST_DIGITS = 2.0**-50  # of the largest number of a column
NEAR = 2.0**-40  # of the same: how far sums over many rows may carry a mean out of its range
WIDER = 1e-6  # share by which rounding may carry a scatter beyond what a range allows


def flaw_of(
    names: Sequence[str],
    weight: float,
    mean: Array,
    scatter: Array,
    low: Array,
    high: Array,
    rounding: Array,
) -> str | None:
    """Return why no rows can have these moments, or None.

    A mean lies in its range. A scatter is positive semidefinite, and the scatter of a column is at
    most a quarter of its weight times its squared range (Popoviciu's inequality). ``rounding`` is
    the rounding error of the scatter of each column.
    """
    size = np.maximum(np.abs(low), np.abs(high))
    room, own = NEAR * size, scatter.diagonal()
    width = high - low + LAST_DIGITS * size
    most = weight / 4.0 * width**2 * (1.0 + WIDER) + rounding
    flaw = (
        first_of(names, low > high, "the upper end of the range of {0!r} is below its lower end")
        or first_of(
            names,
            (mean < low - room) | (mean > high + room),
            "the mean of {0!r} is outside of its range",
        )
        or first_of(names, own < -rounding, "the scatter of {0!r} is negative")
        or first_of(names, own > most, "the scatter of {0!r} is larger than its range allows")
    )
    if flaw:
        return flaw
    # An error of sqrt(r_i r_j) in each entry leaves this positive semidefinite.
    mended = scatter + np.diag(len(names) * rounding)
    flat = mended.diagonal() <= 0.0
    has_products = flat & (scatter != 0.0).any(axis=1)
    flaw = first_of(names, has_products, "{0!r} does not vary but has products with other columns")
    kept = np.flatnonzero(~flat)
    if flaw or not len(kept):
        return flaw
    mended = mended[kept[:, None], kept]
    unit = 1.0 / np.sqrt(mended.diagonal())
    least = float(np.linalg.eigvalsh(mended * unit[:, None] * unit)[0])
    if least < -INDEFINITE * len(names):
        return (
            "the scatter is not positive semidefinite (the least eigenvalue, with all columns on "
            f"one scale, is {least:.2g})"
        )
    return None


def rounding_of(weight: float, low: Array, high: Array) -> Array:
    """Return the scatter of rounding errors in the last digits of each column."""
    size = np.maximum(np.abs(low), np.abs(high))
    rounding: Array = weight * (LAST_DIGITS * size) ** 2
    return rounding


def first_of(names: Sequence[str], wrong: NDArray[np.bool_], what: str) -> str | None:
    """Return the sentence about the first column that is wrong, or None."""
    return what.format(names[int(np.argmax(wrong))]) if wrong.any() else None
