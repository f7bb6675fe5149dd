"""Boosting of trees by LightGBM, and the trees as plain arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array
from poolwise.errors import NotInstalled
from poolwise.methods.boosting.trees import EVERY_VALUE, Trees

THREADS_PAY = 1_000_000  # values; below this, threads of a tree learner wait for each other
INFINITE = 1e300  # LightGBM's infinite threshold
MISSING_LEFT, MISSING, NOT_A_NUMBER = 2, 12, 8  # bits of LightGBM's `decision_type`


class Growth(NamedTuple):
    """How trees are grown."""

    trees: int
    leaves: int
    rate: float
    rows_per_leaf: int


def check_learner() -> None:
    """Raise an error if LightGBM cannot be loaded."""
    _lightgbm()


def _lightgbm() -> Any:
    try:
        import lightgbm
    except (ImportError, OSError) as error:  # OSError: there is no OpenMP runtime
        raise NotInstalled(
            f"Trees are grown by LightGBM, which cannot be loaded ({error}).",
            "Install lightgbm and the OpenMP runtime (libgomp on Linux, libomp on macOS), or use "
            "bayes_pooling, which needs no trees.",
        ) from None
    return lightgbm


class BinnedRows:
    """Rows whose values are in bins, for all trees that are grown on parts of them."""

    def __init__(self, X: Array, weights: Array | None, seed: int, bins: int) -> None:
        # Columns are near one, because values below 1e-35 count as zero, and so are weights,
        # because a leaf of small weight is not split. A column must have some value.
        empty = np.isnan(X).all(axis=0)
        X = np.where(empty, 0.0, X) if empty.any() else X
        self._powers = np.frexp(np.nanmax(np.abs(X), axis=0))[1]
        self._weights = weights
        self._options: dict[str, Any] = {
            "objective": "l2",
            "max_bin": bins,
            "min_data_in_bin": 1,  # a rare level has a bin of its own
            "num_threads": 1 if X.size < THREADS_PAY else 0,
            "deterministic": True,
            "force_row_wise": True,  # else it times two layouts, and the order of sums varies
            "feature_pre_filter": False,
            "seed": seed,  # of the rows whose quantiles bound the bins, if there are very many
            "verbose": -1,
        }
        self._data = _lightgbm().Dataset(
            np.ldexp(X, -self._powers),
            np.zeros(len(X)),
            weight=None if weights is None else np.ldexp(weights, -_power(weights.mean())),
            params=self._options,
        )
        self._data.construct()

    def grow(self, response: Array, rows: NDArray[np.bool_], growth: Growth) -> Grown:
        """Boost trees by least squares on some of the rows."""
        own = response[rows]
        # Responses are held in single precision: about their mean they keep their digits.
        weights = None if self._weights is None else self._weights[rows]
        middle = float(np.average(own, weights=weights))
        power = _power(np.abs(own - middle).max())
        data = self._data.subset(np.flatnonzero(rows)).construct()
        data.set_label(np.ldexp(own - middle, -power))
        options = self._options | {
            "num_leaves": growth.leaves,
            "learning_rate": growth.rate,
            "min_data_in_leaf": growth.rows_per_leaf,
        }
        booster = _lightgbm().train(options, data, growth.trees, keep_training_booster=True)
        return Grown(booster, growth.trees, middle, power, self._powers)


def _power(size: float) -> int:
    """Return the exponent of the next power of two."""
    return int(np.frexp(size)[1])


@dataclass(frozen=True, eq=False)
class Grown:
    """Trees as LightGBM holds them."""

    booster: Any
    count: int
    middle: float  # where the sum of trees begins
    power: int  # of two, which the response was divided by
    powers: NDArray[np.int_]  # the same for each column

    def staged(self, rows: Array, stages: Sequence[int]) -> Array:
        """Return the sums of the first trees, one column for each number of them."""
        sums, total, done = np.empty((len(rows), len(stages))), np.zeros(len(rows)), 0
        if not len(rows):
            return sums
        own = np.ldexp(rows, -self.powers)
        for j, stage in enumerate(stages):
            grown = min(stage, self.booster.num_trees())
            if grown > done:
                options = {"start_iteration": done, "num_iteration": grown - done}
                total = total + self.booster.predict(own, num_threads=1, **options)
                done = grown
            sums[:, j] = self.middle + np.ldexp(total, self.power)
        return sums

    @cached_property
    def trees(self) -> Trees:
        """The trees as plain arrays, from the text in which LightGBM writes models."""
        lines: dict[str, list[str]] = {}
        for line in self.booster.model_to_string().partition("\nTree=")[2].splitlines():
            name, _, values = line.partition("=")
            lines.setdefault(name, []).append(values)

        def read(name: str, kind: type) -> Any:
            return np.array(" ".join(lines.get(name, [])).split(), dtype=kind)

        leaves = read("num_leaves", int)
        leaves = np.append(leaves, np.ones(self.count - len(leaves), dtype=int))  # none was left
        values = np.append(read("leaf_value", float), np.zeros(self.count))
        splits, sizes = leaves - 1, 2 * leaves - 1
        roots = np.cumsum(np.append(0, sizes[:-1]))
        # Of each tree the splits come first, and then the leaves.
        at = np.repeat(roots - np.cumsum(np.append(0, splits[:-1])), splits)
        at += np.arange(len(at))
        size = int(sizes.sum())
        is_split = np.zeros(size, dtype=np.bool_)
        is_split[at] = True
        first, first_leaf = np.repeat(roots, splits), np.repeat(roots + splits, splits)
        feature, own = np.zeros(size, dtype=np.intp), np.arange(size, dtype=np.intp)
        threshold, value, left, right = np.zeros(size), np.zeros(size), own.copy(), own.copy()
        missing_left = np.zeros(size, dtype=np.bool_)
        feature[at] = read("split_feature", int)
        bound, how = read("threshold", float), read("decision_type", int)
        # Where no row lacked the column, LightGBM treats a missing value as zero.
        has_missing = (how & MISSING) == NOT_A_NUMBER
        missing_left[at] = np.where(has_missing, (how & MISSING_LEFT) > 0, bound >= 0.0)
        powers = self.powers[feature[at]]
        threshold[at] = np.where(bound < INFINITE, np.ldexp(bound, powers), EVERY_VALUE)
        for child, name in ((left, "left_child"), (right, "right_child")):
            known = read(name, int)
            child[at] = np.where(known >= 0, first + known, first_leaf + ~known)
        value[~is_split] = np.ldexp(values[: size - len(at)], self.power)
        return Trees(
            self.middle,
            roots.astype(np.intp),
            feature,
            threshold,
            missing_left,
            left,
            right,
            value,
        )
