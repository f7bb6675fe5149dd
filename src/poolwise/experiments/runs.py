"""Runs: the errors of a whole table, computed part by part and kept on disk.

A part's file is there whole or not at all, so an interrupt at any moment, of any kind, leaves
whole parts and perhaps a stray temporary file. The next start computes the parts that are missing.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from poolwise.double_double import Array
from poolwise.experiments.parts import Part
from poolwise.experiments.whole_files import clear_partial, replace_file
from poolwise.experiments.workers import each

COLUMNS = ("table", "dataset", "run", "method", "rmse")
RUNS, PARTS = "runs.csv", "parts"

Errors = dict[str, dict[str, Array]]  # by dataset and method


def compute(
    parts: Sequence[Part],
    folder: Path,
    *,
    data: str | os.PathLike[str] | None = None,
    jobs: int = 1,
) -> Iterator[Part]:
    """Yield each part once it is in its file; those that are there already come first.

    After the last, ``runs.csv`` is written, the same however often this was interrupted.

    Parameters
    ----------
    parts : sequence of Part
        Of one table, as ``parts_of`` gives them.
    folder : path
        Where to write; a folder of its own for each table and protocol.
    data : path, optional
        A folder to look for datasets in.
    jobs : int, default=1
        How many processes; the numbers do not depend on it.
    """
    kept = folder / PARTS
    kept.mkdir(parents=True, exist_ok=True)
    missing = [part for part in parts if part.read(kept) is None]
    yield from (part for part in parts if part not in missing)
    for k in each(Part.write, [(part, kept, data) for part in missing], jobs):
        yield missing[k]
    clear_partial(kept)
    replace_file(folder / RUNS, _long(parts, kept))


def read_runs(folder: Path) -> Errors:
    """Return the errors in ``runs.csv`` of a folder, by dataset and method.

    Parameters
    ----------
    folder : path
        Where ``compute`` wrote.
    """
    found: dict[str, dict[str, list[float]]] = {}
    with (folder / RUNS).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            by_method = found.setdefault(row["dataset"], {})
            by_method.setdefault(row["method"], []).append(float(row["rmse"]))
    return {d: {m: np.array(e) for m, e in by.items()} for d, by in found.items()}


def _long(parts: Sequence[Part], kept: Path) -> str:
    """Return one line per fit; numbers are written so that reading them gives the same bits."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for part in parts:
        scores = part.read(kept)
        assert scores is not None, part.file(kept)
        table = part.spec.name
        writer.writerows((table, part.dataset, s.run, s.method, repr(s.rmse)) for s in scores)
    return text.getvalue()
