"""Readers of one file, with known columns and rows in batches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from platform import node
from typing import Any, NamedTuple, Self
from zipfile import BadZipFile, ZipFile

from poolwise.errors import BadFile, PoolwiseError
from poolwise.tables.files import File

# How files of each kind begin.
MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "feather",
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
    b"PK\x03\x04": "zip",
    b"\xd0\xcf\x11\xe0": "xls",
    b"SQLite f": "sqlite",
}
AS_CSV = "Save it as CSV or .xlsx first."
# What a file is, and what to do if its name says something else; {stem} is its name.
CALLED = {
    "csv": ("text", "If it is CSV, rename it to {stem}.csv."),
    "parquet": ("a Parquet file", "Rename it to {stem}.parquet."),
    "feather": ("a Feather file", "Rename it to {stem}.feather."),
    "gzip": ("compressed by gzip", "Rename it to {name}.gz."),
    "bz2": ("compressed by bzip2", "Rename it to {name}.bz2."),
    "zstd": ("compressed by zstd", "Rename it to {name}.zst."),
    "lz4": ("compressed by lz4", "Rename it to {name}.lz4."),
    "excel": ("an Excel file", "Rename it to {stem}.xlsx."),
    "zip": ("a zip archive", "Unpack it first."),
    "xls": ("an old Excel file (.xls)", AS_CSV),
    "sqlite": ("an SQLite database", AS_CSV),
}
NAMES = {"csv": "CSV", "parquet": "Parquet", "feather": "Feather", "excel": "Excel"}
IN_CSV = re.compile(r"In CSV column #(\d+): ")
NO_NUMBER = re.compile(r"(?:Row #(\d+): )?CSV conversion error to double: invalid value '(.*)'")


class Batch(NamedTuple):
    """Some rows, and how many bytes of the file they took."""

    rows: Any  # pyarrow.RecordBatch
    size: float


class Reader:
    """Base of the readers of all formats."""

    texts: frozenset[str] = frozenset()  # columns of codes, whose numbers are read as text

    def __init__(self, file: File, csv: Mapping[str, Any] | None = None) -> None:
        self.file, self.where, self.words = file, str(file.path), dict(csv or {})
        self.path = file.path.absolute()  # a worker may have been started in another folder
        stat = file.path.stat()
        self.size, self.changed = float(stat.st_size), stat.st_mtime_ns
        self.known_rows = 0
        self.note = ""  # what was assumed about the file, as the end of a sentence
        with self.reading():
            self._check_beginning()
            self.schema = self._schema()
            _ = self.schema.names  # fails now if names are not UTF-8

    @property
    def rows(self) -> int:
        """Number of rows if the file holds it, otherwise a guess from its size."""
        return self.known_rows or int(self.size / max(8 * len(self.schema.names), 1))

    @property
    def names(self) -> list[str]:
        """Names of the columns, and of those that the folders' names give."""
        own = self.schema.names
        return [*own, *(key for key in self.file.keys if key not in own)]

    def pieces(self) -> list[Self]:
        """Return readers of the parts of a file that can be read in parallel."""
        return [self]

    def batches(
        self, names: Sequence[str], types: Mapping[str, Any], rows: Any = None
    ) -> Iterator[Batch]:
        """Yield batches of some columns."""
        with self.reading():
            for batch in self._batches(list(names), types, rows):
                yield batch._replace(rows=self._with_texts(batch.rows)) if self.texts else batch

    def read_as_text(self, names: Sequence[str]) -> None:
        """Read numeric columns of codes as text; 7 and 7.0 both become "7"."""
        import pyarrow as pa

        for k, field in enumerate(self.schema):
            is_whole = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
            if field.name in names and is_whole:
                self.schema = self.schema.set(k, pa.field(field.name, pa.string()))
                self.texts |= {field.name}

    def _with_texts(self, rows: Any) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        columns = rows.columns
        for k, name in enumerate(rows.schema.names):
            if name in self.texts:
                codes = _whole(columns[k]).cast(pa.string())
                columns[k] = pc.replace_substring_regex(codes, r"^(-?\d+)\.0+$", r"\1")
        return pa.RecordBatch.from_arrays(columns, names=rows.schema.names)

    def _schema(self) -> Any:
        raise NotImplementedError

    def _batches(self, names: list[str], types: Mapping[str, Any], rows: Any) -> Iterator[Batch]:
        raise NotImplementedError

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Convert errors of reading to errors that name the file."""
        import pyarrow as pa

        try:
            yield
        except PoolwiseError:
            raise
        except FileNotFoundError as error:
            why = (
                f"It was there when the table was opened, but {node()}, which was to read it, "
                "does not find it."
            )
            hint = "Workers must find files under the same names."
            raise BadFile.not_found(str(self.file.path), why, hint) from error
        except (pa.ArrowException, OSError, EOFError, UnicodeError) as error:
            text, column = str(error).strip() or type(error).__name__, None
            why = text.splitlines()[0].rstrip(".")
            if found := IN_CSV.search(why):
                column = self.schema.names[int(found[1])] if hasattr(self, "schema") else found[1]
                why = why.replace(found[0], f"in column {column!r}, ")
                if value := NO_NUMBER.search(why):
                    line = f"line {int(value[1]):,}" if value[1] else "one line"
                    why = f"column {column!r} holds {value[2]!r} in {line}, and numbers elsewhere"
            raise self._bad(why, column) from error

    def _check_beginning(self) -> None:
        with self.path.open("rb") as file:
            head = file.read(8)
        begins = next((kind for magic, kind in MAGIC.items() if head.startswith(magic)), "csv")
        if begins == "zip" and "xl/workbook.xml" in _names_in(self.path):
            begins = "excel"
        if head and begins != (self.file.codec or self.file.format):
            path, (what, hint) = self.file.path, CALLED[begins]
            name = path.name.removesuffix(path.suffix) if self.file.codec else path.name
            hint = hint.format(stem=name.partition(".")[0], name=name)
            called = self.file.codec or NAMES[self.file.format]
            message = f"{str(path)!r} is {what}, and its name says {called}."
            raise BadFile(message, hint, file=str(path), content=begins)

    def _bad(self, why: str, column: str | None = None) -> BadFile:
        """Return the error for a file that cannot be read, or that holds text among numbers."""
        path, form = str(self.file.path), self.file.format
        about: dict[str, Any] = {"file": path, "form": form, "why": why}
        hint = (
            "Write it again if it was cut short. If it has another format, rename it or use "
            "Files(..., format=...). Files(..., csv=...) sets delimiter, decimal_point and "
            "encoding of CSV."
        )
        if "UTF8" in why:
            hint = "It is in another encoding: set it with Files(..., csv={'encoding': ...})."
            about["encoding"] = "unknown"
        elif column is not None:
            hint = (
                "Correct it. If it stands for a missing number, use "
                "Files(..., csv={'null_values': [...]})."
            )
            about["column"] = column
        return BadFile(f"{path!r} cannot be read as {NAMES[form]}: {why}.", hint, **about)


def _names_in(path: Path) -> list[str]:
    """Return the names in a zip archive; none of a damaged one."""
    try:
        with ZipFile(path) as archive:
            return archive.namelist()
    except (BadZipFile, OSError):
        return []


def _whole(codes: Any) -> Any:
    """Return doubles without NaN, as integers if all of them are whole; other arrays unchanged."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_floating(codes.type):
        return codes
    codes = pc.if_else(pc.is_nan(codes), None, codes)
    try:
        return codes.cast(pa.int64())
    except pa.ArrowInvalid:  # some have fractions
        return codes
