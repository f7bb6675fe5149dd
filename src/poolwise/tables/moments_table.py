"""MomentsTable: moments seen as the table they were taken of, text columns and all.

Moments know encoded columns alone. Those named ``site=coast`` and ``site=inland`` are what is left
of a text column ``site``; that these are all its levels is told by their means, which sum to one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from poolwise.errors import (
    DroppedColumns,
    EmptySource,
    LevelAssumed,
    NewLevels,
    NoResponse,
    NoSharedColumn,
    TransferWarning,
    UnclearLevels,
)
from poolwise.moments import Moments
from poolwise.tables.columns import Column
from poolwise.tables.indicators import NONE_LEFT, flaw_of_indicators, with_the_rest
from poolwise.wording import listed

EXACTLY_NONE = 2.0**-90  # as NONE_LEFT, in exact moments, whose means have twice the digits


@dataclass(frozen=True)
class Levels:
    """The levels of a text column.

    Parameters
    ----------
    reference : str or None
        The level that needs no indicator; None where no name tells which one that is.
    indicated : tuple of str
        Levels that have an indicator in the problem.
    """

    reference: str | None
    indicated: tuple[str, ...]

    @classmethod
    def of(cls, column: Column) -> Levels | None:
        """Return the levels of a column, None if it holds numbers."""
        return None if column.levels is None else cls(column.levels[0], column.indicated)

    @property
    def known(self) -> tuple[str, ...]:
        """All levels that have a name."""
        if self.reference is None or self.reference in self.indicated:
            return self.indicated
        return (self.reference, *self.indicated)


def kinds_of(levels: Mapping[str, Levels | None]) -> dict[str, tuple[str, ...] | None]:
    """Return the names of the levels of each column, None for numbers."""
    return {name: None if known is None else known.known for name, known in levels.items()}


@dataclass(frozen=True, eq=False)
class MomentsTable:
    """Moments, described like a table whose rows nobody has.

    Parameters
    ----------
    moments : Moments
        The moments.
    numbers : tuple of str
        Columns that hold numbers.
    texts : mapping of str to tuple of str
        The levels that each text column has an indicator for.
    where : str
        What to call them in an error.
    names : tuple of str
        Names of all columns, by default those of numbers and then those of text.
    """

    moments: Moments
    numbers: tuple[str, ...]
    texts: Mapping[str, tuple[str, ...]]
    where: str
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.names:
            object.__setattr__(self, "names", tuple(dict.fromkeys((*self.numbers, *self.texts))))

    @classmethod
    def of(
        cls, where: str, moments: Moments, kinds: Mapping[str, Sequence[str] | None], response: str
    ) -> MomentsTable:
        """Read names as the target's columns say: a column of this name, else a level of one.

        Parameters
        ----------
        where : str
            What to call the moments in an error.
        moments : Moments
            The moments.
        kinds : mapping of str to sequence of str or None
            The columns of the target: the levels of a text column, None for numbers.
        response : str
            Name of the response.
        """
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
                then = "An indicator is one in the rows of its level and zero in all others"
                raise UnclearLevels(where, column, flaw, then)
        return cls(moments, tuple(numbers), {c: tuple(v) for c, v in texts.items()}, where)

    def levels_of(self, name: str) -> tuple[str, ...] | None:
        """Return the named levels that some row has, sorted; None for numbers."""
        if name in self.numbers:
            return None
        shares = {v: self.moments.mean_of(f"{name}={v}") for v in self.texts[name]}
        return tuple(sorted(v for v, share in shares.items() if share > self._rounding))

    def is_void(self, name: str) -> bool:
        """Say whether a column has no value at all."""
        return self.moments.weight == 0.0

    def unnamed(self, name: str) -> float:
        """Return the share of rows that have none of the levels with an indicator."""
        if name not in self.texts or self.moments.weight == 0.0:
            return 0.0
        at = self.moments.index(f"{name}={level}" for level in self.texts[name])
        mean, tail = self.moments.mean[at].tolist(), self.moments.mean_tail[at].tolist()
        rest = math.fsum([1.0, *(-m for m in mean), *(-t for t in tail)])
        return rest if rest > self._rounding else 0.0

    def part(
        self, wanted: Mapping[str, Levels | None], response: str
    ) -> tuple[Moments, list[TransferWarning]]:
        """Return the moments of the encoded columns that this table has, as its rows have them.

        A level without an indicator has no rows here: its indicator is zero. Rows without a named
        level are taken to have the reference level.

        Parameters
        ----------
        wanted : mapping of str to Levels or None
            The columns of the problem: the levels of a text column, None for numbers.
        response : str
            Name of the response.
        """
        table, kept, zeros = self.moments, list[str](), list[str]()
        cautions: list[TransferWarning] = []
        for name, levels in wanted.items():
            if levels is None:
                kept += [name] if name in self.numbers else []
            elif name in self.texts:
                rest = self._checked_rest(name, levels, cautions)
                for level in levels.indicated:
                    output = f"{name}={level}"
                    if level in self.texts[name]:
                        kept.append(output)
                    elif rest and level == levels.reference:
                        named = [f"{name}={there}" for there in self.texts[name]]
                        table = with_the_rest(table, named, output, rest)
                        kept.append(output)
                    else:
                        zeros.append(output)
        found = table.select([*kept, response])
        return (found.fill(dict.fromkeys(zeros, 0.0)) if zeros else found), cautions

    def extra(self, wanted: Mapping[str, Levels | None]) -> list[str]:
        """Return the names of columns that the problem has no use for."""
        return [n for n in self.numbers if n not in wanted or wanted[n] is not None]

    @property
    def _rounding(self) -> float:
        """What may be left of a share of rows that is zero."""
        return EXACTLY_NONE if self.moments.precision == "exact" else NONE_LEFT

    def _checked_rest(self, name: str, levels: Levels, cautions: list[TransferWarning]) -> float:
        """Return the share of rows without a named level, if it is clear which one they have."""
        if new := [v for v in self.levels_of(name) or () if v not in levels.known]:
            raise NewLevels(name, new, levels.known)
        rest, named = self.unnamed(name), self.texts[name]
        if not rest:
            return rest
        some = f"{rest:.2%} of its rows have none of the levels {listed(named)} that it names"
        if levels.reference in named:
            can = "rows without a named level can only count as the target's reference level"
            why = f"{some}, and {can}, which is {levels.reference!r}"
            raise UnclearLevels(self.where, name, why)
        if others := [v for v in levels.indicated if v not in (*named, levels.reference)]:
            known = f", {levels.reference!r}" if levels.reference is not None else ""
            taken = f"they are taken to have the reference level{known}"
            what = f"{some}; {taken}, and not one of {listed(others)}"
            cautions.append(LevelAssumed(self.where, name, what))
        return rest


def open_moments(
    name: str, source: Moments, kinds: Mapping[str, Sequence[str] | None], response: str
) -> MomentsTable:
    """Describe the moments of a source, which must have the response; see ``MomentsTable.of``."""
    if response not in source:
        raise NoResponse(name, response, source.names)
    return MomentsTable.of(f"source {name!r}", source, kinds, response)


def part_of(
    name: str, table: MomentsTable, wanted: Mapping[str, Levels | None], response: str
) -> tuple[Moments, list[TransferWarning]]:
    """Return the part of a source that the target has too, and what to say about the rest."""
    if not any(n in table.names for n in wanted):
        raise NoSharedColumn(name, table.moments.names, list(wanted))
    part, cautions = table.part(wanted, response)
    if table.moments.weight == 0.0:
        cautions.append(EmptySource(name))
    if extra := table.extra(wanted):
        lacking = [n for n in wanted if n not in table.names]
        cautions.append(DroppedColumns(name, extra, lacking))
    return part, cautions


def _column_of(name: str, kinds: Mapping[str, Sequence[str] | None], where: str) -> str | None:
    """Return the text column that a name is an indicator of: one that has the level, else any."""
    places = [j for j, letter in enumerate(name) if letter == "="]
    columns = [name[:j] for j in places if kinds.get(name[:j]) is not None]
    has_it = [c for c in columns if name.removeprefix(f"{c}=") in (kinds[c] or ())]
    if len(columns) > 1 and len(has_it) != 1:
        why = f"{name!r} may be a level of any of the columns {listed(columns)}"
        raise UnclearLevels(where, columns[0], why, "Rename the columns")
    return next(iter(has_it or columns), None)
