"""Notes on rows to predict: missing values, and levels that were absent or too rare at fit."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from poolwise.errors import DataWarning
from poolwise.tables.encoding import Column
from poolwise.tables.frames import FrameTable
from poolwise.tables.memory import Table
from poolwise.wording import capital, counted, listed, plural

FEW = 3  # new levels of a column that are named


def notes_on(
    table: Table, columns: Sequence[Column], may_lack: Collection[str]
) -> list[DataWarning]:
    """Return a note on missing values and one on new levels, if there are any.

    Missing values of the columns that rows ``may_lack`` are not counted.
    """
    where = table.where if isinstance(table, FrameTable) else "X"
    names = [c.name for c in columns if c.name not in may_lack]
    return [*_gaps(table, names, where), *_new_levels(table, columns, where)]


def _gaps(table: Table, names: Sequence[str], where: str) -> list[DataWarning]:
    missing = table.missing(names)
    each = zip(names, missing.sum(axis=0).tolist(), strict=True)
    counts = {name: count for name, count in each if count}
    if not counts:
        return []
    rows = int(np.count_nonzero(missing.any(axis=1)))
    message = (
        f"{capital(where)} has missing values in {rows:,} of {plural(table.rows, 'row')}: "
        f"{counted(counts, rows=table.rows)}. They were filled in from the other columns of the "
        "row, which makes intervals wider."
    )
    return [DataWarning(message, gaps=counts, rows=rows)]


def _new_levels(table: Table, columns: Sequence[Column], where: str) -> list[DataWarning]:
    kinds = {c.name: c.kind for c in columns if c.levels is not None or c.parts}
    found = table.levels([*kinds], kinds)
    new: dict[str, dict[str, float]] = {}
    said = []
    for c in (part for column in columns for part in (column, *column.parts)):
        known = {*(c.levels or ()), *(alias for alias, _ in c.aliases)}
        own = {v: n for v, n in (found.get(c.name) or {}).items() if v not in known}
        if own:
            new[c.name] = own
            rows = f"{sum(own.values()):,.0f} of {plural(table.rows, 'row')}"
            then = "get the mean effect" if c.other is None else f"count as {c.other!r}"
            said.append(f"{c.name!r} in {rows} ({listed([*own], FEW)}), which {then}")
    if not said:
        return []
    message = f"{capital(where)} has levels that were absent or too rare at fit: "
    return [DataWarning(f"{message}{'; '.join(said)}.", new_levels=new)]
