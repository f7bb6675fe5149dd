"""Encoding of the raw columns of all tables as the same numeric columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from poolwise.errors import BadLevels, DataWarning, NotNumeric
from poolwise.wording import listed

MOST_LEVELS = 500  # more than this is an identifier, not a category

KnownLevels: TypeAlias = Mapping[str, tuple[str, ...] | None]
"""Sorted levels of each text column that holds any value, and None for a column of numbers."""


@dataclass(frozen=True)
class Column:
    """One raw column: numbers, or levels that become indicators."""

    name: str
    levels: tuple[str, ...] | None = None  # of a text column, the reference level first
    full: bool = False  # whether the reference level has an indicator too, without an intercept
    unseen: Literal["raise", "ignore"] = "raise"  # or count a level of no table as the reference
    outputs: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """Names of the encoded columns: the name itself, or ``name=level`` for each indicator."""

    def __post_init__(self) -> None:
        outputs: tuple[str, ...] = (self.name,)
        if self.levels is not None:
            outputs = tuple(f"{self.name}={level}" for level in self.indicated)
        object.__setattr__(self, "outputs", outputs)

    @property
    def indicated(self) -> tuple[str, ...]:
        """Levels that have an indicator."""
        if self.levels is None:
            return ()
        return self.levels if self.full else self.levels[1:]


@dataclass(frozen=True)
class Levels:
    """The levels of a text column, as moments are matched with them."""

    reference: str | None  # the level without an indicator; None if it is unknown
    indicated: tuple[str, ...]  # levels that have an indicator in the problem

    @property
    def known(self) -> tuple[str, ...]:
        """All levels that have a name."""
        if self.reference is None or self.reference in self.indicated:
            return self.indicated
        return (self.reference, *self.indicated)


def column_levels(columns: Sequence[Column]) -> dict[str, Levels | None]:
    """Return the levels of each column, None for numbers."""
    return {c.name: None if c.levels is None else Levels(c.levels[0], c.indicated) for c in columns}


def unify(
    names: Sequence[str],
    target: KnownLevels,
    sources: Mapping[str, KnownLevels],
    where: str = "the target",
    *,
    complete: KnownLevels | None = None,
    intercept: bool = True,
    unseen: Literal["raise", "ignore"] = "raise",
) -> tuple[Column, ...]:
    """Return the columns of the target, with the levels that any table has.

    The reference level is the first level of the complete rows of the target, so that the
    indicators of the other levels are never redundant there. Without an intercept, the first text
    column keeps all indicators.
    """
    columns: list[Column] = []
    for name in names:
        ours, seen = target.get(name), set[str]()
        for source, theirs in sources.items():
            if name in theirs:
                levels = theirs[name]
                if (levels is None) != (ours is None):
                    kinds = ("text", "numbers") if levels is None else ("numbers", "text")
                    what = f"holds {kinds[0]} in {where} and {kinds[1]} in table {source!r}"
                    hint = "Convert it on one side, so that both hold the same kind of value."
                    raise NotNumeric.of(name, what, hint)
                seen.update(levels or ())
        if ours is None:
            columns.append(Column(name))
            continue
        levels = tuple(sorted(seen.union(ours)))
        if len(levels) > MOST_LEVELS:
            what = f"has {len(levels):,} different texts, which looks like an identifier"
            hint = f"Drop it, or group it into at most {MOST_LEVELS} levels."
            raise NotNumeric.of(name, what, hint, levels=len(levels))
        first = (complete or target).get(name) or levels
        rest = tuple(level for level in levels if level != first[0])
        full = not intercept and all(c.levels is None for c in columns)
        columns.append(Column(name, (*first[:1], *rest), full, unseen))
    return tuple(columns)


def check_known(found: KnownLevels, columns: Sequence[Column], where: str) -> None:
    """Raise an error if columns hold another kind of value than at fit, or new levels."""
    for column in columns:
        if column.name not in found:
            continue
        levels = found[column.name]
        if (levels is None) != (column.levels is None):
            kinds = ("text", "numbers") if column.levels is not None else ("numbers", "text")
            what = f"held {kinds[0]} at fit and holds {kinds[1]} in {where}"
            raise NotNumeric.of(column.name, what, "Convert it to the type it had at fit.")
        if new := sorted(set(levels or ()).difference(column.levels or ())):
            raise new_levels(column.name, new, column.levels or ())


def new_levels(column: str, new: Sequence[str], levels: Sequence[str]) -> BadLevels:
    """Return the error for rows to add that have levels which no table had at fit."""
    return BadLevels(
        f"Column {column!r} holds {listed(new)}, which no table had at fit; the levels are "
        f"{listed(levels)}. What is kept of the old rows has no column for a new level.",
        "Fit again on all rows, or map it to a known level.",
    )


def unseen_levels(column: str, unseen: Sequence[str], levels: Sequence[str]) -> BadLevels:
    """Return the error for rows to predict that have levels which no table had at fit."""
    return BadLevels(
        f"Column {column!r} holds {listed(unseen)}, which no table had at fit; the levels are "
        f"{listed(levels)}.",
        'Map them to a known level, or use PooledRegressor(unseen_level="ignore") to predict such '
        f"rows as the reference level {levels[0]!r}.",
        column=column,
        unseen=unseen,
        reference=levels[0],
    )


def levels_apart(
    target: KnownLevels, sources: Mapping[str, KnownLevels], columns: Sequence[Column], where: str
) -> list[DataWarning]:
    """Warn of text columns of sources that have no level in common with the target."""
    cautions: list[DataWarning] = []
    for name in (c.name for c in columns if c.levels is not None):
        ours = target.get(name) or ()
        for source, found in sources.items():
            theirs = found.get(name) or ()
            if name in found and not set(ours) & set(theirs):
                what = (
                    f"Column {name!r} has the levels {listed(theirs)} in table {source!r} and "
                    f"{listed(ours)} in {where}, none in common."
                )
                hint = "If they are spelt differently, map them; or drop the column of that table."
                cautions.append(DataWarning(what, hint))
    return cautions


def wholes(columns: Sequence[Column]) -> list[tuple[str, ...]]:
    """Return the indicators of each column whose every level has one: they sum to one."""
    return [c.outputs for c in columns if c.full]


def encoded(columns: Sequence[Column]) -> tuple[str, ...]:
    """Return the names of the encoded columns."""
    return tuple(output for column in columns for output in column.outputs)
