"""Rows out: a table written by the ending of a file's name, whole or not at all.

Names and texts come from strangers. A spreadsheet runs a cell of CSV that begins like a formula, so
such a text gets an apostrophe in front there; a text that is a number, and all numbers, are left
alone. Other formats have types, and hold texts as they are.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ENDINGS = (".csv", ".tsv", ".parquet", ".feather", ".json", ".jsonl")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def write_rows(table: Any, out: Any, *, force: bool = False) -> None:
    """Write a table.

    Parameters
    ----------
    table : pyarrow.Table
        The rows.
    out : Path or binary file
        Where to; CSV, unless the name of a path ends otherwise.
    force : bool, default=False
        Whether a file may be replaced.
    """
    if not isinstance(out, Path):
        _csv(table, out, ",")
        return
    from poolwise.store import drafted

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
    """Yield the rows as JSON can hold them; what is missing or not finite is null."""
    for batch in table.to_batches():
        for row in batch.to_pylist():
            yield {key: _plain(value) for key, value in row.items()}


def guarded(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula."""
    if text[:1] in ("=", "+", "-", "@", "\t", "\r", "\n") and text[:1]:
        return text if NUMBER.fullmatch(text) else f"'{text}"
    return text


def _csv(table: Any, file: Any, delimiter: str) -> None:
    import pyarrow as pa
    from pyarrow import csv

    columns = []
    for field, column in zip(table.schema, table.columns, strict=True):
        own = column
        if pa.types.is_dictionary(field.type):
            own = own.cast(field.type.value_type)
        if pa.types.is_string(own.type) or pa.types.is_large_string(own.type):
            texts = [None if v is None else guarded(v) for v in own.to_pylist()]
            own = pa.chunked_array([pa.array(texts, pa.large_string())])
        columns.append(own)
    safe = pa.Table.from_arrays(columns, names=[guarded(n) for n in table.column_names])
    csv.write_csv(safe, file, csv.WriteOptions(delimiter=delimiter, quoting_style="needed"))


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
    return str(value)  # a date, say
