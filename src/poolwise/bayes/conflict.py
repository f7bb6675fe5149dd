r"""Conflict: how far a source's coefficients may lie from the target's.

A source in conflict has the coefficients :math:`\beta + \delta`, where :math:`\delta` has the
variance :math:`\tau/d_S` for each feature and :math:`\tau_0` for the intercept. A level of conflict
is a pair :math:`(\tau, \tau_0)`, in units of the source's noise :math:`\sigma_S^2`; the last one is
in units of the response's variance instead, since a source of little noise may still be wrong about
everything. What the source has to say about :math:`\beta` at a level is the information of
:math:`k = J\beta + N(0, V_0)`,

.. math:: V_0 = I + \tfrac\tau{d_S} J_{x'} J_{x'}^\top + \tau_0 J_0 J_0^\top .
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poolwise.bayes.compression import Compressed
from poolwise.double_double import Array

AGREES = 0.6  # prior probability of no conflict
SIZES = (0.1, 1.0, 10.0)  # in units of the source's noise
ENDLESS = 10.0  # in units of the response's variance


@dataclass(frozen=True, eq=False)
class Levels:
    r"""Levels of conflict, the first of which is none.

    Parameters
    ----------
    slopes, intercept : array of shape (L,)
        :math:`\tau` and :math:`\tau_0`, in units of the source's noise.
    both : array of shape (L,)
        What is added to both, in units of the response's variance.
    log_prior : array of shape (L,)
        Log probability before the data.
    """

    slopes: Array
    intercept: Array
    both: Array
    log_prior: Array

    def __len__(self) -> int:
        return len(self.slopes)


def levels(*, intercept: bool) -> Levels:
    """Return the levels: none, of the intercept alone, of everything, and without end."""
    kinds = [
        (0.0, 0.0, 0.0),
        *((0.0, v, 0.0) for v in SIZES if intercept),
        *((v, v, 0.0) for v in SIZES),
        (0.0, 0.0, ENDLESS),
    ]
    rest = (1.0 - AGREES) / (len(kinds) - 1)
    slopes, level, both = np.array(kinds).T
    return Levels(slopes, level, both, np.log([AGREES, *[rest] * (len(kinds) - 1)]))


@dataclass(frozen=True, eq=False)
class Information:
    r"""What sources say about their coefficients, as sums that can be added.

    Parameters
    ----------
    precision : array of shape (..., r, r)
        :math:`J^\top V_0^{-1} J`.
    cross : array of shape (..., r)
        :math:`J^\top V_0^{-1} k`.
    square : array of shape (...)
        :math:`k^\top V_0^{-1} k`.
    log_determinant : array of shape (...)
        Of :math:`V_0`.
    """

    precision: Array
    cross: Array
    square: Array
    log_determinant: Array

    def averaged(self, weights: Array) -> Information:
        """Return sums over the first axes, weighed; several weightings in the first axis."""
        sums = (self.precision, self.cross, self.square, self.log_determinant)
        over = weights.ndim - 1
        flat = weights.reshape(len(weights), -1)
        return Information(
            *((flat @ s.reshape(flat.shape[1], -1)).reshape(-1, *s.shape[over:]) for s in sums)
        )


def information(source: Compressed, known: Levels, *, intercept: bool) -> Information:
    """Return what a source says at each level of conflict.

    Parameters
    ----------
    source : Compressed
        The source.
    known : Levels
        The levels.
    intercept : bool
        Whether the model has one.
    """
    J, k, lead = source.J, source.k, int(intercept)
    slopes = J[:, lead:] @ J[:, lead:].T / max(J.shape[1] - lead, 1)
    level = J[:, :lead] @ J[:, :lead].T
    V = np.eye(len(k)) + (source.noise * known.slopes + known.both)[:, None, None] * slopes
    V += (source.noise * known.intercept + known.both)[:, None, None] * level
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
