"""Moments of Parquet files: time relative to decoding, and growth with the rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import median

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.answers import Answer, Target, ratios
from benchmarks.clock import SHORTEST, TRIAL, in_words
from benchmarks.parquet_files import COLUMNS, parquet_files
from benchmarks.peak import Peak, peak_in_new_process
from benchmarks.scaling import listed, slopes
from poolwise import moments_of
from poolwise.moments.progress import tracked
from poolwise.numerics.options import Kept

BATCH = 65_536
PROCESSES = 5  # peaks vary by a quarter with the timing of pyarrow's threads


def parquet_reading(*, quick: bool) -> list[Answer]:
    rows = 50_000 if quick else 20_000_000
    with parquet_files(rows) as folder:
        works: dict[str, Callable[[], object]] = {
            "decode": partial(decode, folder),
            "fast": partial(moments, folder, "fast"),
            "accurate": partial(moments, folder, "accurate"),
            "exact": partial(moments, folder, "exact"),
        }
        seconds = _process_seconds(works, rounds=1 if quick else 3, label="Reading")
        peaks = _peaks(folder, 1 if quick else PROCESSES)
        size = sum(file.stat().st_size for file in folder.iterdir())
    about = f"{rows:,} x {COLUMNS}, {size / 1e9:.2g} GB; CPU seconds of one process, one thread: "
    bare = in_words(median(seconds["decode"]))
    answers = []
    for kept, most in (("fast", 1.6), ("accurate", 4.0), ("exact", None)):
        answers.append(
            Answer(
                "parquet_reading",
                f"Moments from Parquet, {kept} / pyarrow decoding it",
                ratios(seconds[kept], seconds["decode"]),
                None if most is None else Target(f"at most {most:g}", high=most),
                detail=f"{about}{in_words(median(seconds[kept]))} / {bare}",
            )
        )
    memory = Answer(
        "parquet_reading",
        "Peak extra memory of reading them",
        tuple(peak.megabytes for peak in peaks),
        Target("under 800 MB", high=800.0),
        "MB",
        peaks[0].in_words(),
    )
    return [*answers, memory, *growth(quick=quick)]


def growth(*, quick: bool) -> list[Answer]:
    """Time and memory as there are more rows."""
    sizes = [5_000, 50_000] if quick else [100_000, 1_000_000, 5_000_000, 20_000_000]
    times: list[list[float]] = []
    peaks: list[list[float]] = []
    processes = 1 if quick else PROCESSES
    for rows in sizes:
        with parquet_files(rows) as folder:
            work = {"fast": partial(moments, folder, "fast")}
            times.append(
                _process_seconds(work, rounds=1 if quick else 3, label=f"{rows:,} rows")["fast"]
            )
            peaks.append([peak.megabytes for peak in _peaks(folder, processes)])
    each = ", ".join(f"{n:,}: {median(p):.0f} MB" for n, p in zip(sizes, peaks, strict=True))
    return [
        Answer(
            "parquet_reading",
            "Log-log slope of the time in rows",
            slopes(sizes, times),
            Target("0.9 to 1.1", 0.9, 1.1),
            detail=listed(sizes, times),
        ),
        Answer(
            "parquet_reading",
            f"Memory at {sizes[-1]:,} rows / at {sizes[1]:,}",
            ratios(peaks[-1], peaks[1]),
            Target("at most 1.2", high=1.2),
            detail=f"{each}; medians of {processes} new process(es)",
        ),
    ]


def decode(folder: Path) -> int:
    """Decode all columns of all files in batches, in one thread."""
    rows = 0
    for path in sorted(folder.iterdir()):
        with pq.ParquetFile(path) as file:
            rows += sum(b.num_rows for b in file.iter_batches(BATCH, use_threads=False))
    return rows


def moments(folder: Path, precision: Kept) -> object:
    """Take the moments in one thread."""
    return moments_of(folder, precision=precision, progress=False)


def _peaks(folder: Path, processes: int) -> list[Peak]:
    """Return the peak of each of some new processes, with as many threads as pyarrow takes."""
    return [peak_in_new_process(_prepared, folder, "fast") for _ in range(processes)]


def _prepared(folder: Path, precision: Kept) -> Callable[[], object]:
    return partial(moments, folder, precision)


def _process_seconds(
    works: Mapping[str, Callable[[], object]], rounds: int, label: str
) -> dict[str, list[float]]:
    """Return CPU seconds of all threads of this process, since pyarrow has its own."""
    threads, shortest = (pa.cpu_count(), pa.io_thread_count()), SHORTEST if rounds > 1 else TRIAL
    seconds: dict[str, list[float]] = {name: [] for name in works}
    try:
        pa.set_cpu_count(1)
        pa.set_io_thread_count(1)
        for _ in tracked(range(rounds), rounds, label):
            for name, work in works.items():
                start, calls = time.process_time(), 0
                while time.process_time() - start < shortest or not calls:
                    work()
                    calls += 1
                seconds[name].append((time.process_time() - start) / calls)
    finally:
        pa.set_cpu_count(threads[0])
        pa.set_io_thread_count(threads[1])
    return seconds
