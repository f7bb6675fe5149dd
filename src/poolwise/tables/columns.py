"""Columns: how the raw columns of all tables become the same numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Literal

from poolwise.errors import NewLevels, NotNumeric

if TYPE_CHECKING:
    from poolwise.tables import Described


MOST_LEVELS = 500  # more than this is an identifier, not a category


@dataclass(frozen=True)
class Column:
    """One raw column: a number, or levels that become indicators.

    Parameters
    ----------
    name : str
        Name of the raw column.
    levels : tuple of str, optional
        Levels of a text or categorical column, the reference level first.
    full : bool, default=False
        Whether the reference level gets an indicator too (in a model without intercept).
    unseen : {"raise", "ignore"}, default="raise"
        What a level that no table had does: raise, or count as the reference level.
    """

    name: str
    levels: tuple[str, ...] | None = None
    full: bool = False
    unseen: Literal["raise", "ignore"] = "raise"

    @property
    def indicated(self) -> tuple[str, ...]:
        """Levels that have an indicator."""
        if self.levels is None:
            return ()
        return self.levels if self.full else self.levels[1:]

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """Names of the encoded columns: the name itself, or ``name=level`` for each indicator."""
        if self.levels is None:
            return (self.name,)
        return tuple(f"{self.name}={level}" for level in self.indicated)


def unify(
    target: Described,
    sources: Mapping[str, Described],
    names: Sequence[str],
    *,
    complete: Described | None = None,
    intercept: bool = True,
    unseen: Literal["raise", "ignore"] = "raise",
) -> tuple[Column, ...]:
    """Return the columns of the target, with the levels that any table has.

    The reference level is the first that a complete row of the target has: an indicator for each
    other level is then never redundant there. Without an intercept the first column of levels
    keeps all. A column without any value counts as not there, whatever its type.

    Parameters
    ----------
    target : Described
        All rows of the target.
    sources : mapping of str to Described
        The sources, in memory, streamed, or as moments.
    names : sequence of str
        Names of the target's columns.
    complete : Described, optional
        The complete rows of the target; all of them unless given.
    intercept : bool, default=True
        Whether the model has an intercept.
    unseen : {"raise", "ignore"}, default="raise"
        What a level that no table has does later.
    """
    columns: list[Column] = []
    there = {source: frozenset(table.names) for source, table in sources.items()}
    for name in names:
        ours, seen = target.levels_of(name), set[str]()
        for source, table in sources.items():
            if name not in there[source] or table.is_void(name):
                continue
            levels = table.levels_of(name)
            if (levels is None) != (ours is None):
                raise _different_kinds(name, source, text_in_target=ours is not None)
            seen.update(levels or ())
        if ours is None:
            columns.append(_number(name))
            continue
        levels = tuple(sorted(seen.union(ours)))
        if len(levels) > MOST_LEVELS:
            raise NotNumeric(
                name,
                f"has {len(levels):,} different texts, which looks like an identifier",
                f"Drop it, or group it into at most {MOST_LEVELS} levels.",
            )
        first = (complete or target).levels_of(name) or levels
        rest = tuple(level for level in levels if level != first[0])
        full = not intercept and all(c.levels is None for c in columns)
        columns.append(Column(name, (*first[:1], *rest), full, unseen))
    return tuple(columns)


def check_known(table: Described, columns: Sequence[Column], where: str) -> None:
    """Refuse a table whose columns hold another kind of value than at fit, or new levels.

    Parameters
    ----------
    table : Described
        Rows that come after a fit; some at least.
    columns : sequence of Column
        The columns of the fit; the table may lack some.
    where : str
        What to call the table in an error.
    """
    there = frozenset(table.names)
    for column in columns:
        if column.name not in there or table.is_void(column.name):
            continue
        levels = table.levels_of(column.name)
        if (levels is None) != (column.levels is None):
            kinds = ("text", "numbers") if column.levels is not None else ("numbers", "text")
            what = f"held {kinds[0]} at fit and holds {kinds[1]} in {where}"
            raise NotNumeric(column.name, what, "Convert it to what it was at fit.")
        if new := sorted(set(levels or ()).difference(column.levels or ())):
            raise NewLevels(column.name, new, column.levels or ())


@lru_cache(maxsize=1024)
def _number(name: str) -> Column:
    """Return the column of a number, the same one in every fit."""
    return Column(name)


def wholes(columns: Sequence[Column]) -> list[tuple[str, ...]]:
    """Return the indicators of each column whose every level has one: they sum to one."""
    return [c.outputs for c in columns if c.full]


def encoded(columns: Sequence[Column]) -> tuple[str, ...]:
    """Return the names of the encoded columns."""
    return tuple(output for column in columns for output in column.outputs)


def _different_kinds(name: str, source: str, *, text_in_target: bool) -> NotNumeric:
    kinds = ("text", "numbers") if text_in_target else ("numbers", "text")
    return NotNumeric(
        name,
        f"holds {kinds[0]} in the target and {kinds[1]} in source {source!r}",
        "Convert it on one side, so that both hold the same kind of value.",
    )
