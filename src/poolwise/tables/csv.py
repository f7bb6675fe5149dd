"""CSV files, plain or compressed, read in blocks of text by pyarrow."""

from __future__ import annotations

import re
from codecs import lookup
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from poolwise.errors import BadOption
from poolwise.numerics.chunks import rounded_integers
from poolwise.tables.file_reader import IN_CSV, Batch, Reader

BLOCK = 2**22  # bytes of text parsed at a time
SHOWN = 2**16  # bytes at the beginning that show how a file is written
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
QUOTED = re.compile(r'"[^"]*"')
WITH_COMMA, WITH_POINT = (re.compile(rf"\s*[+-]?\d*{mark}\d+\s*") for mark in (",", r"\."))


class CsvReader(Reader):
    """A CSV file."""

    def _schema(self) -> Any:
        import pyarrow as pa

        self.words = self._detected() | self.words
        with pa.OSFile(str(self.path)) as raw, self._open(raw) as reader:
            return reader.schema

    def _detected(self) -> dict[str, str]:
        """Return the delimiter and the decimal mark of the first lines, unless they are given."""
        usual = "\t" if self.file.suffix == ".tsv" else ","
        given = self.words.get("delimiter")
        lines = self._first_lines()
        found = usual if given is None else given
        if given is None and lines:
            counts = {
                d: [line.count(d) for line in lines] for d in dict.fromkeys((usual, *DELIMITERS))
            }
            alike = [d for d, own in counts.items() if own[0] and len(set(own)) == 1]
            found = alike[0] if alike else usual
        own = {} if found == usual or given is not None else {"delimiter": found}
        if isinstance(found, str) and found not in ("", ",") and "decimal_point" not in self.words:
            cells = [cell for line in lines[1:] for cell in line.split(found)]
            if any(map(WITH_COMMA.fullmatch, cells)) and not any(map(WITH_POINT.fullmatch, cells)):
                own["decimal_point"] = ","
        told = [f"columns separated by {DELIMITERS[found]}"] if "delimiter" in own else []
        told += ["decimal commas"] if "decimal_point" in own else []
        if told:
            self.note = f"was read as text with {' and '.join(told)}, as its first lines show"
        return own

    def _first_lines(self) -> list[str]:
        """Return lines at the beginning of the file, without what is in quotes."""
        import pyarrow as pa

        with pa.OSFile(str(self.path)) as raw:
            codec = self.file.codec
            stream = raw if codec is None else pa.CompressedInputStream(raw, codec)
            head = stream.read(SHOWN)
        try:
            text = head.decode(str(self.words.get("encoding", "utf-8")), errors="replace")
        except LookupError:  # the reader says so
            return []
        lines = QUOTED.sub("", text).splitlines()
        if len(lines) > 1 and not text.endswith("\n"):
            del lines[-1]  # it may go on
        skipped = self.words.get("skip_rows", 0)
        lines = lines[skipped if isinstance(skipped, int) else 0 :]
        return [line for line in lines if line.strip()]

    def _batches(self, names: list[str], types: Mapping[str, Any], rows: Any) -> Iterator[Batch]:
        import pyarrow as pa

        try:
            yield from self._blocks(names, types)
        except pa.ArrowInvalid as error:
            if IN_CSV.search(str(error)):  # threads do not count lines: read again to find the line
                for _ in self._blocks(names, types, use_threads=False):
                    pass
            raise

    def _blocks(self, names: list[str], types: Mapping[str, Any], **how: Any) -> Iterator[Batch]:
        import pyarrow as pa

        whole = [n for n in names if pa.types.is_integer(self.schema.field(n).type)]
        with (
            pa.OSFile(str(self.path)) as raw,
            self._open(raw, include_columns=names, column_types=types, **how) as reader,
        ):
            done = 0
            for batch in reader:
                for name in whole:
                    self._check_whole(name, batch.column(name))
                size, done = raw.tell() - done, raw.tell()
                yield Batch(batch, size)

    def _open(self, raw: Any, **convert: Any) -> Any:
        import pyarrow as pa
        from pyarrow import csv

        given: dict[str, Any] = {"delimiter": "\t"} if self.file.suffix == ".tsv" else {}
        given |= {"block_size": BLOCK, "strings_can_be_null": True} | self.words | convert
        options = {
            kind: {k: v for k, v in given.items() if hasattr(kind, k)}
            for kind in (csv.ReadOptions, csv.ParseOptions, csv.ConvertOptions)
        }
        if unknown := [k for k in given if not any(k in own for own in options.values())]:
            what = "named like an option of pyarrow.csv: delimiter, decimal_point, encoding, ..."
            raise BadOption.of("csv", unknown[0], what)
        try:
            read, parse, convert_options = (kind(**own) for kind, own in options.items())
            if isinstance(read.encoding, str):
                lookup(read.encoding)
        except (ValueError, TypeError, LookupError) as error:
            what = f"values that pyarrow.csv's options can have ({error})"
            raise BadOption.of("csv", self.words, what) from error
        codec = self.file.codec
        stream = raw if codec is None else pa.CompressedInputStream(raw, codec)
        return csv.open_csv(stream, read, parse, convert_options)

    def _check_whole(self, name: str, values: Any) -> None:
        """Raise an error for integers with more digits than doubles have."""
        import pyarrow as pa

        if pa.types.is_floating(values.type):
            numbers = np.abs(values.to_numpy(zero_copy_only=False))
            if count := int(np.count_nonzero(numbers > 2.0**53)):
                where = f"column {name!r} of {self.file.path}"
                raise rounded_integers(count, int(np.nanmax(numbers)), where)
