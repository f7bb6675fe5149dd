"""Sums of the moments of many tables, in groups, and differences of moments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from itertools import chain
from operator import add
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array
from poolwise.errors import BadColumns, CannotSubtract
from poolwise.moments.moment_checks import flaw_of, rounding_of
from poolwise.numerics.double_double import Pair, stacked
from poolwise.numerics.exact_sums import ExactSums, Integers
from poolwise.numerics.options import PRECISIONS, Kept

if TYPE_CHECKING:
    from poolwise.moments.moments import Moments

GROUP = 256  # tables that are stacked at a time
HELD = 2**23  # entries of their scatters, together: of wide tables fewer make a group
# Relative rounding error of a difference of weights, and of a difference of scatters in doubles, in
# pairs and without rounding.
LOST_WEIGHT = 1e-9
LOST_SCATTER: dict[Kept, float] = {"fast": 1e-10, "accurate": 1e-20, "exact": 0.0}
# At most, in practice.
ROUNDED: dict[Kept, float] = {"fast": 1e-13, "accurate": 1e-25, "exact": 0.0}


def merged(parts: Iterable[Moments]) -> Moments | None:
    """Stack the rows of any number of tables that have rows; return None if there are none.

    Tables with one double per second moment wait for their group, and so do those with two; a group
    that was stacked is the first table of the next. Exact tables are added as integers, and rounded
    once. The sums of the three kinds are added at the end. So memory does not grow with the number
    of tables, and the result depends on their order alone.
    """
    coming = iter(parts)
    first = next(coming, None)
    second = next(coming, None)
    if first is None or second is None:
        return first
    size = max(2, min(GROUP, HELD // max(len(first.names) ** 2, 1)))
    exact: _Exact | None = None
    paired: list[Moments] = []
    plain: list[Moments] = []
    for part in chain((first, second), coming):
        if part.sums is not None:
            exact = exact or _Exact(part.sums)
            exact.add(part.sums, part.low, part.high)
            continue
        group = plain if part.scatter.is_plain else paired
        group.append(part)
        if len(group) == size:
            group[:] = [_stacked(group)]
    found = [_stacked(group) for group in (paired, plain) if group]
    if exact is not None:
        sums, low, high = exact.total()
        found.insert(0, first._of_sums(first.names, 0, sums, low, high))
    return reduce(add, found)


def _stacked(parts: Sequence[Moments]) -> Moments:
    r"""Stack the rows of tables that have equally many digits.

    With weights :math:`W_k`, means :math:`\bar z_k` and scatters :math:`S_k`, and :math:`\bar z`
    the mean of all, the scatter is
    :math:`\sum_k S_k + \sum_k W_k (\bar z_k - \bar z)(\bar z_k - \bar z)^\top`. Means are taken as
    steps from the mean of the heaviest table, in pairs, so that means far from zero lose no digits.
    """
    first, *others = parts
    if not others:
        return first
    weights = Pair(np.array([p.weight for p in parts]), np.array([p.weight_tail for p in parts]))
    weight, start = weights.total(), parts[int(np.argmax(weights.high))].mean_pair
    means = Pair(np.array([p.mean for p in parts]), np.array([p.mean_tail for p in parts]))
    steps = means - start[None, :]
    offset = ((weights / weight)[:, None] * steps).total()
    scatter = first.scatter.plus([part.scatter for part in others])
    return first._of_pairs(
        first.names,
        sum(part.rows for part in parts),
        weight,
        start + offset,
        scatter.plus_outers(steps - offset[None, :], weights),
        np.min([part.low for part in parts], axis=0),
        np.max([part.high for part in parts], axis=0),
    )


class _Exact:
    """Sums and range of exact tables: the upper half of the matrix, in the finest units."""

    def __init__(self, first: ExactSums) -> None:
        self.shape = first.gram.shape
        self.upper = np.flatnonzero(np.triu(np.ones(self.shape)))
        self.entries: Integers = np.full(len(self.upper), 0, dtype=object)
        self.units = first.units
        self.low = np.full(len(first.units) - 1, np.inf)
        self.high = -self.low

    def add(self, sums: ExactSums, low: Array, high: Array) -> None:
        """Add a table, in place."""
        np.minimum(self.low, low, out=self.low)
        np.maximum(self.high, high, out=self.high)
        entries: Integers = sums.gram.ravel().take(self.upper)
        if (sums.units != self.units).any():
            units = np.minimum(self.units, sums.units)
            self._refine(self.entries, self.units - units)
            self._refine(entries, sums.units - units)
            self.units = units
        np.add(self.entries, entries, out=self.entries)

    def _refine(self, entries: Integers, finer: NDArray[np.intp]) -> None:
        """Convert entries to units that are smaller by these powers of two."""
        if finer.any():
            shifts = (finer[:, None] + finer).ravel().take(self.upper)
            at = np.flatnonzero(shifts)
            entries[at] = entries[at] << shifts[at].astype(object)

    def total(self) -> tuple[ExactSums, Array, Array]:
        """Return the sums and the range of all tables."""
        gram: Integers = np.full(self.shape, 0, dtype=object)
        i, j = np.unravel_index(self.upper, self.shape)
        gram[i, j] = gram[j, i] = self.entries
        return ExactSums(gram, self.units), self.low, self.high


def without(whole: Moments, part: Moments) -> Moments:
    """Return the moments of rows without some that are among them, as ``whole - part`` does."""
    if part.names != whole.names:
        raise BadColumns.differ(whole.names, part.names, "subtract")
    rows, weight = whole.rows - part.rows, _weight_left(whole, part)
    if rows < 0 or weight < 0.0 or (rows > 0) != (weight > 0.0):
        raise _cannot(
            f"they are {part.rows:,} rows of weight {part.weight:g}, to be taken from "
            f"{whole.rows:,} of weight {whole.weight:g}"
        )
    if part.weight == 0.0:
        return whole.with_rows(rows)
    with np.errstate(over="ignore", invalid="ignore"):
        _check_among(whole, part, all_of_them=not rows)
        if not rows:
            return whole.empty(whole.names)
        if whole.sums is not None and part.sums is not None:
            sums = whole.sums - part.sums
            left = whole._of_sums(whole.names, rows, sums, whole.low, whole.high)
        else:
            left = _difference(whole, part, rows)
        kept = min(left.precision, whole.precision, key=PRECISIONS.index)
        _check_left(left, whole, kept)
        if left.sums is not None:
            return left
        room = ROUNDED[kept] * whole.scatter.high.diagonal()
        room += rounding_of(whole.weight, left.low, left.high)
        return replace(left, scatter=left.scatter.floored(room))


def _cannot(why: str) -> CannotSubtract:
    return CannotSubtract(
        f"These rows cannot be taken away: {why}.",
        "Subtract only rows that were added, with the weights and the columns they were added "
        "with.",
    )


def _weight_left(whole: Moments, part: Moments) -> float:
    """Return the difference of weights, zero where it is rounding alone."""
    if whole.sums is not None and part.sums is not None:
        left = (whole.sums - part.sums).gram[-1, -1]
        return whole.weight * float((left > 0) - (left < 0))
    rest = float((whole.weight_pair - part.weight_pair).high)
    return 0.0 if abs(rest) <= LOST_WEIGHT * whole.weight else rest


def _check_among(whole: Moments, part: Moments, *, all_of_them: bool) -> None:
    """Raise an error for rows that cannot be among these, or cannot be all of them."""
    room = 2.0**-40 * np.maximum(-whole.low, whole.high)
    far = (part.mean < whole.low - room) | (part.mean > whole.high + room)
    if all_of_them:
        far |= np.abs(part.mean - whole.mean) > room
        rounding = rounding_of(whole.weight, whole.low, whole.high)
        unit = np.sqrt(whole.scatter.high.diagonal() + rounding)
        change = np.abs((whole.scatter - part.scatter).high)
        far |= (change > LOST_WEIGHT * np.outer(unit, unit)).any(axis=1)
    if far.any():
        raise _cannot(f"they have other values of {whole.names[int(np.argmax(far))]!r}")


def _difference(whole: Moments, part: Moments, rows: int) -> Moments:
    scatter = whole.scatter - part.scatter
    weight, mean, step, both = stacked(
        (whole.weight_pair, whole.mean_pair),
        (-part.weight_pair, part.mean_pair),
        plain=scatter.is_plain,
    )
    scatter = scatter.plus_outer(step, both)
    return whole._of_pairs(whole.names, rows, weight, mean, scatter, whole.low, whole.high)


def _check_left(left: Moments, whole: Moments, kept: Kept) -> None:
    """Raise an error if no rows can have the remaining moments."""
    low, high, scatter = left.low, left.high, left.scatter.high
    rounding = LOST_SCATTER[kept] * whole.scatter.high.diagonal()
    if kept != "exact":
        rounding = rounding + rounding_of(whole.weight, low, high)
    flaw: str | None = "its numbers are beyond doubles"
    if np.isfinite(scatter).all() and np.isfinite(left.mean).all():
        flaw = flaw_of(left.names, left.weight, left.mean, scatter, low, high, rounding)
    if flaw:
        raise _cannot(f"in the remaining moments, {flaw}")
