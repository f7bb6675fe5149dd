"""Checks that moments do not disclose single rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array
from poolwise.errors import BadOption, TooFewToShare
from poolwise.wording import capital

if TYPE_CHECKING:
    from poolwise.moments.moments import Moments

NONE = 1e-9  # share of rows that is only rounding


def check_shareable(moments: Moments, least: int) -> None:
    """Raise an error if moments disclose the sums over a group of fewer rows than ``least``.

    Products with an indicator are the sums over its group. The same holds for any column of two
    values, and for any sum of indicators that is an indicator itself: of the rows without a named
    level, or of a group without one of its subgroups. Single columns, pairs, and the levels of one
    text column are checked. Rows are counted by their share of the weight, since moments do not
    hold single rows.
    """
    if not isinstance(least, int | np.integer) or least < 0:
        raise BadOption.of("min_rows", least, "a whole number, zero or more")
    for what, share in _groups(moments) if least else ():
        rows = round(share * moments.rows, 6)
        if rows < least and (share > NONE or not moments.rows):
            told = f"{what} has {rows:g} rows, fewer than"
            raise TooFewToShare(
                f"{capital(told)} {least}. Moments of few rows disclose single rows: nothing was "
                "written.",
                "Add rows, leave the column out with .select(names), or use a smaller min_rows.",
                short=f"{told} {least}",
                rows=rows,
                min_rows=least,
            )


def _groups(moments: Moments) -> Iterator[tuple[str, float]]:
    """Yield the groups of rows whose sums can be derived, and the share of rows in each."""
    yield "the table", 1.0
    if not moments.weight:
        return
    names, at, both = _two_valued(moments)
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
    is_indicator = (moments.low[at] == 0.0) & (moments.high[at] == 1.0)
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


def _two_valued(moments: Moments) -> tuple[list[str], NDArray[np.intp], Array]:
    """Return the columns of two values, and the share of rows where two have their larger one.

    Numbers between two ends have the largest variance if all of them are at the ends.
    """
    width = moments.high - moments.low
    per = 1.0 / np.where(width > 0.0, width, np.inf)
    ones = (moments.mean - moments.low + moments.mean_tail) * per
    spread = moments.scatter.high * per[:, None] * per / moments.weight
    at = np.flatnonzero((width > 0.0) & (np.abs(spread.diagonal() - ones * (1.0 - ones)) <= NONE))
    both = spread[np.ix_(at, at)] + np.outer(ones[at], ones[at])
    return [moments.names[j] for j in at], at, both
