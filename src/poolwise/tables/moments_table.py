"""Moments seen as the table they were computed from, including its text columns.

Moments have encoded columns only. Columns named ``site=coast`` and ``site=inland`` are indicators
of a text column ``site``; they are all its levels if their means sum to one.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

import numpy as np

from poolwise.errors import BadLevels, BadSource, DataWarning, LeftOut, PoolwiseWarning
from poolwise.moments.moments import Moments
from poolwise.tables.encoding import KnownLevels, Levels, new_levels
from poolwise.tables.response import Response
from poolwise.tables.text_values import Kind
from poolwise.wording import listed

NONE_LEFT = 1e-9  # share of rows, or of products, that rounding explains
EXACTLY_NONE = 2.0**-90  # the same in exact moments, whose means have twice the digits
FEW_DIGITS = 0.05  # the same in moments made from printed numbers


def kinds_of(levels: Mapping[str, Levels | None]) -> dict[str, tuple[str, ...] | None]:
    """Return the names of the levels of each column, None for numbers."""
    return {name: None if known is None else known.known for name, known in levels.items()}


@dataclass(frozen=True, eq=False)
class MomentsTable:
    """Moments, described like a table without rows."""

    moments: Moments
    numbers: tuple[str, ...]  # columns that hold numbers
    texts: Mapping[str, tuple[str, ...]]  # levels that each text column has an indicator for
    where: str  # their name in an error
    names: tuple[str, ...] = ()  # of all columns

    def __post_init__(self) -> None:
        if not self.names:
            object.__setattr__(self, "names", tuple(dict.fromkeys((*self.numbers, *self.texts))))

    @classmethod
    def of(
        cls,
        where: str,
        moments: Moments,
        kinds: Mapping[str, Collection[str] | None],
        response: str,
    ) -> MomentsTable:
        """Interpret names by the target's columns: a column of this name, else a level of one."""
        numbers: list[str] = []
        texts: dict[str, list[str]] = {}
        for name in moments.names:
            if name == response:
                continue
            if name in kinds or not (column := _column_of(name, kinds, where)):
                numbers.append(name)
            else:
                texts.setdefault(column, []).append(name.removeprefix(f"{column}="))
        for column, levels in texts.items():
            if flaw := flaw_of_indicators(moments, [f"{column}={level}" for level in levels]):
                then = "An indicator is one in the rows of its level and zero in all others."
                raise unclear_levels(where, column, flaw, then)
        return cls(moments, tuple(numbers), {c: tuple(v) for c, v in texts.items()}, where)

    def levels(
        self, names: Sequence[str], kinds: Mapping[str, Kind] = MappingProxyType({})
    ) -> KnownLevels:
        """Return the rows of each named level that some row has, sorted; None for numbers."""
        del kinds
        if self.moments.weight == 0.0:
            return {}
        return {name: None if name in self.numbers else self._levels(name) for name in names}

    def _levels(self, name: str) -> dict[str, float]:
        shares = {v: self.moments.mean_of(f"{name}={v}") for v in sorted(self.texts[name])}
        rows = self.moments.rows
        return {v: share * rows for v, share in shares.items() if share > self._rounding}

    def unnamed(self, name: str) -> float:
        """Return the share of rows without a named level."""
        if name not in self.texts or self.moments.weight == 0.0:
            return 0.0
        at = self.moments.index(f"{name}={level}" for level in self.texts[name])
        mean, tail = self.moments.mean[at].tolist(), self.moments.mean_tail[at].tolist()
        rest = math.fsum([1.0, *(-m for m in mean), *(-t for t in tail)])
        return rest if rest > self._rounding else 0.0

    def part(
        self, wanted: Mapping[str, Levels | None], response: str
    ) -> tuple[Moments, list[PoolwiseWarning]]:
        """Return the moments of the encoded columns of the problem that this table has.

        A level without an indicator has no rows here: its indicator is zero. Rows without a named
        level are taken to have the reference level.
        """
        table, kept, zeros = self.moments, list[str](), list[str]()
        cautions: list[PoolwiseWarning] = []
        for name, levels in wanted.items():
            if levels is None:
                kept += [name] if name in self.numbers else []
            elif name in self.texts:
                rest = self._checked_rest(name, levels, cautions)
                table, there = self._merged(table, name, levels)
                for level in levels.indicated:
                    output = f"{name}={level}"
                    if level in there:
                        kept.append(output)
                    elif rest and level == levels.reference:
                        named = [f"{name}={own}" for own in there]
                        table = with_the_rest(table, named, output, rest)
                        kept.append(output)
                    else:
                        zeros.append(output)
        found = table.select([*kept, response])
        return (found.fill(dict.fromkeys(zeros, 0.0)) if zeros else found), cautions

    def _merged(self, table: Moments, name: str, levels: Levels) -> tuple[Moments, tuple[str, ...]]:
        """Add indicators of levels that have none in the problem to those that they count as."""
        here, column = self.texts[name], levels.column
        other = [v for v in here if v not in levels.known]
        if not other or column is None:
            return table, here
        counted = {v: column.level_of(v) for v in other}
        there = dict.fromkeys(v for v in here if v not in counted)
        there |= dict.fromkeys(v for v in counted.values() if v is not None)
        if None in counted.values():
            there |= dict.fromkeys(levels.indicated)
        names = [*(n for n in table.names if n not in {f"{name}={v}" for v in here})]
        names += [f"{name}={v}" for v in there]
        matrix = np.array([[float(n == own) for own in table.names] for n in names])
        for v, level in counted.items():
            shares = dict(zip(column.indicated, column.means, strict=False))
            for to, share in shares.items() if level is None else [(level, 1.0)]:
                matrix[names.index(f"{name}={to}"), table.index([f"{name}={v}"])] += share
        found = table.affine(names, matrix, np.zeros(len(names)))
        high = np.where([n in {f"{name}={v}" for v in there} for n in names], 1.0, found.high)
        return replace(found, high=np.minimum(found.high, high)), tuple(there)

    def extra(self, wanted: Mapping[str, Levels | None]) -> list[str]:
        """Return the names of columns that the problem does not use."""
        return [n for n in self.numbers if n not in wanted or wanted[n] is not None]

    @property
    def _rounding(self) -> float:
        """Largest share of rows that counts as zero."""
        return EXACTLY_NONE if self.moments.precision == "exact" else NONE_LEFT

    def _checked_rest(self, name: str, levels: Levels, cautions: list[PoolwiseWarning]) -> float:
        """Return the share of rows without a named level, if it is clear which one they have."""
        new = [v for v in self._levels(name) if v not in levels.known]
        if new and levels.column is None:
            raise new_levels(name, new, levels.known)
        rest, named = self.unnamed(name), self.texts[name]
        if not rest:
            return rest
        some = f"{rest:.2%} of its rows have none of the levels {listed(named)} that it names"
        if levels.reference in named:
            can = "rows without a named level can only count as the reference level"
            why = f"{some}, and {can}, which is {levels.reference!r}"
            raise unclear_levels(self.where, name, why)
        if others := [v for v in levels.indicated if v not in (*named, levels.reference)]:
            known = f", {levels.reference!r}" if levels.reference is not None else ""
            taken = f"they are taken to have the reference level{known}"
            what = f"{some}; {taken}, and not one of {listed(others)}"
            cautions.append(level_assumed(self.where, name, what))
        return rest


