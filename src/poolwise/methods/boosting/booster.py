"""Boosting of trees by scikit-learn or LightGBM, and the trees as plain arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import ThreadpoolController

from poolwise._typing import Array
from poolwise.errors import BadOption, NotInstalled
from poolwise.methods.boosting.trees import EVERY_VALUE, Trees

Learner: TypeAlias = Literal["sklearn", "lightgbm"]

THREADS_PAY = 1_000_000  # values; below this, threads of a tree learner wait for each other
INFINITE = 1e300  # LightGBM's infinite threshold


class Growth(NamedTuple):
    """How trees are grown."""

    trees: int
    leaves: int
    rate: float
    rows_per_leaf: int


Grow: TypeAlias = Callable[[Array, Array, Array | None, Growth], Trees]


def grower(learner: Learner, seed: int) -> Grow:
    """Return a function that boosts trees by least squares on rows, responses and weights.

    The seed draws the rows whose quantiles are the thresholds, if there are very many rows.
    """
    if learner == "sklearn":
        return partial(_near_one, partial(_by_sklearn, seed=seed))
    if learner != "lightgbm":
        raise BadOption.of("learner", learner, "'sklearn' or 'lightgbm'")
    try:
        import lightgbm
    except ImportError:
        otherwise = "Without it, learner='sklearn' grows trees that are as good."
        raise NotInstalled.of("learner='lightgbm'", "lightgbm", "lightgbm", otherwise) from None
    return partial(_near_one, partial(_by_lightgbm, seed=seed, library=lightgbm))


def _near_one(
    grow: Grow, rows: Array, response: Array, weights: Array | None, growth: Growth
) -> Trees:
    """Grow trees on numbers near one, because both libraries use single precision inside.

    They also do not split a leaf of small weight, and a column must have some value.
    """
    power = _power(np.abs(response).max())
    own = None if weights is None else np.ldexp(weights, -_power(weights.mean()))
    trees = grow(_with_values(rows), np.ldexp(response, -power), own, growth)
    return trees.times_powers([0] * rows.shape[1], power)


def _power(size: float) -> int:
    """Return the exponent of the next power of two."""
    return int(np.frexp(size)[1])


def _with_values(rows: Array) -> Array:
    """Return rows with zero in columns that have no value at all, on which no tree splits."""
    empty = np.isnan(rows).all(axis=0)
    return np.where(empty, 0.0, rows) if empty.any() else rows


def _by_sklearn(
    rows: Array, response: Array, weights: Array | None, growth: Growth, *, seed: int
) -> Trees:
    booster = HistGradientBoostingRegressor(
        max_iter=growth.trees,
        max_leaf_nodes=growth.leaves,
        learning_rate=growth.rate,
        min_samples_leaf=growth.rows_per_leaf,
        early_stopping=False,
        random_state=seed,
    )
    threads = 1 if rows.size < THREADS_PAY else None
    with _openmp().limit(limits=threads):
        booster.fit(rows, response, sample_weight=weights)
    # scikit-learn has no public name for its nodes; a test checks that the sums are the same.
    grown = [stage[0].nodes for stage in booster._predictors]
    sizes = [len(nodes) for nodes in grown]
    roots = np.cumsum([0, *sizes[:-1]], dtype=np.intp)
    nodes = np.concatenate(grown)
    own, root = np.arange(len(nodes), dtype=np.intp), np.repeat(roots, sizes)
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


@cache
def _openmp() -> ThreadpoolController:
    """Find OpenMP among the loaded libraries, once: this takes a tenth of the time of a booster."""
    return ThreadpoolController().select(user_api="openmp")


def _by_lightgbm(
    rows: Array,
    response: Array,
    weights: Array | None,
    growth: Growth,
    *,
    seed: int,
    library: Any,
) -> Trees:
    options = {
        "objective": "l2",
        "num_leaves": growth.leaves,
        "learning_rate": growth.rate,
        "min_data_in_leaf": growth.rows_per_leaf,
        "num_threads": 1 if rows.size < THREADS_PAY else 0,
        "deterministic": True,
        "force_row_wise": True,  # else it measures which layout is faster: the order of sums varies
        "feature_pre_filter": False,
        "seed": seed,
        "verbose": -1,
    }
    # Responses are held in single precision: about their mean they keep their digits. And
    # columns are near one, because values below 1e-35 count as zero.
    middle = float(np.average(response, weights=weights))
    power = _power(np.abs(response - middle).max())
    powers = np.frexp(np.nanmax(np.abs(rows), axis=0))[1]
    own, own_response = np.ldexp(rows, -powers), np.ldexp(response - middle, -power)
    data = library.Dataset(own, own_response, weight=weights, params=options)
    booster = library.train(options, data, growth.trees)
    nodes: list[tuple[int, float, bool, int, int, float]] = []
    roots = []
    for tree in booster.dump_model()["tree_info"]:
        roots.append(len(nodes))
        _append(nodes, tree["tree_structure"])
    while len(roots) < growth.trees:  # it stops when no split is left
        roots.append(len(nodes))
        nodes.append((0, 0.0, False, len(nodes), len(nodes), 0.0))
    feature, threshold, missing_left, left, right, value = map(np.array, zip(*nodes, strict=True))
    trees = Trees(
        float(np.ldexp(middle, -power)),
        np.array(roots, dtype=np.intp),
        feature.astype(np.intp),
        np.where(threshold < INFINITE, threshold, EVERY_VALUE).astype(np.float64),
        missing_left.astype(np.bool_),
        left.astype(np.intp),
        right.astype(np.intp),
        value.astype(np.float64),
    )
    return trees.times_powers(powers.tolist(), power)


def _append(nodes: list[tuple[int, float, bool, int, int, float]], node: dict[str, Any]) -> None:
    own = len(nodes)
    if "leaf_value" in node and "left_child" not in node:
        nodes.append((0, 0.0, False, own, own, float(node["leaf_value"])))
        return
    threshold = float(node["threshold"])
    # Where no row lacked the column, LightGBM treats a missing value as zero.
    goes_left = bool(node["default_left"]) if node["missing_type"] == "NaN" else threshold >= 0.0
    nodes.append((0, 0.0, False, own, own, 0.0))
    _append(nodes, node["left_child"])
    right = len(nodes)
    _append(nodes, node["right_child"])
    nodes[own] = (int(node["split_feature"]), threshold, goes_left, own + 1, right, 0.0)
