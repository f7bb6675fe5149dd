"""Recent: the table in memory, from a file of any kind or from standard input."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import typer

from poolwise.cli.messages import harmless, name, tell

if TYPE_CHECKING:
    from poolwise.tables.formats import Reader

STDIN = "-"
CALLED = "standard input"


def open_table(path: str, csv: Mapping[str, Any] | None, what: str, hint: str) -> Reader:
    """Open one file far enough to know its columns.

    Parameters
    ----------
    path : str
        The file.
    csv : mapping, optional
        How CSV is written.
    what : str
        What to call the table in an error.
    hint : str
        The argument that names it.
    """
    from poolwise.tables.file_batches import readers_of
    from poolwise.tables.files import Files

    readers = readers_of(Files(path, csv=csv), what)
    if len(readers) > 1:
        raise typer.BadParameter(
            harmless(f"{path} stands for {len(readers):,} files, and {what} is one file."),
            param_hint=hint,
        )
    return readers[0]


def rows_of(reader: Reader, names: Sequence[str], types: Mapping[str, Any]) -> Any:
    """Read some columns of a file, all rows of them.

    Parameters
    ----------
    reader : Reader
        The file.
    names : sequence of str
        The columns.
    types : mapping of str to pyarrow.DataType
        What to read columns of CSV as.

    Returns
    -------
    pyarrow.Table
        The columns, in the order of the names.
    """
    import pyarrow as pa

    from poolwise.progress import reading_bar

    types = types if reader.file.format == "csv" else {}
    found = []
    with reading_bar(f"Reading {name(reader.file.path.name)}", reader.size) as bar:
        for batch, size in reader.batches(names, types):
            found.append(batch)
            bar.update(batch.num_rows, size)
    with reader.reading():
        table = pa.Table.from_batches(found) if found else reader.schema.empty_table()
        return table.select(list(names))


def number_types(schema: Any, texts: Sequence[str]) -> dict[str, Any]:
    """Return what to read columns of a CSV file as: integers may have fractions further down.

    Parameters
    ----------
    schema : pyarrow.Schema
        What the columns seem to be.
    texts : sequence of str
        Columns that are text, whatever they look like.
    """
    import pyarrow as pa

    return {
        field.name: pa.string() if field.name in texts else pa.float64()
        for field in schema
        if field.name in texts or pa.types.is_integer(field.type)
    }


@contextmanager
def paths_of(given: Sequence[str]) -> Iterator[list[str]]:
    """Give the paths that were typed, with that of a file where standard input was.

    Parameters
    ----------
    given : sequence of str
        Paths, and - for standard input, once at most.
    """
    if [*given].count(STDIN) > 1:
        raise typer.BadParameter("Standard input (-) is one table, and was given twice.")
    with TemporaryDirectory(prefix="poolwise") as folder:
        yield [stdin_as_file(Path(folder)) if path == STDIN else path for path in given]


def stdin_as_file(folder: Path) -> str:
    """Keep standard input in a file, which can be read in parts and more than once."""
    if sys.stdin.isatty():
        tell("Reading CSV from standard input; end it with Ctrl-D.")
    path = folder / f"{CALLED}.csv"
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return str(path)
