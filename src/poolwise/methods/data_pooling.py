"""Data pooling: fill unseen features with the target mean, weigh by precision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sklearn.base import BaseEstimator

from poolwise.double_double import Array
from poolwise.errors import OptionIgnored, TransferWarning
from poolwise.fit import Ddof, LinearFit, regress
from poolwise.least_squares import rounding_error
from poolwise.moments import Moments
from poolwise.noise import Noise, estimate_noise
from poolwise.options import check_number
from poolwise.problem import Problem
from poolwise.theory import POOR_VARIANCE, Part, pooled_variance


@dataclass(eq=False, repr=False)
class DataPooling(BaseEstimator):
    r"""Precision-weighted least squares over mean-filled sources.

    With the unseen features of source :math:`s` set to their target mean, it minimises

    .. math:: \alpha_T \sum_{i \in T} (y_i - x_i\theta)^2
       + \sum_s \alpha_s \sum_{i \in s} (y_i - \tilde x_i\theta)^2, \qquad
       \alpha_k = 1/\hat\sigma_k^2, \quad \hat\sigma_k^2 = \mathrm{RSS}_k / (n_k - d_k)

    (Algorithm 1 of [1]_, extended to several sources as its section 5 proposes). What happens
    when a noise cannot be estimated is told in ``poolwise.noise``.

    Assumes that in each source the unseen features have the target's mean and are uncorrelated
    with the shared ones, and that the coefficients are the same everywhere. Otherwise the shared
    coefficients are biased, however many rows there are.

    Parameters
    ----------
    ddof : {"unbiased", "mle"}, default="unbiased"
        Divisor of the noise estimates: rows less coefficients, or rows (the published tables).
    weights : float or mapping of str to float, optional
        Weight of a source row where a target row has weight one, for all sources or by name;
        estimated unless given.
    means : mapping of str to float, optional
        True means of unseen features, where they are known; the target's means otherwise.
    ridge : float, default=0.0
        Added to the diagonal of the pooled scatter, in units of target rows.

    References
    ----------
    .. [1] Silvestrin, van Zanten, Hoogendoorn, Koole. Transfer Learning Across Datasets with
       Different Input Dimensions: An Algorithm and Analysis for the Linear Regression Case.

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
        noise = estimate_noise(problem, self.ddof)
        weights = self._weights(noise)
        filled = {n: problem.filled(s, self.means) for n, s in problem.sources.items()}
        pool = problem.target
        for name, source in filled.items():
            pool += weights[name] * source
        fit = regress(
            pool,
            problem.response,
            intercept=problem.intercept,
            ridge=self.ridge,
            where=problem.pool_name,
        )
        covariance, intercept_variance = self._variance(problem, fit, noise, filled, weights)
        return replace(
            fit,
            covariance=covariance,
            intercept_variance=intercept_variance,
            noise=noise.target,
            source_noise=noise.sources,
            weights=weights,
            cautions=fit.cautions + self._cautions(problem, noise),
            tails=problem.target_fit.tails,
        )

    def _variance(
        self,
        problem: Problem,
        fit: LinearFit,
        noise: Noise,
        filled: Mapping[str, Moments],
        weights: Mapping[str, float],
    ) -> tuple[Array | None, float | None]:
        """Return the covariance of (level, coef), and the variance of the intercept if known."""
        known = {n: s for n in filled if (s := noise.sources[n]) is not None}
        if noise.target is None or len(known) < len(filled) or self.ridge != 0.0:
            return None, None
        if self.weights is None and not noise.cautions and fit.covariance is not None and fit.noise:
            ratio = noise.target / fit.noise  # the weights are optimal: M inverse
            at_zero = fit.intercept_variance
            return ratio * fit.covariance, None if at_zero is None else ratio * at_zero
        parts = [Part(problem.target, noise.target, 1.0)]
        parts += [Part(s, known[n], weights[n]) for n, s in filled.items()]
        pool = sum((weights[n] * s for n, s in filled.items()), start=problem.target)
        if rounding_error(pool.scatter, pool.index(fit.names)) > POOR_VARIANCE:
            return None, None  # it is added up in doubles, which leave no digit here
        variance = pooled_variance(parts, fit.names, fit.centre, intercept=problem.intercept)
        return variance, None

    def _cautions(self, problem: Problem, noise: Noise) -> tuple[TransferWarning, ...]:
        given = self.weights if isinstance(self.weights, Mapping) else {}
        all_given = self.weights is not None and (not given or set(problem.sources) <= set(given))
        cautions = () if all_given else noise.cautions
        unseen = {n for s in problem.sources.values() for n in problem.unseen(s)}
        if idle := sorted(set(given) - set(problem.sources)):
            cautions += (OptionIgnored("weights", idle, "sources", list(problem.sources)),)
        if idle := sorted(set(self.means or ()) - unseen):
            cautions += (OptionIgnored("means", idle, "unseen features", sorted(unseen)),)
        return cautions

    def _weights(self, noise: Noise) -> Mapping[str, float]:
        if self.weights is None:
            return noise.weights
        if isinstance(self.weights, Mapping):
            given = {n: self.weights.get(n, noise.weights[n]) for n in noise.sources}
        else:
            given = dict.fromkeys(noise.sources, self.weights)
        for weight in given.values():
            check_number("weights", weight)
        return {n: float(w) for n, w in given.items()}
