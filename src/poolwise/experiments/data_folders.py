"""Data folders: where a dataset is looked for before it is downloaded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from poolwise.errors import BadOption

VARIABLE = "POOLWISE_DATA"


def look_for(file: str, data: str | os.PathLike[str] | None) -> tuple[Path | None, list[str]]:
    """Return the file in the first folder that has it, and what was tried before.

    Parameters
    ----------
    file : str
        Path within a folder.
    data : path or None
        The first folder to look in; the next is the one that ``POOLWISE_DATA`` names.
    """
    tried: list[str] = []
    for folder in _folders(data):
        if (path := folder / file).is_file():
            return path, tried
        tried.append(f"no file {path}")
    return None, tried


def _folders(data: str | os.PathLike[str] | None) -> Iterator[Path]:
    """Yield the folders to look in; one that is not there is a slip of the pen."""
    for option, value in (("data", data), (VARIABLE, os.environ.get(VARIABLE) or None)):
        if value is None:
            continue
        folder = Path(value).expanduser()
        if not folder.is_dir():
            wanted = "a folder that is there, with files such as uci/wine.csv.gz"
            raise BadOption(option, os.fspath(value), wanted)
        yield folder
