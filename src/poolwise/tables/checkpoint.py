"""Checkpoint: what a long reading has found so far, in a file that a kill leaves whole."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from poolwise.drafts import write
from poolwise.errors import BadOption, NotACheckpoint

FORMAT, VERSION = "poolwise checkpoint", 1
PAUSE = 2.0  # seconds between two writings: about so much work is done twice after a kill
SHARE = 0.05  # of the time that writing may take: large states are written less often
LEFT_BEHIND = 60.0  # seconds after which a draft belongs to a process that was killed
DRAFT = re.compile(r"\.[0-9a-f]{16}")


class Plain(Protocol):
    """What can be written as JSON."""

    def plain(self) -> Any:
        """Return what JSON can hold."""
        ...


T = TypeVar("T", bound=Plain)


class State(NamedTuple):
    """How many shards a task has done, and what it has found in them, as JSON can hold it."""

    done: int
    found: Any


class Checkpoint:
    """The states of the tasks of one job, each by a digest of what it reads and how.

    The file has two lines of JSON, the first about the second; it is replaced as a whole. Of an
    earlier run only those states stay that this one comes to: what was found of other files, or of
    these before they changed, goes with the first writing. Two processes at one file do all work
    twice and no harm, since neither reads what the other writes.

    Parameters
    ----------
    path : str or path
        The file. It is made when there is something to keep, and read when it is there.
    pause : float, default=2.0
        Seconds before the first writing, and between two of them; 0 writes after every shard.
    """

    def __init__(self, path: str | PathLike[str], pause: float | None = None) -> None:
        self.path, self._pause = Path(path), PAUSE if pause is None else pause
        if not self.path.parent.is_dir():
            raise BadOption("checkpoint", str(path), "a file in a folder that is there")
        self._earlier = _read(self.path) if self.path.exists() else {}
        self._states: dict[str, State] = {}
        self._on_file: dict[str, int] = {}  # shards done, by task
        self._begun = self._written = time.monotonic()
        self._wait = self._pause

    @property
    def is_resumed(self) -> bool:
        """Whether some task of this run went on from where an earlier run was."""
        return any(name in self._earlier for name in self._states)

    @property
    def is_anew(self) -> bool:
        """Whether the file was there, and had nothing for the first task of this run."""
        return (
            bool(self._earlier and self._states) and next(iter(self._states)) not in self._earlier
        )

    def task(self, key: str) -> str:
        """Return the name of a task, by text that is another one for any other task or rows."""
        name = _digest(f"{_poolwise()} {key}")
        self._states.setdefault(name, self._earlier.get(name, State(0, None)))
        if name in self._earlier:
            self._on_file.setdefault(name, self._earlier[name].done)
        return name

    def restored(self, name: str, make: Callable[[Any], T]) -> tuple[int, T | None]:
        """Return how many shards a task has done, and what it has found in them."""
        done, found = self._states[name]
        try:
            return (done, make(found)) if done else (0, None)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            why = f"it holds something else than was to be found: {error}"
            raise NotACheckpoint(str(self.path), why) from error

    def keep(self, name: str, done: int, total: T | None, *, at_once: bool = False) -> None:
        """Write down what a task has found, unless that was just done.

        Parameters
        ----------
        name : str
            Of the task.
        done : int
            Number of shards.
        total : object
            What was found in them.
        at_once : bool, default=False
            Whether to write although something was written just before.
        """
        begin = time.monotonic()
        if at_once or begin - self._written >= self._wait:
            self._write(self._with(name, done, total), begin)

    def end(self, name: str, done: int, total: T | None) -> None:
        """Keep what a task has found when it ends, well or badly; write it unless it was quick.

        A quick one is written with the next that is not, which is then not the first of its job.
        """
        begin, states = time.monotonic(), self._with(name, done, total)
        if begin - self._begun >= self._pause:
            self._write(states, begin)
        else:
            self._states = states

    def _with(self, name: str, done: int, total: T | None) -> dict[str, State]:
        if total is None or done == self._states[name].done:
            return self._states
        return self._states | {name: State(done, total.plain())}

    def _write(self, states: dict[str, State], begin: float) -> None:
        found = {name: state for name, state in states.items() if state.done}
        if {name: state.done for name, state in found.items()} == self._on_file:
            return
        body = json.dumps(found, allow_nan=False)
        head = {"format": FORMAT, "version": VERSION, "sha256": _digest(body)}
        write(self.path, f"{json.dumps(head)}\n{body}\n", overwrite=True)
        self._states, self._written = states, time.monotonic()
        self._on_file = {name: state.done for name, state in found.items()}
        self._wait = self._pause and max(self._pause, (self._written - begin) / SHARE)

    def remove(self) -> None:
        """Remove the file, and drafts of it that a kill left behind, when the job is done."""
        self.path.unlink(missing_ok=True)
        for draft in self.path.parent.glob(".*"):
            beginning, end = f".{self.path.name}", draft.name[-17:]
            if draft.name == f"{beginning}{end}" and DRAFT.fullmatch(end):
                age = time.time() - draft.stat().st_mtime
                if age > LEFT_BEHIND:
                    draft.unlink(missing_ok=True)


def _read(path: Path) -> dict[str, State]:
    """Read a file, and refuse one of which a single letter has changed."""
    try:
        first, _, rest = path.read_text(encoding="ascii").partition("\n")
        head = json.loads(first)
    except OSError as error:
        raise NotACheckpoint(str(path), error.strerror or type(error).__name__) from error
    except ValueError:
        raise NotACheckpoint(str(path), "it does not begin like one") from None
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise NotACheckpoint(str(path), f'it does not say "format": "{FORMAT}"')
    if head.get("version") != VERSION:
        why = f"its version is {head.get('version')!r}, and this poolwise reads version {VERSION}"
        raise NotACheckpoint(str(path), why)
    body = rest.removesuffix("\n")
    if head.get("sha256") != _digest(body):
        raise NotACheckpoint(str(path), "it was cut short, or changed after it was written")
    return {name: State(*state) for name, state in json.loads(body).items()}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()


def _poolwise() -> str:
    """Return the version: another one may cut files otherwise, or add up in another order."""
    try:
        return version("poolwise")
    except PackageNotFoundError:  # run from its source
        return ""
