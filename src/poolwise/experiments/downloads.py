"""Downloads: a file from an address, kept only if it is whole and the right one."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from poolwise.errors import WrongChecksum
from poolwise.experiments.whole_files import DAY
from poolwise.progress import transfer_bar

TIMEOUT = (5.0, 30.0)  # seconds to wait for a connection, and for the next bytes


def download(name: str, address: str, target: Path, sha256: str, then: str) -> None:
    """Download a dataset, unless its file is there whole; needs the package pooch.

    pooch downloads to a temporary file, which takes the name of the target once it is whole; what
    a kill left of one is removed after a day. What the network or the disk has to say comes as an
    ``OSError``.

    Parameters
    ----------
    name : str
        The dataset.
    address : str
        Where it comes from.
    target : path
        Where it is kept.
    sha256 : str
        Its checksum.
    then : str
        What to do if the server sends something else.
    """
    import pooch

    _clear(target.parent)

    def get(address: str, file: str, _: object) -> None:
        with transfer_bar(f"Downloading {name}") as bar:
            # Not compressed once more on the way: the size is known, and a broken transfer seen.
            headers = {"Accept-Encoding": "identity"}
            get = pooch.HTTPDownloader(progressbar=bar or False, timeout=TIMEOUT, headers=headers)
            get(address, file, None)
        check(name, Path(file).read_bytes(), sha256, address, then)

    with _without_notes(pooch.get_logger()):
        pooch.retrieve(
            address, f"sha256:{sha256}", fname=target.name, path=target.parent, downloader=get
        )


def check(name: str, contents: bytes, sha256: str, where: str, then: str) -> None:
    """Refuse contents that are not those of a dataset.

    Parameters
    ----------
    name : str
        The dataset.
    contents : bytes
        What its file holds.
    sha256 : str
        Checksum that it should have.
    where : str
        Where it is or comes from.
    then : str
        What to do if it is another.
    """
    found = sha256_of(contents)
    if found != sha256:
        raise WrongChecksum(name, where, sha256, found, then)


def sha256_of(contents: bytes) -> str:
    """Return the checksum of a file's contents."""
    return hashlib.sha256(contents).hexdigest()


def reason(error: OSError) -> str:
    """Say why a download failed, without the shells that requests and urllib3 put around it."""
    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answers {response.status_code} {response.reason}"
    inner = error.args[0] if error.args and isinstance(error.args[0], Exception) else error
    inner = getattr(inner, "reason", None) or inner
    return str(inner.args[0] if inner.args and isinstance(inner.args[0], str) else inner)


def _clear(folder: Path) -> None:
    """Remove the temporary files of pooch that no download can still be at."""
    for temporary in folder.glob("tmp*"):
        with suppress(FileNotFoundError):  # another process cleared it, or gave it its name
            if time.time() - temporary.stat().st_mtime > DAY:
                temporary.unlink()


@contextmanager
def _without_notes(logger: logging.Logger) -> Iterator[None]:
    """Leave out what pooch tells about each file, which our bar tells; warnings pass."""

    def is_grave(record: logging.LogRecord) -> bool:
        return record.levelno >= logging.WARNING

    logger.addFilter(is_grave)  # a filter of this call's own: other threads have theirs
    try:
        yield
    finally:
        logger.removeFilter(is_grave)
