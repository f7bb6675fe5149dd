"""Booster: one call of scikit-learn's gradient boosting, and its trees as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from poolwise.boosting.trees import EVERY_VALUE, Trees
from poolwise.double_double import Array

THREADS_PAY = 1_000_000  # values; below this, threads of a tree learner wait for each other


class Growth(NamedTuple):
    """How trees are grown."""

    trees: int
    leaves: int
    rate: float
    rows_per_leaf: int


def grow(rows: Array, response: Array, weights: Array | None, growth: Growth, seed: int) -> Trees:
    """Boost trees by least squares.

    Parameters
    ----------
    rows : array of shape (n, columns)
        Features; NaN says that a row lacks the column.
    response : array of shape (n,)
        What to learn.
    weights : array of shape (n,) or None
        Of the rows.
    growth : Growth
        How to grow them.
    seed : int
        For the rows whose quantiles are the thresholds, where there are very many.
    """
    booster = HistGradientBoostingRegressor(
        max_iter=growth.trees,
        max_leaf_nodes=growth.leaves,
        learning_rate=growth.rate,
        min_samples_leaf=growth.rows_per_leaf,
        early_stopping=False,
        random_state=seed,
    )
    threads = 1 if rows.size < THREADS_PAY else None
    # It computes with single precision inside, and splits no leaf of a small weight.
    power = _power(np.abs(response).max())
    own = None if weights is None else np.ldexp(weights, -_power(weights.mean()))
    with threadpool_limits(threads, user_api="openmp"):
        booster.fit(_with_values(rows), np.ldexp(response, -power), sample_weight=own)
    return _plain(booster).times_units([0] * rows.shape[1], power)


def _power(size: float) -> int:
    """Return the power of two that is next above a number."""
    return int(np.frexp(size)[1])


def _with_values(rows: Array) -> Array:
    """Return rows without a column that has no value at all: any one will do, to split on none."""
    empty = np.isnan(rows).all(axis=0)
    return np.where(empty, 0.0, rows) if empty.any() else rows


def _plain(booster: HistGradientBoostingRegressor) -> Trees:
    """Take the trees out; scikit-learn has no public name for them, and a test that they agree."""
    grown: Sequence[Any] = [stage[0].nodes for stage in booster._predictors]
    sizes = [len(nodes) for nodes in grown]
    roots = np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.intp) if sizes else _places(0)
    nodes = np.concatenate(grown)
    own, root = _places(len(nodes)), np.repeat(roots, sizes)
    is_leaf = nodes["is_leaf"].astype(np.bool_)
    return Trees(
        baseline=float(booster._baseline_prediction.reshape(-1)[0]),
        roots=roots,
        feature=np.where(is_leaf, 0, nodes["feature_idx"]).astype(np.intp),
        threshold=np.where(is_leaf, 0.0, np.minimum(nodes["num_threshold"], EVERY_VALUE)),
        missing_left=nodes["missing_go_to_left"].astype(np.bool_) & ~is_leaf,
        left=np.where(is_leaf, own, root + nodes["left"]).astype(np.intp),
        right=np.where(is_leaf, own, root + nodes["right"]).astype(np.intp),
        value=np.where(is_leaf, nodes["value"], 0.0),
    )


def _places(count: int) -> Any:
    return np.arange(count, dtype=np.intp)
