"""Checkpoint: what a long reading has found so far, in a file that a kill leaves whole."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any

from poolwise.errors import NotACheckpoint
from poolwise.store import write

FORMAT, VERSION = "poolwise checkpoint", 1
PAUSE = 2.0  # seconds between two writings: at most so much work is done twice


class Checkpoint:
    """The state of each task of a reading, by a digest of what it reads and how.

    Parameters
    ----------
    path : str or path
        The file. It is made when there is something to keep, and read when it is there.
    pause : float, default=2.0
        Seconds between two writings.
    """

    def __init__(self, path: str | PathLike[str], pause: float = PAUSE) -> None:
        self._path, self._pause, self._written = Path(path), pause, time.monotonic()
        self._states = _read(self._path) if self._path.exists() else {}

    def found(self, key: str) -> tuple[int, Any]:
        """Return how many shards a task has done, and what it has found in them."""
        state = self._states.get(_digest(key), {"done": 0, "found": None})
        return state["done"], state["found"]

    def keep(self, key: str, done: int, found: Callable[[], Any], *, at_once: bool = False) -> None:
        """Write down what a task has found, unless that was just done."""
        if not at_once and time.monotonic() - self._written < self._pause:
            return
        self._states[_digest(key)] = {"done": done, "found": found()}
        about = {"format": FORMAT, "version": VERSION, "states": self._states}
        write(self._path, json.dumps(about, allow_nan=False), overwrite=True)
        self._written = time.monotonic()

    def remove(self) -> None:
        """Remove the file, when what it was for is done."""
        with suppress(FileNotFoundError):
            self._path.unlink()


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def _read(path: Path) -> dict[str, Any]:
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        is_ours = about["format"] == FORMAT and about["version"] == VERSION
        states = dict(about["states"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NotACheckpoint(str(path), type(error).__name__) from error
    if not is_ours:
        raise NotACheckpoint(str(path), "another format or version")
    return states
