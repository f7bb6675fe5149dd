"""Tables: the test errors of methods in each run of one dataset of one table."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from poolwise.double_double import Array
from poolwise.errors import BadOption, UnknownMethod
from poolwise.experiments import corrected, datasets
from poolwise.experiments.columns import ordered, with_product
from poolwise.experiments.published import PUBLISHED
from poolwise.experiments.specs import Protocol, TableSpec, read_statistics
from poolwise.experiments.splits import (
    LARGE_RUNS,
    Split,
    large_splits,
    small_sizes,
    small_splits,
)
from poolwise.experiments.training_rows import TrainingRows
from poolwise.methods import METHOD_NAMES


class Score(NamedTuple):
    """One fit: which run, which method, and its error on the test rows."""

    run: int
    method: str
    rmse: float


def scores(
    spec: TableSpec,
    dataset: str,
    methods: Sequence[str],
    protocol: Protocol,
    *,
    data: str | os.PathLike[str] | None = None,
    runs: int | None = None,
    skip: Container[int] = (),
) -> Iterator[Score]:
    """Yield the test error of each run and method, run by run.

    Parameters
    ----------
    spec : TableSpec
        Which table.
    dataset : str
        Which line of it.
    methods : sequence of str
        As ``labels`` returns them.
    protocol : {"published", "corrected"}
        Published: the columns of the published program, and its solvers for the methods of the
        paper. Corrected: the columns that were meant, and our methods.
    data : path, optional
        A folder to look for the dataset in.
    runs : int, optional
        How many of the runs; all unless given.
    skip : container of int, default=()
        Runs to leave out; the others are the same with and without them.
    """
    rows = _rows(dataset, None if data is None else os.fspath(data), protocol)
    splits = splits_of(spec, dataset)[:runs]
    features = rows.shape[1] - 1
    if spec.product:
        rows = with_product(rows, spec.new_features)
    shared = features - spec.new_features
    for k, split in enumerate(splits):
        if k in skip:
            continue
        source, target, test = rows[split.source], rows[split.target], rows[split.test]
        sample = TrainingRows(
            source[:, :shared], source[:, -1], target[:, :-1], target[:, -1], spec.product
        )
        for label in methods:
            error = test[:, -1] - _predictions(spec, label, protocol, sample, test[:, :-1])
            yield Score(k, label, float(np.sqrt(np.mean(error**2))))


def labels(spec: TableSpec, methods: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return the names that methods have in results: the paper's where it has one, else ours.

    Parameters
    ----------
    spec : TableSpec
        Which table.
    methods : sequence of str, optional
        Names of the paper or of ours; those of the paper unless given.
    """
    ours = {name: label for label, name in spec.methods.items()}
    if methods is not None and not any(methods):
        raise BadOption("methods", list(methods), "at least one name, or left out")
    wanted = list(spec.methods) if methods is None else [ours.get(m, m) for m in methods]
    for name in wanted:
        if name not in (*spec.methods, *METHOD_NAMES):
            raise UnknownMethod(name, [*spec.methods, *METHOD_NAMES])
    return tuple(dict.fromkeys(wanted))


def run_count(spec: TableSpec, dataset: str, runs: int | None = None) -> int:
    """Return the number of runs of a dataset, or ``runs`` if that is less."""
    if dataset not in spec.datasets:
        raise BadOption("dataset", dataset, f"one of {', '.join(spec.datasets)}")
    if runs is not None and runs < 1:
        raise BadOption("runs", runs, "a positive number")
    if spec.split == "large":
        return min(LARGE_RUNS, runs or LARGE_RUNS)
    known = read_statistics()[dataset]
    whole = small_sizes(known.total, known.features, spec.target_rows(known.features)).runs
    return min(whole, runs or whole)


def splits_of(spec: TableSpec, dataset: str) -> list[Split]:
    """Return the splits of a dataset, the same whether it runs alone or with the whole table.

    Parameters
    ----------
    spec : TableSpec
        Which table.
    dataset : str
        Which line of it.
    """
    known = read_statistics()
    if spec.split == "large":
        own = known[dataset]
        return large_splits(own.total, spec.target_rows(own.features))
    sizes = [
        small_sizes(s.total, s.features, spec.target_rows(s.features))
        for s in (known[name] for name in spec.datasets)
    ]
    at = spec.datasets.index(dataset)
    return small_splits(sizes[at], sizes[:at])


@lru_cache(maxsize=1)  # the methods of one dataset come one after the other
def _rows(dataset: str, data: str | None, protocol: Protocol) -> Array:
    rows = ordered(datasets.load(dataset, data), protocol)
    rows.setflags(write=False)
    return rows


def _predictions(
    spec: TableSpec, label: str, protocol: Protocol, sample: TrainingRows, X: Array
) -> Array:
    name = spec.methods.get(label, label)
    assert name in METHOD_NAMES, name
    if protocol == "published" and name in PUBLISHED:
        return PUBLISHED[name](sample).predict(X)
    return corrected.solve(sample, name).predict(X)
