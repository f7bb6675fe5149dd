"""Opening: from a source as the user gave it to a table, and to its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from poolwise.chunks import weights_as_numbers
from poolwise.errors import (
    DifferentResponse,
    NoResponse,
    NoSharedColumn,
    ResponseInFeatures,
    TooManyColumns,
)
from poolwise.tables import Table, open_table
from poolwise.tables.arrays import ArrayTable
from poolwise.tables.clusters import is_elsewhere, open_frame
from poolwise.tables.columns import Column
from poolwise.tables.file_batches import open_files
from poolwise.tables.files import Files
from poolwise.tables.responses import name_of, numbers
from poolwise.tables.rows import TableRows
from poolwise.tables.sources import Given
from poolwise.tables.streamed import StreamedTable
from poolwise.tables.streamed_rows import StreamedRows
from poolwise.tables.streams import is_stream, open_stream


def open_source(
    name: str,
    source: Given,
    texts: Mapping[str, bool],
    response: str,
    jobs: int = 1,
) -> Table | StreamedTable:
    """Open the table of a source, in memory or streamed.

    Parameters
    ----------
    name : str
        Name of the source.
    source : Given
        What the user gave.
    texts : mapping of str to bool
        The target's columns, and whether each holds text.
    response : str
        Name of the response.
    jobs : int, default=1
        Threads that read files.
    """
    where, X = f"source {name!r}", source.X
    alone = source.y is None and source.weights is None
    if isinstance(X, Files):
        return open_files(X, where, texts, response, jobs)
    if alone and is_elsewhere(X):  # it may be a stream too, but that would bring its rows here
        return open_frame(X, where, texts, response)
    if alone and is_stream(X):
        return open_stream(X, where, texts, response)
    table = open_table(np.asarray(X) if isinstance(X, list | tuple) else X, where)
    if not isinstance(table, ArrayTable):
        return table
    if len(table.names) > len(texts):
        raise TooManyColumns(name, len(table.names), len(texts))
    return ArrayTable(table.values, tuple(texts)[: len(table.names)])


def rows_of(
    name: str,
    source: Given,
    table: Table | StreamedTable,
    columns: Sequence[Column],
    response: str,
    own_name: str | None,
    jobs: int = 1,
) -> TableRows | StreamedRows:
    """Return the rows of a source, with those of the columns that it has.

    Parameters
    ----------
    name : str
        Name of the source.
    source : Given
        What the user gave.
    table : Table or StreamedTable
        The same, opened.
    columns : sequence of Column
        The target's columns.
    response : str
        Name of the response.
    own_name : str or None
        The name that the target's response brought along.
    jobs : int, default=1
        Threads that add up rows in memory.
    """
    has = tuple(c for c in columns if c.name in table.names and not table.is_void(c.name))
    if isinstance(table, StreamedTable):
        if response not in table.names:
            raise NoResponse(name, response, table.names)
        if not has:
            raise NoSharedColumn(name, table.names, [c.name for c in columns])
        return StreamedRows(table, has, response, name)
    if source.y is None:
        if response not in table.names:
            raise NoResponse(name, response, table.names)
        y = table.read([Column(response)], 0, table.rows)[:, 0]
    else:
        theirs = name_of(source.y)
        if theirs and own_name and theirs != own_name:
            raise DifferentResponse(name, theirs, own_name)
        if response in table.names:
            raise ResponseInFeatures(response, f"source {name!r}")
        y = numbers(source.y, response)
    if not has and table.rows:
        raise NoSharedColumn(name, table.names, [c.name for c in columns])
    weights = None if source.weights is None else weights_as_numbers(source.weights)
    return TableRows(table, has, response, y, weights, f"source {name!r}", jobs)
