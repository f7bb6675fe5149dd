"""Results of a table, computed cell by cell and kept in one file that survives a kill.

A cell is one method on one dataset. ``results.jsonl`` has a line for each finished cell, with a
hash of everything that decides its numbers and of the numbers themselves. A line that was made by
other code, cut off or changed does not count, and its cell is computed again. ``runs.csv`` is
written once all cells are finished.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import scipy
import sklearn
from threadpoolctl import threadpool_limits

import poolwise
from paper.datasets import UCI
from paper.errors import PaperError
from paper.protocol import labels, run_count, run_errors
from paper.specs import Protocol, TableSpec
from poolwise._typing import AnyPath, Array
from poolwise.methods import METHODS

RESULTS, RUNS = "results.jsonl", "runs.csv"
# The code that computes the numbers of a table: results outlive a change of anything else.
OURS = ("estimators.py", "protocol.py")
LIBRARY = ("numerics", "moments", "linear", "tables", "methods")

Errors = dict[str, dict[str, Array]]  # by dataset and method


@dataclass(frozen=True)
class Cell:
    """One method on one dataset of a table."""

    spec: TableSpec
    protocol: Protocol
    dataset: str
    method: str  # its label
    runs: int
    code: str  # hash of the code that computes it

    def digest(self, errors: object) -> str:
        """Return a hash of everything that decides the numbers, and of the numbers."""
        made_by = (self.spec.digest, self.protocol, UCI[self.dataset].sha256, self.code)
        about = (*made_by, self.dataset, self.method, self.runs, errors)
        return hashlib.sha256(json.dumps(about).encode()).hexdigest()

    def compute(self, data: AnyPath | None = None) -> list[float]:
        """Return the error of each run."""
        about = (self.spec, self.dataset, self.method, self.protocol)
        return run_errors(*about, data=data, runs=self.runs)


def cells_of(
    spec: TableSpec,
    protocol: Protocol,
    methods: Sequence[str] | None = None,
    runs: int | None = None,
) -> list[Cell]:
    """Return the cells of a table, line by line: by default the whole table of the paper."""
    names, code = labels(spec, methods), code_hash()
    return [
        Cell(spec, protocol, d, m, run_count(spec, d, runs), code)
        for d in spec.datasets
        for m in names
    ]


def code_hash() -> str:
    """Hash the code that decides numbers, and the versions of the packages that it calls."""
    digest = hashlib.sha256(" ".join(m.__version__ for m in (np, scipy, sklearn)).encode())
    library = Path(poolwise.__file__).parent
    files = [file for package in LIBRARY for file in (library / package).rglob("*.py")]
    for file in sorted([*files, *(Path(__file__).parent / name for name in OURS)]):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def compute(
    cells: Sequence[Cell], folder: Path, *, data: AnyPath | None = None, jobs: int = 1
) -> Iterator[Cell]:
    """Compute the unfinished cells of a table, yield each once it is kept, and write the runs.

    ``runs.csv`` has the same bytes however often this was interrupted. It has these cells, and
    those of every other method that is finished on the same datasets.
    """
    missing = unfinished(cells, folder)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / RESULTS).open("ab") as file:
        for k, errors in each(Cell.compute, [(cell, data) for cell in missing], jobs):
            cell = missing[k]
            line = {"dataset": cell.dataset, "method": cell.method, "rmse": errors}
            text = json.dumps({**line, "sha256": cell.digest(errors)})
            file.write(f"\n{text}".encode())  # a new line first: a kill may have left half a one
            file.flush()
            yield cell
    write_file(folder / RUNS, _runs(cells, folder))


def unfinished(cells: Sequence[Cell], folder: Path) -> list[Cell]:
    """Return the cells that are still to be computed."""
    kept = finished(cells, folder)
    return [cell for cell in cells if (cell.dataset, cell.method) not in kept]


def finished(cells: Iterable[Cell], folder: Path) -> dict[tuple[str, str], list[float]]:
    """Return the errors of the cells that the same code computed from the same data."""
    wanted = {(cell.dataset, cell.method): cell for cell in cells}
    kept = {}
    lines = (folder / RESULTS).read_bytes().splitlines() if (folder / RESULTS).is_file() else []
    for line in lines:
        try:
            found = json.loads(line)
            key, errors = (found["dataset"], found["method"]), found["rmse"]
            if key in wanted and found["sha256"] == wanted[key].digest(errors):
                kept[key] = errors
        except (ValueError, TypeError, KeyError):  # cut off or damaged
            continue
    return kept


def _runs(cells: Sequence[Cell], folder: Path) -> str:
    """Return one line per fit; numbers are written so that reading them gives the same bits."""
    spec, lines = cells[0].spec, {cell.dataset: cell for cell in cells}
    known = labels(spec, [*spec.methods, *METHODS])
    kept = finished((replace(c, method=m) for c in lines.values() for m in known), folder)
    whole = [m for m in known if all((d, m) in kept for d in lines)]
    text = ["table,dataset,run,method,rmse\n"]
    for d, m in product(lines, whole):
        text += [f"{spec.name},{d},{run},{m},{e!r}\n" for run, e in enumerate(kept[d, m])]
    return "".join(text)


def read_runs(folder: Path) -> Errors:
    """Return the errors in ``runs.csv`` of a folder; nothing if there is no such file."""
    found: dict[str, dict[str, list[float]]] = {}
    if (file := folder / RUNS).is_file():
        for row in csv.DictReader(file.read_text(encoding="utf-8").splitlines()):
            by_method = found.setdefault(row["dataset"], {})
            by_method.setdefault(row["method"], []).append(float(row["rmse"]))
    return {d: {m: np.array(e) for m, e in by.items()} for d, by in found.items()}


def each(
    task: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], jobs: int
) -> Iterator[tuple[int, Any]]:
    """Call a function of a module for each tuple of arguments; yield position and result when done.

    Linear algebra has one thread everywhere, so that sums are added in the same order whatever
    the number of processes. With one job everything happens in this process.
    """
    if jobs < 1:
        raise PaperError(f"jobs={jobs} must be a positive number.")
    start = {"initializer": _begin, "initargs": (os.getpid(),)}
    with joblib.parallel_config("loky", inner_max_num_threads=1, **start):
        pool = joblib.Parallel(jobs, return_as="generator_unordered", batch_size=1)
        done = pool(joblib.delayed(_placed)(task, k, given) for k, given in enumerate(arguments))
    try:
        yield from done
    except BrokenProcessPool as error:
        raise PaperError(
            f"One of {jobs} worker processes was killed, most likely because the system ran out of "
            "memory. Finished results are kept. Run the same command again with fewer --jobs."
        ) from error
    finally:
        done.close()


def _placed(task: Callable[..., Any], place: int, given: tuple[Any, ...]) -> tuple[int, Any]:
    with threadpool_limits(1):
        return place, task(*given)


def _begin(parent: int) -> None:
    """Leave Ctrl-C to the parent process, and end when it ends."""

    def end_with_parent() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with_parent, daemon=True).start()


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file completely or not at all."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_bytes(content.encode() if isinstance(content, str) else content)
    draft.replace(path)
