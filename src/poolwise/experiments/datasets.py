"""The ten UCI datasets of the paper: from a folder, or downloaded once and kept.

They are those of one commit of a public repository, byte for byte: a file counts only
if its SHA-256 is the one below, wherever it comes from, so every copy gives the same numbers. It
is read into memory, checked there and parsed from there, so no file is half-read.
"""

from __future__ import annotations

import gzip
import io
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from poolwise.double_double import Array
from poolwise.errors import DatasetNotFound, NotInstalled, UnknownDataset
from poolwise.experiments import airfare
from poolwise.experiments.data_folders import VARIABLE, look_for
from poolwise.experiments.downloads import check, download, reason, sha256_of

BASE = (
    "https://raw.githubusercontent.com/treforevans/uci_datasets/"
    "f0737523712fe66a1640e4b980b927e8490b58eb/uci_datasets"
)


@dataclass(frozen=True)
class Known:
    """What is known of a dataset before it is read.

    Parameters
    ----------
    rows, columns : int
        Its shape.
    sha256 : str
        Checksum of its file.
    """

    rows: int
    columns: int
    sha256: str


# fmt: off
UCI = {
    "concrete": Known(
        1030, 9, "542c5d9a0d301bdb47550280398dcbbe2fb8404631fc945de1ea6df9ade741c6"),
    "energy": Known(
        768, 9, "431b6df04243db782bbcd45e408373a654334496ebe5d9c9985ab2e826a39f51"),
    "kin40k": Known(
        40000, 9, "9bee7f2a9f39aa61a015f239378368601fb3978c5bb9a96433e88a55d40883ba"),
    "parkinsons": Known(
        5875, 21, "d20ffd9c9e5053a03fff0b770e7b0e076bf856a34538198303c897b6cc6addde"),
    "pol": Known(
        15000, 27, "1c16126352954571e78f52d5a9d1b947a38655885d7cadd9407a4c9615fe4e04"),
    "protein": Known(
        45730, 10, "f709d0107c3ee90ab019b9e5d77fc2ae182158958cb70b1903236a51334fd01b"),
    "pumadyn32nm": Known(
        8192, 33, "10d1698944e0f6e586f2781e4b62c17c05174d4c6cdb6fb824a3e5a1b3630ae4"),
    "skillcraft": Known(
        3338, 20, "41233f5ea6bf596b04aa64f5eaf9bf4489ddeec53524fe2cc46d75bc7d480c0e"),
    "sml": Known(
        4137, 27, "d7c7e68697fa616bac790f9b50f0c6ea7f5e946a5084792b6ccbe76f8b18baa1"),
    "wine": Known(
        1599, 12, "e2ca3346651ddb43fbc6a1355e70e74b7ce68f93059e04405e9cb749c219eae2"),
}
# fmt: on


def load(name: str, data: str | os.PathLike[str] | None = None) -> Array:
    """Return one of the ten UCI datasets as rows and columns; the last column is the label.

    The file ``uci/<name>.csv.gz`` is looked for in the folder ``data``, then in the folder that
    the environment variable ``POOLWISE_DATA`` names. If neither has it, it is downloaded, once,
    into the user's cache.

    Parameters
    ----------
    name : str
        A key of ``UCI``.
    data : path, optional
        A folder.
    """
    path = fetch(name, data)
    contents = path.read_bytes()
    then = f"Delete the file, or replace it by {_address(name)}."
    check(name, contents, UCI[name].sha256, str(path), then)
    rows = np.loadtxt(io.BytesIO(gzip.decompress(contents)), delimiter=",", ndmin=2)
    assert rows.shape == (UCI[name].rows, UCI[name].columns), (name, rows.shape)
    return rows


def fetch(name: str, data: str | os.PathLike[str] | None = None) -> Path:
    """Return the file of one of the ten UCI datasets, downloaded if no folder has it.

    Parameters
    ----------
    name : str
        A key of ``UCI``.
    data : path, optional
        A folder.
    """
    if name not in UCI:
        raise UnknownDataset(name, sorted(UCI))
    path, tried = look_for(_file(name), data)
    return _downloaded(name, tried) if path is None else path


def available(name: str, data: str | os.PathLike[str] | None = None) -> bool:
    """Whether a dataset can be loaded without a download.

    A file in a folder counts whatever it holds: if it is the wrong one, loading it says so. A
    file in the cache counts if it is whole, since it would be downloaded again otherwise.

    Parameters
    ----------
    name : str
        A key of ``UCI``, or "airfare".
    data : path, optional
        A folder.
    """
    if name not in (*UCI, airfare.NAME):
        raise UnknownDataset(name, sorted((*UCI, airfare.NAME)))
    file = airfare.FILE if name == airfare.NAME else _file(name)
    path, _ = look_for(file, data)
    if path is not None or name == airfare.NAME:
        return path is not None
    try:
        cached = cache() / file
    except ImportError:
        return False
    return cached.is_file() and sha256_of(cached.read_bytes()) == UCI[name].sha256


def cache() -> Path:
    """Return the folder that downloads are kept in, laid out like a folder of data."""
    import pooch

    return Path(pooch.os_cache("poolwise"))


def _file(name: str) -> str:
    return f"uci/{name}.csv.gz"


def _address(name: str) -> str:
    return f"{BASE}/{name}/data.csv.gz"


def _downloaded(name: str, tried: list[str]) -> Path:
    """Return the path of the cached file, downloaded if it is not there or not whole."""
    where = f"into the folder that {VARIABLE}, or --data DIR, names."
    try:
        target, address = cache() / _file(name), _address(name)
        then = (
            "It was changed there, or on the way. Try again from another network, or put the right "
            f"{_file(name)} {where}"
        )
        download(name, address, target, UCI[name].sha256, then)
    except ImportError as error:
        what, otherwise = f"Downloading the dataset {name!r}", f"Or put {_file(name)} {where}"
        raise NotInstalled(what, "pooch", "data", otherwise) from error
    except OSError as error:  # those of the network are OSErrors too
        tried = [*tried, f"{address} to {target} ({reason(error)})"]
        raise DatasetNotFound(name, _file(name), tried) from error
    return target
