"""The air fares of the paper, from a folder: there is no address to download them from."""

from __future__ import annotations

import csv
import gzip
import os
import zlib

import numpy as np

from poolwise.double_double import Array
from poolwise.errors import DatasetNotFound, MissingColumns, NotFinite, UnreadableDataset
from poolwise.experiments.data_folders import look_for

NAME, FILE = "airfare", "airfare.csv.gz"
COLUMNS = ("nsmiles", "large_ms", "fare")
SOURCE = (
    "the Consumer Airfare Report of the US Department of Transportation, table 1 (the paper's "
    f"years are 1996 to 2018), as gzipped CSV with a header that names {', '.join(COLUMNS)}"
)


def load(data: str | os.PathLike[str] | None = None) -> Array:
    """Return distance, share of the largest carrier and fare of air routes: three columns.

    The columns are nsmiles, large_ms and fare of ``airfare.csv.gz``, which must lie in the folder
    ``data`` or in the one that ``POOLWISE_DATA`` names. No checksum is asked for, since reports
    of later years do as well.

    Parameters
    ----------
    data : path, optional
        A folder.
    """
    path, tried = look_for(FILE, data)
    if path is None:
        raise DatasetNotFound(NAME, FILE, tried, SOURCE)
    try:
        lines = gzip.decompress(path.read_bytes()).decode("utf-8-sig").splitlines()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise UnreadableDataset(NAME, str(path), str(error), SOURCE) from error
    return _rows(lines, str(path))


def _rows(lines: list[str], file: str) -> Array:
    names = next(csv.reader(lines[:1]), [])
    missing = [n for n in COLUMNS if n not in names]
    if missing:
        raise MissingColumns(missing, names, file)
    if len(lines) < 2:
        raise UnreadableDataset(NAME, file, "it has no rows", SOURCE)
    try:
        rows = np.loadtxt(
            lines[1:],
            delimiter=",",
            comments=None,
            quotechar='"',  # the report's own files hold names of cities, with commas
            usecols=[names.index(n) for n in COLUMNS],
            ndmin=2,
        )
    except ValueError as error:
        raise UnreadableDataset(NAME, file, str(error).rstrip("."), SOURCE) from error
    wrong = np.count_nonzero(~np.isfinite(rows), axis=0)
    if wrong.any():
        counts = {n: int(w) for n, w in zip(COLUMNS, wrong, strict=True) if w}
        raise NotFinite(counts, len(rows), f"the file {file}")
    return rows
