"""Columns by which rows belong together, so that random folds test on rows much like those seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from poolwise.errors import DataWarning
from poolwise.tables.column_names import names_times, names_units
from poolwise.tables.frames import FrameTable
from poolwise.tables.inspection import are_whole
from poolwise.tables.memory import Table
from poolwise.tables.text_values import DATES, Kind, kind_of_texts, numbers_among

FEW, MANY = 10, 20  # values of a column with a name of units, and of one without
MOST_ROWS = 20.0  # per value of a column without such a name
FEW_ROWS = 4.0  # per value of a text: it names units
EVEN = 0.8  # share of the numbers that have equally many rows, as in a panel


def leaks(table: Table) -> Iterator[DataWarning]:
    """Yield a warning for a column that repeats identifiers, and for one that orders rows in time.

    Random folds then test on persons, houses or days that were seen in training.
    """
    if not isinstance(table, FrameTable) or not table.rows:
        return
    times, repeated = dict[str, int](), dict[str, int]()
    for name in table.names:
        kind, values = table.present(name)  # of one column at a time: they may be many
        if orders_rows(name, kind, values):
            times[name] = len({*values})
        else:
            repeated[name] = repeated_values(name, kind, values)
    name = max(repeated, key=lambda n: repeated[n], default="")
    if count := repeated.get(name):
        yield DataWarning(
            f"The {count:,} values of {name!r} repeat in the recent rows: rows of the same {name} "
            f"are in training and test sets, so the error for a new {name} is likely larger than "
            "measured.",
            f"Hold out whole groups: groups={name!r}.",
            column=name,
            groups=name,
        )
    if times:
        name = max(times, key=lambda n: times[n])
        yield DataWarning(
            f"{name!r} holds the times of the recent rows, and training and test sets mix earlier "
            "and later ones: the error for later rows may be larger than measured.",
            f"Test on later rows: time={name!r}.",
            column=name,
            time=name,
        )


def repeated_values(name: str, kind: Kind | None, given: Sequence[Any]) -> int:
    """Return the number of different values if they look like identifiers that repeat, else 0."""
    if names_times(name) or not (kind == "text" or _are_whole(kind, given)):
        return 0
    values = np.array(given)
    found, counts = np.unique(values, return_counts=True)
    if len(found) < FEW or 2 * counts[counts > 1].sum() < len(values):
        return 0
    if names_units(name):
        return len(found)
    if len(found) < MANY or len(values) > MOST_ROWS * len(found):
        return 0
    if kind == "text" and numbers_among([*map(str, found)]):
        return 0
    if kind == "text":  # codes have digits, categories have not
        codes = sum(any(c.isdigit() for c in text) for text in found)
        is_name = len(values) <= FEW_ROWS * len(found)
        return len(found) if is_name or 2 * codes > len(found) else 0
    often = np.bincount(counts).argmax()
    is_panel = often > 1 and (counts == often).mean() >= EVEN
    is_sorted = np.count_nonzero(values[1:] != values[:-1]) == len(found) - 1
    return len(found) if is_panel and (is_sorted or np.ptp(found) > 2 * len(found)) else 0


def orders_rows(name: str, kind: Kind | None, values: Sequence[Any]) -> bool:
    """Return whether a column holds dates, or has the name of times and sorts the rows."""
    if kind == "number":
        if not (names_times(name) and _are_whole(kind, values)):
            return False
        steps = np.diff(values)
        if not ((steps >= 0.0).all() or (steps <= 0.0).all()):
            return False
    levels = {*values}
    return len(levels) > 2 and (kind != "text" or kind_of_texts(levels) in DATES)


def _are_whole(kind: Kind | None, values: Sequence[Any]) -> bool:
    return kind == "number" and are_whole(values)
