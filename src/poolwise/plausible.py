"""Plausible: what the moments of any rows satisfy, so that files and differences can be judged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poolwise.double_double import Array

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
    """Say why no rows have these moments, or return None where some may.

    A mean lies in its range. A scatter is positive semidefinite, and that of a column is at most a
    quarter of its weight times its squared range (Popoviciu's inequality).

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    weight : float
        Sum of the weights, positive.
    mean, low, high : array of shape (p,)
        Mean and range of each column, in one unit.
    scatter : array of shape (p, p)
        Centred second moments, in these units.
    rounding : array of shape (p,)
        What rounding may have done to the scatter of each column by itself.
    """
    size = np.maximum(np.abs(low), np.abs(high))
    room, own = NEAR * size, scatter.diagonal()
    width = high - low + LAST_DIGITS * size
    most = weight / 4.0 * width**2 * (1.0 + WIDER) + rounding
    for wrong, what in (
        ((mean < low - room) | (mean > high + room), "the mean of {0!r} is outside of its range"),
        (own < -rounding, "the scatter of {0!r} is negative"),
        (own > most, "the scatter of {0!r} is larger than its range allows"),
    ):
        if wrong.any():
            return what.format(names[int(np.argmax(wrong))])
    # An error of sqrt(r_i r_j) in each entry leaves this positive semidefinite.
    mended = scatter + np.diag(len(names) * rounding)
    flat = mended.diagonal() <= 0.0
    if (scatter[flat] != 0.0).any():
        at = int(np.flatnonzero(flat)[np.argmax((scatter[flat] != 0.0).any(axis=1))])
        return f"{names[at]!r} does not vary but has products with other columns"
    kept = np.flatnonzero(~flat)
    if not len(kept):
        return None
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
    """Return the scatter that the last digits of the numbers of each column may have."""
    size = np.maximum(np.abs(low), np.abs(high))
    rounding: Array = weight * (LAST_DIGITS * size) ** 2
    return rounding