def open_moments(
    name: str,
    source: Moments,
    kinds: Mapping[str, Collection[str] | None],
    response: Response,
) -> MomentsTable:
    """Describe the moments of a source, which must have the response; see ``MomentsTable.of``."""
    response.transform.check_moments(source.names, response.raw, f"table {name!r}")
    if response.name not in source:
        raise BadSource.no_response(name, response.name, source.names)
    return MomentsTable.of(f"table {name!r}", source, kinds, response.name)


def part_of(
    name: str, table: MomentsTable, wanted: Mapping[str, Levels | None], response: str
) -> tuple[Moments, list[PoolwiseWarning]]:
    """Return the part of a source that the target has too, and warnings about the rest."""
    if not any(n in table.names for n in wanted):
        raise BadSource.nothing_shared(name, table.moments.names, list(wanted))
    part, cautions = table.part(wanted, response)
    if table.moments.weight == 0.0:
        cautions.append(LeftOut.empty_source(name))
    if extra := table.extra(wanted):
        lacking = [n for n in wanted if n not in table.names]
        cautions.append(columns_left_out(name, extra, lacking))
    return part, cautions


def columns_left_out(source: str, names: Sequence[str], lacking: Sequence[str]) -> LeftOut:
    """Return the warning about columns that the target lacks; it may have them by another name."""
    lower = {str(n).lower(): n for n in lacking}
    near = [m for n in names for m in get_close_matches(str(n).lower(), lower, n=1, cutoff=0.8)]
    return LeftOut(
        f"Table {source!r} has {listed(names)}, not among the features of the model: left out.",
        f"Is it {listed([lower[m] for m in near])} by another name?" if near else "",
        source=source,
        names=tuple(str(n) for n in names),
        near=tuple(lower[m] for m in near),
    )


