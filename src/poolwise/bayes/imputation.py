r"""Imputation: what a source's features say about those it lacks, and how surely.

In the target :math:`x'' = m + x' B + v`. Given the source's features, the response has the
coefficients :math:`\theta' + B\theta''`. Only the target tells :math:`B`; its error belongs into
the covariance of what the source says: for coefficients :math:`\theta'' \sim N(0, c^2 I)` it is
:math:`c^2 C`, where :math:`C` is the sum of the covariances of the columns of :math:`B`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poolwise.bayes.ridge import (
    Ridge,
    Spectrum,
    integrated_ridge,
    shared_ridge,
    unexplained,
    with_spike,
)
from poolwise.bayes.scaling import ScaledTable
from poolwise.double_double import Array

NO_RELATION = 0.1  # prior probability that a feature has nothing to do with the others
VERSIONS = {"each": 0.5, "together": 0.3, "none": 0.2}  # prior probabilities
LEAST_SPREAD = 1e-8


@dataclass(frozen=True, eq=False)
class Imputation:
    """One account of the features that a source lacks.

    Parameters
    ----------
    B : array of shape (p, q)
        Coefficients of lacking features on those that are there.
    error : array of shape (p, p)
        Sum of the covariances of the columns of ``B``.
    spread : float
        Sum of the residual variances.
    log_weight : float
        Log probability, given the features of the target, but for a constant.
    """

    B: Array
    error: Array
    spread: float
    log_weight: float

    def residual(
        self, target: ScaledTable, has: NDArray[np.intp], lacks: NDArray[np.intp]
    ) -> Array:
        """Return the covariance of what is left of the lacking features, with trace ``spread``."""
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


def imputations(
    target: ScaledTable, has: NDArray[np.intp], lacks: NDArray[np.intp]
) -> dict[str, Imputation]:
    """Return the accounts that the data leave possible.

    ``"each"``: each lacking feature has a regression of its own. ``"together"``: all have the same
    penalty. ``"none"``: there is no relation at all.

    Parameters
    ----------
    target : ScaledTable
        The target.
    has, lacks : array of int
        Features that a source has, and those it lacks.
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
    """Regress each lacking feature on those that are there, or on nothing.

    Parameters
    ----------
    target, has, lacks
        As in ``imputations``.
    spectrum : Spectrum, optional
        Of the products of the features that are there, if it is known already.
    """
    S, free = target.gram, target.free
    spectrum = Spectrum.of(S[np.ix_(has, has)]) if spectrum is None else spectrum
    squares = S[lacks, lacks]
    each = integrated_ridge(spectrum, S[np.ix_(has, lacks)], squares, free)
    return with_spike(each, squares, free, NO_RELATION)


def _spread(noise: Array) -> float:
    return max(float(noise.sum()), LEAST_SPREAD)
