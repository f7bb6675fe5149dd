"""Designs of a target and of sources that have some of its features."""

import numpy as np

from poolwise import Moments
from poolwise.linear.problem import Problem
from poolwise.linear.theory import PooledTable

NAMES = ("x0", "x1", "x2", "x3")


def part(X, noise, weight=None):
    return PooledTable(Moments.of_rows(NAMES[: X.shape[1]], X), noise, weight)


def problem_of(X_t, y_t, X_s, y_s):
    """Return a problem whose source has the first features."""
    target = Moments.of_rows((*NAMES[: X_t.shape[1]], "y"), np.column_stack((X_t, y_t)))
    source = Moments.of_rows((*NAMES[: X_s.shape[1]], "y"), np.column_stack((X_s, y_s)))
    return Problem(target, {"old": source}, "y")


def zero_filled(X, features, has):
    """Return rows over all features, zero where a source lacks one."""
    filled = np.zeros((len(X), features))
    filled[:, list(has)] = X
    return filled
