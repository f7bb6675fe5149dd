r"""The information of sources about the coefficients, one pseudo-row for each coefficient.

**Compression**
In a source, :math:`y = \beta_0 + x'\beta' + \text{noise}` with the noise :math:`\sigma_S^2`. With
the products :math:`G = U e U^\top` of its features about their means, its information is

.. math:: k = J\beta + N(0, I), \qquad
   J = \frac1{\sigma_S} \begin{pmatrix} 0 & \sqrt e\,U^\top \\ \sqrt{n_S} &
   \sqrt{n_S}(\bar x_S - \bar x_T) \end{pmatrix}, \quad
   k = \frac1{\sigma_S} \begin{pmatrix} e^{-1/2} U^\top b_S \\ \sqrt{n_S}(\bar y_S - \bar y_T)
   \end{pmatrix} .

**Conflict**
A source in conflict has the coefficients :math:`\beta + \delta`, where :math:`\delta` has the
variance :math:`\tau/d_S` for each feature and :math:`\tau_0` for the intercept. A level of conflict
is a pair :math:`(\tau, \tau_0)`, in units of the source's noise :math:`\sigma_S^2`; the last one is
in units of the response's variance instead, since a source of little noise may still be wrong about
everything. At each level, the information of the source about :math:`\beta` is
:math:`k = J\beta + N(0, V_0)`,

.. math:: V_0 = I + \tfrac\tau{d_S} J_{x'} J_{x'}^\top + \tau_0 J_0 J_0^\top .

Where the slopes are in conflict, and at the last level without :math:`\tau`, the level may differ
by as much as it is seen to: :math:`\tau_0\sigma_S^2` is at least the square of the source's
prediction at the target's mean, less the target's.

**Frames**
Sources with the same features inform about the same :math:`\beta = P\theta + \epsilon`,
where :math:`P = (I, B)` and :math:`\epsilon \sim N(0, c^2 B_c)` is the error of the imputation,
the same for all of them. So their information is added first. With
:math:`H = R^\top R` their sum, :math:`k = R^{-\top} h`, and the spectrum
:math:`R B_c R^\top = U \varepsilon U^\top`,

.. math:: U^\top k = U^\top R P\theta + N(0, I + c^2 \varepsilon)

is a regression on :math:`\theta` with independent rows, for every :math:`c^2` at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array
from poolwise.methods.bayes.imputation import Imputation, Spectrum, integrated_ridge
from poolwise.methods.bayes.priors import AGREES, CONFLICTS, ENDLESS, LEAST_SHARE, STEPS, WIDE
from poolwise.methods.bayes.scaling import ScaledTable

LEAST_NOISE = 1e-6  # of a source, relative to the variance of the target's response
EXACT = 1e-12  # noise of tables without any, in units of the response's variance


@dataclass(frozen=True, eq=False)
class Compressed:
    """A source in as many rows as it has coefficients."""

    J: Array  # (r, r): pseudo-rows over the intercept, if there is one, and the source's features
    k: Array  # (r,): their responses, with noise one
    noise: float  # variance of the source's residual
    coefficient_size: float  # mean square of the source's coefficients
    level_gap_square: float  # (its prediction at the target's mean - the target's mean response)^2


def compressed(source: ScaledTable, target: ScaledTable, *, intercept: bool) -> Compressed:
    """Compress a source of the same scaled problem as the target."""
    spectrum = Spectrum.of(source.gram)
    squares = np.array([source.square])
    own = integrated_ridge(spectrum, source.cross[:, None], squares, source.free)
    least = LEAST_NOISE * target.square / max(target.free, 1.0)
    noise = max(float(own.noise[0]), least, EXACT)
    gamma, d = own.mean[:, 0], len(source.at)
    size = max(float(gamma @ gamma + own.covariance[0].trace()), LEAST_SHARE) / max(d, 1)
    root = np.sqrt(spectrum.values)
    lead = int(intercept)
    J, k = np.zeros((d + lead, d + lead)), np.zeros(d + lead)
    J[:d, lead:] = root[:, None] * spectrum.vectors.T
    along = spectrum.turned(source.cross)
    k[:d] = np.divide(along, root, out=np.zeros(d), where=root > 0.0)
    if intercept:
        J[d] = np.sqrt(source.weight) * np.append(1.0, source.offset)
        k[d] = np.sqrt(source.weight) * source.step
    deviation = np.sqrt(noise)
    gap = (source.step - float(source.offset @ gamma)) ** 2 if intercept else 0.0
    return Compressed(J / deviation, k / deviation, noise, size, gap)


@dataclass(frozen=True, eq=False)
class ConflictLevels:
    """Levels of conflict, of which the first is no conflict. All arrays have the shape (L,)."""

    slopes: Array  # tau, in units of the source's noise
    intercept: Array  # tau_0, in the same units; infinite for as much as it is seen to differ
    both: Array  # added to both, in units of the response's variance
    log_prior: Array  # log probability before the data

    def __len__(self) -> int:
        return len(self.slopes)

    def level_variance(self, source: Compressed) -> Array:
        """Return the variance of the intercept at each degree of conflict, by the response's."""
        is_open = np.isinf(self.intercept)
        least = source.noise * np.where(is_open, STEPS[-2], self.intercept) + self.both
        is_seen = (self.slopes + self.both > 0.0) | is_open
        return np.maximum(least, np.where(is_seen, source.level_gap_square, 0.0))

    def slope_variance(self, source: Compressed) -> Array:
        """Return tau at each level of conflict, in units of the response."""
        least = np.where(self.slopes == CONFLICTS[-1], WIDE, 0.0)
        return np.maximum(source.noise * self.slopes, least) + self.both


