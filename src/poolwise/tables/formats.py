"""Formats: CSV, Parquet and Feather, each read in batches of a few columns."""

from __future__ import annotations

import re
from codecs import lookup
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from platform import node
from typing import Any, NamedTuple

from poolwise.errors import BadOption, FilesNotFound, RoundedIntegers, TransferError, UnreadableFile
from poolwise.tables.paths import File
from poolwise.tables.rows import rows_at_once

PIECE = 2**26  # bytes of row groups, before compression, that one worker reads
BUFFER = 2**16  # bytes read at a time per column of Parquet; more is slower, and held throughout
CSV_BLOCK = 2**22  # bytes of text parsed at a time
# How files of each kind begin.
MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "feather",
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"PK\x03\x04": "zip",
    b"\xd0\xcf\x11\xe0": "xls",
}
CALLED = {
    "csv": "text",
    "parquet": "Parquet",
    "feather": "Feather",
    "zip": "a zip archive, as an Excel file does, which is first to be saved as CSV",
    "xls": "an old Excel file, which is first to be saved as CSV",
}
IN_CSV = re.compile(r"In CSV column #(\d+): ")
NO_NUMBER = re.compile(r"(?:Row #(\d+): )?CSV conversion error to double: invalid value '(.*)'")


class Batch(NamedTuple):
    """Some rows, and how many bytes of the file they took."""

    rows: Any  # pyarrow.RecordBatch
    size: float


