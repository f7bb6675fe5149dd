"""The datasets of the paper: from a folder, or downloaded once and kept.

The ten UCI datasets are those of one commit of a public repository, byte for byte. A file counts
only if it has the SHA-256 of ``specs/datasets.toml``, wherever it comes from, so every copy gives
the same numbers. The air fares have no address to download them from.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from paper.errors import OutOfReach, PaperError, check_name
from paper.specs import read_toml
from poolwise._typing import AnyPath, Array
from poolwise.moments.progress import waiting

VARIABLE = "POOLWISE_DATA"
FOLDER = f"the folder that {VARIABLE}, or --data DIR, names"
TIMEOUT = (5.0, 30.0)  # seconds to wait for a connection, and for the next bytes
BASE = (
    "https://raw.githubusercontent.com/treforevans/uci_datasets/"
    "f0737523712fe66a1640e4b980b927e8490b58eb/uci_datasets"
)
FILE = "uci/{}.csv.gz"  # within a folder
AIRFARE, AIRFARE_FILE = "airfare", "airfare.csv.gz"
AIRFARE_COLUMNS = ["nsmiles", "large_ms", "fare"]
AIRFARE_SOURCE = (
    "the Consumer Airfare Report of the US Department of Transportation, table 1 (the paper's "
    "years are 1996 to 2018), as gzipped CSV with a header that names "
    f"{', '.join(AIRFARE_COLUMNS)}"
)


class Known(NamedTuple):
    """Shape and checksum of a dataset."""

    rows: int
    columns: int
    sha256: str


UCI = {name: Known(**words) for name, words in read_toml("datasets").items()}


def load(name: str, data: AnyPath | None = None) -> Array:
    """Return a dataset, a key of ``UCI`` or "airfare", as rows and columns; the last is the label.

    The file ``uci/<name>.csv.gz`` is looked for in the folder ``data``, then in the folder that
    the environment variable ``POOLWISE_DATA`` names. If neither has it, it is downloaded, once,
    into the user's cache.
    """
    if name == AIRFARE:
        return _load_airfare(data)
    path = fetch(name, data)
    contents = path.read_bytes()
    if (found := hashlib.sha256(contents).hexdigest()) != UCI[name].sha256:
        raise OutOfReach(
            f"{path} is not the dataset {name!r}: its SHA-256 is {found}, and should be "
            f"{UCI[name].sha256}. Delete the file, or replace it by {_address(name)}."
        )
    rows = np.loadtxt(io.BytesIO(gzip.decompress(contents)), delimiter=",", ndmin=2)
    assert rows.shape == UCI[name][:2], (name, rows.shape)
    return rows


def fetch(name: str, data: AnyPath | None = None) -> Path:
    """Return the file of one of the ten UCI datasets, downloaded if no folder has it."""
    check_name("dataset", name, sorted(UCI))
    path, tried = _look_for(FILE.format(name), data)
    return _downloaded(name, tried) if path is None else path


def available(name: str, data: AnyPath | None = None) -> bool:
    """Whether a dataset can be loaded without a download.

    A file in a folder counts even if it is damaged: loading it then raises an error. A damaged
    file in the cache does not count, because it would be downloaded again.
    """
    check_name("dataset", name, sorted((*UCI, AIRFARE)))
    path, _ = _look_for(AIRFARE_FILE if name == AIRFARE else FILE.format(name), data)
    if path is not None or name == AIRFARE:
        return path is not None
    try:
        contents = (cache() / FILE.format(name)).read_bytes()
    except (ImportError, OSError):
        return False
    return hashlib.sha256(contents).hexdigest() == UCI[name].sha256


def cache() -> Path:
    """Return the folder that downloads are kept in, laid out like a folder of data."""
    import pooch

    return Path(pooch.os_cache("poolwise"))


def _load_airfare(data: AnyPath | None) -> Array:
    """Return distance, share of the largest carrier and fare of air routes: three columns.

    The columns are nsmiles, large_ms and fare of ``airfare.csv.gz``, which must be in the folder
    ``data`` or in the one that ``POOLWISE_DATA`` names. No checksum is required, since reports
    of later years can be used too.
    """
    import pandas as pd

    path, tried = _look_for(AIRFARE_FILE, data)
    if path is None:
        advice = f"Make it from {AIRFARE_SOURCE}, and save it as {AIRFARE_FILE} in {FOLDER}."
        raise _not_found(AIRFARE, tried, f"There is no address to download it from. {advice}")
    try:
        frame = pd.read_csv(path, usecols=AIRFARE_COLUMNS, dtype=object)
        rows: Array = frame[AIRFARE_COLUMNS].to_numpy(dtype=np.float64)
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise _unreadable(path, str(error)) from error
    if len(rows) == 0 or not np.isfinite(rows).all():
        raise _unreadable(path, "it has no rows, or values that are missing or not finite")
    return rows


def _look_for(file: str, data: AnyPath | None) -> tuple[Path | None, list[str]]:
    """Return the file in the first folder that has it, and the places that were tried before."""
    tried: list[str] = []
    for option, value in (("data", data), (VARIABLE, os.environ.get(VARIABLE) or None)):
        if value is None:
            continue
        folder = Path(value).expanduser()
        if not folder.is_dir():
            right = "an existing folder, with files such as uci/wine.csv.gz"
            raise PaperError(f"{option}={os.fspath(value)!r} must be {right}.")
        if (path := folder / file).is_file():
            return path, tried
        tried.append(f"no file {path}")
    return None, tried


def _downloaded(name: str, tried: list[str]) -> Path:
    """Return the cached file, downloaded by pooch if it is missing or damaged."""
    address = _address(name)
    advice = (
        f"Put {FILE.format(name)} into {FOLDER}, or try again with a connection to the internet."
    )
    try:
        import pooch

        target = cache() / FILE.format(name)
        # Without further compression the size is known, and a broken transfer is noticed.
        get = pooch.HTTPDownloader(timeout=TIMEOUT, headers={"Accept-Encoding": "identity"})
        pooch.get_logger().setLevel("WARNING")
        known = f"sha256:{UCI[name].sha256}"
        with waiting(f"Downloading {name}"):
            pooch.retrieve(address, known, fname=target.name, path=target.parent, downloader=get)
    except ImportError as error:
        raise _not_found(name, [*tried, "no package pooch to download it with"], advice) from error
    except (OSError, ValueError) as error:  # of the network; another checksum
        raise _not_found(name, [*tried, f"{address} to {target} ({error})"], advice) from error
    return target


def _not_found(name: str, tried: list[str], advice: str) -> OutOfReach:
    told = f"Tried: {'; '.join(tried)}." if tried else "No folder was named."
    return OutOfReach(f"The dataset {name!r} cannot be loaded. {told} {advice}")


def _unreadable(path: Path, why: str) -> OutOfReach:
    kind = f"cannot be read as the dataset {AIRFARE!r}"
    return OutOfReach(f"{path} {kind}: {why.rstrip('.')}. It must be {AIRFARE_SOURCE}.")


def _address(name: str) -> str:
    return f"{BASE}/{name}/data.csv.gz"
