"""Parquet files: rows that are made on the spot, and removed after."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from poolwise.progress import tracked

COLUMNS = 20  # the response among them
ROWS = 1_000_000  # of a file


@contextmanager
def parquet_files(rows: int) -> Iterator[Path]:
    """Give a folder of files, each of at most a million rows, as pyarrow writes them by default."""
    with tempfile.TemporaryDirectory(prefix="poolwise_bench_") as folder:
        starts = range(0, rows, ROWS)
        for k, start in enumerate(tracked(starts, len(starts), "Writing Parquet")):
            path = Path(folder) / f"part{k:03}.parquet"
            pq.write_table(_table(k, min(ROWS, rows - start)), path)
        yield Path(folder)


def _table(seed: int, rows: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    columns = {f"x{j}": rng.normal(j, 1.0 + j, rows) for j in range(1, COLUMNS)}
    y = sum(columns.values()) + rng.normal(size=rows)
    return pa.table({**columns, "y": y})
