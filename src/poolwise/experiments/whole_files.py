"""Whole files: written so that they are there whole or not at all."""

from __future__ import annotations

import hashlib
import os
import platform
import time
from contextlib import suppress
from pathlib import Path

PARTIAL = ".partial"
DAY = 86400.0  # seconds


def replace_file(path: Path, content: str | bytes) -> None:
    """Write a file under a temporary name, which it changes for its own when it is whole.

    What processes that were killed left of the same file is removed.

    Parameters
    ----------
    path : path
        Which file; an old one is there until the new one is whole.
    content : str or bytes
        What it holds.
    """
    _clear(path)
    partial = path.with_name(f"{path.name}.{_machine()}.{os.getpid()}{PARTIAL}")
    with partial.open("wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def _clear(path: Path) -> None:
    """Remove the temporary files of a file whose writers are gone."""
    for partial in path.parent.glob(f"{path.name}.*{PARTIAL}"):
        with suppress(FileNotFoundError):  # another process cleared it, or gave it its name
            if not _has_writer(partial):
                partial.unlink()


def _has_writer(partial: Path) -> bool:
    *_, machine, process = partial.name.removesuffix(PARTIAL).split(".")
    if machine != _machine() or os.name != "posix":  # whom to ask? But nothing takes a day
        return time.time() - partial.stat().st_mtime < DAY
    try:
        os.kill(int(process), 0)  # asks, and does nothing
    except ProcessLookupError:
        return False
    except PermissionError:  # it is someone else's
        return True
    return True


def _machine() -> str:
    """Return a short name of this machine: the number of a process means nothing on another."""
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]
