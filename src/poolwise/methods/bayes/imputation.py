r"""Imputation of the features that a source lacks from those it has, with its error.

In the target :math:`x'' = m + x' B + v`. Given the source's features, the response has the
coefficients :math:`\theta' + B\theta''`. Only the target determines :math:`B`; its error adds to
the covariance of the source's information: for coefficients :math:`\theta'' \sim N(0, c^2 I)` by
:math:`c^2 C`, where :math:`C` is the sum of the covariances of the columns of :math:`B`.

The regressions are ridges whose penalty is integrated out. For :math:`p` standardised features with
products :math:`G = U e U^\top` and :math:`z = U^\top b`,
the prior is :math:`N(0, s^2/\lambda)` for each coefficient, where :math:`\lambda = p(1 - R^2)/R^2`
and :math:`R^2`, the share of the response that the features explain, is uniform. With
:math:`q(\lambda) = y^\top y - \sum_i z_i^2/(e_i + \lambda)` and :math:`m` free rows,

.. math:: \log p(y \mid \lambda) = -\tfrac m2 \log q(\lambda)
   - \tfrac12 \sum_i \log(1 + e_i/\lambda), \qquad s^2 = q(\lambda)/(m - 2) .
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array
from poolwise.methods.bayes.priors import (
    NO_RELATION,
    R2_LOG_PRIOR,
    R2_LOGITS,
    VERSIONS,
    ZELLNER_SLACK,
)
from poolwise.methods.bayes.scaling import ScaledTable

DEPENDENT = 1e-11  # eigenvalue, relative to the largest, that counts as zero
EXACT = 1e-14  # share of the response below which a residual counts as zero
LEAST = 1e-300
ROUNDED = 1e-12  # relative rounding error of a square


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues and eigenvectors of the products of features."""

    values: Array  # (p,): zero where columns depend on each other
    vectors: Array  # (p, p): in columns

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


def least_squares_noise(table: ScaledTable) -> tuple[float, float]:
    """Return the noise of least squares on one table, and the rows it is estimated from."""
    spectrum = Spectrum.of(table.gram)
    z, e = spectrum.turned(table.cross), spectrum.values
    fitted = float(np.sum(np.divide(z * z, e, out=np.zeros_like(z), where=e > 0.0)))
    free = float(table.free - np.count_nonzero(e))
    return max(table.square - fitted, ROUNDED * table.square) / max(free, 1.0), free


@dataclass(frozen=True, eq=False)
class Ridge:
    """Posterior of several regressions on the same features."""

    mean: Array  # (p, q): coefficients, one column for each response
    covariance: Array  # (q, p, p): within and between penalties
    noise: Array  # (q,): residual variance
    log_odds: Array  # (q,): log evidence, less the log evidence of no relation


