"""Memory that a fit from raw rows needs beyond the rows."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.answers import Answer, Target
from benchmarks.peak import peak_in_new_process
from benchmarks.tables import make_tables
from poolwise import PooledRegressor
from poolwise.moments.progress import tracked


def memory(*, quick: bool) -> list[Answer]:
    rows, repeats = (20_000, 1) if quick else (1_000_000, 3)
    peaks = [
        peak_in_new_process(first_fit, rows) for _ in tracked(range(repeats), repeats, "Memory")
    ]
    return [
        Answer(
            "memory",
            "Peak extra memory of the default fit, first in its process",
            tuple(p.megabytes for p in peaks),
            Target("under 100 MB", high=100.0),
            "MB",
            f"{peaks[0].in_words()}; the source itself {rows * 31 * 8 / 1e6:.0f} MB",
        ),
        Answer(
            "memory",
            "The published n x n weight matrix of that source",
            (8.0 * rows**2 / 1e12,),
            unit="TB",
            detail="computed, not measured: 8 n^2 bytes",
        ),
    ]


def first_fit(rows: int) -> Callable[[], object]:
    t = make_tables(rows)
    return lambda: PooledRegressor("data_pooling").fit(t.X, t.y, sources=t.sources())
