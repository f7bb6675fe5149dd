"""Reproduction: any table or figure of the paper by its name, computed, written and judged."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from poolwise.errors import (
    BadOption,
    DatasetNotFound,
    NotInstalled,
    UnknownResult,
    UnreadableDataset,
    WrongChecksum,
)
from poolwise.experiments import datasets, figures
from poolwise.experiments.challenge import challengers
from poolwise.experiments.figure_specs import DataSplit, read_spec
from poolwise.experiments.outcomes import (
    CHALLENGE,
    Outcome,
    challenge_outcome,
    figure_outcome,
    statistics_outcome,
    table_outcome,
)
from poolwise.experiments.parts import parts_of
from poolwise.experiments.runs import Errors, read_runs
from poolwise.experiments.specs import (
    STATISTICS,
    TABLES,
    Protocol,
    check_protocol,
    read_statistics,
    read_table_spec,
)
from poolwise.experiments.tables import labels, run_count

NAMES = (*TABLES, STATISTICS, *figures.NAMES)
OUT_OF_REACH = (DatasetNotFound, WrongChecksum, UnreadableDataset, NotInstalled)


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


def entry_of(name: str) -> Entry:
    """Return what is known of a table or figure before it is computed."""
    if name in TABLES:
        table = read_table_spec(name)
        return Entry(name, table.title, table.where, tuple(table.datasets))
    if name == STATISTICS:
        return Entry(name, "Sizes of the datasets", "Table 1", tuple(read_statistics()))
    if name not in figures.NAMES:
        raise UnknownResult(name, NAMES)
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

    Every table and figure has a folder of its own, ``out/protocol/name``, and one with fewer runs
    than the paper's another, ``out/protocol/name-runs5``. A table that was interrupted goes on
    where it was, and methods that are finished from earlier calls stay in it. After the tables,
    every method beside the published ones is compared with them, over all cells, in
    ``out/protocol/challenge``. Where a dataset or package cannot be had, that is raised for a
    single name. Of several names the others are computed, and ``left_out`` of the outcome says why.

    Parameters
    ----------
    names : sequence of str
        Some of ``NAMES``.
    protocol : {"published", "corrected"}, default="published"
        With the published solvers, cut-offs and columns, or with the methods of this package,
        Algorithm 1 as written and the intended columns.
    methods : sequence of str, optional
        For tables: names of the paper (ols, dsft, dsft_nl, dp) or of ours, those of
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
    _check_folder(Path(out))
    for name in names:  # a wrong name or folder is found before the first hour is spent
        missing_data(name, data)
    if methods is not None:
        methods = _our_names(methods)
    errors: dict[str, Errors] = {}
    for name in names:
        folder = Path(out) / protocol / _folder(name, runs)
        try:
            if name in TABLES:
                spec = read_table_spec(name)
                parts = parts_of(spec, protocol, methods=methods, runs=runs)
                outcome = table_outcome(
                    spec, parts, folder, data=data, jobs=jobs, progress=progress
                )
                errors[name] = read_runs(folder)
            elif name == STATISTICS:
                outcome = statistics_outcome(folder, data)
            else:
                outcome = figure_outcome(
                    name,
                    protocol,
                    methods or (),
                    folder,
                    runs=runs,
                    data=data,
                    jobs=jobs,
                    progress=progress,
                )
        except OUT_OF_REACH as error:
            if len(names) == 1:
                raise
            outcome = Outcome(name, (), (), left_out=error)
        yield outcome

    for method in challengers(errors):
        folder = Path(out) / protocol / _folder(CHALLENGE, runs)
        yield challenge_outcome(method, errors, folder)


def missing_data(name: str, data: str | os.PathLike[str] | None = None) -> list[str]:
    """Return the datasets that a table or figure needs and that would have to be downloaded."""
    return [d for d in entry_of(name).needs if not datasets.available(d, data)]


def _check_folder(out: Path) -> None:
    """Refuse a folder that cannot be written to, or that has a file in its way."""
    there = next((path for path in (out, *out.absolute().parents) if path.exists()), None)
    if there is not None and not (there.is_dir() and os.access(there, os.W_OK)):
        why = "cannot be written to" if there.is_dir() else "is a file"
        raise BadOption("out", os.fspath(out), f"a folder to write to, and {there} {why}")


def _folder(name: str, runs: int | None) -> str:
    """Return the name of a folder: a quick look has its own, and replaces no whole result."""
    if name == STATISTICS or runs is None:
        return name
    if name == CHALLENGE:
        return f"{name}-runs{runs}"
    if name in TABLES:
        spec = read_table_spec(name)
        whole = max(run_count(spec, dataset) for dataset in spec.datasets)
    else:
        whole = read_spec(name).repetitions
    return name if runs >= whole else f"{name}-runs{runs}"


def _our_names(methods: Sequence[str]) -> list[str]:
    """Return the names that methods have in ``METHODS``; the paper has its own for some."""
    spec = read_table_spec(TABLES[0])
    return [spec.methods.get(label, label) for label in labels(spec, methods)]
