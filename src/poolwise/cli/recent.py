"""Recent: the table in memory, from a file of any kind or from standard input."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from poolwise.cli.messages import tell

STDIN = "-"
CALLED = "standard input"


def read_table(
    path: str,
    csv: Mapping[str, str | list[str]] | None,
    types_of: Callable[[Any], Mapping[str, Any]],
) -> Any:
    """Read a whole file.

    Parameters
    ----------
    path : str
        The file.
    csv : mapping of str to str, optional
        How CSV is written.
    types_of : callable
        What to read columns of CSV as, from the schema that they seem to have.

    Returns
    -------
    pyarrow.Table
        All rows and columns.
    """
    from poolwise.tables.file_batches import readers_of
    from poolwise.tables.files import Files

    readers = readers_of(Files(path, csv=csv), "the recent table")
    if len(readers) > 1:
        raise typer.BadParameter(
            f"{path} stands for {len(readers)} files, and the last table is one file. History "
            "comes first, the recent table last.",
            param_hint="RECENT",
        )
    import pyarrow as pa

    (reader,) = readers
    types = types_of(reader.schema) if reader.file.format == "csv" else {}
    found = [batch.rows for batch in reader.batches(reader.schema.names, types)]
    with reader.reading():
        return pa.Table.from_batches(found) if found else reader.schema.empty_table()


def number_types(texts: Sequence[str]) -> Callable[[Any], dict[str, Any]]:
    """Return what to read columns of a CSV file as: integers may have fractions further down.

    Parameters
    ----------
    texts : sequence of str
        Columns that are text, whatever they look like.
    """

    def types(schema: Any) -> dict[str, Any]:
        import pyarrow as pa

        return {
            field.name: pa.string() if field.name in texts else pa.float64()
            for field in schema
            if field.name in texts or pa.types.is_integer(field.type)
        }

    return types


def stdin_as_file(folder: Path) -> str:
    """Keep standard input in a file, which can be read in parts and more than once."""
    if sys.stdin.isatty():
        tell("Reading CSV from standard input; end it with Ctrl-D.")
    path = folder / f"{CALLED}.csv"
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return str(path)
