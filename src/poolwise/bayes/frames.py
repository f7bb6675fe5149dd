r"""Frames: all that sources say, for given levels of conflict and one account of what they lack.

Sources with the same features speak about the same coefficients :math:`\beta = P\theta + \epsilon`,
where :math:`P = (I, B)` and :math:`\epsilon \sim N(0, c^2 B_c)` is the error of the imputation,
the same for all of them. So their informations are added first. With
:math:`H = R^\top R` their sum, :math:`k = R^{-\top} h`, and the spectrum
:math:`R B_c R^\top = U \varepsilon U^\top`,

.. math:: U^\top k = U^\top R P\theta + N(0, I + c^2 \varepsilon)

is a regression on :math:`\theta` with independent rows, for every :math:`c^2` at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poolwise.bayes.conflict import Information
from poolwise.bayes.imputation import Imputation
from poolwise.double_double import Array

WEAK = 1e-12  # information, relative to the strongest, that counts as none


@dataclass(frozen=True, eq=False)
class Group:
    """Sources with the same features.

    Parameters
    ----------
    has, lacks : array of int
        Their features, and those they lack.
    members : tuple of int
        Which sources they are.
    information : Information
        Of each of them at each level of conflict.
    kinds : tuple of str
        Names of the accounts of what sources lack, the same for all groups.
    imputations : tuple of Imputation
        The accounts.
    """

    has: NDArray[np.intp]
    lacks: NDArray[np.intp]
    members: tuple[int, ...]
    information: Information
    kinds: tuple[str, ...]
    imputations: tuple[Imputation, ...]

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

    Parameters
    ----------
    has, lacks : array of int
        Features that are there, and those that are not.
    B : array of shape (p, q)
        Coefficients of the latter on the former.
    lead : int
        One with an intercept.
    """
    P = np.zeros((lead + len(has), lead + len(has) + len(lacks)))
    P[:lead, :lead] = np.eye(lead)
    P[lead + np.arange(len(has)), lead + has] = 1.0
    P[lead:, lead + lacks] = B
    return P


@dataclass(frozen=True, eq=False)
class Frames:
    """Regressions with independent rows, one for each account and setting of conflict.

    Parameters
    ----------
    rows : array of shape (F, R, p + 1)
        Rows over all coefficients, and their response.
    error : array of shape (F, R)
        Variance of a row beyond one, for new coefficients of size one.
    log_weight : array of shape (F,)
        Log prior, and all of the log evidence that depends on nothing else.
    account : array of int of shape (F,)
        Which account of the lacking features.
    conflict : array of shape (F, K, L)
        Probability of each level of conflict of each source.
    turned : tuple of array of shape (F, r, r)
        For each group, its rows over its own coefficients.
    """

    rows: Array
    error: Array
    log_weight: Array
    account: NDArray[np.intp]
    conflict: Array
    turned: tuple[Array, ...]

    def products(self, frame: NDArray[np.intp], signal: Array) -> tuple[Array, Array]:
        """Return the products of rows, and what else the log evidence has of them.

        Parameters
        ----------
        frame : array of int of shape (m,)
            Which frames.
        signal : array of shape (m,)
            :math:`c^2` in each.
        """
        rows, variance = self.rows[frame], 1.0 + signal[:, None] * self.error[frame]
        products = (rows / variance[:, :, None]).swapaxes(1, 2) @ rows
        return products, self.log_weight[frame] - 0.5 * np.log(variance).sum(axis=1)


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

    Parameters
    ----------
    groups : sequence of Group
        All sources.
    conflict : array of shape (C, K, L)
        Settings: probabilities of the levels of each source.
    log_prior : array of shape (L,)
        Log prior of the levels.
    coefficients : int
        Number of all coefficients.
    lead : int
        One with an intercept.
    target_rows : float
        Number of rows of the target.
    """
    accounts = range(len(groups[0].imputations) if groups else 1)
    settings = len(conflict)
    log_weight = np.einsum("ckl,ckl->c", conflict, log_prior - _log(conflict))
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


def _log(probability: Array) -> Array:
    """Return logs, of which those of zero are never used."""
    return np.log(np.where(probability > 0.0, probability, 1.0))
