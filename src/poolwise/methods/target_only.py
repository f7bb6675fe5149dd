"""Least squares on the target alone."""

from __future__ import annotations

from dataclasses import dataclass

from sklearn.base import BaseEstimator

from poolwise.linear.linear_fit import LinearFit
from poolwise.linear.problem import Problem


@dataclass(eq=False, repr=False)
class TargetOnly(BaseEstimator):  # BaseEstimator for get_params, clone and the HTML view
    r"""Least squares on the target; sources are not used.

    .. math:: \hat\theta_T = \arg\min_\theta \sum_{i \in T} (y_i - x_i\theta)^2, \qquad
       \operatorname{Var}(\hat\theta_T) = \sigma^2 (X_T^\top X_T)^{-1}

    Assumes a linear model with independent noise of one variance in the target. With fewer rows
    than coefficients, or dependent columns, it takes the solution of least norm in units of
    standard deviations, with a warning.

    Examples
    --------
    >>> import numpy as np
    >>> from poolwise import PooledRegressor
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = PooledRegressor(method="target_only").fit(X, [1.0, 3.0, 5.0, 8.0])
    >>> model.coef_.round(3), round(model.intercept_, 3)
    (array([2.3]), 0.8)
    """

    def solve(self, problem: Problem) -> LinearFit:
        """Return the fit of the target."""
        return problem.target_fit
