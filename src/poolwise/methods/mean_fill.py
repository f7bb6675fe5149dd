"""Least squares over all rows with equal weights, unseen features filled with the target mean."""

from __future__ import annotations

from dataclasses import dataclass

from sklearn.base import BaseEstimator

from poolwise.linear.linear_fit import LinearFit
from poolwise.linear.problem import Problem
from poolwise.methods.data_pooling import DataPooling


@dataclass(eq=False, repr=False)
class MeanFill(BaseEstimator):
    r"""Least squares over mean-filled sources, every row with the same weight.

    .. math:: \min_\theta \sum_{i \in T} (y_i - x_i\theta)^2
       + \sum_s \sum_{i \in s} (y_i - \tilde x_i\theta)^2

    The usual approach with an imputer; data pooling with weights of one.

    Assumes what data pooling assumes, and that a source row is as precise as a target row, which
    is false as soon as an unseen feature matters.
    """

    def solve(self, problem: Problem) -> LinearFit:
        """Return the fit of target and sources together."""
        return DataPooling(weights=1.0).solve(problem)
