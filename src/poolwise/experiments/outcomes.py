"""Outcomes: one table or figure of the paper, computed, written and judged."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from poolwise.errors import TransferError
from poolwise.experiments import datasets, figures
from poolwise.experiments.challenge import challenge
from poolwise.experiments.dataset_statistics import count
from poolwise.experiments.figure_specs import read_spec
from poolwise.experiments.parts import Part
from poolwise.experiments.points import Point
from poolwise.experiments.rendering import write_challenge, write_statistics, write_table
from poolwise.experiments.runs import RUNS, Errors, compute, methods_in, unfinished
from poolwise.experiments.specs import STATISTICS, Protocol, TableSpec
from poolwise.experiments.verdict import Verdict
from poolwise.progress import tracked

CHALLENGE = "challenge"  # folder of the comparisons of other methods with the published ones
NOT_JUDGED = "Not judged: what the paper says holds for its own protocol and repetitions."


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
    left_out : TransferError or None
        Why it was not computed.
    """

    name: str
    files: tuple[Path, ...]
    says: tuple[str, ...]
    verdict: Verdict | None = None
    left_out: TransferError | None = None


def table_outcome(
    spec: TableSpec,
    parts: Sequence[Part],
    folder: Path,
    *,
    data: str | os.PathLike[str] | None,
    jobs: int,
    progress: bool | None,
) -> Outcome:
    """Compute the parts of a table that are not there yet, and write and judge the whole."""
    before, missing = methods_in(folder), unfinished(parts, folder)
    for dataset in dict.fromkeys(part.dataset for part in missing):
        datasets.fetch(dataset, data)  # here, and not in several processes at once
    done = compute(parts, folder, data=data, jobs=jobs)
    for _ in islice(done, len(parts) - len(missing)):  # there already: no work to be shown
        pass
    work, label = sum(map(_work, missing)), f"Table {spec.name}"
    for _ in tracked(done, work, label, work=_work, show=progress):
        pass
    verdict = write_table(spec, parts[0].protocol, folder)
    says = (str(verdict), *_of_other_methods(before, methods_in(folder), parts))
    return Outcome(spec.name, (folder / RUNS, *_rendered(folder, spec.name)), says, verdict)


def _work(part: Part) -> int:
    """Return about how long a part takes, in a unit of its own: runs times rows."""
    return part.runs * datasets.UCI[part.dataset].rows


def _of_other_methods(
    before: Sequence[str], after: Sequence[str], parts: Sequence[Part]
) -> Iterator[str]:
    """Say which methods that were not asked for are in a table, and which no longer are."""
    asked = {part.method for part in parts}
    if others := [m for m in after if m not in asked]:
        yield f"Also in it, from earlier commands: {', '.join(others)}."
    if gone := [m for m in before if m not in after]:
        yield (
            f"Made by other code, or damaged, and no longer in it: {', '.join(gone)}; name them "
            "again to compute them."
        )


def statistics_outcome(folder: Path, data: str | os.PathLike[str] | None) -> Outcome:
    """Count the rows and columns of all datasets."""
    says = write_statistics(count(data), folder)
    return Outcome(STATISTICS, _rendered(folder, STATISTICS), (says,))


def figure_outcome(
    name: str,
    protocol: Protocol,
    methods: Sequence[str],
    folder: Path,
    *,
    runs: int | None,
    data: str | os.PathLike[str] | None,
    jobs: int,
    progress: bool | None,
) -> Outcome:
    """Compute the points of a figure, and draw and judge it."""
    whole = read_spec(name).repetitions
    repetitions = whole if runs is None else min(runs, whole)
    points = figures.run(
        name,
        protocol=protocol,
        methods=methods,
        repetitions=repetitions,
        data=None if data is None else Path(data),
        jobs=jobs,
        progress=progress,
    )
    files = figures.write(points, name, folder)
    is_papers = protocol == "published" and repetitions == whole
    says = tuple(_judged(points, name)) if is_papers else (NOT_JUDGED,)
    return Outcome(name, tuple(files), says)


def _judged(points: Sequence[Point], name: str) -> Iterator[str]:
    for judgement in figures.judgements(points, name):
        holds = "Holds" if judgement.holds else "Does not hold"
        yield f"{holds}: {judgement.says} Found: {judgement.found}."


def challenge_outcome(method: str, errors: Mapping[str, Errors], folder: Path) -> Outcome:
    """Compare a method with the published ones, over all tables that were computed."""
    found = challenge(method, errors)
    write_challenge(found, folder)
    says = tuple(str(found).splitlines())
    return Outcome(f"{CHALLENGE} {method}", _rendered(folder, method), says)


def _rendered(folder: Path, name: str) -> tuple[Path, ...]:
    return tuple(
        sorted(p for p in folder.glob(f"{name}.*") if p.suffix in {".md", ".tex", ".html"})
    )
