"""Many files as one table, matched by column name."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import and_
from typing import Any

from poolwise.errors import BadColumns, BadOption, DataWarning, NotInstalled, NotNumeric
from poolwise.tables.arrow import TO_DATES, TO_NUMBERS, kind_as, kind_of
from poolwise.tables.csv import CsvReader
from poolwise.tables.excel import ExcelReader
from poolwise.tables.file_reader import Reader
from poolwise.tables.files import File, Files, find_files
from poolwise.tables.parquet import FeatherReader, ParquetReader
from poolwise.tables.shards import (
    Part,
    Seen,
    StreamedTable,
    Task,
    Threads,
    Workers,
    workers_of,
)
from poolwise.tables.text_values import DATES, WORDS, Kind
from poolwise.wording import did_you_mean, listed

READERS: Mapping[str, type[Reader]] = {
    "csv": CsvReader,
    "parquet": ParquetReader,
    "feather": FeatherReader,
    "excel": ExcelReader,
}


@dataclass(frozen=True, eq=False, repr=False)
class OpenedFiles(Files):
    """Files whose columns are known already: they are not opened again."""

    readers: tuple[Reader, ...] = field(default=(), kw_only=True)


@dataclass(frozen=True, eq=False)
class FileBatches:
    """Files that together are one table."""

    readers: tuple[Reader, ...]
    names: tuple[str, ...]  # columns that some file has, and the keys that are wanted
    kinds: Mapping[str, Kind]  # of the columns that may be read
    keys: Mapping[str, Any]  # Arrow types of the columns that the folders' names give
    expression: Any  # which rows to read, or None
    filtered: Mapping[str, Any]  # Arrow types of the columns that the expression uses
    workers: Workers = field(default_factory=Threads)

    @property
    def where(self) -> str:
        """Name of the files in errors."""
        first = self.readers[0].where if self.readers else "no file"
        return first if len(self.readers) < 2 else f"{first} and {len(self.readers) - 1:,} more"

    @property
    def rows(self) -> int:
        """Approximate number of rows, before any filter."""
        return sum(reader.rows for reader in self.readers)

    @property
    def size(self) -> float:
        """Bytes of all files."""
        return float(sum(reader.size for reader in self.readers))

    def each(self, task: Task, seen: Seen) -> Iterator[Any]:
        """Read the files, and long ones of Parquet in pieces."""
        yield from self.workers.each(task, self.shards(), seen)

    def shards(self) -> list[FileBatches]:
        """Return pieces for workers, which depend on the files alone."""
        pieces = [piece for reader in self.matching_readers() for piece in reader.pieces()]
        return [replace(self, readers=(piece,), workers=Threads()) for piece in pieces]

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        """Yield the rows of one file after the other."""
        for reader in self.matching_readers():
            yield from self._parts_of(reader, names)

    def matching_readers(self) -> Iterator[Reader]:
        """Yield the files whose folders do not contradict the filter."""
        for reader in self.readers:
            if self.expression is None or self._may_match(reader.file):
                yield reader

    def _parts_of(self, reader: Reader, names: Sequence[str]) -> Iterator[Part]:
        there, keys = reader.schema.names, reader.file.keys
        wanted = [n for n in dict.fromkeys((*names, *self.filtered)) if n in there]
        rows = None if self.expression is None else (self.expression, self._schema_of(reader))
        types = self._csv_types(reader, wanted)
        for batch, size in reader.batches(wanted or there[:1], types, rows):
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
            for name in dict.fromkeys((*names, *self.filtered)):
                if name in keys and name not in columns:
                    columns[name] = _constant(keys[name], self.keys[name], batch.num_rows)
            if self.expression is not None:
                with reader.reading():
                    columns = self._matching(columns, batch.num_rows)
            rest = {n: columns[n] for n in names if n in columns}
            count = len(next(iter(columns.values())))
            yield Part(rest, count, reader.where, size)

    def _matching(self, columns: Mapping[str, Any], rows: int) -> dict[str, Any]:
        import pyarrow as pa

        absent = {n: _constant(None, t, rows) for n, t in self.filtered.items() if n not in columns}
        table = pa.table({**columns, **absent}).filter(self.expression)
        return {n: table.column(n).combine_chunks() for n in columns}

    def _may_match(self, file: File) -> bool:
        """Return whether rows of a file can pass the filter, given its folders."""
        import pyarrow as pa
        import pyarrow.dataset as ds
        import pyarrow.fs as fs

        given = [
            ds.field(n) == pa.scalar(v).cast(self.keys[n])
            for n, v in file.keys.items()
            if v is not None and n in self.filtered
        ]
        if not given:
            return True
        known = reduce(and_, given)
        form, local = ds.ParquetFileFormat(), fs.LocalFileSystem()
        fragment = form.make_fragment(str(file.path), local, known)
        dataset = ds.FileSystemDataset([fragment], pa.schema(self.filtered.items()), form, local)
        return bool(list(dataset.get_fragments(self.expression)))

    def _schema_of(self, reader: Reader) -> Any:
        """Return the schema of a file, with the columns of the filter that it lacks."""
        import pyarrow as pa

        absent = [(n, t) for n, t in self.filtered.items() if n not in reader.schema.names]
        return pa.schema([*reader.schema, *(pa.field(n, t) for n, t in absent)])

    def _csv_types(self, reader: Reader, names: Sequence[str]) -> dict[str, Any]:
        """Return the column types for reading a CSV file.

        Otherwise the first block would decide, wrongly for a column that is empty or integer there.
        """
        import pyarrow as pa

        kinds = {n: self.kinds[n] for n in names if n in self.kinds}
        return {
            name: pa.float64() if kind == "number" else pa.string()
            for name, kind in kinds.items()
            if kind != "number" or not pa.types.is_boolean(reader.schema.field(name).type)
        }


def open_files(
    files: Files,
    where: str,
    wanted: Mapping[str, Kind],
    response: str | None,
    jobs: int | None = None,
    readers: tuple[Reader, ...] | None = None,
    answer: Kind = "number",
) -> StreamedTable:
    """Open files as one table, with the columns and their kinds that are ``wanted``."""
    readers = readers_of(files, where) if readers is None else readers
    named = dict.fromkeys(n for reader in readers for n in reader.schema.names)
    features = [*wanted] if files.columns is None else [str(n) for n in files.columns]
    keys = _key_types(readers, wanted)
    own = [k for k in keys if k in (*features, response, files.weights) and k not in named]
    names = (*named, *own)
    if files.columns is not None:
        if unknown := [n for n in features if n not in names]:
            raise BadColumns.missing(unknown, (*names, *keys), where)
        names = tuple(n for n in names if n in (*features, response, files.weights))
    used = [n for n in names if n in features and n in wanted and n != files.weights]
    _check_presence(readers, files, used, response)
    numbers: dict[str, Kind] = {} if response is None else {response: answer}
    numbers |= {files.weights: "number"} if files.weights is not None else {}
    asked = {n: wanted[n] for n in used} | {n: k for n, k in numbers.items() if n in names}
    kinds = kinds_in_files(readers, asked, keys)
    for name in numbers:
        if kinds.get(name) in ("text", "digits"):
            raise NotNumeric.of(name, f"of {where} holds text", "Give one number per row.")
    expression, filtered = _filter_of(files.filter, readers, keys)
    workers = workers_of(files.workers, jobs)
    batches = FileBatches(readers, names, kinds, keys, expression, filtered, workers)
    return StreamedTable(batches, where, files.weights, files.nulls, files.progress)


def readers_of(files: Files, where: str) -> tuple[Reader, ...]:
    """Open files far enough to know their columns."""
    if isinstance(files, OpenedFiles):
        return files.readers
    try:
        import pyarrow  # noqa: F401  to say what is missing before anything else does
    except ImportError:
        what = f"Reading {where} from files"
        raise NotInstalled.of(what, "pyarrow", "io", "Or give the rows as a table.") from None
    found = find_files(files.paths, files.format)
    readers = tuple(READERS[file.format](file, files.csv) for file in found)
    for reader in readers:
        if len(set(reader.schema.names)) < len(reader.schema.names):
            raise BadColumns.repeated(reader.schema.names, str(reader.file.path))
    for note in dict.fromkeys(reader.note for reader in readers if reader.note):
        first, *more = [reader.file.path for reader in readers if reader.note == note]
        others = f", with {len(more):,} more files," if more else ""
        warnings.warn(DataWarning(f"{str(first)!r}{others} {note}."), stacklevel=3)
    return readers


def _check_presence(
    readers: Sequence[Reader], files: Files, used: Sequence[str], response: str | None
) -> None:
    """Raise an error for a file that lacks a required column."""
    holders = {n: str(r.file.path) for r in reversed(readers) for n in r.names}
    must = {n: "the name of the response" for n in holders if n == response}
    if files.weights:
        must[files.weights] = "the column of row weights"
    if files.nulls != "split":
        must |= {n: f"which {holders[n]!r} has" for n in used}
    for reader in readers:
        there = reader.names
        for name, why in must.items():
            if name not in there:
                raise BadColumns(
                    f"{str(reader.file.path)!r} has no column {name!r}, {why}; it has "
                    f"{listed(there)}.{did_you_mean(name, there)}",
                    "Add or rename the column, or leave the file out.",
                )


def kinds_in_files(
    readers: Sequence[Reader], asked: Mapping[str, Kind | None], keys: Mapping[str, Any]
) -> dict[str, Kind]:
    """Return the kind of values in each column, which must be the same in all files.

    ``asked`` is the kind that is wanted, which columns of CSV are read as; if it is None, the first
    rows decide.
    """
    kinds: dict[str, Kind] = {}
    first: dict[str, str] = {}
    for reader in readers:
        path, is_csv = str(reader.file.path), reader.file.format == "csv"
        for name, wanted in asked.items():
            if name not in reader.schema.names:
                if name in reader.file.keys and name in keys:
                    kinds[name] = kind_of(keys[name]) or "text"
                continue
            held_type = reader.schema.field(name).type
            own = kind_as(kind_of(held_type), wanted)
            if is_csv and wanted is not None:
                own = wanted
            or_text = f" Or use texts=[{name!r}]." if is_csv and wanted is None else ""
            if own is None:
                hint = TO_DATES if wanted in DATES else TO_NUMBERS
                what = f"of {path} holds {held_type}"
                raise NotNumeric.of(name, what, hint + or_text, kind=str(held_type))
            held = kinds.setdefault(name, own)
            if held == "void":
                kinds[name] = held = own
            if own not in ("void", held):
                words = {**WORDS, "digits": "text"}
                what = f"holds {words[held]} in {first[name]} and {words[own]} in {path}"
                hint = "Write it alike in all files, or leave it out."
                raise NotNumeric.of(name, what, hint + or_text, kinds=(held, own))
            if own != "void":
                first.setdefault(name, path)
    return kinds


def _key_types(readers: Sequence[Reader], wanted: Mapping[str, Kind]) -> dict[str, Any]:
    """Return the types of the columns that folders' names give: integers if all values are."""
    import pyarrow as pa

    values: dict[str, list[str]] = {}
    for reader in readers:
        for name, value in reader.file.keys.items():
            values.setdefault(name, []).extend([] if value is None else [value])
    return {
        name: pa.string()
        if wanted.get(name, "number") != "number" or not _are_integers(own)
        else pa.int64()
        for name, own in values.items()
    }


