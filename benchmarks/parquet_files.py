"""Temporary Parquet files of random rows."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from poolwise.moments.progress import tracked

COLUMNS = 20  # the response among them
ROWS = 1_000_000  # of a file at most
NAMES = [f"x{k}" for k in range(1, COLUMNS)]


@contextmanager
def parquet_files(rows: int, files: int = 1) -> Iterator[Path]:
    """Yield a folder with at least this many files, as pyarrow writes them by default."""
    each = min(ROWS, -(-rows // files))
    with tempfile.TemporaryDirectory(prefix="poolwise_bench_") as folder:
        starts = range(0, rows, each)
        for k, start in enumerate(tracked(starts, len(starts), "Writing Parquet")):
            path = Path(folder) / f"part{k:03}.parquet"
            pq.write_table(made_up_table(k, min(each, rows - start)), path)
        yield Path(folder)


def made_up_table(seed: int, rows: int) -> pa.Table:
    """Make the rows of the files."""
    rng = np.random.default_rng(seed)
    columns = {name: rng.normal(k, 1.0 + k, rows) for k, name in enumerate(NAMES)}
    y = sum(columns.values()) + rng.normal(size=rows)
    return pa.table({**columns, "y": y})
