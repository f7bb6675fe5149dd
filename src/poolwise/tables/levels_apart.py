"""Levels apart: text columns that a source and the target seem to spell differently."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from poolwise.errors import LevelsApart
from poolwise.tables import Described
from poolwise.tables.columns import Column
from poolwise.tables.moments_table import MomentsTable


def levels_apart(
    target: Described, tables: Mapping[str, Described], columns: Sequence[Column]
) -> list[LevelsApart]:
    """Point out text columns that have no level in common with the target.

    Parameters
    ----------
    target : Described
        The target.
    tables : mapping of str to Described
        The sources.
    columns : sequence of Column
        The target's columns.
    """
    cautions: list[LevelsApart] = []
    for column in columns:
        if column.levels is None:
            continue
        ours = target.levels_of(column.name) or ()
        for name, table in tables.items():
            if column.name not in table.names or table.is_void(column.name):
                continue
            theirs = table.levels_of(column.name) or ()
            has_more = isinstance(table, MomentsTable) and table.unnamed(column.name)
            if not has_more and not set(ours) & set(theirs):
                cautions.append(LevelsApart(name, column.name, theirs, ours))
    return cautions
