"""A table opened with all its columns, without a target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from poolwise.errors import BadColumns, BadOption, BadTable, NotNumeric
from poolwise.tables.arrow_streams import is_stream
from poolwise.tables.encoding import MOST_LEVELS, Column, KnownLevels
from poolwise.tables.file_table import kinds_in_files, open_files, readers_of
from poolwise.tables.files import Files
from poolwise.tables.memory import Table, open_table
from poolwise.tables.shards import StreamedTable
from poolwise.tables.sources import find_frame, is_elsewhere, open_frame
from poolwise.tables.text_values import Kind, numbers_among
from poolwise.wording import listed


@dataclass(frozen=True)
class Wanted:
    """Which columns of a table to take."""

    columns: tuple[str, ...] | None = None  # beside the response; all unless given
    drop: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()  # columns of CSV files to read as text
    response: str | None = None
    weights: str | None = None

    def among(self, names: Sequence[str], where: str) -> tuple[str, ...]:
        """Return the names that are wanted, in the order of the table."""
        own = [n for n in (self.response, self.weights) if n is not None]
        asked = dict.fromkeys((*(self.columns or ()), *self.drop, *self.texts, *own))
        if unknown := [n for n in asked if n not in names]:
            raise BadColumns.missing(unknown, names, where)
        if both := [n for n in own if n in self.drop]:
            raise BadOption.of("drop", both, "columns other than the response and the weights")
        wanted = names if self.columns is None else (*self.columns, *own)
        left = tuple(n for n in names if n in wanted and n not in (*self.drop, self.weights))
        if not left:
            raise BadOption.of("columns", [*(self.columns or ())], f"some of {listed(names)}")
        return left


@dataclass(frozen=True, eq=False)
class Opened:
    """A table, and which columns of it are read."""

    table: Table | StreamedTable
    names: tuple[str, ...]
    guessed: frozenset[str] = frozenset()  # columns of CSV that look like text

    def columns(self, levels: KnownLevels, wanted: Wanted, where: str) -> tuple[Column, ...]:
        """Return the columns to read, with an indicator for every level of a text."""
        for name in wanted.texts:
            if levels.get(name, ()) is None:
                what = "a column that holds text, or one of CSV files"
                raise BadOption.of("texts", name, what)
        return tuple(self._column(name, levels.get(name), wanted, where) for name in self.names)

    def _column(
        self, name: str, found: Mapping[str, float] | None, wanted: Wanted, where: str
    ) -> Column:
        if found is None:  # a column of numbers, or one without any value
            return Column(name)
        levels = tuple(found)
        if name == wanted.response:
            advice = "Give one number per row."
            raise NotNumeric.of(name, f"of {where} is the response and holds text", advice)
        if name in self.guessed and (numbers := numbers_among(levels)):
            other = next((repr(v) for v in levels if v not in numbers), "no other text")
            what = f"of {where} holds text, of which most are numbers, {numbers[0]!r} and {other}"
            then = (
                f"If they are codes, use texts=[{name!r}]. If they are numbers, name the texts "
                "that stand for a missing one: Files(..., csv={'null_values': [...]})."
            )
            raise NotNumeric.of(name, what, then, numbers=numbers)
        if len(levels) > MOST_LEVELS:
            what = f"of {where} has more than {MOST_LEVELS:,} different texts, as identifiers have"
            hint = f"Leave it out with drop=[{name!r}]. Or group it into fewer levels."
            raise NotNumeric.of(name, what, hint, levels=len(levels))
        return Column(name, levels, full=True, strict=True)


def open_columns(source: Any, wanted: Wanted, where: str, *, jobs: int | None = None) -> Opened:
    """Open a table, or files, for all columns that are wanted."""
    if isinstance(source, Files):
        return _open_files(source, wanted, where, jobs)
    if is_elsewhere(source) or is_stream(source):
        frame = find_frame(source, where)
        chosen = wanted.among([*frame.types], where)
        own = [*chosen, *([wanted.weights] if wanted.weights else [])]
        opened = open_frame(frame, where, dict.fromkeys(own), wanted.response)
        return Opened(replace(opened, weights=wanted.weights), chosen)
    if isinstance(source, tuple):  # features and response, say
        raise BadTable.unknown(tuple, where)
    table = open_table(source, where)
    return Opened(table, wanted.among(table.names, where))


def _open_files(files: Files, wanted: Wanted, where: str, jobs: int | None) -> Opened:
    readers = readers_of(files, where)
    names = tuple(dict.fromkeys(n for reader in readers for n in reader.names))
    chosen = wanted.among(names, where)
    asked = [*chosen, *([wanted.weights] if wanted.weights else [])]
    as_text: dict[str, Kind | None] = {n: "text" if n in wanted.texts else None for n in asked}
    kinds = kinds_in_files(readers, as_text, {})
    for name in (wanted.response, wanted.weights):
        if name is not None and kinds.get(name) == "text":
            raise NotNumeric.of(name, f"of {where} holds text", "Give one number per row.")
    is_text = {n: kinds.get(n) == "text" or n in wanted.texts for n in chosen}
    texts: dict[str, Kind] = {n: "text" if own else "number" for n, own in is_text.items()}
    table = open_files(replace(files, columns=None), where, texts, wanted.response, jobs, readers)
    guessed = {n for r in readers for n in r.names if r.file.format == "csv" and is_text.get(n)}
    return Opened(table, chosen, frozenset(guessed.difference(wanted.texts)))
