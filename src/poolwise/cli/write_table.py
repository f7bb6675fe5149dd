"""Write a table atomically, in the format of the file's suffix.

Names and texts are untrusted. A spreadsheet runs a cell of CSV that starts like a formula, so such
a text gets a leading apostrophe there. Numbers, and texts that are numbers, are not changed. Other
formats have types and hold the texts unchanged.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from poolwise.errors import NotWritten

SUFFIXES = (".csv", ".tsv", ".parquet", ".feather", ".json", ".jsonl")
FORMULA = r"^[=+\-@\t\r\n]"  # the start of a text that a spreadsheet may run
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def write_table(table: Any, out: Any, *, force: bool = False) -> None:
    """Write a pyarrow.Table to a path, or as CSV to a binary file."""
    import pyarrow as pa

    try:
        if isinstance(out, Path):
            _write_file(table, out, force=force)
        else:
            _csv(table, out, ",")
    except (pa.ArrowException, UnicodeError) as error:
        where = str(out) if isinstance(out, Path) else "The table"
        why = (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
        then = "Write another format, or a table without that column."
        raise NotWritten.of(where, why, then) from error


def _write_file(table: Any, out: Path, *, force: bool) -> None:
    from poolwise.moments.atomic_write import drafted

    ending = out.suffix.lower()
    with drafted(out, overwrite=force) as draft:
        if ending == ".parquet":
            import pyarrow.parquet as pq

            pq.write_table(table, draft)
        elif ending == ".feather":
            from pyarrow import feather

            feather.write_feather(table, str(draft))
        elif ending in (".json", ".jsonl"):
            _json(table, draft, lines=ending == ".jsonl")
        else:
            with draft.open("xb") as file:
                _csv(table, file, "\t" if ending == ".tsv" else ",")


def records_of(table: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows for JSON; missing values and numbers that are not finite are null."""
    for batch in table.to_batches():
        for row in batch.to_pylist():
            yield {key: _plain(value) for key, value in row.items()}


def guarded(text: str) -> str:
    """Return a text that no spreadsheet runs as a formula."""
    if re.match(FORMULA, text):
        return text if NUMBER.fullmatch(text) else f"'{text}"
    return text


def _csv(table: Any, file: Any, delimiter: str) -> None:
    import pyarrow as pa
    from pyarrow import csv

    columns = [_safe(column) for column in table.columns]
    safe = pa.Table.from_arrays(columns, names=[guarded(n) for n in table.column_names])
    csv.write_csv(safe, file, csv.WriteOptions(delimiter=delimiter, quoting_style="needed"))


def _safe(column: Any) -> Any:
    """Return a column that CSV can hold, without formulas."""
    import pyarrow as pa
    import pyarrow.compute as pc

    own = column
    if pa.types.is_dictionary(own.type):
        own = own.cast(own.type.value_type)
    plain = (pa.types.is_primitive, pa.types.is_decimal, pa.types.is_null)
    if any(is_such(own.type) for is_such in plain):
        return own
    is_text = pa.types.is_string(own.type) or pa.types.is_large_string(own.type)
    if is_text and not pc.any(pc.match_substring_regex(own, FORMULA)).as_py():
        return own
    texts = [None if value is None else guarded(_text(value)) for value in own.to_pylist()]
    return pa.chunked_array([pa.array(texts, pa.large_string())])


def _text(value: Any) -> str:
    """Return a value as text; a list or a struct becomes JSON."""
    own = _plain(value)
    return own if isinstance(own, str) else json.dumps(own, ensure_ascii=False, allow_nan=False)


def _json(table: Any, draft: Path, *, lines: bool) -> None:
    with draft.open("x", encoding="ascii", newline="\n") as file:
        if not lines:
            json.dump(list(records_of(table)), file, indent=1, allow_nan=False)
            file.write("\n")
            return
        for record in records_of(table):
            file.write(json.dumps(record, allow_nan=False) + "\n")


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return str(value)  # such as a date
