"""Record: the plain numbers of moments, and the refusal of those that no rows have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poolwise.double_double import Array, Pair
from poolwise.exact_sums import ExactSums
from poolwise.plausible import flaw_of, rounding_of
from poolwise.row_sums import USUAL
from poolwise.strict_json import Wrong

LARGEST_HELD = 2.0 ** (USUAL + 20)  # in its unit: squares, times weights, are still finite
CLOSE = 2.0**-40  # what a tail may be of its number, or a matrix from its transpose
EQUAL = 2.0**-90  # what pairs may be from the exact sums they were rounded from


@dataclass(frozen=True, eq=False)
class Record:
    """The plain numbers of moments.

    Parameters
    ----------
    names, rows, weight, weight_tail, mean, mean_tail, low, high, units, sums
        As in :class:`poolwise.Moments`.
    scatter : array of shape (p, p)
        The scatter, rounded to double.
    scatter_tail : array of shape (p, p) or None
        What rounding took from it, where that is kept.
    """

    names: tuple[str, ...]
    rows: int
    weight: float
    weight_tail: float
    mean: Array
    mean_tail: Array
    scatter: Array
    scatter_tail: Array | None
    low: Array
    high: Array
    units: NDArray[np.intp]
    sums: ExactSums | None = None


def check_empty(record: Record) -> None:
    """Refuse products of no rows."""
    tail = 0.0 if record.scatter_tail is None else record.scatter_tail
    if record.scatter.any() or np.any(tail) or record.weight_tail or record.sums is not None:
        raise Wrong("it has products of rows but no weight")
    if (np.isinf(record.low) != np.isinf(record.high)).any():
        raise Wrong("a column has one end of its range but not the other")


def check_record(record: Record) -> None:
    """Refuse what no rows have."""
    columns, weight, S = record.names, record.weight, record.scatter
    low, high = np.ldexp(record.low, -record.units), np.ldexp(record.high, -record.units)
    size = np.maximum(np.abs(low), np.abs(high))
    _refuse(columns, record.low > record.high, "the range of {0!r} ends below its beginning")
    _refuse(columns, size > LARGEST_HELD, "{0!r} is held in a unit that does not suit its range")
    _refuse(
        columns, np.abs(record.mean) > LARGEST_HELD, "the mean of {0!r} is outside of its range"
    )
    rounding = rounding_of(weight, low, high)
    unit = np.sqrt(np.maximum(S.diagonal(), 0.0) + rounding)
    both = np.outer(unit, unit)
    tail = np.zeros_like(S) if record.scatter_tail is None else record.scatter_tail
    for part, room in ((S, CLOSE), (tail, CLOSE * CLOSE)):
        if (np.abs(part - part.T) > room * both).any():
            raise Wrong("the scatter is not symmetric")
    if flaw := flaw_of(columns, weight, record.mean, S, low, high, rounding):
        raise Wrong(flaw)
    too_large = np.abs(record.mean_tail) > CLOSE * size
    _refuse(columns, too_large, "the mean of {0!r} has too large a tail")
    if abs(record.weight_tail) > CLOSE * weight:
        raise Wrong("the weight has too large a tail")
    if (np.abs(tail) > CLOSE * both).any():
        raise Wrong("the scatter has too large a tail")
    if record.sums is not None:
        _check_sums(record, record.sums, size, both)


def _refuse(columns: Sequence[str], wrong: NDArray[np.bool_], what: str) -> None:
    """Name the first column that is wrong."""
    if wrong.any():
        raise Wrong(what.format(columns[int(np.argmax(wrong))]))


def _check_sums(record: Record, sums: ExactSums, size: Array, both: Array) -> None:
    """Refuse exact sums that other numbers of the file contradict."""
    if record.scatter_tail is None:
        raise Wrong("it has exact sums but no scatter_tail")
    if not sums.gram[-1, -1] > 0 or (sums.gram != sums.gram.T).any():
        raise Wrong("its exact sums are not those of rows")
    try:
        weight, mean, fractions = sums.parts(record.units)
        scatter = fractions.pair()
    except OverflowError:
        raise Wrong("its exact sums are beyond doubles") from None
    for exact, high, low, unit in (
        (weight, np.array(record.weight), np.array(record.weight_tail), np.array(record.weight)),
        (mean, record.mean, record.mean_tail, size),
        (scatter, record.scatter, record.scatter_tail, both),
    ):
        if (np.abs((exact - Pair(high, low)).high) > EQUAL * unit).any():
            raise Wrong("its exact sums contradict its weight, mean or scatter")
