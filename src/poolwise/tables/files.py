"""Files: which files are a source, and what of them is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from os import PathLike
from typing import Any, Literal, TypeAlias

from poolwise.errors import BadOption
from poolwise.tables.paths import FORMATS

PathName: TypeAlias = str | PathLike[str]
Nulls: TypeAlias = Literal["split", "drop", "raise"]


@dataclass(frozen=True, eq=False)
class Files:
    """One source, in files that are streamed and never held in memory.

    The response is the column that bears the name of the target's response. Folders named
    ``key=value`` right above a file give it a column ``key``.

    Parameters
    ----------
    paths : str, path, or sequence of them
        A file, a pattern such as ``"history/*.parquet"``, or a folder, which is read with its
        subfolders, leaving out names that begin with a dot or an underscore. CSV (plain, or
        compressed: .gz, .bz2, .zst, .lz4), Parquet and Feather, told apart by their suffixes.
    columns : sequence of str, optional
        The features to read; all that the target has unless given.
    weights : str, optional
        The column of row weights, which is then no feature.
    filter : pyarrow.dataset.Expression or list of tuples, optional
        Which rows to read: ``[("year", ">=", 2019), ("site", "in", ["a", "b"])]`` for all of these
        conditions, a list of such lists for any of them. A row for which a condition cannot be
        told, because the value is null, is left out.
    nulls : {"split", "drop", "raise"}, default="split"
        What a null or NaN in a feature does. ``"split"``: each pattern of missing columns becomes a
        source, as in tables in memory; so do files that lack a column. ``"drop"``: leave the row
        out and count it, also where the response or the weight is null. ``"raise"``: an error.
    format : {"csv", "parquet", "feather"}, optional
        Unless given, by suffix.
    csv : mapping, optional
        How CSV files are written, by the words of pyarrow.csv:
        ``{"delimiter": ";", "decimal_point": ",", "encoding": "latin1"}``.
    workers : int, distributed.Client or SparkSession, optional
        Who reads: so many threads of this process, or the workers of a Dask or Spark cluster, which
        must find the files under the same names. Unless given, the ``n_jobs`` of whoever asks.
    progress : bool, optional
        Whether to show a bar with rows and bytes; unless given, on a terminal and in a notebook.

    Examples
    --------
    >>> from poolwise import Files
    >>> Files("history/*.parquet", weights="count", nulls="drop")
    Files('history/*.parquet')
    """

    paths: PathName | Sequence[PathName]
    _: KW_ONLY
    columns: Sequence[str] | None = None
    weights: str | None = None
    filter: Any = None
    nulls: Nulls = "split"
    format: Literal["csv", "parquet", "feather"] | None = None
    csv: Mapping[str, Any] | None = None
    workers: Any = None
    progress: bool | None = None

    def __post_init__(self) -> None:
        if self.nulls not in ("split", "drop", "raise"):
            raise BadOption("nulls", self.nulls, "'split', 'drop' or 'raise'")
        if self.format not in (None, *FORMATS.values()):
            raise BadOption("format", self.format, "'csv', 'parquet' or 'feather'")
        if isinstance(self.columns, str):
            raise BadOption("columns", self.columns, "a list of names")

    def __repr__(self) -> str:
        given = [self.paths] if isinstance(self.paths, str | PathLike) else [*self.paths]
        return f"Files({', '.join(repr(str(path)) for path in given)})"


def is_path(source: object) -> bool:
    """Say whether a source is given by the name of a file."""
    return isinstance(source, str | PathLike)
