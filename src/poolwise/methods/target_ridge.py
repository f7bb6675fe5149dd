"""Ridge regression on the target alone, with the penalty chosen by leave-one-out errors."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from poolwise._typing import Array
from poolwise.errors import RankDeficient
from poolwise.linear.linear_fit import LinearFit
from poolwise.linear.problem import Problem
from poolwise.linear.regress import regress
from poolwise.linear.student_t import StudentT

# Penalties per unit of row weight, in units of the variance of a column: four to a factor of ten.
PENALTIES = np.logspace(-6.0, 4.0, 41)
WEAK, CLEAR = 0.01, 0.5  # below this penalty, squared errors must fall to this share
NOTHING = 1e-9  # eigenvalue, or rest of a leverage below one, that is zero but for rounding


@dataclass(eq=False, repr=False)
class TargetRidge(BaseEstimator):
    r"""Ridge regression on the target; sources are not used.

    .. math:: \hat\theta = \arg\min_\theta \sum_{i \in T} (y_i - x_i\theta)^2
       + \lambda \sum_j s_j^2 \theta_j^2, \qquad
       \operatorname{Var}(\hat\theta) = \sigma^2 (X_T^\top X_T + \lambda S^2)^{-1}

    with the standard deviations :math:`s_j` of the columns. The penalty :math:`\lambda` is the one
    of 41, or none, that has the smallest squared error on rows that are left out one at a time. One
    below a hundredth of the rows must halve that error, since with few rows it may be small by
    chance. All this needs the rows. With moments alone it is chosen by generalised
    cross-validation, which has the average leverage in place of the leverage of each row.

    Assumes a linear model with independent noise of one variance in the target, and effects of
    similar size for all columns. Standard errors are those of the posterior under this prior,
    given the penalty: they include the bias, and not the choice of the penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from poolwise import PooledRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(24, 20))
    >>> y = X[:, 0] + X[:, 1] + rng.normal(size=24)
    >>> for method in ("target_only", "target_ridge"):
    ...     print(PooledRegressor(method).fit(X, y).coef_[:3].round(2))
    [ 1.24  1.77 -1.58]
    [ 0.44  0.32 -0.01]
    """

    def solve(self, problem: Problem) -> LinearFit:
        """Return the fit of the target."""
        weights = dict.fromkeys(problem.sources, 0.0)
        plain = replace(problem.target_fit, weights=weights)
        target, y, intercept = problem.target, problem.response, problem.intercept
        at, to = target.index(problem.features), target.place[y]
        S = (target.scatter if intercept else target.about_zero()).high
        size, rows = S.diagonal()[at], target.weight - intercept
        varies = np.flatnonzero(size > 0.0)
        if not len(varies) or rows <= 0.0 or not S[to, to] > 0.0:
            return plain
        unit = np.sqrt(size[varies])
        columns = np.array(at)[varies]
        correlation = S[columns[:, None], columns] / unit[:, None] / unit
        values, axes = np.linalg.eigh(correlation)
        values = np.maximum(values, 0.0)
        cross = axes.T @ (S[columns, to] / unit)
        is_determined = plain.noise is not None and values[0] > NOTHING
        penalties = np.append(0.0, PENALTIES) if is_determined else PENALTIES
        # The columns have sums of squares of one: so has a unit of the penalty.
        left = values + penalties[:, None]
        shrunk = cross / left
        rest = S[to, to] - (shrunk * (cross + penalties[:, None] * shrunk)).sum(axis=1)
        free = rows - (values / left).sum(axis=1)
        errors = _left_out(problem, varies, axes / unit[:, None], shrunk, left)
        if errors is None:
            errors = np.maximum(rest, 0.0) / free**2
        is_weak = penalties < WEAK
        errors[is_weak] /= CLEAR
        k = int(np.argmin(errors))
        if penalties[k] == 0.0:
            return plain
        ridge = penalties[k] * size
        fit = regress(target, y, intercept=intercept, ridge=ridge, label=problem.target_name)
        noise = float(max(rest[k], 0.0) / free[k])
        covariance = np.zeros((len(at) + 1, len(at) + 1))
        covariance[0, 0] = noise / target.weight if intercept else 0.0
        inverse = axes / unit[:, None]
        covariance[np.ix_(varies + 1, varies + 1)] = noise * (inverse / left[k]) @ inverse.T
        # The least penalty is the least norm in units of standard deviations, as the warning says.
        cautions = plain.cautions if target.weight > len(at) + intercept else ()
        cautions = tuple(c for c in cautions if isinstance(c, RankDeficient))
        return replace(
            fit,
            covariance=covariance,
            noise=noise,
            weights=weights,
            cautions=cautions,
            distribution=StudentT(float(free[k])),
        )


def _left_out(
    problem: Problem, varies: NDArray[np.intp], axes: Array, shrunk: Array, left: Array
) -> Array | None:
    """Return the squared error of rows left out one at a time, for each penalty.

    A row of weight w counts as w rows, of which one is left out. None where rows are not known.
    """
    if problem.target_rows is None:
        return None
    target = problem.target
    names = (*(problem.features[j] for j in varies), problem.response)
    centre = target.mean[target.index(names)] if problem.intercept else np.zeros(len(names))
    errors = np.zeros(len(left))
    for block, weights in problem.target_rows.blocks(names):
        w = np.ones(len(block)) if weights is None else weights
        step = (block - centre)[w > 0.0]
        w = w[w > 0.0]
        Z = step[:, :-1] @ axes
        missed = step[:, -1:] - Z @ shrunk.T
        leverage = Z**2 @ (1.0 / left).T
        if problem.intercept:
            leverage += 1.0 / target.weight
        rest = 1.0 - np.minimum(w, 1.0)[:, None] * leverage
        errors += (
            w @ np.divide(missed, rest, out=np.full(rest.shape, np.inf), where=rest > NOTHING) ** 2
        )
    return errors
