"""Splits: which rows are source, target and test in each run of the two setups."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import ShuffleSplit

from poolwise.experiments.specs import Sizes, read_setups

Index = NDArray[np.intp]

SMALL, LARGE = read_setups()
LARGE_RUNS = LARGE.runs


@dataclass(frozen=True, eq=False)
class Split:
    """Row numbers of one run.

    Parameters
    ----------
    source, target, test : array of int
        Places of their rows in the dataset.
    """

    source: Index
    target: Index
    test: Index


def small_sizes(total: int, features: int, target_rows: int | None = None) -> Sizes:
    """Return the sizes of the small setup.

    A usual target has ``features + 30`` rows; the source has three times as many, whatever the
    target has, but 100 at least. The numbers stand in ``specs/setups.toml``.

    Parameters
    ----------
    total : int
        Rows of the dataset.
    features : int
        Features of the target.
    target_rows : int, optional
        Rows of each target; ``features + 30`` unless given.
    """
    usual = features + SMALL.extra_rows
    target = usual if target_rows is None else target_rows
    source = max(SMALL.targets_in_source * usual, SMALL.least_source_rows)
    test = total // SMALL.test_share
    runs = min((total - source - test) // target, SMALL.runs)
    return Sizes(total, source, target, test, features, runs)


def small_splits(sizes: Sizes, before: Iterable[Sizes]) -> list[Split]:
    """Return the runs of the small setup: one source, one test set, disjoint targets.

    The rows are shuffled, the first are the source, the next the test set. The rest is shuffled
    once more, by one stream of numbers for all datasets of a table in alphabetical order.

    Parameters
    ----------
    sizes : Sizes
        Those of this dataset.
    before : iterable of Sizes
        Those of the datasets that come before it in the table, whose draws are skipped.
    """
    # As DataFrame.sample(frac=1, random_state=seed) of pandas does, by NumPy's old generator.
    rows = np.random.RandomState(SMALL.seed).permutation(sizes.total)
    stream = np.random.RandomState(SMALL.target_seed)
    for other in before:
        stream.permutation(_rest(other))
    source, test, rest = np.split(rows, [sizes.source, sizes.source + sizes.test])
    shuffled = rest[stream.permutation(_rest(sizes))]
    n = sizes.target
    return [Split(source, shuffled[k * n : (k + 1) * n], test) for k in range(sizes.runs)]


def large_splits(total: int, target_rows: int) -> list[Split]:
    """Return the runs of the large setup: a tenth to test, few target rows, the rest is source.

    Parameters
    ----------
    total : int
        Rows of the dataset.
    target_rows : int
        Rows of each target: the last of the permuted training rows.
    """
    shuffle = ShuffleSplit(LARGE.runs, test_size=total // LARGE.test_share, random_state=LARGE.seed)
    return [
        Split(train[:-target_rows], train[-target_rows:], test)
        for train, test in shuffle.split(np.empty(total))
    ]


def _rest(sizes: Sizes) -> int:
    return sizes.total - sizes.source - sizes.test
