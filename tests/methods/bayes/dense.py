"""The model of Bayes pooling written the slow way: rows, explicit inverses, whole covariances."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import block_diag

from poolwise.methods.bayes.priors import (
    CONFLICTS,
    LEVEL_VARIANCE,
    SHAPE_PRIOR,
    SHAPES,
    STEPS,
    WIDE,
    ZELLNER,
)
from poolwise.methods.bayes.pseudo_rows import frames, levels
from poolwise.methods.bayes.scaling import Scaled, scaled
from poolwise.methods.bayes.share_of_history import Model, model
from tests.laws.problems import Table, Tables


def model_of(tables: Tables, *, intercept: bool = True) -> Model:
    return model(scaled(tables.problem(intercept=intercept)))


def with_levels(known: Model, chosen: Sequence[Sequence[int]]) -> Model:
    """Return the model with these levels of conflict and no others, one line for each setting."""
    own, prior = known.scaled, levels(intercept=known.scaled.intercept).log_prior
    said = frames(
        known.groups,
        np.eye(len(prior))[np.array(chosen)],
        prior,
        coefficients=own.lead + len(own.features),
        lead=own.lead,
        target_rows=own.target.weight,
    )
    return replace(known, evidence=replace(known.evidence, frames=said))


def random_levels(known: Model, count: int, seed: int) -> Model:
    """Return the model with some settings of conflict, the first of which is none."""
    top = len(levels(intercept=known.scaled.intercept))
    chosen = np.random.default_rng(seed).integers(0, top, (count, len(known.sources)))
    chosen[0] = 0
    return with_levels(known, chosen)


def scaled_rows(own: Scaled, tables: Tables, table: Table) -> tuple[np.ndarray, np.ndarray]:
    """Return a table's rows in standard deviations, as often as they weigh.

    They are centred at the target's means, with a one before, where there is an intercept.
    """
    t, has = tables.target, [n for n in own.features if n in table.names]
    unit = np.array([own.unit[own.features.index(n)] for n in has])
    X, y, ones = table.having(has) / unit, table.y / own.response_unit, np.zeros((len(table.y), 0))
    if own.intercept:
        X = X - np.average(t.having(has), axis=0, weights=t.w) / unit
        y = y - np.average(t.y, weights=t.w) / own.response_unit
        ones = np.ones((len(y), 1))
    times = table.w.astype(int)
    return np.repeat(np.column_stack((ones, X)), times, axis=0), np.repeat(y, times)


@dataclass(frozen=True, eq=False)
class Gaussian:
    """One point of the grid, for one shape of the prior: everything is Gaussian.

    The coefficients ``theta`` and the imputation errors of all groups, one after another, have the
    covariance ``root @ root.T``. All responses are ``design`` times them, and noise of covariance
    ``V``.
    """

    root: np.ndarray
    design: np.ndarray
    V: np.ndarray
    response: np.ndarray
    log_prior: float
    noise: float
    signal: float
    starts: tuple[int, ...]  # where the error of each group begins
    maps: tuple[np.ndarray, ...]  # from theta to the coefficients of each group

    @property
    def log_evidence(self) -> float:
        """Log density of the responses, and the prior of the point."""
        whole = self.design @ self.root @ self.root.T @ self.design.T + self.V
        sign, log_determinant = np.linalg.slogdet(2.0 * np.pi * whole)
        assert sign > 0
        quadratic = self.response @ np.linalg.inv(whole) @ self.response
        return self.log_prior - 0.5 * (log_determinant + quadratic)

    @property
    def posterior(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and covariance of the coefficients and the errors, given the responses."""
        design = self.design @ self.root
        precision = np.eye(design.shape[1]) + design.T @ np.linalg.inv(self.V) @ design
        scale = 1.0 / np.sqrt(precision.diagonal())  # or the intercept's 1e6 would cost digits
        inverse = np.linalg.inv(precision * np.outer(scale, scale)) * np.outer(scale, scale)
        mean = inverse @ design.T @ np.linalg.inv(self.V) @ self.response
        return self.root @ mean, self.root @ inverse @ self.root.T


