"""Merging: the rows of many tables, stacked in groups instead of one table at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import chain
from operator import add

import numpy as np
from numpy.typing import NDArray

from poolwise.centred import Centred
from poolwise.double_double import Array, Pair
from poolwise.exact_sums import ExactSums
from poolwise.fraction_matrix import Integers
from poolwise.row_sums import units_of

GROUP = 256  # tables that are stacked at a time
HELD = 2**23  # entries of their scatters, together: of wide tables fewer make a group


def merged(parts: Iterable[Centred]) -> Centred | None:
    """Stack the rows of any number of tables; return None if there are none.

    Tables with one double per second moment wait for their group, and so do those with two; a group
    that was stacked is the first table of the next. Exact tables are added as integers, and rounded
    once. What the three kinds come to is added at the end. So what is held at a time does not grow
    with the number of tables, and the result depends on their sequence alone.
    """
    coming = iter(parts)
    first = next(coming, None)
    second = next(coming, None)
    if first is None or second is None:
        return first
    columns = len(first.low)
    size = max(2, min(GROUP, HELD // max(columns**2, 1)))
    exact = _Exact(columns)
    paired: list[Centred] = []
    plain: list[Centred] = []
    for part in chain((first, second), coming):
        if part.sums is not None:
            exact.add(part.sums, part.low, part.high)
            continue
        group = plain if part.scatter.is_plain else paired
        group.append(part)
        if len(group) == size:
            group[:] = [_stacked(group)]
    found = [exact.held(), *(_stacked(group) for group in (paired, plain) if group)]
    return reduce(add, (held for held in found if held is not None))


def _stacked(parts: Sequence[Centred]) -> Centred:
    r"""Stack the rows of tables that have equally many digits.

    With weights :math:`W_k`, means :math:`\bar z_k` and scatters :math:`S_k`, and :math:`\bar z`
    the mean of all, the scatter is
    :math:`\sum_k S_k + \sum_k W_k (\bar z_k - \bar z)(\bar z_k - \bar z)^\top`. Means are taken as
    steps from that of the heaviest table, in pairs, so that their distance from zero costs nothing.
    """
    if len(parts) == 1:
        return parts[0]
    low = np.min([part.low for part in parts], axis=0)
    high = np.max([part.high for part in parts], axis=0)
    units = units_of(low, high)
    if (np.array([part.units for part in parts]) != units).any():
        parts = [part.in_units(units) for part in parts]
    weights = _side_by_side([part.weight for part in parts])
    weight, start = weights.total(), parts[int(np.argmax(weights.high))].mean
    steps = _side_by_side([part.mean for part in parts]) - start[None, :]
    offset = ((weights / weight)[:, None] * steps).total()
    first, *others = (part.scatter for part in parts)
    scatter = first.plus(others).plus_outers(steps - offset[None, :], weights)
    return Centred(weight, start + offset, scatter, low, high, units)


def _side_by_side(pairs: Sequence[Pair]) -> Pair:
    return Pair(np.array([pair.high for pair in pairs]), np.array([pair.low for pair in pairs]))


class _Exact:
    """Sums and range of exact tables: the upper half of what is symmetric, in the finest units."""

    def __init__(self, columns: int) -> None:
        self.shape = columns + 1, columns + 1
        self.upper = np.flatnonzero(np.triu(np.ones(self.shape)))
        self.entries: Integers | None = None
        self.units = np.zeros(columns + 1, dtype=np.intp)
        self.low, self.high = np.full(columns, np.inf), np.full(columns, -np.inf)

    def add(self, sums: ExactSums, low: Array, high: Array) -> None:
        """Add a table, in place."""
        np.minimum(self.low, low, out=self.low)
        np.maximum(self.high, high, out=self.high)
        entries: Integers = sums.gram.ravel().take(self.upper)
        if self.entries is None:
            self.entries, self.units = entries, sums.units
            return
        if (sums.units != self.units).any():
            units = np.minimum(self.units, sums.units)
            self._refine(self.entries, self.units - units)
            self._refine(entries, sums.units - units)
            self.units = units
        np.add(self.entries, entries, out=self.entries)

    def _refine(self, entries: Integers, finer: NDArray[np.intp]) -> None:
        """Hold entries in units that are smaller by these powers of two."""
        if finer.any():
            shifts = (finer[:, None] + finer).ravel().take(self.upper)
            at = np.flatnonzero(shifts)
            entries[at] = entries[at] << shifts[at].astype(object)

    def held(self) -> Centred | None:
        """Return what all tables come to, if there were any."""
        if self.entries is None:
            return None
        gram: Integers = np.full(self.shape, 0, dtype=object)
        i, j = np.unravel_index(self.upper, self.shape)
        gram[i, j] = gram[j, i] = self.entries
        return Centred.of_sums(ExactSums(gram, self.units), self.low, self.high)
