r"""Ridge: regression on several features, the strength of its penalty integrated out.

For :math:`p` standardised features with products :math:`G = U e U^\top` and :math:`z = U^\top b`,
the prior is :math:`N(0, s^2/\lambda)` for each coefficient, where :math:`\lambda = p(1 - R^2)/R^2`
and :math:`R^2`, the share of the response that the features explain, is uniform. With
:math:`q(\lambda) = y^\top y - \sum_i z_i^2/(e_i + \lambda)` and :math:`m` free rows,

.. math:: \log p(y \mid \lambda) = -\tfrac m2 \log q(\lambda)
   - \tfrac12 \sum_i \log(1 + e_i/\lambda), \qquad s^2 = q(\lambda)/(m - 2) .
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poolwise.double_double import Array

LOGITS = np.arange(-7.0, 16.01, 0.5)  # of R squared
DEPENDENT = 1e-11  # eigenvalue, relative to the largest, that counts as zero
EXACT = 1e-14  # share of the response below which nothing is left of it
LEAST = 1e-300


def log_uniform(logit: Array) -> Array:
    """Return the log density of the logit of a uniform number."""
    return -np.logaddexp(0.0, -logit) - np.logaddexp(0.0, logit)


LOG_PRIOR = log_uniform(LOGITS) - np.log(np.exp(log_uniform(LOGITS)).sum())


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues and eigenvectors of the products of features.

    Parameters
    ----------
    values : array of shape (p,)
        Zero where columns depend on each other.
    vectors : array of shape (p, p)
        In columns.
    """

    values: Array
    vectors: Array

    @classmethod
    def of(cls, gram: Array) -> Spectrum:
        """Return the spectrum of a matrix of products."""
        values, vectors = np.linalg.eigh(gram)
        least = DEPENDENT * max(values.max(initial=0.0), LEAST)
        return cls(np.where(values > least, values, 0.0), vectors)

    def turned(self, cross: Array) -> Array:
        """Return products with the response along the eigenvectors."""
        along: Array = self.vectors.T @ cross
        return np.where(self.values > 0.0, along.T, 0.0).T


@dataclass(frozen=True, eq=False)
class Ridge:
    """Posterior of several regressions on the same features.

    Parameters
    ----------
    mean : array of shape (p, q)
        Coefficients, one column for each response.
    covariance : array of shape (q, p, p)
        Their covariance, within and between penalties.
    noise : array of shape (q,)
        Residual variance.
    log_odds : array of shape (q,)
        Log evidence, less that of no relation at all.
    """

    mean: Array
    covariance: Array
    noise: Array
    log_odds: Array


def integrated_ridge(spectrum: Spectrum, cross: Array, squares: Array, free: float) -> Ridge:
    """Regress each response by itself, its penalty integrated out.

    Parameters
    ----------
    spectrum : Spectrum
        Of the products of features.
    cross : array of shape (p, q)
        Products of features and responses.
    squares : array of shape (q,)
        Squares of the responses.
    free : float
        Rows, less one where means were taken out.
    """
    z = spectrum.turned(cross)
    shrink, log_weight, noise = _by_penalty(spectrum, z, squares, free)
    top = log_weight.max(axis=0)
    weight = np.exp(log_weight - top)
    total = weight.sum(axis=0)
    weight /= total
    by_penalty = shrink[:, :, None] * z  # (penalty, p, q)
    mean = np.einsum("lq,lpq->pq", weight, by_penalty)
    away = (np.sqrt(weight)[:, None] * (by_penalty - mean)).T  # (q, p, penalty)
    covariance = away @ away.swapaxes(1, 2)
    at = np.arange(len(z))
    covariance[:, at, at] += (weight * noise).T @ shrink
    U = spectrum.vectors
    return Ridge(
        mean=U @ mean,
        covariance=U @ covariance @ U.T,
        noise=np.einsum("lq,lq->q", weight, noise),
        log_odds=top + np.log(total),
    )


def with_spike(ridge: Ridge, squares: Array, free: float, probability: float) -> Ridge:
    """Mix a regression with the possibility that there is no relation at all.

    Parameters
    ----------
    ridge : Ridge
        As ``integrated_ridge`` returns it.
    squares, free
        As there.
    probability : float
        Of no relation, before the data.
    """
    log_odds = np.logaddexp(np.log1p(-probability) + ridge.log_odds, np.log(probability))
    none = np.exp(np.log(probability) - log_odds)
    some = 1.0 - none
    between = np.einsum("q,pq,rq->qpr", some * none, ridge.mean, ridge.mean)
    return Ridge(
        mean=some * ridge.mean,
        covariance=some[:, None, None] * ridge.covariance + between,
        noise=some * ridge.noise + none * unexplained(squares, free),
        log_odds=log_odds,
    )


def unexplained(squares: Array, free: float) -> Array:
    """Return the variance of responses that no feature explains."""
    variance: Array = squares / max(free - 2.0, 1.0)
    return variance


def shared_ridge(
    spectrum: Spectrum, cross: Array, squares: Array, free: float
) -> tuple[Array, Array, float, float]:
    """Regress all responses with one penalty, which is integrated out.

    Parameters
    ----------
    spectrum, cross, squares, free
        As in ``integrated_ridge``.

    Returns
    -------
    mean : array of shape (p, q)
        Coefficients.
    covariance : array of shape (p, p)
        Sum of the covariances of all responses.
    noise : float
        Sum of their residual variances.
    log_odds : float
        Log evidence, less that of no relation at all.
    """
    z = spectrum.turned(cross)
    shrink, log_weight, noise = _by_penalty(spectrum, z, squares, free)
    joint = (log_weight - LOG_PRIOR[:, None]).sum(axis=1) + LOG_PRIOR
    top = joint.max()
    weight = np.exp(joint - top)
    total = weight.sum()
    weight /= total
    centre = weight @ shrink
    away = shrink - centre
    covariance = (weight[:, None] * away).T @ away * (z @ z.T)
    at = np.arange(len(z))
    covariance[at, at] += (weight * noise.sum(axis=1)) @ shrink
    U = spectrum.vectors
    spread = float(weight @ noise.sum(axis=1))
    return U @ (centre[:, None] * z), U @ covariance @ U.T, spread, float(top + np.log(total))


def _by_penalty(
    spectrum: Spectrum, z: Array, squares: Array, free: float
) -> tuple[Array, Array, Array]:
    """Return, for each penalty, how it shrinks, its log weight, and the noise that it leaves."""
    e = spectrum.values
    penalty = max(len(e), 1) * np.exp(-LOGITS)[:, None]
    shrink = 1.0 / (e + penalty)
    squares = np.maximum(squares, LEAST)
    left = np.maximum(squares - shrink @ (z * z), EXACT * squares)
    log_weight = -0.5 * free * np.log(left / squares) + LOG_PRIOR[:, None]
    log_weight -= 0.5 * np.log1p(e / penalty).sum(axis=1)[:, None]
    return shrink, log_weight, left / max(free - 2.0, 1.0)
