"""FileBatches: the rows of many files, matched by column name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from poolwise.errors import DuplicateColumns, MissingColumns, NotInstalled, NotNumeric
from poolwise.tables.arrow_columns import Kind
from poolwise.tables.file_columns import check_presence, filter_of, key_types, kinds_in_files
from poolwise.tables.files import Files
from poolwise.tables.formats import Reader
from poolwise.tables.paths import File, find_files
from poolwise.tables.streamed import A, Part, Reading, Seen, StreamedTable
from poolwise.tables.workers import Threads, Workers, workers_of


@dataclass(frozen=True, eq=False)
class FileBatches:
    """Files that together are one table.

    Parameters
    ----------
    readers : tuple of Reader
        The files.
    names : tuple of str
        Columns that some file has, and the keys that are wanted.
    kinds : mapping of str to Kind
        What the columns hold that may be read.
    keys : mapping of str to pyarrow.DataType
        Types of the columns that the folders' names give.
    expression : pyarrow.dataset.Expression or None
        Which rows to read.
    filtered : mapping of str to pyarrow.DataType
        The columns that the expression is about.
    workers : Workers
        Who reads them.
    """

    readers: tuple[Reader, ...]
    names: tuple[str, ...]
    kinds: Mapping[str, Kind]
    keys: Mapping[str, Any]
    expression: Any
    filtered: Mapping[str, Any]
    workers: Workers = field(default_factory=Threads)

    @property
    def where(self) -> str:
        """The files, as an error names them."""
        first = self.readers[0].where if self.readers else "no file"
        return first if len(self.readers) < 2 else f"{first} and {len(self.readers) - 1:,} more"

    @property
    def rows(self) -> int:
        """About how many rows there are, before any filter."""
        return sum(reader.rows for reader in self.readers)

    @property
    def size(self) -> float:
        """Bytes of all files."""
        return float(sum(reader.size for reader in self.readers))

    @property
    def key(self) -> str:
        """The files as they are now, how they are cut, and what of them is read."""
        pieces = [piece.key for shard in self.shards() for piece in shard.readers]
        return repr((pieces, self.kinds, self.keys, str(self.expression)))

    def each(self, reading: Reading[A], seen: Seen, skip: int = 0) -> Iterator[A]:
        """Read the files, and long ones of Parquet in pieces, side by side if there are workers."""
        shards = self.shards()
        seen(0, sum(shard.size for shard in shards[:skip]))
        yield from self.workers.each(reading, shards[skip:], seen)

    def shards(self) -> list[FileBatches]:
        """Return pieces that can be sent to workers; they depend on the files alone."""
        pieces = [piece for reader in self._matching_readers() for piece in reader.pieces()]
        return [replace(self, readers=(piece,), workers=Threads()) for piece in pieces]

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        """Yield the rows of one file after the other."""
        for reader in self._matching_readers():
            yield from self._parts_of(reader, names)

    def _matching_readers(self) -> Iterator[Reader]:
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
        table = pa.table({**columns, **absent}).filter(self.expression).combine_chunks()
        return {n: _one_chunk(table.column(n)) for n in columns}

    def _may_match(self, file: File) -> bool:
        """Say whether the folders of a file leave it a chance to pass the filter."""
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
        known = given[0]
        for more in given[1:]:
            known &= more
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
        """Return what to read the columns of a CSV file as, which has no types of its own.

        The first block would decide otherwise: of a column that is empty there, or holds integers.
        """
        import pyarrow as pa

        kinds = {n: self.kinds[n] for n in names if n in self.kinds}
        return {
            name: pa.string() if kind == "text" else pa.float64()
            for name, kind in kinds.items()
            if kind == "text" or not pa.types.is_boolean(reader.schema.field(name).type)
        }


def open_files(
    files: Files,
    where: str,
    texts: Mapping[str, bool],
    response: str | None,
    jobs: int | None = None,
    readers: tuple[Reader, ...] | None = None,
) -> StreamedTable:
    """Open files as one table.

    Parameters
    ----------
    files : Files
        Which files, and what of them.
    where : str
        What to call the table in an error.
    texts : mapping of str to bool
        The features of the target, and whether they are text.
    response : str or None
        Name of the response, if one column is it.
    jobs : int, optional
        Threads that read, unless ``files`` says who does.
    readers : tuple of Reader, optional
        The files, where they are opened already.
    """
    readers = readers_of(files, where) if readers is None else readers
    named = dict.fromkeys(n for reader in readers for n in reader.schema.names)
    features = [*texts] if files.columns is None else [str(n) for n in files.columns]
    keys = key_types(readers, texts)
    wanted = [k for k in keys if k in (*features, response, files.weights) and k not in named]
    names = (*named, *wanted)
    if files.columns is not None:
        if unknown := [n for n in features if n not in names]:
            raise MissingColumns(unknown, (*names, *keys), where)
        names = tuple(n for n in names if n in (*features, response, files.weights))
    used = [n for n in names if n in features and n in texts and n != files.weights]
    check_presence(readers, files, used, response)
    numbers = {n: False for n in (response, files.weights) if n is not None}
    asked = {n: texts.get(n, False) for n in used} | {
        n: t for n, t in numbers.items() if n in names
    }
    kinds = kinds_in_files(readers, asked, keys)
    for name in numbers:
        if kinds.get(name) == "text":
            raise NotNumeric(name, f"of {where} holds text", "Give one number per row.")
    expression, filtered = filter_of(files.filter, readers, keys)
    workers = workers_of(files.workers, jobs)
    batches = FileBatches(readers, names, kinds, keys, expression, filtered, workers)
    return StreamedTable(batches, where, files.weights, files.nulls, files.progress)


def readers_of(files: Files, where: str) -> tuple[Reader, ...]:
    """Open files far enough to know their columns.

    Parameters
    ----------
    files : Files
        Which files.
    where : str
        What to call the table in an error.
    """
    try:
        import pyarrow  # noqa: F401  to say what is missing before anything else does
    except ImportError:
        what = f"Reading {where} from files"
        raise NotInstalled(what, "pyarrow", "io", "Or give the rows as a table.") from None
    readers = tuple(Reader(file, files.csv) for file in find_files(files.paths, files.format))
    for reader in readers:
        if len(set(reader.schema.names)) < len(reader.schema.names):
            raise DuplicateColumns(reader.schema.names, str(reader.file.path))
    return readers


def _constant(value: str | None, arrow_type: Any, rows: int) -> Any:
    import pyarrow as pa

    if value is None:
        return pa.nulls(rows, arrow_type)
    return pa.repeat(pa.scalar(value).cast(arrow_type), rows)


def _one_chunk(column: Any) -> Any:
    import pyarrow as pa

    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
