"""Rows of a target and of its history, early and late, and models of them."""

import numpy as np

from poolwise import PooledRegressor
from tests.linear_methods import LINEAR_METHODS

PRECISIONS = ["fast", "accurate", "exact"]
MOMENT_METHODS = [n for n in LINEAR_METHODS if n not in ("kernel_transfer", "target_ridge")]
RNG = np.random.default_rng(7)
X = RNG.normal(size=(400, 3)) + np.array([0.0, 50.0, -3.0])
Y = X @ [1.0, 2.0, 3.0] + RNG.normal(size=400)
W = RNG.uniform(0.5, 2.0, size=400)
NEW, LATER, OLD, OLDER = slice(0, 40), slice(40, 60), slice(60, 250), slice(250, 400)
NAMES = ("x0", "x1", "x2", "y")


def source(part):
    return X[part, :2], Y[part]


def both(left, right):
    at = np.r_[left, right]
    return X[at], Y[at]


def model_of(method="bayes_pooling", precision="exact", **options):
    return PooledRegressor(method, precision=precision, **options)
