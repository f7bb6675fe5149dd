"""Posterior: the answers at all points of the grid, weighed by their evidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from poolwise.bayes.evidence import Cells, Evidence, Factored
from poolwise.bayes.frames import Group
from poolwise.double_double import Array

WORTH = 1e-4  # weight of a point, relative to the largest, below which it is left out


@dataclass(frozen=True, eq=False)
class Posterior:
    """Mean and covariance of coefficients, and of what goes with them.

    Parameters
    ----------
    mean : array of shape (p,)
        Intercept, if there is one, and coefficients.
    covariance : array of shape (p, p)
        Within and between points of the grid.
    noise : float
        Mean of the noise.
    noise_variance : float
        Its variance.
    conflict : array of shape (K,)
        Probability that a source is in conflict.
    """

    mean: Array
    covariance: Array
    noise: float
    noise_variance: float
    conflict: Array


@dataclass(frozen=True, eq=False)
class Points:
    """The points of the grid that matter.

    Parameters
    ----------
    cells : array of int of shape (m, 4)
        Where they are.
    weight : array of shape (m, shapes)
        Posterior probability of each point and shape of the prior.
    """

    cells: Cells
    weight: Array


def points(evidence: Evidence) -> Points:
    """Search the grid and keep the points that matter."""
    cells, log_evidence = evidence.search()
    weight = np.exp(log_evidence - log_evidence.max())
    total = weight.sum(axis=1)
    kept = total > WORTH * total.max()
    weight = weight[kept]
    return Points(cells[kept], weight / weight.sum())


def posterior(evidence: Evidence, at: Points) -> Posterior:
    """Return the posterior of all coefficients.

    Parameters
    ----------
    evidence : Evidence
        The model.
    at : Points
        Its points that matter.
    """
    parts, noises = [], []
    for _, of_points, means, covariances, factored in _answers(evidence, at):
        parts.append((of_points, means, np.tensordot(of_points, covariances, axes=1)))
        noises.append(factored.noise)
    mean, covariance = _mixed(parts)
    weight, noise = at.weight.sum(axis=1), np.concatenate(noises)
    average = float(weight @ noise)
    none = evidence.frames.conflict[at.cells[:, 0], :, 0]
    return Posterior(
        mean=mean,
        covariance=covariance,
        noise=average,
        noise_variance=float(weight @ (noise - average) ** 2),
        conflict=1.0 - weight @ none,
    )


def short_posterior(
    evidence: Evidence, at: Points, groups: tuple[Group, ...], number: int
) -> tuple[Array, Array]:
    r"""Return mean and covariance of the coefficients given the features of a group alone.

    At one point of the grid they are :math:`\beta = P\theta + \epsilon`, and the sources of the
    group tell something about the error of the imputation:

    .. math:: \operatorname E[\epsilon \mid \theta] = c^2 B_c R^\top V^{-1}(k - RP\theta), \quad
       \operatorname{Var}[\epsilon \mid \theta] = c^2 B_c - c^2 B_c R^\top V^{-1} R\, c^2 B_c .

    Conflict stays in :math:`V`: a source in conflict tells little.
    """
    f, group = evidence.frames, groups[number]
    accounts = range(len(evidence.spread))
    error = np.stack([group.error(a, evidence.lead, evidence.rows) for a in accounts])
    design = np.stack([group.design(a, evidence.lead) for a in accounts])
    before = sum(t.shape[1] for t in f.turned[:number])
    place = slice(before, before + f.turned[number].shape[1])
    parts = []
    for cells, weight, mean, covariance, factored in _answers(evidence, at):
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
    return _mixed(parts)


def _mixed(parts: list[tuple[Array, Array, Array]]) -> tuple[Array, Array]:
    """Return mean and covariance of a mixture, from weights, means, and sums of covariances."""
    weight, mean = (np.concatenate(p) for p in list(zip(*parts, strict=True))[:2])
    average = weight @ mean
    away = mean - average
    within = sum((c for _, _, c in parts), np.zeros_like(parts[0][2]))
    return average, within + (weight[:, None] * away).T @ away


def _answers(
    evidence: Evidence, at: Points
) -> Iterator[tuple[Cells, Array, Array, Array, Factored]]:
    """Yield stacks of points with weight, mean, covariance, shapes of the prior averaged."""
    q, done = evidence.new, 0
    first = evidence.target.shape[0] - 1 - q
    for cells in evidence.stacks(at.cells):
        f = evidence.factored(cells)
        by_shape = at.weight[done : done + len(cells)]
        done += len(cells)
        weight = by_shape.sum(axis=1)
        share = by_shape / np.where(weight > 0.0, weight, 1.0)[:, None]
        mean_new, cov_new = _new(f.tail, share)
        # Given the new coefficients the shared ones are Gaussian, whatever the shape.
        half = _lower_inverse(f.root[:, :first, :first]).swapaxes(1, 2)
        slope = half @ f.root[:, first:-1, :first].swapaxes(1, 2)
        level = half @ f.root[:, -1, :first, None] - slope @ mean_new[:, :, None]
        mean = np.concatenate((level[:, :, 0], mean_new), axis=1)
        covariance = np.empty((len(cells), first + q, first + q))
        across = slope @ cov_new
        covariance[:, first:, first:] = cov_new
        covariance[:, :first, first:] = -across
        covariance[:, first:, :first] = -across.swapaxes(1, 2)
        covariance[:, :first, :first] = half @ half.swapaxes(1, 2) + across @ slope.swapaxes(1, 2)
        yield cells, weight, mean, covariance, f


def _new(tail: Array, share: Array) -> tuple[Array, Array]:
    """Return mean and covariance of new coefficients, from the factors for all shapes."""
    m, shapes, q = *tail.shape[:2], tail.shape[2] - 1
    inverse = _lower_inverse(tail[:, :, :q, :q])
    by_shape = (tail[:, :, q:, :q] @ inverse)[:, :, 0]
    mean = (share[:, None] @ by_shape)[:, 0]
    root = np.sqrt(share)[:, :, None]
    within = (root[..., None] * inverse).reshape(m, shapes * q, q)
    parts = np.concatenate((within, root * (by_shape - mean[:, None])), axis=1)
    return mean, parts.swapaxes(1, 2) @ parts


def _lower_inverse(L: Array) -> Array:
    """Return inverses of lower triangular matrices, by halves."""
    n = L.shape[-1]
    if n < 2:
        return 1.0 / L
    k = n // 2
    inverse = np.zeros(L.shape)
    top, bottom = _lower_inverse(L[..., :k, :k]), _lower_inverse(L[..., k:, k:])
    inverse[..., :k, :k], inverse[..., k:, k:] = top, bottom
    inverse[..., k:, :k] = -bottom @ (L[..., k:, :k] @ top)
    return inverse