def unclear_levels(
    where: str,
    column: str,
    why: str,
    hint: str = "Take its moments with an indicator for every level, or add the missing indicator, "
    "which is one minus the sum of the others.",
) -> BadLevels:
    """Return the error for indicators that do not determine the level of each row."""
    return BadLevels(
        f"The levels of {column!r} in the moments of {where} are not clear: {why}.", hint
    )


def level_assumed(where: str, column: str, what: str) -> DataWarning:
    """Return the warning about rows without a named level."""
    return DataWarning(
        f"The moments of {where} do not name all levels of {column!r}: {what}.",
        "Moments with an indicator for every level leave nothing to assume.",
    )


def all_named(tables: Mapping[str, Any], levels: Mapping[str, KnownLevels]) -> dict[str, Any]:
    """Return levels without columns of moments in which some rows have no named level."""
    return {
        name: {
            column: own
            for column, own in known.items()
            if not (isinstance(tables[name], MomentsTable) and tables[name].unnamed(column))
        }
        for name, known in levels.items()
    }


def _column_of(name: str, kinds: Mapping[str, Collection[str] | None], where: str) -> str | None:
    """Return the text column that a name is an indicator of: one that has the level, else any."""
    places = [j for j, letter in enumerate(name) if letter == "="]
    columns = [name[:j] for j in places if kinds.get(name[:j]) is not None]
    has_it = [c for c in columns if name.removeprefix(f"{c}=") in (kinds[c] or ())]
    if len(columns) > 1 and len(has_it) != 1:
        why = f"{name!r} may be a level of any of the columns {listed(columns)}"
        raise unclear_levels(where, columns[0], why, "Rename the columns.")
    return next(iter(has_it or columns), None)


def groups_of(moments: Moments, response: str) -> dict[str, tuple[str, ...]]:
    """Return the text columns inferred from names, with the levels they have indicators for.

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
    """Return why columns are not the indicators of one text column, or None.

    Indicators are zeros and ones, and no row has two ones: the mean of a square is the mean, and
    the mean of a product is zero. Where ranges are wider than zero to one, as in a published model,
    few digits may be known, and the tolerance is larger.
    """
    if moments.weight == 0.0:
        return None
    at = moments.index(names)
    mean, wide = moments.mean[at], (moments.low[at] < 0.0) | (moments.high[at] > 1.0)
    room = FEW_DIGITS if wide.any() else NONE_LEFT
    with np.errstate(over="ignore"):
        products = moments.scatter_between(names, names) / moments.weight + np.outer(mean, mean)
        off = np.abs(products - np.diag(mean))
    if (off.diagonal() > room).any():
        name = names[int(np.argmax(off.diagonal()))]
        return f"{name!r} does not hold zeros and ones"
    if (off > room).any():
        first, second = divmod(int(np.argmax(off)), len(names))
        return f"{names[first]!r} and {names[second]!r} are both one in some rows"
    return None


def with_the_rest(table: Moments, named: Sequence[str], output: str, share: float) -> Moments:
    """Return moments with one more indicator, of the rows that have none of those named."""
    at, p = table.index(named), len(table.names)
    matrix, shift = np.eye(p + 1, p), np.zeros(p + 1)
    matrix[p, at], shift[p] = -1.0, 1.0
    wider = table.affine((*table.names, output), matrix, shift)
    low, high = wider.low.copy(), wider.high.copy()
    low[:p], high[:p] = table.low, table.high  # a map has only bounds
    low[p], high[p] = float(share >= 1.0 - NONE_LEFT), 1.0
    return replace(wider, low=low, high=high)