def levels(*, intercept: bool) -> ConflictLevels:
    """Return the levels: none, in the intercept, in all coefficients, and unlimited."""
    kinds = [
        (0.0, 0.0, 0.0),
        *((0.0, v, 0.0) for v in STEPS if intercept),
        *((v, v, 0.0) for v in CONFLICTS),
        (0.0, 0.0, ENDLESS),
    ]
    rest = (1.0 - AGREES) / (len(kinds) - 1)
    slopes, level, both = np.array(kinds).T
    return ConflictLevels(slopes, level, both, np.log([AGREES, *[rest] * (len(kinds) - 1)]))


@dataclass(frozen=True, eq=False)
class Information:
    """The information of sources about their coefficients, as sums that can be added."""

    precision: Array  # (..., r, r): J' V_0^-1 J
    cross: Array  # (..., r): J' V_0^-1 k
    square: Array  # (...): k' V_0^-1 k
    log_determinant: Array  # (...): of V_0

    def averaged(self, weights: Array) -> Information:
        """Return sums over the first axes, weighed; several weightings in the first axis."""
        sums = (self.precision, self.cross, self.square, self.log_determinant)
        over = weights.ndim - 1
        flat = weights.reshape(len(weights), -1)
        return Information(
            *((flat @ s.reshape(flat.shape[1], -1)).reshape(-1, *s.shape[over:]) for s in sums)
        )


def information(source: Compressed, known: ConflictLevels, *, intercept: bool) -> Information:
    """Return the information of a source at each level of conflict."""
    J, k, lead = source.J, source.k, int(intercept)
    slopes = J[:, lead:] @ J[:, lead:].T / max(J.shape[1] - lead, 1)
    level = J[:, :lead] @ J[:, :lead].T
    V = np.eye(len(k)) + known.slope_variance(source)[:, None, None] * slopes
    V += known.level_variance(source)[:, None, None] * level
    root = np.linalg.cholesky(V)
    right = np.column_stack((J, k))
    half = np.linalg.solve(root, np.broadcast_to(right, (len(known), *right.shape)))
    products = half.swapaxes(1, 2) @ half
    return Information(
        precision=products[:, :-1, :-1],
        cross=products[:, :-1, -1],
        square=products[:, -1, -1],
        log_determinant=2.0 * np.log(np.einsum("lii->li", root)).sum(axis=1),
    )


MOST = 64  # combinations


def every_setting(sources: int, levels: int) -> Array | None:
    """Return every combination of levels, or None if there are too many.

    They are probabilities (settings, sources, levels), all zero or one.
    """
    if levels**sources > MOST:
        return None
    chosen = np.array(list(product(range(levels), repeat=sources)), dtype=np.intp)
    return np.eye(levels)[chosen.reshape(levels**sources, sources)]


WEAK = 1e-12  # information, relative to the strongest, that counts as none


@dataclass(frozen=True, eq=False)
class Group:
    """Sources with the same features."""

    has: NDArray[np.intp]  # their features
    lacks: NDArray[np.intp]  # the features they lack
    members: tuple[int, ...]  # places of these sources
    information: Information  # of each of them at each level of conflict
    kinds: tuple[str, ...]  # names of the accounts, the same for all groups
    imputations: tuple[Imputation, ...]  # accounts of the features that sources lack

    def design(self, account: int, lead: int) -> Array:
        """Return P, which maps all coefficients to those of the group."""
        return short_design(self.has, self.lacks, self.imputations[account].B, lead)

    def error(self, account: int, lead: int, rows: float) -> Array:
        """Return the covariance of the error of the imputation, for coefficients of size one."""
        known = self.imputations[account]
        error = np.zeros((lead + len(self.has),) * 2)
        error[lead:, lead:] = known.error
        if lead:
            error[0, 0] = known.spread / rows
        return error


