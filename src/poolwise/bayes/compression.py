r"""Compression: a source as a few pseudo-rows about its coefficients.

A source says :math:`y = \beta_0 + x'\beta' + \text{noise}` with the noise :math:`\sigma_S^2`. With
the products :math:`G = U e U^\top` of its features about their means, all it has to say is

.. math:: k = J\beta + N(0, I), \qquad
   J = \frac1{\sigma_S} \begin{pmatrix} 0 & \sqrt e\,U^\top \\ \sqrt{n_S} &
   \sqrt{n_S}(\bar x_S - \bar x_T) \end{pmatrix}, \quad
   k = \frac1{\sigma_S} \begin{pmatrix} e^{-1/2} U^\top b_S \\ \sqrt{n_S}(\bar y_S - \bar y_T)
   \end{pmatrix} .
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poolwise.bayes.ridge import Spectrum, integrated_ridge
from poolwise.bayes.scaling import ScaledTable
from poolwise.double_double import Array

LEAST_NOISE = 1e-6  # of a source, relative to the variance of the target's response
LEAST_SHARE = 1e-2  # of the response that the prior must allow a source's features to explain
EXACT = 1e-12  # noise of tables without any, in units of the response's variance


@dataclass(frozen=True, eq=False)
class Compressed:
    """A source in as many rows as it has coefficients.

    Parameters
    ----------
    J : array of shape (r, r)
        Pseudo-rows over the intercept, if there is one, and the source's features.
    k : array of shape (r,)
        Their responses, with noise one.
    noise : float
        Variance of the source's residual.
    coefficient_size : float
        Mean square of the source's coefficients.
    """

    J: Array
    k: Array
    noise: float
    coefficient_size: float


def compressed(source: ScaledTable, target: ScaledTable, *, intercept: bool) -> Compressed:
    """Compress a source.

    Parameters
    ----------
    source, target : ScaledTable
        Of the same scaled problem.
    intercept : bool
        Whether the model has one.
    """
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
    return Compressed(J / deviation, k / deviation, noise, size)