def gaussians(known: Model, tables: Tables, cell: Sequence[int]) -> Iterator[Gaussian]:
    """Yield the model at one point of the grid, for each shape of the prior."""
    frame, share, ratio, size = cell
    own, e = known.scaled, known.evidence
    account, chosen = e.frames.account[frame], e.frames.conflict[frame].argmax(axis=1)
    noise = e.noise * e.grid.noise[share, ratio]
    signal = noise * e.grid.signal[share] / e.spread[account]
    lead, p = own.lead, own.lead + len(own.features)
    Z, y = scaled_rows(own, tables, tables.target)
    steps = [lead + len(g.has) for g in known.groups]
    starts = tuple(int(p + sum(steps[:k])) for k in range(len(steps)))
    errors, maps = [], []
    rows, responses, variances = [np.column_stack((Z, np.zeros((len(y), sum(steps)))))], [y], []
    for group, start in zip(known.groups, starts, strict=True):
        imputed = group.imputations[account]
        level = [[np.sqrt(imputed.spread / own.target.weight)]] * lead
        errors.append(np.sqrt(signal) * block_diag(*level, root_of(imputed.error)))
        P = np.zeros((lead + len(group.has), p))
        P[:lead, :lead] = np.eye(lead)
        P[lead:, lead + group.has] = np.eye(len(group.has))
        P[lead:, lead + group.lacks] = imputed.B
        maps.append(P)
        for k in group.members:
            s = known.sources[k]
            row = np.zeros((len(s.k), p + sum(steps)))
            row[:, :p], row[:, start : start + len(P)] = s.J @ P, s.J
            rows.append(row)
            responses.append(s.k)
            variances.append(conflict_variance(s, chosen[k], lead))
    level = [[np.sqrt(LEVEL_VARIANCE * e.noise)]] * lead
    shared = np.sqrt(e.size * e.grid.size[size]) * np.eye(own.common)
    log_prior = e.grid.log_prior[share, ratio] + e.grid.log_size_prior[size]
    log_prior += levels(intercept=own.intercept).log_prior[chosen].sum()
    log_prior += known.groups[0].imputations[account].log_weight if known.groups else 0.0
    for shape, log_shape in shapes_of(e, account):
        yield Gaussian(
            root=block_diag(*level, shared, np.sqrt(signal) * root_of(shape), *errors),
            design=np.concatenate(rows),
            V=block_diag(noise * np.eye(len(y)), *variances),
            response=np.concatenate(responses),
            log_prior=log_prior + log_shape,
            noise=noise,
            signal=signal,
            starts=starts,
            maps=tuple(maps),
        )


def root_of(covariance: np.ndarray) -> np.ndarray:
    """Return a root of a matrix that may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def shapes_of(e, account) -> list[tuple[np.ndarray, float]]:
    """Return the prior covariance of new coefficients and its log probability, for each shape."""
    q = e.zellner.shape[1]
    if q == 0:
        return [(np.zeros((0, 0)), 0.0)]
    other = ZELLNER if q > 1 else 0.0
    found = [
        (r * np.eye(q), np.log(p * (1.0 - other))) for r, p in zip(SHAPES, SHAPE_PRIOR, strict=True)
    ]
    return found + ([(np.linalg.inv(e.zellner[account]), np.log(other))] if other else [])


def conflict_variance(source, level: int, lead: int) -> np.ndarray:
    """Return V0 of a source at one level of conflict."""
    known = levels(intercept=bool(lead))
    J0, J1 = source.J[:, :lead], source.J[:, lead:]
    slopes = known.slopes[level] * source.noise + known.both[level]
    if known.slopes[level] == CONFLICTS[-1]:
        slopes = max(slopes, WIDE)
    intercept = known.intercept[level] * source.noise + known.both[level]
    if np.isinf(intercept):
        intercept = max(STEPS[-2] * source.noise, source.level_gap_square)
    elif slopes > 0.0:
        intercept = max(intercept, source.level_gap_square)
    return np.eye(len(source.k)) + slopes / J1.shape[1] * J1 @ J1.T + intercept * J0 @ J0.T


def mixture(weights, means, covariances) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and covariance of a mixture of Gaussians, by its second moments."""
    w = np.array(weights) / np.sum(weights)
    mean = sum(a * m for a, m in zip(w, means, strict=True))
    second = sum(a * (c + np.outer(m, m)) for a, m, c in zip(w, means, covariances, strict=True))
    return mean, second - np.outer(mean, mean)


def random_cells(known: Model, count: int, seed: int) -> np.ndarray:
    """Draw points of the grid at which explicit inverses can be trusted.

    Where new features explain more than all but 5e-5 of the residual, matrices with a condition
    number beyond 1e12 are to be inverted.
    """
    rng = np.random.default_rng(seed)
    frames, (shares, *rest) = len(known.evidence.frames.log_weight), known.evidence.grid.shape
    shape = (frames, min(shares, 9), *rest)
    return np.column_stack([rng.integers(0, n, count) for n in shape])
