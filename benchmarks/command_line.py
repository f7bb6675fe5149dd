"""The time of the help text, and of a fit on a long CSV relative to reading it.

Run it with ``python -m benchmarks.command_line``; it writes half a gigabyte to a temporary folder.
CPU seconds of whole processes are compared, so that a busy machine matters less.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

ROWS, COLUMNS, RECENT = 1_000_000, 20, 200
PATIENCE = 3.0  # seconds that a fit may take beyond reading: start, imports, solution
MOST_HELP, MOST_SECONDS, MOST_READS = 3.0, 0.5, 2.0


class Cost(NamedTuple):
    """Seconds of a process."""

    cpu: float
    wall: float


def main(arguments: Sequence[str]) -> int:
    rows = int(arguments[0]) if arguments else ROWS
    met = [*_help(), *_fit(rows)]
    print(f"Targets met: {sum(met)} of {len(met)}")
    return 0 if all(met) else 1


def _help(rounds: int = 9) -> list[bool]:
    helps, numpys = [], []
    for _ in range(rounds):
        helps.append(_cost([sys.executable, "-m", "poolwise.cli", "--help"]))
        numpys.append(_cost([sys.executable, "-c", "import numpy"]))
    ratio = median(h.cpu / n.cpu for h, n in zip(helps, numpys, strict=True))
    seconds, wall = (min(getattr(h, kind) for h in helps) for kind in ("cpu", "wall"))
    print(
        f"poolwise --help / import numpy: {ratio:.2f} of CPU time (target: {MOST_HELP:g} at most)"
    )
    print(
        f"poolwise --help: {seconds:.2f} s of CPU, {wall:.2f} s in all, the quickest of {rounds} "
        f"(target: under {MOST_SECONDS:g} s)"
    )
    return [ratio <= MOST_HELP, seconds < MOST_SECONDS]


def _fit(rows: int, rounds: int = 3) -> list[bool]:
    with TemporaryDirectory() as folder:
        _write(Path(folder), rows)
        history, recent = (str(Path(folder) / name) for name in ("history.csv", "recent.csv"))
        read = ["-c", f"import pyarrow.csv; pyarrow.csv.read_csv({history!r}, {ONE_THREAD})"]
        fit = ["-m", "poolwise.cli", "fit", history, recent, "--label", "y", "--json"]
        reads, fits, starts = [], [], []
        for _ in range(rounds):
            starts.append(_cost([sys.executable, "-c", "import pyarrow.csv"]))
            reads.append(_cost([sys.executable, *read]))
            fits.append(_cost([sys.executable, *fit]))
    bare = median(r.cpu - s.cpu for r, s in zip(reads, starts, strict=True))
    ours, allowed = median(f.cpu for f in fits), MOST_READS * bare + PATIENCE
    print(
        f"poolwise fit, {rows:,} x {COLUMNS} CSV + {RECENT} rows: {ours:.2f} s of CPU, "
        f"{median(f.wall for f in fits):.2f} s in all; pyarrow's bare reading, one thread: "
        f"{bare:.2f} s (target: {allowed:.2f} s = {MOST_READS:g} readings + {PATIENCE:g} s)"
    )
    return [ours <= allowed]


ONE_THREAD = "read_options=pyarrow.csv.ReadOptions(use_threads=False)"


def _write(folder: Path, rows: int) -> None:
    import pyarrow as pa
    from pyarrow import csv

    rng = np.random.default_rng(0)
    for name, count, lacks in (("history.csv", rows, 2), ("recent.csv", RECENT, 0)):
        X = rng.normal(size=(count, COLUMNS + 1)).round(6)
        y = X @ np.linspace(1.0, 2.0, COLUMNS + 1) + rng.normal(size=count)
        columns = {f"x{j}": X[:, j] for j in range(COLUMNS + 1 - lacks)}
        csv.write_csv(pa.table({**columns, "y": y.round(6)}), folder / name)


def _cost(command: Sequence[str]) -> Cost:
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(spent, wall)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
