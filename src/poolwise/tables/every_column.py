"""Every column: a table opened where no target says which columns matter and what they hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from poolwise.errors import BadOption, MissingColumns, NotNumeric, UnknownTable
from poolwise.tables import Table, open_table
from poolwise.tables.arrow_columns import Kind, kind_of
from poolwise.tables.clusters import is_elsewhere, open_frame
from poolwise.tables.columns import MOST_LEVELS, Column
from poolwise.tables.file_batches import open_files, readers_of
from poolwise.tables.files import Files
from poolwise.tables.formats import Reader
from poolwise.tables.frames import numbers_among
from poolwise.tables.streamed import StreamedTable
from poolwise.tables.streams import is_stream, open_stream
from poolwise.wording import listed

WORDS: dict[Kind, str] = {"text": "text", "number": "numbers"}


@dataclass(frozen=True)
class Wanted:
    """Which columns of a table somebody asked for.

    Parameters
    ----------
    columns : tuple of str or None
        Those to take, beside the response; all unless given.
    drop : tuple of str
        Those to leave out.
    texts : tuple of str
        Those of CSV files that hold text although they may look like numbers.
    response : str or None
        The response.
    weights : str or None
        The column of row weights.
    """

    columns: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    response: str | None = None
    weights: str | None = None

    def among(self, names: Sequence[str], where: str) -> tuple[str, ...]:
        """Return the names that are wanted, in the order of the table."""
        own = [n for n in (self.response, self.weights) if n is not None]
        asked = dict.fromkeys((*(self.columns or ()), *self.drop, *self.texts, *own))
        if unknown := [n for n in asked if n not in names]:
            raise MissingColumns(unknown, names, where)
        if both := [n for n in own if n in self.drop]:
            raise BadOption("drop", both, "columns other than the response and the weights")
        wanted = names if self.columns is None else (*self.columns, *own)
        left = tuple(n for n in names if n in wanted and n not in (*self.drop, self.weights))
        if not left:
            raise BadOption("columns", [*(self.columns or ())], f"some of {listed(names)}")
        return left


@dataclass(frozen=True, eq=False)
class Opened:
    """A table, and which columns of it are read.

    Parameters
    ----------
    table : Table or StreamedTable
        All columns.
    names : tuple of str
        Those that are wanted.
    guessed : frozenset of str
        Columns of CSV that hold text as far as anybody can tell.
    """

    table: Table | StreamedTable
    names: tuple[str, ...]
    guessed: frozenset[str] = frozenset()

    def columns(self, wanted: Wanted, where: str) -> tuple[Column, ...]:
        """Return the columns to be read, with an indicator for every level of a text."""
        return tuple(self._column(name, wanted, where) for name in self.names)

    def _column(self, name: str, wanted: Wanted, where: str) -> Column:
        levels = self.table.levels_of(name)
        if levels is None and name in wanted.texts:
            raise BadOption("texts", name, "a column that holds text, or one of CSV files")
        if not levels:  # a column of numbers, or one without any value
            return Column(name)
        if name == wanted.response:
            advice = "Give one number per row."
            raise NotNumeric(name, f"of {where} is the response and holds text", advice)
        if name in self.guessed and (numbers := numbers_among(levels)):
            other = next((repr(v) for v in levels if v not in numbers), "no other text")
            what = f"of {where} holds text, of which most are numbers, {numbers[0]!r} and {other}"
            then = (
                f"If they are codes, say texts=[{name!r}]. If they are numbers, say what stands "
                "for a missing one: Files(..., csv={'null_values': [...]})."
            )
            raise NotNumeric(name, what, then)
        if len(levels) > MOST_LEVELS:
            what = f"of {where} has more than {MOST_LEVELS:,} different texts, as identifiers have"
            raise NotNumeric(name, what, _left_out(name, "Or group it into fewer levels."))
        return Column(name, levels, full=True)


def open_columns(source: Any, wanted: Wanted, where: str, *, jobs: int | None = None) -> Opened:
    """Open a table, or files, for all columns that are wanted.

    Parameters
    ----------
    source : object
        A table, a stream, or :class:`poolwise.Files`.
    wanted : Wanted
        Which columns.
    where : str
        What to call the table in an error.
    jobs : int, optional
        Threads that read files.
    """
    if isinstance(source, Files):
        return _open_files(source, wanted, where, jobs)
    if is_elsewhere(source) or is_stream(source):
        names, stream = _named(source, where)
        chosen = wanted.among(names, where)
        texts = dict.fromkeys([*chosen, *([wanted.weights] if wanted.weights else [])], False)
        open_it = open_frame if is_elsewhere(source) else open_stream
        opened = open_it(stream, where, texts, wanted.response)
        return Opened(replace(opened, weights=wanted.weights), chosen)
    if isinstance(source, tuple):  # features and response, say
        raise UnknownTable(tuple, where)
    table = open_table(np.asarray(source) if isinstance(source, list) else source, where)
    return Opened(table, wanted.among(table.names, where))


def _open_files(files: Files, wanted: Wanted, where: str, jobs: int | None) -> Opened:
    readers = readers_of(files, where)
    names = tuple(dict.fromkeys(n for reader in readers for n in reader.names))
    chosen = wanted.among(names, where)
    kinds = _kinds(readers, [*chosen, wanted.weights], wanted)
    texts = {n: kinds.get(n) == "text" or n in wanted.texts for n in chosen}
    table = open_files(replace(files, columns=None), where, texts, wanted.response, jobs, readers)
    guessed = {n for r in readers for n in r.names if r.file.format == "csv" and texts.get(n)}
    return Opened(table, chosen, frozenset(guessed.difference(wanted.texts)))


def _kinds(
    readers: Sequence[Reader], names: Sequence[str | None], wanted: Wanted
) -> Mapping[str, Kind]:
    """Return what columns hold, in all files alike; of CSV, what their first rows look like."""
    kinds: dict[str, Kind] = {}
    first: dict[str, str] = {}
    for reader, field in _fields(readers, names):
        name, path, own = field.name, str(reader.file.path), kind_of(field.type)
        is_csv = reader.file.format == "csv"
        if is_csv and name in wanted.texts:
            own = "text"
        or_text = f"Or say texts=[{name!r}]." if is_csv else ""
        if own is None:
            advice = f"Turn it into numbers (days since a date, say) or text, or drop it. {or_text}"
            raise NotNumeric(name, f"of {path} holds {field.type}", advice.strip())
        if own == "text" and name in (wanted.response, wanted.weights):
            raise NotNumeric(name, f"of {path} holds text", "Give one number per row.")
        if own == "void":
            continue
        held = kinds.setdefault(name, own)
        if held != own:
            what = f"holds {WORDS[held]} in {first[name]} and {WORDS[own]} in {path}"
            raise NotNumeric(name, what, _left_out(name, f"Or write it alike. {or_text}".strip()))
        first.setdefault(name, path)
    return kinds


def _fields(readers: Sequence[Reader], names: Sequence[str | None]) -> Iterator[tuple[Reader, Any]]:
    for reader in readers:
        for field in reader.schema:
            if field.name in names:
                yield reader, field


def _named(stream: Any, where: str) -> tuple[list[str], Any]:
    """Return the names of a stream's columns, and the stream, of which no row is read."""
    import pyarrow as pa

    if is_elsewhere(stream):
        names = stream.columns if hasattr(stream, "columns") else stream.schema.names
        return [str(name) for name in names], stream
    if nw.dependencies.is_polars_lazyframe(stream):
        return stream.collect_schema().names(), stream
    try:
        reader = pa.RecordBatchReader.from_stream(stream)
    except (pa.ArrowException, TypeError):
        raise UnknownTable(type(stream), where) from None
    return reader.schema.names, reader


def _left_out(name: str, otherwise: str) -> str:
    return f"Leave it out with drop=[{name!r}]. {otherwise}"
