"""Write files completely or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from poolwise._typing import AnyPath
from poolwise.errors import NotWritten


def write(path: AnyPath, text: str, *, overwrite: bool) -> None:
    """Write a text file in ASCII."""
    with (
        drafted(path, overwrite=overwrite) as draft,
        draft.open("x", encoding="ascii", newline="\n") as out,
    ):
        out.write(text)


@contextmanager
def drafted(path: AnyPath, *, overwrite: bool) -> Iterator[Path]:
    """Yield another path to write to; it replaces ``path`` at the end, unless there is an error."""
    file = Path(path)
    draft = file.with_name(f".{secrets.token_hex(8)}.{file.name[-100:]}")
    try:
        if file.is_dir():
            raise NotWritten.of(str(file), "it is a folder")
        if not overwrite and file.exists():
            raise already_there(file)
        yield draft
        with draft.open("rb+") as written:
            os.fsync(written.fileno())
        draft.replace(file)
    except OSError as error:
        raise NotWritten.of(str(file), error.strerror or str(error)) from error
    finally:
        draft.unlink(missing_ok=True)


def already_there(file: Path) -> NotWritten:
    """Return the error for a file that exists."""
    hint = "Give another name, or overwrite=True to replace it."
    return NotWritten(f"{file} exists already.", hint, existing=str(file))
