"""Unseen features predicted linearly from shared ones (DSFT)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import BaseEstimator

from poolwise.errors import NeedsRows
from poolwise.linear.fit import Fit
from poolwise.linear.linear_fit import LinearFit
from poolwise.linear.noise import source_noises
from poolwise.linear.problem import Problem
from poolwise.linear.regress import regress, solve_named
from poolwise.moments.moments import Moments
from poolwise.numerics.options import check_number


class Imputing(BaseEstimator):
    """A method that imputes, and keeps the target and the imputed sources in ``LinearFit.pool``."""

    def solve_without(
        self, problem: Problem, patterns: Sequence[Sequence[str]], fit: Fit
    ) -> list[LinearFit]:
        """Regress on the features that are left, without imputing again."""
        if (pool := fit.parts().linear.pool) is None:  # in a model file that was edited
            raise NeedsRows.moments_left_out("a row that lacks columns")
        left = [[n for n in problem.features if n not in lacking] for lacking in patterns]
        y, intercept = problem.response, problem.intercept
        fits = [regress(pool, y, has, intercept=intercept) for has in left]
        return [replace(one, covariance=None) for one in fits]  # the imputation error is unknown


@dataclass(eq=False, repr=False)
class FeatureTransfer(Imputing):
    r"""Fill unseen features by a linear map of the shared ones, then weigh all rows alike.

    With a one appended to :math:`x'`, the map of each source minimises

    .. math:: \lVert X'_T W - X''_T \rVert^2 + a \lVert \bar x'_s W - \bar x''_T \rVert^2
       + b \lVert W \rVert^2

    (linear DSFT [1]_; the middle term is its maximum mean discrepancy, which for a linear kernel
    is a difference of means). In moments: the target's rows, one row of weight :math:`a`, and one
    row of weight :math:`b` for each coefficient. The mapped source is an affine map of its
    moments, so no rows are needed.

    Assumes that a linear map of the shared features predicts the unseen ones, the same map in each
    source, without error: the imputation error is not accounted for. The penalty depends on the
    units of the columns.

    Parameters
    ----------
    mean_weight : float, default=1e5
        Weight :math:`a` of the difference of means.
    ridge : float, default=1.0
        Weight :math:`b` of the map's squared norm.

    References
    ----------
    .. [1] Wei, Ke, Goh. A General Domain Specific Feature Transfer Framework for Hybrid Domain
       Adaptation. IEEE Transactions on Knowledge and Data Engineering, 2019.
    """

    mean_weight: float = 1e5
    ridge: float = 1.0

    def solve(self, problem: Problem) -> LinearFit:
        """Return the fit of the target and the filled sources."""
        check_number("ridge", self.ridge)
        check_number("mean_weight", self.mean_weight)
        pool = problem.target
        for source in problem.sources.values():
            pool += self._filled(problem, source)
        return fit_of_imputed(problem, pool)

    def _filled(self, problem: Problem, source: Moments) -> Moments:
        shared, unseen = problem.shared(source), varying(problem, source)
        if not unseen:
            return problem.filled(source)
        W = self._map(problem.target, source, shared, unseen)
        columns = (*shared, problem.response)
        matrix = np.eye(len(columns) + len(unseen), len(columns))
        matrix[len(columns) :, : len(shared)] = W[:-1].T
        shift = np.concatenate((np.zeros(len(columns)), W[-1]))
        mapped = source.select(columns).affine((*columns, *unseen), matrix, shift)
        return problem.filled(mapped)

    def _map(
        self, target: Moments, source: Moments, shared: tuple[str, ...], unseen: tuple[str, ...]
    ) -> np.ndarray:
        one = "one"
        while one in (*shared, *unseen):
            one += "'"
        inputs, columns = (*shared, one), (*shared, one, *unseen)
        means = [source.mean_of(n) for n in shared] + [1.0] + [target.mean_of(n) for n in unseen]
        rows = target.select((*shared, *unseen)).fill({one: 1.0}).select(columns)
        rows += self.mean_weight * Moments.of_rows(columns, [means])
        rows += self.ridge * Moments.of_rows(columns, np.eye(len(inputs), len(columns)))
        return solve_named(rows, inputs, unseen, intercept=False).coef.high


def varying(problem: Problem, source: Moments) -> tuple[str, ...]:
    """Return the features to predict: those that a source lacks, except known constants."""
    return tuple(n for n in problem.unseen(source) if not problem.target.is_constant(n))


def fit_of_imputed(problem: Problem, pool: Moments) -> LinearFit:
    """Regress on the target and imputed sources, all rows alike.

    No covariance: the imputation error is unknown. The pool is kept, so that rows which lack
    columns can be predicted without imputing again.
    """
    y, intercept = problem.response, problem.intercept
    return replace(
        regress(pool, y, intercept=intercept, label=problem.pool_name),
        noise=problem.target_fit.noise,
        source_noise=source_noises(problem),
        covariance=None,
        weights=dict.fromkeys(problem.sources, 1.0),
        pool=pool,
    )
