"""The kinds of sources, and how each is opened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from os import PathLike
from typing import Any, NamedTuple

from poolwise._typing import Array
from poolwise.errors import BadColumns, BadSource
from poolwise.moments.moments import Moments
from poolwise.moments.moments_json import is_moments_path
from poolwise.tables.arrow import encode, kinds_wanted
from poolwise.tables.arrow_streams import Stream, is_stream
from poolwise.tables.encoding import Column
from poolwise.tables.engines import FRAMES_ELSEWHERE
from poolwise.tables.file_table import open_files
from poolwise.tables.files import Files
from poolwise.tables.memory import ArrayTable, Table, open_table
from poolwise.tables.response import Response
from poolwise.tables.rows import TableRows
from poolwise.tables.shards import StreamedTable
from poolwise.tables.streamed_rows import StreamedRows
from poolwise.tables.text_values import Kind


class Given(NamedTuple):
    """A source of rows: a table, a frame elsewhere or files; its response, unless a column."""

    X: Any
    y: Any = None
    weights: Any = None


class Sources:
    """A container of sources that scikit-learn does not split.

    In cross-validation scikit-learn splits every fit argument that has as many entries as ``X``
    has rows. This container has no length, so it is passed on unchanged.

    Parameters
    ----------
    sources : object
        One source, a list of sources (named "source 1", "source 2", ...) or a mapping of names to
        sources. A source is ``(X, y)``, ``(X, y, weights)``, a table that holds the response as a
        column, :class:`Files`, a Dask or Spark DataFrame or a pyarrow Dataset that do, the path of
        such files, :class:`Moments`, or the path of a file of moments, which ends in
        ``.moments.json`` and is read at once. Arrays have the target's first columns, tables are
        matched by column name.

    Examples
    --------
    >>> from poolwise import Sources
    >>> Sources({"2019": ([[1.0], [2.0]], [1.0, 2.0])})
    Sources(['2019'])
    """

    def __init__(self, sources: Any) -> None:
        self.named = _named(sources)

    def __iter__(self) -> Iterator[tuple[str, Given | Moments]]:
        return iter(self.named.items())

    def __repr__(self) -> str:
        return f"Sources({list(self.named)})"


def sources_of(given: Any, target_rows: int) -> Sources:
    """Wrap the sources of a fit; raise an error if scikit-learn may have split them like rows."""
    if isinstance(given, Sources):
        return given
    # A path that was split would be a list of letters. A frame elsewhere is never split, and would
    # have to be computed to know its length.
    kept = isinstance(given, tuple | Mapping | Moments | str | PathLike) or is_elsewhere(given)
    if not kept and hasattr(given, "__len__") and len(given) == target_rows:
        raise BadSource(
            f"sources is a {type(given).__name__} of length {target_rows}, and X has "
            f"{target_rows} rows: in cross-validation scikit-learn splits such an argument like "
            "rows, so sources may have been lost.",
            "Wrap it: sources=poolwise.Sources(...).",
        )
    return Sources(given)


def _named(sources: Any) -> dict[str, Given | Moments]:
    if sources is None:
        return {}
    if isinstance(sources, Sources):
        return dict(sources)
    if isinstance(sources, Mapping):
        names = [str(name) for name in sources]
        if len(set(names)) < len(names):
            raise BadColumns.repeated(names, "sources")
        return {str(name): _source(str(name), source) for name, source in sources.items()}
    if isinstance(sources, list) or (
        isinstance(sources, tuple)
        and all(isinstance(s, tuple | Moments | Files | str | PathLike) for s in sources)
    ):
        return {f"source {k}": _source(f"source {k}", s) for k, s in enumerate(sources, start=1)}
    return {"source": _source("source", sources)}


def _source(name: str, source: Any) -> Given | Moments:
    if isinstance(source, Moments):
        return source
    if isinstance(source, str | PathLike):
        return Moments.load(source) if is_moments_path(source) else Given(Files(source))
    if isinstance(source, Files):
        return Given(source)
    if isinstance(source, tuple) and len(source) in (2, 3):
        X = source[0]
        if isinstance(X, Files | str | PathLike) or is_elsewhere(X):
            raise BadSource(
                f"Source {name!r} has its response beside files, a dataset or a frame of a "
                "cluster, whose rows cannot be matched with it.",
                "Give them alone, the response being one of their columns.",
            )
        return Given(*source)
    if is_elsewhere(source):
        return Given(source)
    # Only the type of a lazy frame is asked for columns: the frame would have to be planned.
    # Other objects of Dask have every attribute.
    holders = (type(source), source)
    is_table = hasattr(source, "__arrow_c_stream__") or any(hasattr(h, "columns") for h in holders)
    is_dask = hasattr(source, "__dask_graph__")
    if is_table and not is_dask and getattr(source, "ndim", 2) == 2:
        return Given(source)
    raise BadSource(
        f"Source {name!r} is a {type(source).__name__}.",
        "Give (X, y), (X, y, weights), a table, files, a query, a dataset or a Dask or Spark "
        "DataFrame that hold the response as a column, Moments, or the path of a .moments.json "
        "file. (A list is a list of sources: write (X, y), not [X, y].)",
    )


def is_elsewhere(table: Any) -> bool:
    """Return whether rows are on a cluster or in a dataset, without an import."""
    return _engine_of(table) is not None


class UnreadFrame(NamedTuple):
    """A frame elsewhere or a stream, of which only the columns are known."""

    engine: Any  # our module, with types_of(table), kind_of_type(type) and TableBatches
    table: Any
    types: dict[str, Any]


def find_frame(table: Any, where: str) -> UnreadFrame:
    """Find the engine of a frame of a cluster, a dataset or a stream, and its columns."""
    module = _engine_of(table)
    if module is None:
        module, table = "arrow_streams", Stream(table, where)
    engine = import_module(f"poolwise.tables.{module}")
    types: list[tuple[str, Any]] = engine.types_of(table)
    if len(dict(types)) < len(types):
        raise BadColumns.repeated([name for name, _ in types], where)
    return UnreadFrame(engine, table, dict(types))


def open_frame(
    frame: UnreadFrame,
    where: str,
    wanted: Mapping[str, Kind | None],
    response: str | None,
    answer: Kind = "number",
) -> StreamedTable:
    """Open a frame as a table, without reading its rows."""
    engine, table, types = frame
    kinds = kinds_wanted(types, engine.kind_of_type, where, wanted, response, answer)
    return StreamedTable(engine.TableBatches(table, tuple(types), kinds, where), where)


def _engine_of(table: Any) -> str | None:
    for kind in type(table).__mro__:
        for (package, name), module in FRAMES_ELSEWHERE.items():
            if kind.__name__ == name and f"{kind.__module__}.".startswith(f"{package}."):
                return module
    return None


def open_source(
    name: str,
    source: Given,
    wanted: Mapping[str, Kind],
    response: Response,
    jobs: int = 1,
    order: Sequence[str] = (),
) -> Table | StreamedTable:
    """Open the table of a source, in memory or streamed, with columns of these kinds.

    ``order`` are all columns of the target: an array has the first of them.
    """
    where, X = f"table {name!r}", source.X
    if isinstance(X, Files):
        return open_files(X, where, wanted, response.raw, jobs, answer=response.kind)
    if source.y is None and source.weights is None and (is_elsewhere(X) or is_stream(X)):
        return open_frame(find_frame(X, where), where, wanted, response.raw, response.kind)
    table = open_table(X, where)
    if not isinstance(table, ArrayTable):
        return table
    if len(table.names) > len(order):
        raise BadSource(
            f"Source {name!r} is an array of {len(table.names)} columns, the target has "
            f"{len(order)}.",
            "Arrays are matched by position (the source's columns are the target's first ones): "
            f"give at most {len(order)} columns, or use tables with column names.",
        )
    return ArrayTable(table.values, tuple(order)[: len(table.names)])


def responses_of(
    name: str, source: Given, response: Response, order: Sequence[str]
) -> Iterator[tuple[Array, Array | None]]:
    """Yield the responses of a source and the weights of its rows, in parts."""
    table = open_source(name, source, {}, response, order=order)
    if not isinstance(table, StreamedTable):
        found = response.of_source(name, table, source.y, source.weights)
        yield found.y, found.weights
        return
    columns = [response.column, *([Column(table.weights)] if table.weights else [])]
    for part in table.parts([c.name for c in columns]):
        y, *weights = (encode(part.columns[c.name], c, part.where)[:, 0] for c in columns)
        yield y, weights[0] if weights else None


def rows_of(
    name: str,
    source: Given,
    table: Table | StreamedTable,
    has: tuple[Column, ...],
    wanted: Sequence[str],
    response: Response,
    jobs: int = 1,
) -> TableRows | StreamedRows:
    """Return the rows of a source."""
    if source.y is None and response.raw not in table.names:
        raise BadSource.no_response(name, response.raw, table.names)
    if not has and (isinstance(table, StreamedTable) or table.rows):
        raise BadSource.nothing_shared(name, table.names, wanted)
    if isinstance(table, StreamedTable):
        return StreamedRows(table, has, response, name)
    table, y, weights, _ = response.of_source(name, table, source.y, source.weights)
    return TableRows(table, has, response.name, y, weights, f"table {name!r}", jobs)