def short_design(has: NDArray[np.intp], lacks: NDArray[np.intp], B: Array, lead: int) -> Array:
    """Return P, which maps all coefficients to those of rows that lack some features.

    ``B`` are coefficients of the lacking features on the others; ``lead`` is one with an intercept.
    """
    P = np.zeros((lead + len(has), lead + len(has) + len(lacks)))
    P[:lead, :lead] = np.eye(lead)
    P[lead + np.arange(len(has)), lead + has] = 1.0
    P[lead:, lead + lacks] = B
    return P


@dataclass(frozen=True, eq=False)
class Frames:
    """Regressions with independent rows, one for each account and setting of conflict."""

    rows: Array  # (F, R, p + 1): rows over all coefficients, and their response
    error: Array  # (F, R): variance of a row beyond one, for new coefficients of size one
    log_weight: Array  # (F,): log prior, and the part of the log evidence without further scales
    account: NDArray[np.intp]  # (F,): which account of the lacking features
    conflict: Array  # (F, K, L): probability of each level of conflict of each source
    turned: tuple[Array, ...]  # (F, r, r) for each group: its rows over its own coefficients


def frames(
    groups: Sequence[Group],
    conflict: Array,
    log_prior: Array,
    *,
    coefficients: int,
    lead: int,
    target_rows: float,
) -> Frames:
    """Return a frame for each account and each setting of conflict.

    The settings ``conflict`` (C, K, L) are probabilities of the levels of each source;
    ``coefficients`` is the number of all coefficients, and ``lead`` is one with an intercept.
    """
    accounts = range(len(groups[0].imputations) if groups else 1)
    settings = len(conflict)
    known = np.where(conflict > 0.0, conflict, 1.0)  # without zeros, whose logarithms do not count
    log_weight = np.einsum("ckl,ckl->c", conflict, log_prior - np.log(known))
    log_weight = np.tile(log_weight, (len(accounts), 1))
    rows, errors, turned = [], [], []
    for number, group in enumerate(groups):
        total = group.information.averaged(conflict[:, list(group.members)])
        R, k = _rooted(total.precision, total.cross)
        rest = np.maximum(total.square - np.einsum("cr,cr->c", k, k), 0.0)
        log_weight -= 0.5 * (total.log_determinant + rest)
        error = np.stack([group.error(a, lead, target_rows) for a in accounts])
        design = np.stack([group.design(a, lead) for a in accounts])
        spread = R @ error[:, None] @ R.swapaxes(1, 2)  # (accounts, settings, r, r)
        values, vectors = np.linalg.eigh(spread)
        along = vectors.swapaxes(2, 3)
        own = along @ R
        full = np.concatenate((own @ design[:, None], along @ k[:, :, None]), axis=3)
        rows.append(full.reshape(-1, *full.shape[2:]))
        errors.append(np.maximum(values, 0.0).reshape(-1, values.shape[2]))
        turned.append(own.reshape(-1, *own.shape[2:]))
        if number == 0:
            prior = [group.imputations[a].log_weight for a in accounts]
            log_weight += np.array(prior)[:, None]
    if not groups:
        rows, errors = [np.zeros((settings, 0, coefficients + 1))], [np.zeros((settings, 0))]
    return Frames(
        rows=np.concatenate(rows, axis=1),
        error=np.concatenate(errors, axis=1),
        log_weight=log_weight.ravel(),
        account=np.repeat(np.arange(len(accounts)), settings),
        conflict=np.tile(conflict, (len(accounts), 1, 1)),
        turned=tuple(turned),
    )


def _rooted(precision: Array, cross: Array) -> tuple[Array, Array]:
    """Return R with R'R the precision, and k with R'k the cross products."""
    size = np.sqrt(np.einsum("cii->ci", precision))
    scale = np.where(size > 0.0, size, 1.0)
    values, vectors = np.linalg.eigh(precision / (scale[:, :, None] * scale[:, None, :]))
    kept = values > WEAK * np.maximum(values[:, -1:], WEAK)
    root = np.sqrt(np.where(kept, values, 0.0))
    R = root[:, :, None] * vectors.swapaxes(1, 2) * scale[:, None, :]
    along = np.einsum("cir,ci->cr", vectors, cross / scale)
    return R, np.divide(along, root, out=np.zeros_like(along), where=kept)
