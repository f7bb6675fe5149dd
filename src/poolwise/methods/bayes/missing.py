r"""The model for rows that lack some features, from the same posterior.

In the target the lacking features are :math:`x_M = m + x_O B + v` given the others.
So the response has the coefficients :math:`\theta_O + B\theta_M` and the noise
:math:`\sigma^2 + \theta_M^\top\Sigma_v\theta_M`. Sources that lack exactly these features inform
about those coefficients directly; see ``short_posterior``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from poolwise._typing import Array
from poolwise.methods.bayes.evidence import Evidence, Points, Posterior, answers, mixed
from poolwise.methods.bayes.imputation import Imputation, Ridge, relation
from poolwise.methods.bayes.pseudo_rows import Group, short_design
from poolwise.methods.bayes.scaling import Scaled


def shortened(
    scaled: Scaled,
    groups: tuple[Group, ...],
    evidence: Evidence,
    at: Points,
    full: Posterior,
    lacking: Sequence[str],
) -> Posterior:
    """Return the posterior for rows that lack some features, from the one of all coefficients."""
    features, lead, target = scaled.features, scaled.lead, scaled.target
    is_there = np.array([n not in lacking for n in features], dtype=np.bool_)
    has, lacks = np.flatnonzero(is_there), np.flatnonzero(~is_there)
    each = relation(target, has, lacks)
    account = Imputation(each.mean, each.covariance.sum(axis=0), float(each.noise.sum()), 0.0)
    theta, place = full.mean[lead + lacks], np.ix_(lead + lacks, lead + lacks)
    second = full.covariance[place] + np.outer(theta, theta)
    open_ = max(float(np.sum(account.residual(target, has, lacks) * second)), 0.0)
    same = [k for k, g in enumerate(groups) if g.has.tolist() == has.tolist()]
    if same:
        mean, covariance = short_posterior(evidence, at, groups, same[0])
    else:
        P = short_design(has, lacks, each.mean, lead)
        mean, covariance = P @ full.mean, P @ full.covariance @ P.T
        covariance += _error(each, second, open_ / target.weight, lead)
    return replace(full, mean=mean, covariance=covariance, noise=full.noise + open_)


def _error(each: Ridge, second: Array, level: float, lead: int) -> Array:
    r"""Return :math:`\sum_j \operatorname E[\theta_j^2] C_j`, the error of the imputation."""
    p = len(each.mean)
    error = np.zeros((lead + p, lead + p))
    error[lead:, lead:] = np.tensordot(second.diagonal(), each.covariance, axes=1)
    error[:lead, :lead] = level
    return error


def short_posterior(
    evidence: Evidence, at: Points, groups: tuple[Group, ...], number: int
) -> tuple[Array, Array]:
    r"""Return mean and covariance of the coefficients given the features of a group alone.

    At one point of the grid they are :math:`\beta = P\theta + \epsilon`, and the sources of the
    group inform about the error of the imputation:

    .. math:: \operatorname E[\epsilon \mid \theta] = c^2 B_c R^\top V^{-1}(k - RP\theta), \quad
       \operatorname{Var}[\epsilon \mid \theta] = c^2 B_c - c^2 B_c R^\top V^{-1} R\, c^2 B_c .

    Conflict is part of :math:`V`: a source in conflict has little influence.
    """
    f, group = evidence.frames, groups[number]
    accounts = range(len(evidence.spread))
    error = np.stack([group.error(a, evidence.lead, evidence.rows) for a in accounts])
    design = np.stack([group.design(a, evidence.lead) for a in accounts])
    before = sum(t.shape[1] for t in f.turned[:number])
    place = slice(before, before + f.turned[number].shape[1])
    parts = []
    for cells, weight, mean, covariance, factored in answers(evidence, at):
        frame = cells[:, 0]
        account = f.account[frame]
        R, P = f.turned[number][frame], design[account]
        k = f.rows[frame, place, -1]
        own = factored.signal[:, None, None] * error[account]
        variance = 1.0 + factored.signal[:, None] * f.error[frame, place]
        gain = own @ (R / variance[:, :, None]).swapaxes(1, 2)
        map_ = P - gain @ R @ P
        beta = (map_ @ mean[:, :, None] + gain @ k[:, :, None])[:, :, 0]
        spread = map_ @ covariance @ map_.swapaxes(1, 2) + own - gain @ R @ own
        parts.append((weight, beta, np.tensordot(weight, spread, axes=1)))
    return mixed(parts)
