"""Reproduction: any table or figure of the paper by its name, computed, written and judged."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from poolwise.errors import BadOption
from poolwise.experiments import datasets, figures
from poolwise.experiments.dataset_statistics import count
from poolwise.experiments.figure_specs import DataSplit, read_spec
from poolwise.experiments.parts import parts_of
from poolwise.experiments.points import Point
from poolwise.experiments.rendering import write_statistics, write_table
from poolwise.experiments.runs import RUNS, compute
from poolwise.experiments.specs import (
    STATISTICS,
    TABLES,
    Protocol,
    check_protocol,
    read_statistics,
    read_table_spec,
)
from poolwise.experiments.verdict import Verdict
from poolwise.methods import method_of
from poolwise.progress import tracked

NAMES = (*TABLES, STATISTICS, *figures.NAMES)
NOT_JUDGED = "Not judged: what the paper says holds for its own protocol and repetitions."


@dataclass(frozen=True)
class Entry:
    """One thing that can be reproduced.

    Parameters
    ----------
    name, title, where : str
        Its name here, what it shows, and its place in the paper.
    needs : tuple of str
        The datasets it needs.
    """

    name: str
    title: str
    where: str
    needs: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """What came of one table or figure.

    Parameters
    ----------
    name : str
        Which one.
    files : tuple of Path
        What was written.
    says : tuple of str
        How it compares with the paper, in sentences.
    verdict : Verdict or None
        The same in numbers, for a table.
    """

    name: str
    files: tuple[Path, ...]
    says: tuple[str, ...]
    verdict: Verdict | None = None


def entry_of(name: str) -> Entry:
    """Return what is known of a table or figure before it is computed."""
    if name in TABLES:
        table = read_table_spec(name)
        return Entry(name, table.title, table.where, tuple(table.datasets))
    if name == STATISTICS:
        return Entry(name, "Sizes of the datasets", "Table 1", tuple(read_statistics()))
    if name not in figures.NAMES:
        raise BadOption("name", name, f"one of {', '.join(NAMES)}")
    figure = read_spec(name)
    needs = (figure.experiment.dataset,) if isinstance(figure.experiment, DataSplit) else ()
    return Entry(name, figure.title, figure.where, needs)


def reproduce(
    names: Sequence[str],
    *,
    protocol: Protocol = "published",
    methods: Sequence[str] | None = None,
    jobs: int = 1,
    out: str | os.PathLike[str] = "reproduction",
    runs: int | None = None,
    data: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
) -> Iterator[Outcome]:
    """Compute tables and figures, write them, and yield what came of each.

    Every table and figure has a folder of its own, ``out/protocol/name``. A table that was
    interrupted goes on where it was.

    Parameters
    ----------
    names : sequence of str
        Some of ``NAMES``.
    protocol : {"published", "corrected"}, default="published"
        With the published solvers, cut-offs and columns, or with the methods of this package,
        Algorithm 1 as written and the intended columns.
    methods : sequence of str, optional
        For tables: names of the paper (ols, dsft, dsft_nl, dp) or of ``poolwise.METHODS``, those of
        the paper unless given. For figures: further curves.
    jobs : int, default=1
        How many processes; the numbers do not depend on it.
    out : path, default="reproduction"
        Where to write.
    runs : int, optional
        At most so many runs of each cell, or repetitions of each point; as in the paper unless
        given.
    data : path, optional
        A folder to look for the datasets in.
    progress : bool, optional
        Whether to show bars; unless given, on a terminal.
    """
    check_protocol(protocol)
    for name in names:  # a wrong name or folder is found before the first hour is spent
        missing_data(name, data)
    if methods is not None:
        methods = _our_names(methods)
    for name in names:
        folder = Path(out) / protocol / name
        if name in TABLES:
            spec = read_table_spec(name)
            parts = parts_of(spec, protocol, methods=methods, runs=runs)
            done = compute(parts, folder, data=data, jobs=jobs)
            for _ in tracked(done, len(parts), f"Table {name}", show=progress):
                pass
            verdict = write_table(spec, protocol, folder)
            yield Outcome(name, (folder / RUNS, *_rendered(folder, name)), (str(verdict),), verdict)
        elif name == STATISTICS:
            says = write_statistics(count(data), folder)
            yield Outcome(name, _rendered(folder, name), (says,))
        else:
            whole = read_spec(name).repetitions
            repetitions = whole if runs is None else min(runs, whole)
            points = figures.run(
                name,
                protocol=protocol,
                methods=methods or (),
                repetitions=repetitions,
                data=None if data is None else Path(data),
                progress=progress,
            )
            files = figures.write(points, name, folder)
            if protocol != "published" or repetitions < whole:
                yield Outcome(name, tuple(files), (NOT_JUDGED,))
            else:
                yield Outcome(name, tuple(files), tuple(_judged(points, name)))


def missing_data(name: str, data: str | os.PathLike[str] | None = None) -> list[str]:
    """Return the datasets that a table or figure needs and that would have to be downloaded."""
    return [d for d in entry_of(name).needs if not datasets.available(d, data)]


def _rendered(folder: Path, name: str) -> tuple[Path, ...]:
    return tuple(
        sorted(p for p in folder.glob(f"{name}.*") if p.suffix in {".md", ".tex", ".html"})
    )


def _our_names(methods: Sequence[str]) -> list[str]:
    """Return the names that methods have in ``METHODS``; the paper has its own for some."""
    papers = read_table_spec(TABLES[0]).methods
    ours = [papers.get(m, m) for m in methods]
    for name in ours:
        method_of(name)  # says what there is
    return ours


def _judged(points: Sequence[Point], name: str) -> Iterator[str]:
    for verdict in figures.verdicts(points, name):
        holds = "Holds" if verdict.holds else "Does not hold"
        yield f"{holds}: {verdict.says} Found: {verdict.found}."
