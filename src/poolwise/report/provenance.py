"""The files, rows, versions and command that the numbers come from."""

from __future__ import annotations

import hashlib
import platform
import shlex
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeAlias

from poolwise.errors import BadFile
from poolwise.moments.progress import tracked

PathName: TypeAlias = str | PathLike[str]
GivenFiles: TypeAlias = Mapping[str, PathName | Sequence[PathName]] | Sequence[PathName]
BLOCK = 2**20  # bytes read at a time
PACKAGES = ("poolwise", "numpy", "scipy", "scikit-learn")


def provenance(
    *,
    files: GivenFiles | None = None,
    command: str | Sequence[str] | None = None,
    date: datetime | str | None = None,
    options: Mapping[str, Any],
    progress: bool | None = None,
) -> dict[str, Any]:
    """Return the origin of the numbers; ``date`` is now unless it is given."""
    typed = command if isinstance(command, str) or command is None else shlex.join(command)
    when = datetime.now(UTC) if date is None else date
    return {
        "date": when if isinstance(when, str) else when.isoformat(timespec="seconds"),
        "command": typed,
        "files": _files(_named(files), progress),
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


def _files(named: Sequence[tuple[str, PathName]], progress: bool | None) -> list[dict[str, Any]]:
    files = [Path(path) for _, path in named]
    for file in files:
        if not file.is_file():
            raise BadFile.not_found(str(file), "There is no such file.")
    sizes = [file.stat().st_size for file in files]
    sums = [hashlib.sha256() for _ in files]
    for own, block in tracked(
        _blocks(files, sums), sum(sizes), "Checksums", work=lambda x: len(x[1]), show=progress
    ):
        own.update(block)
    return [
        {"role": role, "path": fspath(path), "bytes": size, "sha256": own.hexdigest()}
        for (role, path), size, own in zip(named, sizes, sums, strict=True)
    ]


def _blocks(files: Sequence[Path], sums: Sequence[Any]) -> Iterator[tuple[Any, bytes]]:
    for file, own in zip(files, sums, strict=True):
        with file.open("rb") as content:
            while block := content.read(BLOCK):
                yield own, block
