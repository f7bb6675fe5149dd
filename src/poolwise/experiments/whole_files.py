"""Whole files: written so that they are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

PARTIAL = ".partial"


def replace_file(path: Path, content: str | bytes) -> None:
    """Write a file under a temporary name, which it changes for its own when it is whole.

    Parameters
    ----------
    path : path
        Which file; an old one is there until the new one is whole.
    content : str or bytes
        What it holds.
    """
    partial = path.with_name(f"{path.name}.{os.getpid()}{PARTIAL}")
    with partial.open("wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def clear_partial(folder: Path) -> None:
    """Remove what interrupts left in a folder.

    Parameters
    ----------
    folder : path
        Where no one writes now.
    """
    for stray in folder.glob(f"*{PARTIAL}"):
        stray.unlink(missing_ok=True)
