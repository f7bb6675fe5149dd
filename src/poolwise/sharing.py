"""Sharing: whether moments are of so few rows that they tell about single ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from poolwise.double_double import Array
from poolwise.errors import BadOption, TooFewToShare
from poolwise.moments_record import Record

NONE = 1e-9  # share of rows that is rounding


def check_shareable(record: Record, least: int) -> None:
    """Refuse moments that tell the sums over fewer rows than a house lets out.

    Products with an indicator tell the sums over its group. So does any column of two values, and
    any sum of indicators that is an indicator itself: of the rows that have none of the levels with
    an indicator, or of a group without another one that is part of it. Looked at are single
    columns, pairs, and the levels of one text column. Rows are counted by their share of the
    weight, since moments do not know them one by one.

    Parameters
    ----------
    record : Record
        The moments.
    least : int
        The fewest rows that may be told of.
    """
    if not isinstance(least, int | np.integer) or least < 0:
        raise BadOption("min_rows", least, "a whole number, zero or more")
    if record.rows < least:
        raise TooFewToShare("the table", record.rows, int(least))
    if record.weight == 0.0 or not least:
        return
    for what, share in _groups(record):
        rows = round(share * record.rows, 6)
        if share > NONE and rows < least:
            raise TooFewToShare(what, rows, int(least))


def _groups(record: Record) -> Iterator[tuple[str, float]]:
    """Yield the groups of rows whose sums can be told, and the share of rows in each."""
    names, at, both = _two_valued(record)
    ones = both.diagonal()
    for name, one in zip(names, ones.tolist(), strict=True):
        yield f"a group of column {name!r}", one
        yield f"a group of column {name!r}", 1.0 - one
    only = ones[:, None] - both
    cells = np.stack((both, only, only.T, 1.0 - ones - only))
    told = (cells <= NONE).any(axis=0) & ~np.eye(len(names), dtype=np.bool_)
    least = np.where((cells > NONE) & told, cells, 1.0).min(axis=0, initial=1.0)
    for i, j in zip(*np.nonzero(np.triu(least < 1.0)), strict=True):
        yield f"a group by columns {names[i]!r} and {names[j]!r}", float(least[i, j])
    is_indicator = (record.low[at] == 0.0) & (record.high[at] == 1.0)
    families: dict[str, list[int]] = {}
    for k in np.flatnonzero(is_indicator):
        column, sign, _ = names[k].partition("=")
        if sign:
            families.setdefault(column, []).append(int(k))
    for column, levels in families.items():
        together = both[np.ix_(levels, levels)]
        if together.sum() - together.trace() <= NONE * len(levels):
            what = f"the group of {column!r} without an indicator"
            yield what, 1.0 - float(ones[levels].sum())


def _two_valued(record: Record) -> tuple[list[str], NDArray[np.intp], Array]:
    """Return the columns of two values, and the share of rows where two have their larger one.

    No numbers between two ends have a larger variance than those that are all at the ends.
    """
    low, high = np.ldexp(record.low, -record.units), np.ldexp(record.high, -record.units)
    width = high - low
    per = 1.0 / np.where(width > 0.0, width, np.inf)
    ones = (record.mean - low + record.mean_tail) * per
    spread = record.scatter * per[:, None] * per / record.weight
    at = np.flatnonzero((width > 0.0) & (np.abs(spread.diagonal() - ones * (1.0 - ones)) <= NONE))
    both = spread[np.ix_(at, at)] + np.outer(ones[at], ones[at])
    return [record.names[j] for j in at], at, both