def _are_integers(values: Sequence[str]) -> bool:
    return all(v.removeprefix("-").isdecimal() and len(v) < 19 for v in values)


def _filter_of(given: Any, readers: Sequence[Reader], keys: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return a filter as an expression, and the types of the columns it uses."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    if given is None:
        return None, {}
    types = dict(keys)
    for reader in readers:
        for own in reader.schema:
            if own.name not in types or pa.types.is_null(types[own.name]):
                types[own.name] = own.type
    try:
        expression = given
        if not isinstance(given, ds.Expression):
            from pyarrow.parquet import filters_to_expression

            expression = filters_to_expression([given] if isinstance(given, tuple) else given)
        pa.schema(types.items()).empty_table().filter(expression)
    except (pa.ArrowException, ValueError, TypeError, KeyError) as error:
        what = f"a condition on columns of the files, which are {listed([*types])} ({error})"
        raise BadOption.of("filter", given, what) from error
    return expression, {n: t for n, t in types.items() if not _binds(expression, types, without=n)}


def _binds(expression: Any, types: Mapping[str, Any], *, without: str) -> bool:
    import pyarrow as pa

    try:
        rest = [(n, t) for n, t in types.items() if n != without]
        pa.schema(rest).empty_table().filter(expression)
    except pa.ArrowException:
        return False
    return True


def _constant(value: str | None, arrow_type: Any, rows: int) -> Any:
    import pyarrow as pa

    if value is None:
        return pa.nulls(rows, arrow_type)
    return pa.repeat(pa.scalar(value).cast(arrow_type), rows)
