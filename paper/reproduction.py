"""Compute, write and judge any table or figure of the paper by its name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paper import datasets, figures, specs
from paper.agreement import Agreement, agreement
from paper.challenge import challenge, challengers
from paper.errors import OutOfReach, PaperError, check_name
from paper.expectations import judgements
from paper.protocol import labels, run_count
from paper.rendering import challenge_grid, count_sizes, statistics_grid, table_grid
from paper.results import RUNS, Cell, Errors, cells_of, compute, read_runs, unfinished
from paper.specs import STATISTICS, TABLES, Protocol, read_table_spec
from poolwise._typing import AnyPath
from poolwise.moments.progress import tracked

NAMES = (*TABLES, STATISTICS, *specs.FIGURES)
CHALLENGE = "challenge"  # folder of the comparisons of other methods with the published ones
NOT_JUDGED = "Not judged: the paper's statements are about its own protocol and repetitions."


@dataclass(frozen=True)
class Entry:
    """A table or figure that can be reproduced."""

    name: str
    where: str  # in the paper
    title: str
    needs: tuple[str, ...]  # datasets


def entry_of(name: str) -> Entry:
    """Return title, place in the paper and datasets of a table or figure."""
    check_name("table or figure", name, NAMES)
    if name in TABLES:
        table = read_table_spec(name)
        return Entry(name, table.where, table.title, table.datasets)
    if name == STATISTICS:
        return Entry(name, "Table 1", "Sizes of the datasets", tuple(specs.read_statistics()))
    figure = specs.read_figure_spec(name)
    needs = (figure.experiment.dataset,) if isinstance(figure.experiment, specs.DataSplit) else ()
    return Entry(name, figure.where, figure.title, needs)


def missing_data(name: str, data: AnyPath | None = None) -> list[str]:
    """Return the datasets that a table or figure needs and that would have to be downloaded."""
    return [d for d in entry_of(name).needs if not datasets.available(d, data)]


@dataclass(frozen=True)
class Options:
    """Options that apply to every table and figure."""

    protocol: Protocol = "published"
    methods: Sequence[str] | None = None  # of tables, by default the paper's; curves of figures
    jobs: int = 1  # processes; the numbers do not depend on it
    out: AnyPath = "reproduction"  # folder to write to
    runs: int | None = None  # at most; by default as in the paper
    data: AnyPath | None = None  # folder to look for datasets in
    progress: bool | None = None  # whether to show bars; by default on a terminal


@dataclass(frozen=True)
class Outcome:
    """The result for one table or figure."""

    name: str
    files: tuple[Path, ...] = ()  # written files
    says: tuple[str, ...] = ()  # how it compares with the paper, in sentences
    agreement: Agreement | None = None  # the same in numbers, for a table
    left_out: OutOfReach | None = None  # why it was not computed


def reproduce(names: Sequence[str], **options: Any) -> Iterator[Outcome]:
    """Compute tables and figures, some of ``NAMES``, write them, and yield the outcome of each.

    Keyword arguments are the fields of ``Options``. Each result has a folder of its own,
    ``out/protocol/name``, or ``out/protocol/name-runs5`` with fewer runs than in the paper. A table
    that was interrupted is resumed, and methods from earlier calls stay in it. Methods beside all
    the published ones are compared with them over all cells, in ``out/protocol/challenge``. If a
    dataset is missing, a single name raises ``OutOfReach``; of several names the others are
    computed, and ``left_out`` of the outcome says why.
    """
    given = Options(**options)
    check_name("protocol", given.protocol, specs.PROTOCOLS)
    _check_folder(Path(given.out))
    for name in names:  # a wrong name or folder raises an error before any computation
        missing_data(name, given.data)
    if given.methods is not None:
        labels(read_table_spec(TABLES[0]), given.methods)
    errors: dict[str, Errors] = {}
    folders = Path(given.out) / given.protocol
    for name in names:
        folder = folders / _folder(name, given.runs)
        try:
            if name in TABLES:
                outcome = _table(name, folder, given)
                errors[name] = read_runs(folder)
            elif name == STATISTICS:
                grid = statistics_grid(count_sizes(given.data), specs.read_statistics())
                outcome = Outcome(name, grid.write(folder, name), grid.notes[:1])
            else:
                outcome = _figure(name, folder, given)
        except OutOfReach as error:
            if len(names) == 1:
                raise
            outcome = Outcome(name, left_out=error)
        yield outcome

    for method in challengers(errors):
        found = challenge(method, errors)
        files = challenge_grid(found).write(folders / _folder(CHALLENGE, given.runs), method)
        yield Outcome(f"{CHALLENGE} {method}", files, tuple(str(found).splitlines()))


def _table(name: str, folder: Path, given: Options) -> Outcome:
    """Compute the cells of a table that are missing, and write and judge the whole."""
    spec, before = read_table_spec(name), read_runs(folder)
    cells = cells_of(spec, given.protocol, given.methods, given.runs)
    missing = unfinished(cells, folder)
    for dataset in dict.fromkeys(cell.dataset for cell in missing):
        datasets.fetch(dataset, given.data)  # once, before several processes need it
    done, work = compute(cells, folder, data=given.data, jobs=given.jobs), sum(map(_work, missing))
    for _ in tracked(done, work, f"Table {name}", work=_work, show=given.progress):
        pass
    errors = read_runs(folder)
    files = (folder / RUNS, *table_grid(spec, given.protocol, errors).write(folder, name))
    found = agreement(spec, errors)
    says = [str(found)]
    was, now = ([m for by_method in e.values() for m in by_method] for e in (before, errors))
    if others := [m for m in dict.fromkeys(now) if m not in {cell.method for cell in cells}]:
        says.append(f"Also in it, from earlier commands: {', '.join(others)}.")
    if gone := [m for m in dict.fromkeys(was) if m not in now]:
        says.append(
            f"Removed because they were made by other code or are damaged: {', '.join(gone)}; name "
            "them again to compute them."
        )
    return Outcome(name, files, tuple(says), found)


def _work(cell: Cell) -> int:
    """Return the approximate cost of a cell: runs times rows."""
    return cell.runs * datasets.UCI[cell.dataset].rows


def _figure(name: str, folder: Path, given: Options) -> Outcome:
    """Compute the points of a figure, and draw and judge it."""
    whole, names = specs.read_figure_spec(name).repetitions, read_table_spec(TABLES[0]).methods
    repetitions = whole if given.runs is None else min(given.runs, whole)
    points = figures.run(
        name,
        protocol=given.protocol,
        methods=[names.get(m, m) for m in given.methods or ()],
        repetitions=repetitions,
        data=given.data,
        jobs=given.jobs,
        progress=given.progress,
    )
    files = tuple(figures.write(points, name, folder))
    if given.protocol != "published" or repetitions < whole:
        return Outcome(name, files, (NOT_JUDGED,))
    words = {True: "Holds", False: "Does not hold"}
    says = (f"{words[j.holds]}: {j.says} Found: {j.found}." for j in judgements(points, name))
    return Outcome(name, files, tuple(says))


def _check_folder(out: Path) -> None:
    """Raise an error for a folder that cannot be written to, or that is a file."""
    there = next((path for path in (out, *out.absolute().parents) if path.exists()), None)
    if there is not None and not (there.is_dir() and os.access(there, os.W_OK)):
        why = "cannot be written to" if there.is_dir() else "is a file"
        raise PaperError(f"out={str(out)!r} must be a folder to write to, and {there} {why}.")


def _folder(name: str, runs: int | None) -> str:
    """Return the name of a folder; fewer runs have their own, so that full results are kept."""
    if name == STATISTICS or runs is None:
        return name
    if name in TABLES:
        spec = read_table_spec(name)
        whole = max(run_count(spec, dataset) for dataset in spec.datasets)
    else:
        whole = runs + 1 if name == CHALLENGE else specs.read_figure_spec(name).repetitions
    return name if runs >= whole else f"{name}-runs{runs}"
