r"""Missing: the model for rows that lack some features, from the same posterior.

In the target the lacking features are :math:`x_M = m + x_O B + v` given those that are there.
So the response has the coefficients :math:`\theta_O + B\theta_M` and the noise
:math:`\sigma^2 + \theta_M^\top\Sigma_v\theta_M`. Where some sources lack just these features, they
tell those coefficients themselves; see ``posterior.short_posterior``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poolwise.bayes.frames import short_design
from poolwise.bayes.imputation import Imputation, relation
from poolwise.bayes.model import Model
from poolwise.bayes.posterior import Points, Posterior, short_posterior
from poolwise.bayes.ridge import Ridge
from poolwise.double_double import Array


@dataclass(frozen=True, eq=False)
class Shortened:
    """Posterior of the coefficients of rows that lack some features.

    Parameters
    ----------
    mean : array of shape (r,)
        Intercept, if there is one, and coefficients of the features that are there.
    covariance : array of shape (r, r)
        Their covariance.
    noise, noise_variance : float
        Mean and variance of the noise.
    """

    mean: Array
    covariance: Array
    noise: float
    noise_variance: float


def shortened(known: Model, at: Points, full: Posterior, lacking: Sequence[str]) -> Shortened:
    """Return the posterior for rows that lack some features.

    Parameters
    ----------
    known : Model
        The model.
    at : Points
        Points of its grid that matter.
    full : Posterior
        Of all coefficients.
    lacking : sequence of str
        Features that the rows lack.
    """
    features, lead, target = known.scaled.features, known.scaled.lead, known.scaled.target
    is_there = np.array([n not in lacking for n in features], dtype=np.bool_)
    has, lacks = np.flatnonzero(is_there), np.flatnonzero(~is_there)
    each = relation(target, has, lacks)
    account = Imputation(each.mean, each.covariance.sum(axis=0), float(each.noise.sum()), 0.0)
    theta, place = full.mean[lead + lacks], np.ix_(lead + lacks, lead + lacks)
    second = full.covariance[place] + np.outer(theta, theta)
    open_ = max(float(np.sum(account.residual(target, has, lacks) * second)), 0.0)
    same = [k for k, g in enumerate(known.groups) if g.has.tolist() == has.tolist()]
    if same:
        mean, covariance = short_posterior(known.evidence, at, known.groups, same[0])
    else:
        P = short_design(has, lacks, each.mean, lead)
        mean, covariance = P @ full.mean, P @ full.covariance @ P.T
        covariance += _error(each, second, open_ / target.weight, lead)
    return Shortened(mean, covariance, full.noise + open_, full.noise_variance)


def _error(each: Ridge, second: Array, level: float, lead: int) -> Array:
    r"""Return :math:`\sum_j \operatorname E[\theta_j^2] C_j`, the error of the imputation."""
    p = len(each.mean)
    error = np.zeros((lead + p, lead + p))
    error[lead:, lead:] = np.tensordot(second.diagonal(), each.covariance, axes=1)
    error[:lead, :lead] = level
    return error