def integrated_ridge(spectrum: Spectrum, cross: Array, squares: Array, free: float) -> Ridge:
    """Regress each response by itself, its penalty integrated out.

    ``cross`` are products of features and responses, ``squares`` the squares of the responses, and
    ``free`` is the number of rows, less one where means were subtracted.
    """
    z = spectrum.turned(cross)
    shrink, log_weight, left = by_penalty(spectrum, z, squares, free)
    noise = left / max(free - 2.0, 1.0)
    top = log_weight.max(axis=0)
    weight = np.exp(log_weight - top)
    total = weight.sum(axis=0)
    weight /= total
    means = shrink[:, :, None] * z  # (penalty, p, q)
    mean = np.einsum("lq,lpq->pq", weight, means)
    away = (np.sqrt(weight)[:, None] * (means - mean)).T  # (q, p, penalty)
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
    """Mix `integrated_ridge` with the hypothesis of no relation, of this prior probability."""
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

    Return coefficients, the sum of the covariances of all responses, the sum of their residual
    variances, and the log evidence, less the log evidence of no relation.
    """
    z = spectrum.turned(cross)
    shrink, log_weight, left = by_penalty(spectrum, z, squares, free)
    noise = left / max(free - 2.0, 1.0)
    joint = (log_weight - R2_LOG_PRIOR[:, None]).sum(axis=1) + R2_LOG_PRIOR
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


def by_penalty(
    spectrum: Spectrum, z: Array, squares: Array, free: float
) -> tuple[Array, Array, Array]:
    """Return, for each penalty, how it shrinks, its log weight, and the squares that it leaves."""
    e = spectrum.values
    penalty = max(len(e), 1) * np.exp(-R2_LOGITS)[:, None]
    shrink = 1.0 / (e + penalty)
    squares = np.maximum(squares, LEAST)
    left = np.maximum(squares - shrink @ (z * z), EXACT * squares)
    log_weight = -0.5 * free * np.log(left / squares) + R2_LOG_PRIOR[:, None]
    log_weight -= 0.5 * np.log1p(e / penalty).sum(axis=1)[:, None]
    return shrink, log_weight, left


LEAST_SPREAD = 1e-8
ZELLNER_LEAST = 1e-6  # variance of a lacking feature, in its unit
ZELLNER_EXACT = 1e-13  # eigenvalue of their covariance, relative, that counts as zero


@dataclass(frozen=True, eq=False)
class Imputation:
    """One account of the features that a source lacks."""

    B: Array  # (p, q): coefficients of lacking features on the others
    error: Array  # (p, p): sum of the covariances of the columns of B
    spread: float  # sum of the residual variances
    log_weight: float  # log probability, given the features of the target, up to a constant

    def residual(
        self, target: ScaledTable, has: NDArray[np.intp], lacks: NDArray[np.intp]
    ) -> Array:
        """Return the residual covariance of the lacking features, with trace ``spread``."""
        S, B = target.gram, self.B
        across = B.T @ S[np.ix_(has, lacks)]
        left = S[np.ix_(lacks, lacks)] - across - across.T + B.T @ S[np.ix_(has, has)] @ B
        values, vectors = np.linalg.eigh(left)  # rounding may leave it indefinite
        values = np.maximum(values, 0.0)
        total = float(values.sum())
        if total == 0.0:
            return np.eye(len(lacks)) * (self.spread / max(len(lacks), 1))
        scaled: Array = (vectors * (values * (self.spread / total))) @ vectors.T
        return scaled

    def wide(self, target: ScaledTable, has: NDArray[np.intp], lacks: NDArray[np.intp]) -> float:
        """Return the spread as it would be if no value of the lacking features were rare."""
        left = self.residual(target, has, lacks).diagonal()
        return max(float(left @ rarity(target, lacks)), self.spread)

    def zellner(self, target: ScaledTable, has: NDArray[np.intp], lacks: NDArray[np.intp]) -> Array:
        """Return the residual covariance of the lacking features, with trace q.

        The variance of a column with rare values is increased to one: the prior must not allow it
        a larger coefficient because it is rare.
        """
        left = self.residual(target, has, lacks)
        left = left + ZELLNER_SLACK * np.diag(np.maximum(left.diagonal(), ZELLNER_LEAST))
        left += np.diag(left.diagonal() * (rarity(target, lacks) - 1.0))
        left *= len(lacks) / self.wide(target, has, lacks)
        values, vectors = np.linalg.eigh(left)
        values = np.maximum(values, ZELLNER_EXACT * values[-1])
        found: Array = (vectors * values) @ vectors.T
        return found


def rarity(target: ScaledTable, lacks: NDArray[np.intp]) -> Array:
    """Return the square of the unit of each lacking feature over its variance, at least one."""
    variance = target.gram.diagonal()[lacks] / max(target.free, 1.0)
    found: Array = 1.0 / np.clip(variance, ZELLNER_LEAST, 1.0)
    return found


def imputations(
    target: ScaledTable, has: NDArray[np.intp], lacks: NDArray[np.intp]
) -> dict[str, Imputation]:
    """Return the accounts of the lacking features with their probabilities.

    ``"each"``: each lacking feature has a regression of its own. ``"together"``: all have the same
    penalty. ``"none"``: there is no relation at all.
    """
    if not len(lacks):
        nothing = np.zeros((len(has), len(has)))
        return {"each": Imputation(np.zeros((len(has), 0)), nothing, 0.0, 0.0)}
    S, free = target.gram, target.free
    spectrum = Spectrum.of(S[np.ix_(has, has)])
    cross, squares = S[np.ix_(has, lacks)], S[lacks, lacks]
    each = relation(target, has, lacks, spectrum)
    log_each = float(each.log_odds.sum())
    prior = dict(VERSIONS)
    if len(lacks) == 1:
        prior["each"] += prior.pop("together")  # they are the same
    found = {
        "each": Imputation(
            each.mean, each.covariance.sum(axis=0), _spread(each.noise), np.log(prior["each"])
        ),
        "none": Imputation(
            np.zeros_like(each.mean),
            np.zeros_like(spectrum.vectors),
            _spread(unexplained(squares, free)),
            np.log(prior["none"]) - log_each,
        ),
    }
    if "together" in prior:
        mean, covariance, noise, log_odds = shared_ridge(spectrum, cross, squares, free)
        log_weight = np.log(prior["together"]) + log_odds - log_each
        found["together"] = Imputation(mean, covariance, max(noise, LEAST_SPREAD), log_weight)
    return found


def relation(
    target: ScaledTable,
    has: NDArray[np.intp],
    lacks: NDArray[np.intp],
    spectrum: Spectrum | None = None,
) -> Ridge:
    """Regress each lacking feature on the others, or on nothing.

    ``spectrum`` is of the products of the features that are there, if it is known already.
    """
    S, free = target.gram, target.free
    spectrum = Spectrum.of(S[np.ix_(has, has)]) if spectrum is None else spectrum
    squares = S[lacks, lacks]
    each = integrated_ridge(spectrum, S[np.ix_(has, lacks)], squares, free)
    return with_spike(each, squares, free, NO_RELATION)


def _spread(noise: Array) -> float:
    return max(float(noise.sum()), LEAST_SPREAD)
