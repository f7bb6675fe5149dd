"""Rows that LightGBM itself is given as we give them to it, so that its trees are ours."""

import lightgbm
import numpy as np

from poolwise.methods.boosting.booster import BinnedRows, Growth

GROWTH = Growth(trees=40, leaves=15, rate=0.2, rows_per_leaf=5)
BINS = 63  # fewer than rows


def table(lacking=0.3):
    """Return rows that centring and units do nothing to, and that single precision can hold.

    The response and its weights are those of the rows from the other end, with the other sign and
    with the same.
    """
    rng = np.random.default_rng(0)
    X = rng.uniform(-0.99, 0.99, size=(300, 4))
    X[:, 2] = np.round(0.9 * X[:, 2], 1)  # the same value in many rows
    y = np.sin(9.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=300)
    X[rng.random(X.shape) < lacking] = np.nan
    y += 3.0 * np.isnan(X[:, 3])
    y = y - y[::-1]
    y = np.round(y * (2.0**15 / (1.01 * np.abs(y).max()))) / 2.0**15
    w = rng.choice([0.5, 0.75], 150)
    return X, y, np.concatenate((w, w[::-1]))


def grow(X, y, w=None, growth=GROWTH, *, rows=None, seed=3):
    """Grow trees on some of the rows, or on all of them."""
    some = np.ones(len(y), dtype=np.bool_) if rows is None else rows
    return BinnedRows(X, w, seed, BINS).grow(y, some, growth)


def theirs(X, y, w=None, *, rows=None):
    """Let LightGBM itself learn the same: from some rows, in the bins of all."""
    options = {
        "objective": "l2",
        "max_bin": BINS,
        "min_data_in_bin": 1,
        "num_leaves": GROWTH.leaves,
        "learning_rate": GROWTH.rate,
        "min_data_in_leaf": GROWTH.rows_per_leaf,
        "deterministic": True,
        "force_row_wise": True,
        "feature_pre_filter": False,
        "num_threads": 1,
        "verbose": -1,
    }
    data = whole = lightgbm.Dataset(X, y, weight=w, params=options)
    if rows is not None:
        own = None if w is None else w[rows]
        data = lightgbm.Dataset(X[rows], y[rows], weight=own, reference=whole, params=options)
    return lightgbm.train(options, data, GROWTH.trees)


def hard_rows(trees):
    """Return rows on every threshold and next to it, without any value, tiny and very large."""
    size = np.abs(trees.threshold)
    at = np.flatnonzero((size > 1e-34) & (size < 1e300))  # what is smaller is zero to LightGBM
    on = np.full((len(at), 4), np.nan)
    on[np.arange(len(at)), trees.feature[at]] = trees.threshold[at]
    sizes = np.array([np.nan, 0.0, 1e-36, -1e-36, 2e-35, -2e-35, 1e299, 1e307, -1e307])
    same = np.repeat(sizes[:, None], 4, axis=1)
    return np.concatenate((table()[0], on, np.nextafter(on, 9.0), np.nextafter(on, -9.0), same))