class Reader:
    """One file: its schema, and its rows in batches.

    Parameters
    ----------
    file : File
        Which one.
    csv : mapping, optional
        How CSV is written; see :class:`poolwise.Files`.
    """

    def __init__(self, file: File, csv: Mapping[str, Any] | None = None) -> None:
        self.file, self.where, self._words = file, str(file.path), dict(csv or {})
        self._at = file.path.absolute()  # a worker may have been started in another folder
        self.size = float(file.path.stat().st_size)
        self._groups: tuple[int, ...] | None = None  # of rows in Parquet; all of them unless given
        self._group_sizes: list[int] = []
        self._rows = 0
        with self.reading():
            self._check_beginning()
            self.schema = getattr(self, f"_{file.format}_schema")()
            _ = self.schema.names  # which fails now, and not later, where they are not UTF-8

    @property
    def rows(self) -> int:
        """Number of rows where the file tells, and else a guess from its size."""
        return self._rows or int(self.size / max(8 * len(self.schema.names), 1))

    @property
    def names(self) -> list[str]:
        """Names of the columns, with those that the folders' names give."""
        own = self.schema.names
        return [*own, *(key for key in self.file.keys if key not in own)]

    @property
    def key(self) -> str:
        """Text that is another one when the file changes, or how it is read."""
        with self.reading():
            stat = self.file.path.stat()
        about = (stat.st_size, stat.st_mtime_ns, self.file.format, self._words)
        return repr((self.where, self.file.keys, about))

    def pieces(self) -> list[Reader]:
        """Return runs of row groups of a long Parquet file, and else the file as it is."""
        runs, size = [list[int]()], 0
        for group, own in enumerate(self._group_sizes):
            if size >= PIECE:
                runs.append([])
                size = 0
            runs[-1].append(group)
            size += own
        if len(runs) == 1:
            return [self]
        pieces = []
        for run in runs:
            piece = copy(self)
            piece._groups, piece._group_sizes = tuple(run), []
            piece.where = f"{self.where} (row groups {run[0]} to {run[-1]})"
            share = sum(self._group_sizes[g] for g in run) / sum(self._group_sizes)
            piece.size = self.size * share
            pieces.append(piece)
        return pieces

    def batches(
        self, names: Sequence[str], types: Mapping[str, Any], rows: Any = None
    ) -> Iterator[Batch]:
        """Yield batches of some columns.

        Parameters
        ----------
        names : sequence of str
            The columns, all of them in the file.
        types : mapping of str to pyarrow.DataType
            What to read columns of a CSV file as.
        rows : tuple of (pyarrow.dataset.Expression, pyarrow.Schema), optional
            A filter that lets row groups of Parquet be left out whole; it is not applied to rows.
        """
        with self.reading():
            read = getattr(self, f"_{self.file.format}")
            yield from read(list(names), types, rows)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Turn whatever goes wrong inside into an error that names the file."""
        import pyarrow as pa

        try:
            yield
        except TransferError:
            raise
        except FileNotFoundError as error:
            why = (
                f"It was there when the source was opened, but {node()}, which was to read it, "
                "does not find it. Workers must find files under the same names."
            )
            raise FilesNotFound(str(self.file.path), why) from error
        except (pa.ArrowException, OSError, EOFError, UnicodeError) as error:
            text, column = str(error).strip() or type(error).__name__, None
            why = text.splitlines()[0].rstrip(".")
            if found := IN_CSV.search(why):
                column = self.schema.names[int(found[1])] if hasattr(self, "schema") else found[1]
                why = why.replace(found[0], f"in column {column!r}, ")
                if value := NO_NUMBER.search(why):
                    line = f"line {int(value[1]):,}" if value[1] else "one line"
                    why = f"column {column!r} holds {value[2]!r} in {line}, and numbers elsewhere"
            raise UnreadableFile(str(self.file.path), self.file.format, why, column) from error

    def _check_beginning(self) -> None:
        with self._at.open("rb") as file:
            head = file.read(8)
        begins = next((kind for magic, kind in MAGIC.items() if head.startswith(magic)), "csv")
        expected = self.file.codec or self.file.format
        if head and begins != expected and expected in {"csv", *MAGIC.values()}:
            why = f"it begins like {CALLED.get(begins, begins)}"
            raise UnreadableFile(str(self.file.path), self.file.format, why)

    def _parquet_schema(self) -> Any:
        import pyarrow.parquet as pq

        about = pq.read_metadata(self._at)
        groups = [about.row_group(k) for k in range(about.num_row_groups)]
        self._rows = about.num_rows
        self._group_sizes = [group.total_byte_size for group in groups]
        return about.schema.to_arrow_schema()

    def _parquet(self, names: list[str], types: Mapping[str, Any], rows: Any) -> Iterator[Batch]:
        import pyarrow.parquet as pq

        # Not through pyarrow.dataset, which decodes whole row groups ahead of the reader.
        with pq.ParquetFile(self._at, pre_buffer=False, buffer_size=BUFFER) as file:
            groups: Sequence[int]
            groups = range(file.num_row_groups) if self._groups is None else self._groups
            count = sum(file.metadata.row_group(g).num_rows for g in groups)
            per_row = self.size / max(count, 1)
            if rows is not None:
                matching = self._row_groups(*rows)
                groups = [g for g in groups if g in matching]
            for batch in file.iter_batches(rows_at_once(len(names)), list(groups), names):
                yield Batch(batch, batch.num_rows * per_row)

    def _row_groups(self, expression: Any, schema: Any) -> set[int]:
        import pyarrow.dataset as ds
        import pyarrow.fs as fs

        local = fs.LocalFileSystem()
        fragment = ds.ParquetFileFormat().make_fragment(str(self._at), local)
        parts = fragment.split_by_row_group(expression, schema)
        return {group.id for part in parts for group in part.row_groups}

    def _feather_schema(self) -> Any:
        import pyarrow as pa

        with pa.OSFile(str(self._at)) as raw, pa.ipc.open_file(raw) as file:
            return file.schema

    def _feather(self, names: list[str], types: Mapping[str, Any], rows: Any) -> Iterator[Batch]:
        import pyarrow as pa

        at = [self.schema.get_field_index(n) for n in names]
        options = pa.ipc.IpcReadOptions(included_fields=at)
        with (
            pa.OSFile(str(self._at)) as raw,
            pa.ipc.open_file(raw, options=options) as file,
        ):
            for k in range(file.num_record_batches):
                yield Batch(file.get_batch(k), self.size / file.num_record_batches)

    def _csv_schema(self) -> Any:
        import pyarrow as pa

        with pa.OSFile(str(self._at)) as raw, self._open_csv(raw) as reader:
            return reader.schema

    def _csv(self, names: list[str], types: Mapping[str, Any], rows: Any) -> Iterator[Batch]:
        import pyarrow as pa

        try:
            yield from self._csv_batches(names, types)
        except pa.ArrowInvalid as error:
            if IN_CSV.search(str(error)):  # threads do not count lines: read again to tell which
                for _ in self._csv_batches(names, types, use_threads=False):
                    pass
            raise

    def _csv_batches(
        self, names: list[str], types: Mapping[str, Any], **how: Any
    ) -> Iterator[Batch]:
        import pyarrow as pa

        whole = [n for n in names if pa.types.is_integer(self.schema.field(n).type)]
        with (
            pa.OSFile(str(self._at)) as raw,
            self._open_csv(raw, include_columns=names, column_types=types, **how) as reader,
        ):
            done = 0
            for batch in reader:
                for name in whole:
                    self._check_whole(name, batch.column(name))
                size, done = raw.tell() - done, raw.tell()
                yield Batch(batch, size)

    def _open_csv(self, raw: Any, **convert: Any) -> Any:
        import pyarrow as pa
        from pyarrow import csv

        given: dict[str, Any] = {"delimiter": "\t"} if self.file.suffix == ".tsv" else {}
        given |= {"block_size": CSV_BLOCK, "strings_can_be_null": True} | self._words | convert
        options = {
            kind: {k: v for k, v in given.items() if hasattr(kind, k)}
            for kind in (csv.ReadOptions, csv.ParseOptions, csv.ConvertOptions)
        }
        if unknown := [k for k in given if not any(k in own for own in options.values())]:
            raise BadOption("csv", unknown[0], "a mapping by the words of pyarrow.csv's options")
        try:
            read, parse, convert_options = (kind(**own) for kind, own in options.items())
            if isinstance(read.encoding, str):
                lookup(read.encoding)
        except (ValueError, TypeError, LookupError) as error:
            what = f"values that pyarrow.csv's options can have ({error})"
            raise BadOption("csv", self._words, what) from error
        codec = self.file.codec
        stream = raw if codec is None else pa.CompressedInputStream(raw, codec)
        return csv.open_csv(stream, read, parse, convert_options)

    def _check_whole(self, name: str, values: Any) -> None:
        """Refuse integers that were written with more digits than doubles have."""
        import numpy as np
        import pyarrow as pa

        if pa.types.is_floating(values.type):
            numbers = np.abs(values.to_numpy(zero_copy_only=False))
            if count := int(np.count_nonzero(numbers > 2.0**53)):
                where = f"column {name!r} of {self.file.path}"
                raise RoundedIntegers(count, int(np.nanmax(numbers)), where)
