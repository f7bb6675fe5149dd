"""Splits of a dataset as in one line of a table of the paper, and test errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from paper import datasets
from paper.protocol import ordered, splits_of
from paper.specs import read_table_spec
from poolwise._typing import Array

LEFT_OUT = "Left out: the paper's datasets, which are missing (see POOLWISE_DATA)."
MOST_SOURCE_ROWS, MOST_TEST_ROWS = 4000, 2000


class Sample(NamedTuple):
    """New rows, old rows that lack the last columns, and rows to test on."""

    X: Array
    y: Array
    history: tuple[Array, Array]
    test: Array
    test_y: Array


Predictions: TypeAlias = Callable[
    [Array, Array, tuple[Array, Array]], Iterable[tuple[str, Callable[[Array], Array]]]
]


def cell_samples(table: str, name: str, runs: int, first: int = 1) -> Iterator[Sample]:
    """Yield published splits of one dataset of one table, from the first on, counted from one."""
    spec = read_table_spec(table)
    rows = ordered(datasets.load(name), "corrected")
    shared = rows.shape[1] - 1 - spec.new_features
    for split in splits_of(spec, name)[first - 1 : first - 1 + runs]:
        source, target = rows[split.source][:MOST_SOURCE_ROWS], rows[split.target]
        test = rows[split.test][:MOST_TEST_ROWS]
        history = source[:, :shared], source[:, -1]
        yield Sample(target[:, :-1], target[:, -1], history, test[:, :-1], test[:, -1])


def errors_of(samples: Iterable[Sample], predictions: Predictions) -> dict[str, Array]:
    """Return the test errors of each method in each sample, one thread each."""
    errors: dict[str, list[float]] = {}
    for s in samples:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for method, predict in predictions(s.X, s.y, s.history):
                left = s.test_y - predict(s.test)
                errors.setdefault(method, []).append(float(np.sqrt(np.mean(left**2))))
    return {method: np.array(e) for method, e in errors.items()}


def trees_on_nan(X: Array, y: Array, history: tuple[Array, Array]) -> HistGradientBoostingRegressor:
    """Stack all rows, with NaN where the history lacks a column, and boost trees."""
    return HistGradientBoostingRegressor(random_state=0).fit(*stacked_rows(X, y, history))


def stacked_rows(X: Array, y: Array, history: tuple[Array, Array]) -> tuple[Array, Array]:
    """Stack all rows, with NaN where the history lacks a column."""
    old, old_y = history
    padded = np.full((len(old), X.shape[1]), np.nan)
    padded[:, : old.shape[1]] = old
    return np.vstack((padded, X)), np.concatenate((old_y, y))
