"""Journals: what is finished of a file that is not yet whole, line by line.

Every writer has a journal of its own, so that two processes at the same file do not mix their
lines. A kill may leave half a line at the end of a journal; it is not read.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

JOURNAL = ".journal"


@contextmanager
def new_journal(path: Path) -> Iterator[Callable[[str], None]]:
    """Give a function that adds a line to a new journal; a kill right after it loses nothing.

    Parameters
    ----------
    path : path
        The file that is to be written.
    """
    with tempfile.NamedTemporaryFile(
        "w",
        encoding="utf-8",
        newline="\n",
        prefix=f"{path.name}.",
        suffix=JOURNAL,
        dir=path.parent,
        delete=False,
    ) as file:

        def add(line: str) -> None:
            file.write(f"{line}\n")
            file.flush()

        yield add


def whole_lines(path: Path) -> Iterator[list[str]]:
    """Yield the whole lines of each journal of a file.

    Parameters
    ----------
    path : path
        The file.
    """
    for journal in sorted(_journals(path)):
        try:
            text = journal.read_text(encoding="utf-8")
        except (FileNotFoundError, UnicodeDecodeError):  # gone meanwhile, or damaged
            continue
        whole, _, _ = text.rpartition("\n")
        yield whole.splitlines()


def remove_journals(path: Path) -> None:
    """Remove the journals of a file that is whole; another process may still write to its own.

    Parameters
    ----------
    path : path
        The file.
    """
    for journal in _journals(path):
        with suppress(PermissionError):  # Windows keeps what a process has open
            journal.unlink(missing_ok=True)


def _journals(path: Path) -> Iterator[Path]:
    return path.parent.glob(f"{path.name}.*{JOURNAL}")
