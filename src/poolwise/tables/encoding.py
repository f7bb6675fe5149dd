"""Encoding of the raw columns of all tables as the same numeric columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from poolwise._typing import Array
from poolwise.errors import BadLevels, DataWarning, NotNumeric, PoolwiseError, raise_all
from poolwise.tables.text_values import CALENDAR, DATES, Kind, calendar, spelling, truth_of
from poolwise.wording import listed

MOST_LEVELS = 500  # in moments without a target: more is an identifier, not a category
MAX_LEVELS = 50  # levels with an indicator of their own in a fit
OFTEN = 5  # rows of all tables, from which months, weekdays and other levels have an indicator
OTHER = "other"

KnownLevels: TypeAlias = Mapping[str, Mapping[str, float] | None]
"""Rows of each level of each text column that holds any value, in the order of the levels.

None for a column of numbers. A column of dates has entries for its months and weekdays too.
"""


@dataclass(frozen=True)
class Column:
    """One raw column: numbers, levels that become indicators, or dates."""

    name: str
    levels: tuple[str, ...] | None = None  # of a text column, the reference level first
    full: bool = False  # whether the reference level has an indicator too, without an intercept
    kind: Kind = "number"  # text if there are levels
    other: str | None = None  # the level that all other texts count as
    means: tuple[float, ...] = ()  # of the indicators: for other texts, where they are no level
    aliases: tuple[tuple[str, str], ...] = ()  # other spellings, and the levels they stand for
    strict: bool = False  # whether a text that is no level raises an error
    parts: tuple[Column, ...] = ()  # month and weekday of dates, beside a trend in days
    outputs: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """Names of the encoded columns: the name itself, or ``name=level`` for each indicator."""

    def __post_init__(self) -> None:
        outputs: tuple[str, ...] = (self.name, *(o for part in self.parts for o in part.outputs))
        if self.levels is not None:
            object.__setattr__(self, "kind", "text")
            outputs = tuple(f"{self.name}={level}" for level in self.indicated)
        object.__setattr__(self, "outputs", outputs)

    @property
    def indicated(self) -> tuple[str, ...]:
        """Levels that have an indicator."""
        if self.levels is None:
            return ()
        return self.levels if self.full else self.levels[1:]

    def level_of(self, text: str) -> str | None:
        """Return the level that a text counts as; None if it has the mean of all levels."""
        level = dict(self.aliases).get(text, text)
        return level if level in (self.levels or ()) else self.other

    def indicators(self, texts: Sequence[str | None]) -> Array:
        """Return the indicators of texts, one row for each; NaN for None."""
        known = {*(self.levels or ()), *(alias for alias, _ in self.aliases), None}
        if self.strict and (new := sorted(t for t in {*texts} - known if t is not None)):
            raise unseen_levels(self.name, new, self.levels or ())
        place = {level: j for j, level in enumerate(self.indicated)}
        rows = np.zeros((len(texts), len(place)))
        for row, text in zip(rows, texts, strict=True):
            if text is None:
                row[:] = np.nan
            elif (level := self.level_of(text)) in place:
                row[place[level]] = 1.0
            elif level is None:
                row[:] = self.means or 0.0
        return rows

    def of_days(self, days: Array) -> Array:
        """Return dates, given as days: their trend, and indicators of month and weekday."""
        encoded = [days[:, None]]
        found = calendar(days)
        for part in self.parts:
            called = part.name.removeprefix(f"{self.name} ")
            encoded.append(part.indicators([*CALENDAR[called], None])[found[called]])
        return np.concatenate(encoded, axis=1)


@dataclass(frozen=True)
class Levels:
    """The levels of a text column, as moments are matched with them."""

    reference: str | None  # the level without an indicator; None if it is unknown
    indicated: tuple[str, ...]  # levels that have an indicator in the problem
    column: Column | None = None  # what other levels count as; None raises an error for them

    @property
    def known(self) -> tuple[str, ...]:
        """All levels that have a name."""
        if self.reference is None or self.reference in self.indicated:
            return self.indicated
        return (self.reference, *self.indicated)


def column_levels(columns: Sequence[Column]) -> dict[str, Levels | None]:
    """Return the levels of each column, None for numbers; dates are the numbers they become."""
    levels: dict[str, Levels | None] = {}
    for c in columns:
        if c.levels is None:
            levels |= dict.fromkeys(c.outputs)
        else:
            reference = c.levels[0] if c.levels else None
            levels[c.name] = Levels(reference, c.indicated, None if c.strict else c)
    return levels


def unify(
    names: Sequence[str],
    target: KnownLevels,
    sources: Mapping[str, KnownLevels],
    where: str = "the target",
    *,
    complete: KnownLevels | None = None,
    intercept: bool = True,
    kinds: Mapping[str, Kind] = MappingProxyType({}),
    max_levels: int = MAX_LEVELS,
    strict: bool = False,
) -> tuple[Column, ...]:
    """Return the columns of the target, with the levels that any table has.

    The reference level is the first level of the complete rows of the target, so that the
    indicators of the other levels are never redundant there. Without an intercept, the first text
    column keeps all indicators.
    """
    columns: list[Column] = []
    faults: list[PoolwiseError] = []
    for name in names:
        ours = target.get(name)
        theirs = [own[name] for own in sources.values() if name in own]
        for source, own in sources.items():
            if name in own and (own[name] is None) != (ours is None):
                held = ("text", "numbers") if own[name] is None else ("numbers", "text")
                what = f"holds {held[0]} in {where} and {held[1]} in table {source!r}"
                hint = "Convert it on one side, so that both hold the same kind of value."
                faults.append(NotNumeric.of(name, what, hint))
        if ours is not None:
            full = not intercept and all(c.levels is None for c in columns)
            first = (complete or target).get(name) or ()
            own_levels = [own for own in theirs if own is not None]
            how: dict[str, Any] = {"full": full, "strict": strict}
            columns.append(_text_column(name, ours, own_levels, first, max_levels, **how))
        elif (kind := kinds.get(name, "number")) in DATES:
            found = list[Column]()
            for part, order in CALENDAR.items():
                called = f"{name} {part}"
                seen = target.get(called) or {}
                if sum(count >= OFTEN for count in seen.values()) > 1:  # can be compared
                    others = [known.get(called) or {} for known in sources.values()]
                    found.append(_text_column(called, seen, others, seen, len(order), order=order))
            columns.append(Column(name, kind=kind, parts=tuple(found)))
        else:
            columns.append(Column(name, kind=kind))
    if faults:
        raise_all(faults)
    return tuple(columns)


def _text_column(
    name: str,
    ours: Mapping[str, float],
    theirs: Sequence[Mapping[str, float]],
    first: Iterable[str],
    max_levels: int,
    *,
    full: bool = False,
    strict: bool = False,
    order: Sequence[str] = (),
) -> Column:
    """Choose the levels that keep an indicator: the most frequent ones.

    Rare ones keep theirs, too: methods shrink them, and merging them raised the worst error on
    messy tables from 1.04 to 1.45 times that of ridge regression (``benchmarks.messy``).
    """
    counts, aliases = level_counts(ours, theirs, order)
    kept = sorted(counts, key=lambda v: (-counts[v], v))[:max_levels]
    rest = sum(counts[v] for v in counts if v not in kept)
    other = next((v for v in counts if spelling(v) == OTHER), OTHER)
    is_other = other in kept or rest >= OFTEN
    kept = [v for v in counts if v in kept and v != other]
    start = next((v for v in first if aliases.get(v, v) in kept), None)
    reference = kept[:1] if start is None else [aliases.get(start, start)]
    levels = (*reference, *(v for v in kept if v not in reference), *([other] if is_other else []))
    means: tuple[float, ...] = ()
    if not is_other:
        total = sum(counts[v] for v in kept) or 1.0
        means = tuple(counts[v] / total for v in (levels if full else levels[1:]))
    return Column(
        name,
        levels,
        full,
        other=other if is_other else None,
        means=means,
        aliases=tuple(aliases.items()),
        strict=strict,
    )


def level_counts(
    ours: Mapping[str, float], theirs: Sequence[Mapping[str, float]], order: Sequence[str] = ()
) -> tuple[dict[str, float], dict[str, str]]:
    """Return the rows of each level in all tables, and other spellings of levels.

    Two levels of one table are the same if they differ in surrounding blanks or say yes or no; a
    level of a source is the one that an earlier table spells with other capitals or blanks.
    """
    known: dict[str, list[str]] = {}
    counts, aliases = dict[str, float](), dict[str, str]()
    is_truth = is_yes_or_no(ours)
    for table in (ours, *theirs):
        for level, count in table.items():
            alike = known.setdefault(spelling(level), [])
            is_same = is_truth or level.strip() in (v.strip() for v in alike)
            may = is_same or (table is not ours and not table.keys() & {*alike})
            if level not in alike and len(alike) == 1 and may:
                aliases[level] = alike[0]
            elif level not in alike:
                alike.append(level)
            own = aliases.get(level, level)
            counts[own] = counts.get(own, 0.0) + count
    if order:
        return {level: counts[level] for level in order if level in counts}, aliases
    if list(ours) == sorted(ours):  # else they have an order of their own, and it comes first
        counts = dict(sorted(counts.items()))
    return counts, aliases


def is_yes_or_no(levels: Collection[str]) -> bool:
    """Return whether texts say yes and no, or either."""
    return bool(levels) and all(truth_of(level) is not None for level in levels)


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
        if column.strict and (new := [v for v in levels or () if column.level_of(v) is None]):
            raise new_levels(column.name, new, column.levels or ())


def new_levels(column: str, new: Sequence[str], levels: Sequence[str]) -> BadLevels:
    """Return the error for rows to add that have levels which no table had at fit."""
    return BadLevels(
        f"Column {column!r} holds {listed(sorted(new))}, which no table had at fit; the levels are "
        f"{listed(levels)}. What is kept of the old rows has no column for a new level.",
        "Fit again on all rows, or map it to a known level.",
    )


def unseen_levels(column: str, unseen: Sequence[str], levels: Sequence[str]) -> BadLevels:
    """Return the error of strict models for rows to predict that have unknown levels."""
    return BadLevels(
        f"Column {column!r} holds {listed(unseen)}, which no table had at fit, or too rarely; the "
        f"levels are {listed(levels)}.",
        "Map them to a known level, or use PooledRegressor(strict=False), which predicts such rows "
        "as other levels or with the mean effect of the column.",
        column=column,
        unseen=unseen,
    )


def levels_apart(
    target: KnownLevels, sources: Mapping[str, KnownLevels], columns: Sequence[Column], where: str
) -> list[DataWarning]:
    """Warn of text columns of sources that have no level in common with the target."""
    cautions: list[DataWarning] = []
    for column in (c for c in columns if c.levels is not None):
        name, same = column.name, dict(column.aliases)
        ours = target.get(name) or ()
        for source, found in sources.items():
            theirs = found.get(name) or ()
            if name in found and not {same.get(v, v) for v in theirs}.intersection(ours):
                what = (
                    f"Column {name!r} has the levels {listed([*theirs])} in table {source!r} and "
                    f"{listed([*ours])} in {where}, none in common."
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
