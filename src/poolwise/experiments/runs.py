"""Runs: the errors of a whole table, computed part by part and kept on disk.

A part's file is there whole or not at all, and the runs of a part in the making are in a journal,
so an interrupt at any moment, of any kind, loses the run it comes in. The next start computes the
runs that are missing.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np

from poolwise.double_double import Array
from poolwise.experiments.journals import remove_journals
from poolwise.experiments.parts import Part
from poolwise.experiments.tables import labels
from poolwise.experiments.whole_files import replace_file
from poolwise.experiments.workers import each
from poolwise.methods import METHOD_NAMES

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

    After the last, ``runs.csv`` is written, the same however often this was interrupted. It has
    these parts, and those of every other method that is finished on the same datasets.

    Parameters
    ----------
    parts : sequence of Part
        Of one table, as ``parts_of`` gives them.
    folder : path
        Where to write; a folder of its own for each table, protocol and number of runs.
    data : path, optional
        A folder to look for datasets in.
    jobs : int, default=1
        How many processes; the numbers do not depend on it.
    """
    kept = folder / PARTS
    kept.mkdir(parents=True, exist_ok=True)
    missing = unfinished(parts, folder)
    finished = (part for part in parts if part not in missing)
    made = (missing[k] for k in each(Part.write, [(p, kept, data) for p in missing], jobs))
    for part in chain(finished, made):
        remove_journals(part.file(kept))
        yield part
    replace_file(folder / RUNS, _long(_with_other_methods(parts, kept), kept))


def unfinished(parts: Sequence[Part], folder: Path) -> list[Part]:
    """Return the parts that ``compute`` would have to compute.

    Parameters
    ----------
    parts : sequence of Part
        Of one table.
    folder : path
        Where ``compute`` writes.
    """
    return [part for part in parts if part.read(folder / PARTS) is None]


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


def methods_in(folder: Path) -> list[str]:
    """Return the methods that ``runs.csv`` of a folder has; none if it is not there.

    Parameters
    ----------
    folder : path
        Where ``compute`` writes.
    """
    try:
        text = (folder / RUNS).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return []
    names = (row.get("method") for row in csv.DictReader(io.StringIO(text)))
    return list(dict.fromkeys(name for name in names if name))


def _with_other_methods(parts: Sequence[Part], kept: Path) -> list[Part]:
    """Add the other methods that are finished on all datasets; those of the paper come first."""
    lines = list({part.dataset: part for part in parts}.values())
    known = dict.fromkeys(
        m for p in lines for m in labels(p.spec, [*p.spec.methods, *METHOD_NAMES])
    )
    finished = [m for m in known if all(replace(p, method=m).read(kept) is not None for p in lines)]
    return [replace(p, method=m) for p in lines for m in finished]


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
