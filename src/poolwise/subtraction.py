"""Subtraction: rows are taken away, where what is left may be the moments of some rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from poolwise.centred import Centred
from poolwise.double_double import Pair
from poolwise.errors import CannotSubtract
from poolwise.plausible import flaw_of, rounding_of
from poolwise.precision import PRECISIONS, Kept

# What rounding may have done to sums, as a share of them: to a difference of weights, and to one
# of scatters in doubles, in pairs and without rounding.
LOST_WEIGHT = 1e-9
LOST_SCATTER: dict[Kept, float] = {"fast": 1e-10, "accurate": 1e-20, "exact": 0.0}
# At most, in practice.
ROUNDED: dict[Kept, float] = {"fast": 1e-13, "accurate": 1e-25, "exact": 0.0}


def weight_left(whole: Centred, part: Centred) -> float:
    """Return the difference of weights, zero where it is rounding alone."""
    weight = float(whole.weight.high)
    if whole.sums is not None and part.sums is not None:
        left = (whole.sums - part.sums).gram[-1, -1]
        return weight * float((left > 0) - (left < 0))
    rest = float((whole.weight - part.weight).high)
    return 0.0 if abs(rest) <= LOST_WEIGHT * weight else rest


def without(
    whole: Centred, part: Centred, names: Sequence[str], *, all_of_them: bool
) -> Centred | None:
    """Take rows away that are among those of the whole; return None if these are all.

    The range stays that of the whole.

    Parameters
    ----------
    whole, part : Centred
        The rows, and those of them to be taken away.
    names : sequence of str
        What to call the columns in an error.
    all_of_them : bool
        Whether no rows are to be left.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        theirs = part.in_units(whole.units)
        _check_among(whole, theirs, names, all_of_them=all_of_them)
        if all_of_them:
            return None
        if whole.sums is not None and part.sums is not None:
            left = Centred.of_sums(whole.sums - part.sums, whole.low, whole.high)
        else:
            left = _difference(whole, theirs)
        _check_left(left, whole, names)
        return left if left.sums is not None else _floored(left, whole)


def _floored(left: Centred, whole: Centred) -> Centred:
    """Clear what rounding has left."""
    low, high = np.ldexp(left.low, -left.units), np.ldexp(left.high, -left.units)
    kept = min(left.precision, whole.precision, key=PRECISIONS.index)
    before = whole.in_units(left.units).scatter.diagonal()
    room = ROUNDED[kept] * before + rounding_of(float(whole.weight.high), low, high)
    return replace(left, scatter=left.scatter.floored(room))


def _check_among(whole: Centred, part: Centred, names: Sequence[str], *, all_of_them: bool) -> None:
    """Refuse rows that cannot be among these, by their mean, or by all if there are no more."""
    low, high = np.ldexp(whole.low, -whole.units), np.ldexp(whole.high, -whole.units)
    room = 2.0**-40 * np.maximum(-low, high)
    far = (part.mean.high < low - room) | (part.mean.high > high + room)
    if all_of_them:
        far |= np.abs(part.mean.high - whole.mean.high) > room
        weight = float(whole.weight.high)
        unit = np.sqrt(whole.scatter.diagonal() + rounding_of(weight, low, high))
        change = np.abs((whole.scatter - part.scatter).between(*2 * [range(len(far))]))
        far |= (change > LOST_WEIGHT * np.outer(unit, unit)).any(axis=1)
    if far.any():
        raise CannotSubtract(f"{names[int(np.argmax(far))]!r} has other numbers in them")


def _difference(whole: Centred, part: Centred) -> Centred:
    """Take rows away that are held in the same units."""
    scatter = whole.scatter - part.scatter
    step = part.mean - whole.mean
    if scatter.is_plain:
        weight = Pair.of(whole.weight.high - part.weight.high)
        share = Pair.of(part.weight.high / weight.high)
        both = Pair.of(whole.weight.high * share.high)
    else:
        weight = whole.weight - part.weight
        share = part.weight / weight
        both = whole.weight * share
    mean, scatter = whole.mean - share * step, scatter.plus_outer(step, -both)
    return Centred(weight, mean, scatter, whole.low, whole.high, whole.units)


def _check_left(left: Centred, whole: Centred, names: Sequence[str]) -> None:
    """Refuse what is left where no rows have such moments."""
    units, every = left.units, range(len(names))
    low, high = np.ldexp(left.low, -units), np.ldexp(left.high, -units)
    before = whole.in_units(units).scatter.diagonal()
    kept = min(left.precision, whole.precision, key=PRECISIONS.index)
    rounding = LOST_SCATTER[kept] * before
    if kept != "exact":
        rounding = rounding + rounding_of(float(whole.weight.high), low, high)
    scatter, mean = left.scatter.between(every, every), left.mean.high
    flaw: str | None = "its numbers are beyond doubles"
    if np.isfinite(scatter).all() and np.isfinite(mean).all():
        flaw = flaw_of(names, float(left.weight.high), mean, scatter, low, high, rounding)
    if flaw:
        raise CannotSubtract(f"of what would be left, {flaw}")
