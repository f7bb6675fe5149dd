"""Columns: how the raw columns of all tables become the same numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from poolwise.errors import NotNumeric

if TYPE_CHECKING:
    from poolwise.tables import Table


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

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the encoded columns: the name itself, or ``name=level`` for each indicator."""
        if self.levels is None:
            return (self.name,)
        return tuple(f"{self.name}={level}" for level in self.indicated)


def unify(
    target: Table,
    sources: Mapping[str, Table],
    names: Sequence[str],
    *,
    intercept: bool,
    unseen: Literal["raise", "ignore"] = "raise",
) -> tuple[Column, ...]:
    """Return the columns of the target, with the levels that any table has.

    The reference level is the first that the target has: an indicator for each other level is
    then never redundant in the target. Without an intercept the first column of levels keeps all.
    A column without any value counts as not there, whatever its type.
    """
    columns: list[Column] = []
    for name in names:
        ours = target.levels_of(name)
        has = {s: t for s, t in sources.items() if name in t.names and not t.is_void(name)}
        theirs = {s: t.levels_of(name) for s, t in has.items()}
        for source, levels in theirs.items():
            if (levels is None) != (ours is None):
                raise _different_kinds(name, source, text_in_target=ours is not None)
        if ours is None:
            columns.append(Column(name))
            continue
        seen = sorted(set(ours).union(*(levels or () for levels in theirs.values())))
        first = ours[:1] or tuple(seen[:1])
        rest = tuple(level for level in seen if level not in first)
        full = not intercept and all(c.levels is None for c in columns)
        columns.append(Column(name, (*first, *rest), full, unseen))
    return tuple(columns)


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
