"""Least squares over all rows, unseen features filled with the target mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sklearn.base import BaseEstimator

from poolwise._typing import Array
from poolwise.errors import LeftOut, PoolwiseWarning
from poolwise.linear.linear_fit import LinearFit
from poolwise.linear.noise import Noise, estimate_noise
from poolwise.linear.problem import Problem
from poolwise.linear.regress import Ddof, regress
from poolwise.linear.theory import POOR_VARIANCE, PooledTable, pooled_variance
from poolwise.moments.moments import Moments
from poolwise.numerics.options import check_number
from poolwise.wording import listed


@dataclass(eq=False, repr=False)
class DataPooling(BaseEstimator):
    r"""Precision-weighted least squares over mean-filled sources.

    With the unseen features of source :math:`s` set to their target mean, it minimises

    .. math:: \alpha_T \sum_{i \in T} (y_i - x_i\theta)^2
       + \sum_s \alpha_s \sum_{i \in s} (y_i - \tilde x_i\theta)^2, \qquad
       \alpha_k = 1/\hat\sigma_k^2, \quad \hat\sigma_k^2 = \mathrm{RSS}_k / (n_k - d_k)

    with :math:`d_k` coefficients (Algorithm 1 of the paper, extended to several sources).

    Assumes that in each source the unseen features have the target's mean and are uncorrelated
    with the shared ones, and that the coefficients are the same everywhere. Otherwise the shared
    coefficients are biased, however many rows there are.

    Parameters
    ----------
    ddof : {"unbiased", "mle"}, default="unbiased"
        Divisor of the noise estimates: rows less coefficients, or rows (the published tables).
    weights : float or mapping of str to float, optional
        Weight of a source row where a target row has weight one, for all sources or by name.
    means : mapping of str to float, optional
        True means of unseen features, where they are known; the target's means otherwise.
    ridge : float, default=0.0
        Added to the diagonal of the pooled scatter, in units of target rows.

    Examples
    --------
    >>> import numpy as np
    >>> from poolwise import PooledRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(520, 2))
    >>> y = 2 * X[:, 0] - 2 * X[:, 1] + rng.normal(size=520)
    >>> model = PooledRegressor(method="data_pooling")
    >>> _ = model.fit(X[500:], y[500:], sources=(X[:500, :1], y[:500]))
    >>> model.coef_.round(2)
    array([ 1.88, -1.46])
    """

    ddof: Ddof = "unbiased"
    weights: float | Mapping[str, float] | None = None
    means: Mapping[str, float] | None = None
    ridge: float = 0.0

    def solve(self, problem: Problem) -> LinearFit:
        """Return the fit of target and sources together."""
        check_number("ridge", self.ridge)
        noise = estimate_noise(problem, self.ddof).with_weights(self.weights)
        filled = {n: problem.filled(s, self.means) for n, s in problem.sources.items()}
        pool = sum((noise.weights[n] * s for n, s in filled.items()), start=problem.target)
        y, intercept, label = problem.response, problem.intercept, problem.pool_name
        fit = regress(pool, y, intercept=intercept, ridge=self.ridge, label=label)
        tables = [problem.target, *filled.values()]
        covariance, at_zero = self._variance(fit, noise, pool, tables, intercept)
        return replace(
            fit,
            covariance=covariance,
            intercept_variance=at_zero,
            noise=noise.target,
            source_noise=noise.sources,
            weights=noise.weights,
            cautions=fit.cautions + self._cautions(problem, noise),
            distribution=problem.target_fit.distribution,
        )

    def _variance(
        self, fit: LinearFit, noise: Noise, pool: Moments, tables: list[Moments], intercept: bool
    ) -> tuple[Array | None, float | None]:
        """Return the covariance of (level, coef), and the variance of the intercept if known."""
        known = [v for v in (noise.target, *noise.sources.values()) if v is not None]
        if len(known) < len(tables) or self.ridge != 0.0:
            return None, None
        if self.weights is None and not noise.cautions and fit.covariance is not None and fit.noise:
            ratio, at_zero = known[0] / fit.noise, fit.intercept_variance  # the weights are optimal
            return ratio * fit.covariance, None if at_zero is None else ratio * at_zero
        if pool.rounding_error(fit.names) > POOR_VARIANCE:
            return None, None  # sums in doubles would have no correct digit here
        parts = list(map(PooledTable, tables, known, (1.0, *noise.weights.values())))
        return pooled_variance(parts, fit.names, fit.centre, intercept=intercept), None

    def _cautions(self, problem: Problem, noise: Noise) -> tuple[PoolwiseWarning, ...]:
        cautions = noise.cautions
        unseen = sorted({n for s in problem.sources.values() for n in problem.unseen(s)})
        named = self.weights if isinstance(self.weights, Mapping) else ()
        for option, names, what, there in (
            ("weights", named, "sources", list(problem.sources)),
            ("means", self.means or (), "unseen features", unseen),
        ):
            if idle := sorted(set(names).difference(there)):
                told = f"{option} names {listed(idle)}, and there are no such {what}: ignored."
                cautions += (LeftOut(told, f"There are {listed(there)}."),)
        return cautions
