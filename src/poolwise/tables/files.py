"""The files of a source, what to read from them, and how they are found."""

from __future__ import annotations

import glob
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal, TypeAlias
from urllib.parse import unquote

from poolwise.errors import BadFile, BadOption
from poolwise.wording import listed

PathName: TypeAlias = str | PathLike[str]
Nulls: TypeAlias = Literal["split", "drop", "raise"]

FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".ipc": "feather",
    ".csv": "csv",
    ".tsv": "csv",
    ".xlsx": "excel",
}
CODECS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True, eq=False)
class Files:
    """One source, in files that are streamed and never held in memory.

    The response is the column with the name of the target's response. Folders named
    ``key=value`` right above a file give it a column ``key``.

    Parameters
    ----------
    paths : str, path, or sequence of them
        A file, a pattern such as ``"history/*.parquet"``, or a folder, which is read with its
        subfolders, leaving out names that begin with a dot or an underscore. CSV (plain, or
        compressed: .gz, .bz2, .zst, .lz4), Parquet, Feather and Excel (.xlsx, its first sheet),
        recognised by their suffixes.
    columns : sequence of str, optional
        The features to read; all that the target has unless given.
    weights : str, optional
        The column of row weights, which is then not a feature.
    filter : pyarrow.dataset.Expression or list of tuples, optional
        Which rows to read: ``[("year", ">=", 2019), ("site", "in", ["a", "b"])]`` for all of these
        conditions, a list of such lists for any of them. A row with a null value in a condition is
        left out.
    nulls : {"split", "drop", "raise"}, default="split"
        Use of null or NaN in a feature. ``"split"``: use the row; a fit fills the gap, as in tables
        in memory, also where a file lacks the column. ``"drop"``: leave the row out and count it,
        also where the response or the weight is null. ``"raise"``: an error.
    format : {"csv", "parquet", "feather", "excel"}, optional
        Unless given, by suffix.
    csv : mapping, optional
        Format of CSV files, in options of pyarrow.csv:
        ``{"delimiter": ";", "decimal_point": ",", "encoding": "latin1"}``. Unless given, the first
        lines show the delimiter and whether numbers have a decimal comma.
    workers : int, distributed.Client or SparkSession, optional
        Number of threads of this process, or the workers of a Dask or Spark cluster, which must
        find the files under the same names. By default the ``n_jobs`` of the caller.
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
    format: Literal["csv", "parquet", "feather", "excel"] | None = None
    csv: Mapping[str, Any] | None = None
    workers: Any = None
    progress: bool | None = None

    def __post_init__(self) -> None:
        if self.nulls not in ("split", "drop", "raise"):
            raise BadOption.of("nulls", self.nulls, "'split', 'drop' or 'raise'")
        if self.format not in (None, *FORMATS.values()):
            raise BadOption.of("format", self.format, "'csv', 'parquet', 'feather' or 'excel'")
        if isinstance(self.columns, str):
            raise BadOption.of("columns", self.columns, "a list of names")

    def __repr__(self) -> str:
        given = [self.paths] if isinstance(self.paths, str | PathLike) else [*self.paths]
        return f"Files({', '.join(repr(str(path)) for path in given)})"


@dataclass(frozen=True)
class File:
    """A file and what its path says about it."""

    path: Path
    format: str
    keys: Mapping[str, str | None]

    @property
    def suffix(self) -> str:
        """The suffix of the format, without the suffix of the compression."""
        return _suffix(self.path)

    @property
    def codec(self) -> str | None:
        """Compression of the whole file."""
        return CODECS.get(self.path.suffix.lower())


def find_files(
    paths: str | PathLike[str] | Sequence[str | PathLike[str]], form: str | None = None
) -> tuple[File, ...]:
    """Return the files of names, patterns and folders, sorted within each."""
    given = [paths] if isinstance(paths, str | PathLike) else list(paths)
    if not given:
        raise BadFile.not_found("[]", "It names no file.", "Give the path of one.")
    found: dict[Path, File] = {}
    for name in given:
        if not fspath(name):  # a variable that was not set; a path of it would be the folder here
            raise BadFile.not_found(
                "", "The name is empty.", "Write '.' for the folder you are in."
            )
        for path in _matches(fspath(name), form):
            own = form or FORMATS.get(_suffix(path))
            if own is None and path.suffix.lower() == ".xls":
                what = f"{str(path)!r} is named as an old Excel file, which cannot be read."
                raise BadFile(what, "Save it as .xlsx or as CSV.")
            if own is None:
                raise BadFile(
                    f"The suffix of {str(path)!r} does not say how it is written. Known are "
                    f"{listed((*FORMATS, *CODECS))}.",
                    "Rename it, or use Files(..., format='csv'), 'parquet' or 'feather'. Files of "
                    "moments end in .moments.json.",
                    suffix=path.suffix,
                )
            found.setdefault(path, File(path, own, _keys(path)))
    return tuple(found.values())


def _matches(name: str, form: str | None) -> list[Path]:
    path = Path(name).expanduser()
    if path.is_file():
        return [path]
    if path.is_dir():
        return _inside(path, form)
    if not glob.has_magic(name):
        raise BadFile.not_found(name, "There is no such file or folder.")
    matches = sorted(Path(match) for match in glob.glob(str(path), recursive=True))
    files = [f for match in matches for f in (_inside(match, form) if match.is_dir() else [match])]
    if not files:
        raise BadFile.not_found(name, "No file matches this pattern.")
    return files


def _inside(folder: Path, form: str | None) -> list[Path]:
    """Return the files below a folder that hold data."""
    below = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    shown = [p for p in below if not any(n[0] in "._" for n in p.relative_to(folder).parts)]
    files = [path for path in shown if form or _suffix(path) in FORMATS]
    if not files:
        others = f"{len(below):,} other files" if below else "nothing"
        raise BadFile.not_found(
            str(folder),
            f"The folder holds {others}, and no file with a suffix {listed([*FORMATS])}.",
        )
    return files


def _suffix(path: Path) -> str:
    is_packed = path.suffix.lower() in CODECS
    return (Path(path.stem) if is_packed else path).suffix.lower()


def _keys(path: Path) -> dict[str, str | None]:
    keys: dict[str, str | None] = {}
    for folder in path.parents:
        key, sign, value = folder.name.partition("=")
        if not (key and sign):
            break
        keys[unquote(key)] = None if value == NO_VALUE else unquote(value)
    return dict(reversed(keys.items()))
