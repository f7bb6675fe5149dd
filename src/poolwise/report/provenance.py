"""Provenance: which files, rows, versions and command the numbers come from."""

from __future__ import annotations

import hashlib
import platform
import shlex
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeAlias

from poolwise.errors import FilesNotFound

PathName: TypeAlias = str | PathLike[str]
GivenFiles: TypeAlias = Mapping[str, PathName | Sequence[PathName]] | Sequence[PathName]
PACKAGES = ("poolwise", "numpy", "scipy", "scikit-learn")


def provenance(
    *,
    files: GivenFiles | None = None,
    command: str | Sequence[str] | None = None,
    date: datetime | str | None = None,
    options: Mapping[str, Any],
) -> dict[str, Any]:
    """Return where numbers come from.

    Parameters
    ----------
    files : mapping or sequence of paths, optional
        The files that were read; a mapping says what each is.
    command : str or sequence of str, optional
        The command that was typed.
    date : datetime or str, optional
        When the report was made; now, unless given.
    options : mapping
        What was asked for.
    """
    typed = command if isinstance(command, str) or command is None else shlex.join(command)
    when = datetime.now(UTC) if date is None else date
    return {
        "date": when if isinstance(when, str) else when.isoformat(timespec="seconds"),
        "command": typed,
        "files": [_file(role, path) for role, path in _named(files)],
        "versions": {"Python": platform.python_version()} | {p: _version(p) for p in PACKAGES},
        "options": dict(options),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # run from a folder, without being installed
        return "unknown"


def _named(files: GivenFiles | None) -> list[tuple[str, PathName]]:
    if files is None:
        return []
    if not isinstance(files, Mapping):
        return [("", path) for path in files]
    return [
        (role, path)
        for role, given in files.items()
        for path in ([given] if isinstance(given, str | PathLike) else given)
    ]


def _file(role: str, path: PathName) -> dict[str, Any]:
    """Return size and checksum of a file, which is read in blocks."""
    file = Path(path)
    if not file.is_file():
        raise FilesNotFound(str(file), "There is no such file.")
    with file.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    return {"role": role, "path": fspath(path), "bytes": file.stat().st_size, "sha256": digest}
