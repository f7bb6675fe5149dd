"""Paths: from a name, a pattern or a folder to the files it stands for."""

from __future__ import annotations

import glob
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from urllib.parse import unquote

from poolwise.errors import FilesNotFound, UnknownFormat
from poolwise.wording import listed

FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".ipc": "feather",
    ".csv": "csv",
    ".tsv": "csv",
}
CODECS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class File:
    """A file and what its path says about it.

    Parameters
    ----------
    path : Path
        Where it is.
    format : str
        ``"csv"``, ``"parquet"`` or ``"feather"``.
    keys : mapping of str to str or None
        The folders named ``key=value`` right above it.
    """

    path: Path
    format: str
    keys: Mapping[str, str | None]

    @property
    def suffix(self) -> str:
        """The suffix that says how the content is written, without that of the compression."""
        return _suffix(self.path)

    @property
    def codec(self) -> str | None:
        """How the whole file is compressed."""
        return CODECS.get(self.path.suffix.lower())


def find_files(
    paths: str | PathLike[str] | Sequence[str | PathLike[str]], form: str | None = None
) -> tuple[File, ...]:
    """Return the files that names, patterns and folders stand for, sorted within each.

    Parameters
    ----------
    paths : str, path, or sequence of them
        See :class:`poolwise.Files`.
    form : str, optional
        The format of all of them; unless given, by suffix.
    """
    given = [paths] if isinstance(paths, str | PathLike) else list(paths)
    if not given:
        raise FilesNotFound("[]", "It names no file.")
    found: dict[Path, File] = {}
    for name in given:
        if not fspath(name):  # a variable that was not set; a path of it would be the folder here
            raise FilesNotFound("", "The name is empty. Write '.' for the folder you are in.")
        for path in _matches(fspath(name), form):
            own = form or FORMATS.get(_suffix(path))
            if own is None:
                raise UnknownFormat(str(path), (*FORMATS, *CODECS))
            found.setdefault(path, File(path, own, _keys(path)))
    return tuple(found.values())


def _matches(name: str, form: str | None) -> list[Path]:
    path = Path(name).expanduser()
    if path.is_file():
        return [path]
    if path.is_dir():
        return _inside(path, form)
    if not glob.has_magic(name):
        raise FilesNotFound(name, "There is no such file or folder.")
    matches = sorted(Path(match) for match in glob.glob(str(path), recursive=True))
    files = [f for match in matches for f in (_inside(match, form) if match.is_dir() else [match])]
    if not files:
        raise FilesNotFound(name, "No file matches this pattern.")
    return files


def _inside(folder: Path, form: str | None) -> list[Path]:
    """Return the files below a folder that hold data."""
    below = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    shown = [p for p in below if not any(n[0] in "._" for n in p.relative_to(folder).parts)]
    files = [path for path in shown if form or _suffix(path) in FORMATS]
    if not files:
        others = f"{len(below):,} other files" if below else "nothing"
        raise FilesNotFound(
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
