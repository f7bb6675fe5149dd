"""Indicators: the columns of zeros and ones that a text column becomes in moments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from poolwise.moments import Moments

NONE_LEFT = 1e-9  # share of rows, or of products, that rounding explains
FEW_DIGITS = 0.05  # the same where moments were made from what a paper printed


def groups_of(moments: Moments, response: str) -> dict[str, tuple[str, ...]]:
    """Return the text columns that names alone tell of, with the levels they have indicators for.

    These are names with an equals sign, of columns that hold zeros and ones, at most a single one
    per row. The first such sign ends the name of the column.
    """
    found: dict[str, list[str]] = {}
    for name in moments.names:
        column, sign, level = name.partition("=")
        if column and sign and name != response:
            found.setdefault(column, []).append(level)
    return {
        column: tuple(levels)
        for column, levels in found.items()
        if column not in moments
        and moments.weight
        and not flaw_of_indicators(moments, [f"{column}={level}" for level in levels])
    }


def flaw_of_indicators(moments: Moments, names: Sequence[str]) -> str | None:
    """Say why columns are not the indicators of one text column, or return None.

    Indicators are zeros and ones, and no row has two ones: the mean of a square is the mean, that
    of a product is zero. Where ranges are wider than zero to one, as those of a published model
    are, few digits may be known, and less is asked for.
    """
    if moments.weight == 0.0:
        return None
    at = moments.index(names)
    mean, wide = moments.mean[at], (moments.low[at] < 0.0) | (moments.high[at] > 1.0)
    room = FEW_DIGITS if wide.any() else NONE_LEFT
    with np.errstate(over="ignore"):
        products = moments.scatter_between(names, names) / moments.weight + np.outer(mean, mean)
        off = np.abs(products - np.diag(mean))
    off[moments.units[at] != 0] = np.inf
    if (off.diagonal() > room).any():
        name = names[int(np.argmax(off.diagonal()))]
        return f"{name!r} does not hold zeros and ones"
    if (off > room).any():
        first, second = divmod(int(np.argmax(off)), len(names))
        return f"{names[first]!r} and {names[second]!r} are both one in some rows"
    return None


def with_the_rest(table: Moments, named: Sequence[str], output: str, share: float) -> Moments:
    """Return moments with one more indicator, of the rows that have none of those named.

    Parameters
    ----------
    table : Moments
        The moments.
    named : sequence of str
        Names of the indicators of a text column.
    output : str
        Name of the new one, which is one less their sum.
    share : float
        The share of rows that it has.
    """
    at, p = table.index(named), len(table.names)
    matrix, shift = np.eye(p + 1, p), np.zeros(p + 1)
    matrix[p, at], shift[p] = -1.0, 1.0
    wider = table.affine((*table.names, output), matrix, shift)
    low, high = wider.low.copy(), wider.high.copy()
    low[:p], high[:p] = table.low, table.high  # a map knows bounds alone
    low[p], high[p] = float(share >= 1.0 - NONE_LEFT), 1.0
    return replace(wider, low=low, high=high)
