"""Detailed experiments: one old and one new column of a real file, targets of growing size.

The rows are shuffled once. The first are the source, the next the test set; from the rest, shuffled
again for each number of target rows, come disjoint targets.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from poolwise.double_double import Array
from poolwise.errors import BadOption
from poolwise.experiments import airfare, datasets
from poolwise.experiments.figure_specs import Axis, DataSplit
from poolwise.experiments.samples import Samples


def split_targets(
    rows: Array, split: DataSplit, axis: Axis, *, repetitions: int, seed: int | None = None
) -> Iterator[Samples]:
    """Yield the samples of each number of target rows.

    Parameters
    ----------
    rows : array of shape (n, 3)
        Old column, new column and response.
    split : DataSplit
        Sizes and seeds.
    axis : Axis
        Numbers of target rows.
    repetitions : int
        Targets of each number of rows.
    seed : int, optional
        Takes the place of both published seeds. The generator is numpy's legacy one, as published.
    """
    split_seed, target_seed = (split.split_seed, split.target_seed) if seed is None else (seed,) * 2
    shuffled = rows[np.random.RandomState(split_seed).permutation(len(rows))]
    source, test, rest = np.split(
        shuffled, [split.source_rows, split.source_rows + split.test_rows]
    )
    most = int(len(rest) // max(axis.values))
    if repetitions > most:
        allowed = f"at most {most}: {split.dataset} has {len(rest)} rows for disjoint targets"
        raise BadOption("repetitions", repetitions, allowed)
    old = np.broadcast_to(source[:, [0, 2]], (repetitions, split.source_rows, 2))
    generator = np.random.RandomState(target_seed)
    for value in axis.values:
        n = int(value)
        drawn = rest[generator.permutation(len(rest))[: repetitions * n]]
        yield Samples(value, old, drawn.reshape(repetitions, n, 3), test)


def load_columns(split: DataSplit, data: str | Path | None = None) -> Array:
    """Return old column, new column and response, in their own units.

    Parameters
    ----------
    split : DataSplit
        Which file and columns.
    data : path, optional
        Folder with the data, as ``datasets.load`` takes it.
    """
    if split.dataset == airfare.NAME:
        table = airfare.load(data)
    else:
        table = datasets.load(split.dataset, data)
    columns: Array = table[:, list(split.columns)] + np.array(split.add)
    return columns
