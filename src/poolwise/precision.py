"""Precision: how many digits of the second moments are kept, and at what price."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from poolwise.errors import BadOption

Precision: TypeAlias = Literal["fast", "accurate", "exact", "auto"]
Kept: TypeAlias = Literal["fast", "accurate", "exact"]

PRECISIONS: tuple[Kept, ...] = ("fast", "accurate", "exact")
# Relative error of coefficients that rounding the scatter to doubles leaves, and that is worth a
# second reading: with two doubles, and with no rounding at all.
POOR, HOPELESS = 1e-10, 0.1
CHEAP = 2**25  # rows times squared columns: below, reading takes hundredths of a second


def check_precision(precision: Precision) -> None:
    """Refuse a precision that there is not."""
    if precision not in get_args(Precision):
        raise BadOption("precision", precision, "'fast', 'accurate', 'exact' or 'auto'")


def chosen(precision: Precision, rows: int, columns: int) -> Kept:
    """Return the precision to read with: where it is left to us, accurate while that is cheap."""
    if precision == "auto":
        return "accurate" if rows * columns**2 <= CHEAP else "fast"
    return precision


def needed(error: float) -> Kept:
    """Return the precision that leaves enough digits, given the error that doubles leave."""
    return "exact" if error > HOPELESS else "accurate" if error > POOR else "fast"
