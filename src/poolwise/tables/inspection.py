"""What each column of the target holds, and what is done with it: decided before anything is read.

Only columns of the target become features, and the target is in memory. So identifiers, index
columns, dates and numbers stored as text are recognised by its values, before a source is opened.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poolwise.errors import BadColumns, BadLevels, DataWarning, NotNumeric, PoolwiseError, raise_all
from poolwise.tables.column_account import ONE_TABLE, Account, ColumnAccount
from poolwise.tables.column_names import may_count, names_index, names_rows
from poolwise.tables.encoding import Column, KnownLevels, is_yes_or_no, level_counts
from poolwise.tables.frames import TO_NUMBERS, FrameTable
from poolwise.tables.memory import Table
from poolwise.tables.text_values import DATES, Kind, is_ambiguous, kind_of_texts, numbers_among
from poolwise.wording import capital, listed, plural

ENOUGH = 20  # values that show whether a text is different in nearly every row
NEARLY = 0.9  # of all values
MOST_ROWS = 20  # of one number that names a unit
LITTLE = 0.25  # of all rows: a text is left out if its most frequent levels have less
CODES = "its numbers are codes"
UNNAMED = re.compile(r"|unnamed: ?\d+", re.IGNORECASE)


@dataclass(frozen=True)
class Inspection:
    """How the columns of the target are read, and which are left out."""

    where: str  # name of the target
    kinds: Mapping[str, Kind]  # of the columns that are used
    left_out: tuple[ColumnAccount, ...] = ()
    constant: frozenset[str] = frozenset()
    codes: frozenset[str] = frozenset()  # texts whose type says that they are categories

    @classmethod
    def at_fit(cls, columns: Sequence[Column], where: str) -> Inspection:
        """Return how the columns of a fitted model are read."""
        return cls(where, {c.name: c.kind for c in columns})


def inspect(target: Table, where: str) -> Inspection:
    """Decide what each column of the target is; raise one error for all that cannot be used."""
    if not isinstance(target, FrameTable) or not target.rows or not target.names:
        return Inspection(where, dict.fromkeys(target.names, "number"))
    kinds: dict[str, Kind] = {}
    left_out: list[ColumnAccount] = []
    wrong: list[PoolwiseError] = []
    constant, codes = set[str](), set[str]()
    for name in target.names:
        kind, values = target.present(name)
        counts = target.is_whole(name) and len(values) == target.rows
        if kind is None:
            wrong.append(target.refused(name, TO_NUMBERS))
        elif kind == "void":
            left_out.append(ColumnAccount(name, where, "empty", "", "it holds no value"))
        elif kind == "text" and not target.is_category(name) and is_ambiguous({*values}):
            why = f"day or month may come first in {values[0]!r}: write dates as 2024-12-31"
            left_out.append(ColumnAccount(name, where, "date", "", why))
        elif name not in target.chosen and (found := _names_rows(name, kind, values, counts)):
            left_out.append(ColumnAccount(name, where, found[0], "", found[1]))
        else:
            levels = {*values}
            constant |= {name} if len(levels) == 1 and target.rows > 1 else set()
            codes |= {name} if kind == "text" and target.is_category(name) else set()
            is_plain = kind == "text" and name not in codes
            kinds[name] = kind_of_texts(levels) if is_plain else kind
    if wrong:
        raise_all(wrong)
    if not kinds:
        raise no_feature(where, left_out)
    return Inspection(where, kinds, tuple(left_out), frozenset(constant), frozenset(codes))


def _names_rows(
    name: str, kind: Kind, values: Sequence[Any], counts: bool
) -> tuple[str, str] | None:
    """Return "identifier" or "index column", and why, for a column that only names rows."""
    if UNNAMED.fullmatch(name):
        return "index column", "it has no name"
    different = len({*values})
    all_differ = different == len(values) > 1
    is_name = kind == "text" and len(values) >= ENOUGH and different >= NEARLY * len(values)
    if is_name and kind_of_texts({*values}) == "text" and not numbers_among([*{*values}]):
        return "identifier", f"{different:,} different texts in {len(values):,} rows name rows"
    if kind == "date" or (kind == "number" and not are_whole(values)):
        return None
    if kind == "number" and names_rows(name) and _repeats(values, different):
        return (
            "identifier",
            f"an identifier: it is named {name!r}, and has {different:,} different numbers",
        )
    if not all_differ:
        return None
    if names_index(name):
        return "index column", f"an index: it is named {name!r}, and all values differ"
    if names_rows(name):
        return "identifier", f"an identifier: it is named {name!r}, and all values differ"
    if counts and len(values) >= ENOUGH and not may_count(name):
        first = values[0]
        if first in (0.0, 1.0) and [*values] == [first + k for k in range(len(values))]:
            return "index column", f"an index: it counts the rows from {first:.0f}"
    return None


def are_whole(numbers: Sequence[float]) -> bool:
    """Return whether all numbers are whole; infinity is not."""
    values = np.asarray(numbers)
    return bool((np.isfinite(values) & (np.floor(values) == values)).all())


def _repeats(values: Sequence[Any], different: int) -> bool:
    """Return whether numbers that name units repeat so rarely that they cannot be categories."""
    return ENOUGH <= different < len(values) <= MOST_ROWS * different


def describe(
    inspection: Inspection,
    columns: Sequence[Column],
    target: KnownLevels,
    sources: Mapping[str, KnownLevels],
    max_levels: int,
) -> list[ColumnAccount]:
    """Return the account of each column that is read, from its levels in all tables."""
    return [_described(inspection, c, target, sources, max_levels) for c in columns]


def _described(
    inspection: Inspection,
    column: Column,
    target: KnownLevels,
    sources: Mapping[str, KnownLevels],
    max_levels: int,
) -> ColumnAccount:
    name, kind, use, why = column.name, "number", "as it is", ""
    lacking = tuple(s for s, own in sources.items() if name not in own)
    if column.kind == "digits":
        why = "stored as text and read as numbers"
    if name in inspection.constant and column.kind != "text":
        kind, use = "constant", f"one value in {inspection.where}; only history may show its effect"
        if len(lacking) == len(sources):
            use = "one value, which has no effect"
    if column.kind in DATES:
        parts = [f"{p.name.removeprefix(name).strip()}s" for p in column.parts]
        kind, use = "date", ", ".join(["a trend in days", *parts])
    if column.levels is not None:
        ours, theirs = target.get(name) or {}, [own.get(name) or {} for own in sources.values()]
        counts, aliases = level_counts(ours, theirs)
        kind = "yes/no" if is_yes_or_no(counts) and len(column.levels) == 2 else "category"
        use, why = plural(len(column.levels), "level"), _merged(column, counts, aliases, max_levels)
        if name in inspection.codes and len(numbers_among([*counts])) == len(counts):
            why = f"{CODES}; {why}" if why else CODES
        if gone := _uninformative(column, counts, name in inspection.codes):
            (kind, why), use = gone, ""
    return ColumnAccount(name, inspection.where, kind, use, why, lacking)


def _uninformative(
    column: Column, counts: Mapping[str, float], are_codes: bool
) -> tuple[str, str] | None:
    """Return what a text column is that is left out for its levels, and why."""
    rows, kept = sum(counts.values()), [v for v in column.levels or () if v != column.other]
    if len(counts) == 1:
        return "constant", "one value in all tables"
    own = sum(counts[v] for v in kept)
    if not are_codes and (numbers := numbers_among([*counts])):
        return (
            "text",
            f"{len(numbers):,} of its {len(counts):,} different texts are numbers, and "
            f"these are not: {listed(sorted(counts.keys() - {*numbers})[:3])}",
        )
    if own < LITTLE * rows:
        most = f"the {len(kept)} most frequent" if kept else "those seen more than a few times"
        what = f"{len(counts):,} different texts, and {most} have {own / rows:.0%} of the rows"
        return "text with too many levels", what
    if len(column.levels or ()) == 1:
        return (
            "constant",
            f"{kept[0]!r} in all but {rows - own:,.0f} of {rows:,.0f} rows of all tables",
        )
    return None


def _merged(
    column: Column, counts: Mapping[str, float], aliases: Mapping[str, str], max_levels: int
) -> str:
    """Return which levels have no indicator of their own, and which have several spellings."""
    rest = {v: n for v, n in counts.items() if v not in (column.levels or ())}
    said = []
    if rest:
        few = sorted(rest, key=lambda v: (-rest[v], v))[:3]
        more = f" and {len(rest) - 3:,} more" if len(rest) > 3 else ""
        them = f"{listed(few)}{more} ({plural(int(sum(rest.values())), 'row')})"
        then = "get the mean effect" if column.other is None else f"count as {column.other!r}"
        said.append(f"{them}, beyond {max_levels}, {then}")
    if aliases:
        pairs = [f"{other!r} is {level!r}" for other, level in list(aliases.items())[:3]]
        said.append(", ".join(pairs) + (" and so on" if len(aliases) > 3 else ""))
    return "; ".join(said)


def faults_of(columns: Sequence[ColumnAccount]) -> list[PoolwiseError]:
    """Return an error for each column that strict fits do not use as it is."""
    faults: list[PoolwiseError] = []
    for c in columns:
        if not c.use and c.kind != ONE_TABLE:
            what = f"Column {c.name!r} of {c.table} would be left out: {c.why}."
            faults.append(BadColumns(what, "Drop it."))
        elif c.kind in ("number", "constant") and c.why:
            faults.append(NotNumeric.of(c.name, f"of {c.table} is {c.why}", "Convert it."))
        elif merged := c.why.removeprefix(CODES).removeprefix("; "):
            what = f"In column {c.name!r}, levels would be merged: {merged}."
            faults.append(BadLevels(what, "Merge or correct them, or raise max_levels."))
    return faults


def no_feature(where: str, columns: Sequence[ColumnAccount]) -> BadColumns:
    """Return the error for a target of which every column is left out."""
    why = "; ".join(f"{c.name!r}: {c.why}" for c in columns if not c.use)
    hint = "Give at least one column that varies and does not only name rows."
    return BadColumns(f"No column of {where} can be used as a feature ({why}).", hint)


def only_in_sources(
    tables: Mapping[str, Any], names: Sequence[str], where: str
) -> list[ColumnAccount]:
    """Return the account of the columns of sources that the target lacks."""
    return [
        ColumnAccount(column, name, ONE_TABLE, "", f"it is not in {where}")
        for name, table in tables.items()
        for column in table.names
        if column not in names
    ]


def swapped(account: Account) -> list[DataWarning]:
    """Warn if the target looks like a source."""
    target, *others = account.tables
    rows = sum(table.rows for table in others)
    only = list(dict.fromkeys(c.name for c in account.columns if c.kind == ONE_TABLE))
    if not only or account.new or account.partly or target.rows <= rows:
        return []
    message = (
        f"History has {listed(only)}, which {target.name} lacks. {capital(target.name)} has no "
        f"column of its own, but more rows: {target.rows:,}, against {rows:,}."
    )
    hint = "Are they swapped? X is the recent table, which has all columns; sources are older."
    return [DataWarning(message, hint, swapped=True)]
