"""Drafts: files are written under another name, and are there whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from poolwise.errors import NotOverwritten, NotWritten
from poolwise.strict_json import AnyPath


def write(path: AnyPath, text: str, *, overwrite: bool) -> None:
    """Write a whole text or none."""
    with (
        drafted(path, overwrite=overwrite) as draft,
        draft.open("x", encoding="ascii", newline="\n") as out,
    ):
        out.write(text)


@contextmanager
def drafted(path: AnyPath, *, overwrite: bool) -> Iterator[Path]:
    """Give another name to write to, which becomes the file's when all is written.

    Parameters
    ----------
    path : str or path
        The file, which is there whole in the end or, after an error, as it was.
    overwrite : bool
        Whether a file of that name may be replaced.
    """
    file = Path(path)
    draft = file.with_name(f".{secrets.token_hex(8)}.{file.name[-100:]}")
    try:
        if file.is_dir():
            raise NotWritten(str(file), "it is a folder")
        if not overwrite and file.exists():
            raise NotOverwritten(str(file))
        yield draft
        with draft.open("rb+") as written:
            os.fsync(written.fileno())
        draft.replace(file)
    except OSError as error:
        raise NotWritten(str(file), error.strerror or str(error)) from error
    finally:
        draft.unlink(missing_ok=True)
