r"""Grid: the scales of the model, each with its prior.

- :math:`\varphi`, the share of the residual that new features explain, uniform;
- :math:`s`, the ratio of the target's noise to the source's, given the same features, with
  :math:`\log s` from a Cauchy distribution of scale 0.3;
- :math:`g`, the variance of a shared coefficient, relative to what the sources show;
- the shape of the prior of new coefficients: the same variance :math:`r c^2` for each, or
  Zellner's, which follows their covariance.

With :math:`t` the variance of new features that shared ones leave open, the noise is
:math:`\sigma^2 = s\sigma_S^2(1 - \varphi)`, and :math:`c^2 = s\sigma_S^2\varphi/t`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poolwise.bayes.ridge import log_uniform
from poolwise.double_double import Array

SHARES = np.arange(-6.0, 22.1, 2.0)  # logit of phi
RATIOS = np.arange(-4.8, 4.81, 1.2)  # log of s
RATIO_SCALE = 0.3
ENOUGH = 8.0  # rows beyond coefficients from which on the target tells its own noise
STEP = 1.5  # of the finer grid, in standard deviations of the log of that noise
SIZES = np.array([0.03, 0.5, 10.0, 200.0])  # of shared coefficients
SIZE_PRIOR = np.array([0.01, 0.04, 0.45, 0.5])
SHAPES = np.array([1.0, 30.0, 1000.0])  # of new coefficients, isotropic
SHAPE_PRIOR = np.array([0.5, 0.25, 0.25])
ZELLNER = 0.2  # prior probability of the other shape


@dataclass(frozen=True, eq=False)
class Grid:
    r"""Values of the scales.

    Parameters
    ----------
    signal : array of shape (P,)
        Variance explained by new features over noise: :math:`\varphi/(1 - \varphi)`.
    noise : array of shape (P, S)
        Of the target, relative to the source's: :math:`s(1 - \varphi)`.
    log_prior : array of shape (P, S)
        Of both.
    size : array of shape (G,)
        Of shared coefficients.
    log_size_prior : array of shape (G,)
        Of these.
    middle : int
        Place of ``noise`` where :math:`s` is one.
    """

    signal: Array
    noise: Array
    log_prior: Array
    size: Array
    log_size_prior: Array
    middle: int

    @property
    def shape(self) -> tuple[int, int, int]:
        """Number of values of each scale."""
        shares, ratios = self.noise.shape
        return shares, ratios, len(self.size)


def grid(
    *, has_new: bool, residual: float | None = None, free: float = 0.0, most: float = 0.0
) -> Grid:
    """Return the grid; without new features there is nothing for them to explain.

    A target of many rows tells its noise so well that it falls between two points of a coarse
    grid. Then the grid is as fine as that, and has its middle there; and one of the shares is that
    for which the target's noise, given the same features, is the source's.

    Parameters
    ----------
    has_new : bool
        Whether some source lacks some feature.
    residual : float, optional
        Noise of the target alone, relative to the source's.
    free : float
        Rows it was estimated from, less coefficients.
    most : float
        Variance of the target's response, relative to the source's noise: a source of little noise
        says nothing about that of the target, which may be anything up to this.
    """
    known = residual if residual and free >= ENOUGH else None
    shares = SHARES if has_new else np.array([-np.inf])
    if has_new and known is not None and known < 1.0:
        shares = SHARES + _offset(np.log((1.0 - known) / known))
    fall = np.logaddexp(0.0, shares)[:, None]
    step = RATIOS[1] - RATIOS[0]
    further = np.arange(RATIOS[-1] + step, np.log(max(most, 1.0)) + step, step)
    own = np.concatenate((RATIOS, further))
    ratios = np.broadcast_to(own, (len(shares), len(own)))
    if known is not None:
        fine = min(STEP * np.sqrt(2.0 / free), step)
        ratios = np.log(known) + fall + fine * np.arange(-4, 5)
    prior = log_uniform(shares)[:, None] if has_new else np.zeros((1, 1))
    return Grid(
        signal=np.exp(shares),
        noise=np.exp(ratios - fall),
        log_prior=prior - np.log1p((ratios / RATIO_SCALE) ** 2),
        size=SIZES,
        log_size_prior=np.log(SIZE_PRIOR),
        middle=len(RATIOS) // 2,
    )


def _offset(logit: float) -> float:
    """Return how to move the shares, at most half a step, so that one of them is here."""
    step = SHARES[1] - SHARES[0]
    return float((logit - SHARES[0] + step / 2) % step - step / 2)
