"""Every prior of Bayes pooling, and the grid of scales that are integrated out.

Columns are in the units of ``poolwise.methods.bayes.scaling``; symbols are those of
:class:`Grid` and of ``poolwise.methods.bayes.pseudo_rows``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poolwise._typing import Array


def log_uniform(logit: Array) -> Array:
    """Return the log density of the logit of a uniform number."""
    return -np.logaddexp(0.0, -logit) - np.logaddexp(0.0, logit)


# Scales of the target: values at which they are tried, and prior probabilities.
SHARES = np.arange(-6.0, 22.1, 2.0)  # logit of phi, the share that new features explain; uniform
RATIOS = np.arange(-4.8, 4.81, 1.2)  # log of s, the target's noise relative to the source's
RATIO_SCALE = 0.3  # of the Cauchy distribution of log s
LEAST_RATIO = 1e-12  # of the target's noise to the source's, down to which the grid may reach
ENOUGH_FREE = 8.0  # degrees of freedom from which the target determines its own noise
STEP = 1.5  # between values of s then, in standard deviations of the log of that noise

# Coefficients.
LEVEL_VARIANCE = 1e6  # of the intercept, in units of the source's noise
SIZES = np.array([0.03, 0.5, 10.0, 200.0])  # variance of shared ones, relative to the sources'
SIZE_PRIOR = np.array([0.01, 0.04, 0.45, 0.5])  # probability of each size
LEAST_SHARE = 1e-2  # of the response that the prior must allow a source's features to explain
SHAPES = np.array([1.0, 30.0, 1000.0])  # r: variance of new ones, each by itself, relative to c^2
SHAPE_PRIOR = np.array([0.5, 0.25, 0.25])  # probability of each shape, unless it is Zellner's
ALIKE = 1.0  # deviation of the log of their size from the size of all without history
ZELLNER = 0.2  # probability of Zellner's shape, where there are several new features
ZELLNER_SLACK = 1e-3  # share of its diagonal that is added to their covariance in this shape

# Imputation of the features that a source lacks.
R2_LOGITS = np.arange(-7.0, 16.01, 0.5)  # logit of the share that a regression explains; uniform
R2_LOG_PRIOR = log_uniform(R2_LOGITS) - np.log(np.exp(log_uniform(R2_LOGITS)).sum())  # of these
NO_RELATION = 0.1  # probability that a feature has nothing to do with the others
VERSIONS = {"each": 0.5, "together": 0.3, "none": 0.2}  # probability of each account of them

# Conflict between a source and the target.
AGREES = 0.6  # probability of none; the levels of conflict share the rest equally
CONFLICTS = (0.1, 1.0, 10.0)  # tau and tau_0 of the levels, in units of the source's noise
STEPS = (0.3, 30.0, np.inf)  # tau_0 of the levels without tau; the last is as large as it is seen
ENDLESS = 10.0  # both at the last level, in units of the response's variance
WIDE = 0.05  # least tau of the largest of CONFLICTS, in units of the response's variance
UNINFORMATIVE = 10.0  # tau from which a source says little about the target's slopes


# Share of the fit with history in its mean with the fit without; see share_of_history.py.
SHARE = np.linspace(0.0, 1.0, 201)[1:]  # values that are tried
TRUST, FEW = 3.0, 60.0  # exponent of their prior, and what few target rows add to it
ENOUGH_ROWS = 5.0  # of history, at which the share is half of what it is with many

MANY = 400.0  # normal rows to whose expected range the target's range is extended
EXACT_REACH = 0.06  # how far an exact relation widens bounds, times its variance over the noise


@dataclass(frozen=True, eq=False)
class Grid:
    r"""Values of the scales that are integrated out, each with its prior.

    - :math:`\varphi`, the share of the residual that new features explain, uniform;
    - :math:`s`, the ratio of the target's noise to the source's, given the same features, with
      :math:`\log s` from a Cauchy distribution of scale 0.3, or more if tails are heavy;
    - :math:`g`, the variance of a shared coefficient, relative to what the sources show;
    - the shape of the prior of new coefficients: the same variance :math:`r c^2` for each, or
      Zellner's, which follows their covariance. Their size :math:`r c^2` is about the size of
      coefficients in the fit without history, :math:`g_0`, within a factor of three. A column whose
      values are rare has the precision :math:`(1 - 1/\psi)/g_0` as well, where :math:`\psi` is the
      square of its unit over its variance: it is shrunk at least as strongly as without history.

    With :math:`t` the residual variance of new features given shared ones, :math:`t_\psi` the same
    with the variance of each column multiplied by its :math:`\psi`, and
    :math:`u = \varphi/(1 - \varphi)`, the noise is :math:`\sigma^2 = s\sigma_S^2/(1 + u t/t_\psi)`,
    and :math:`c^2 = u\sigma^2/t_\psi`.
    """

    signal: Array  # (P,): u, variance that new features explain over noise
    noise: Array  # (P, S): of the target, relative to the source's
    log_prior: Array  # (P, S): of both
    size: Array  # (G,): of shared coefficients
    log_size_prior: Array  # (G,)
    middle: int  # place of `noise` where s is one
    likely: int  # place of `noise` nearest to the noise of the target alone

    @property
    def shape(self) -> tuple[int, int, int]:
        """Number of values of each scale."""
        shares, ratios = self.noise.shape
        return shares, ratios, len(self.size)


def grid(
    *,
    has_new: bool,
    residual: float | None = None,
    free: float = 0.0,
    most: float = 0.0,
    likely: float = 1.0,
    varied: float = 1.0,
    tails: float = 0.0,
) -> Grid:
    """Return the grid; without new features their share is zero.

    With many target rows, the posterior of the noise is narrower than the step of a coarse grid.
    The grid is then refined and centred at the target's noise, and one of the shares is the value
    at which the target's noise, given the same features, equals the source's.

    In units of the source's noise, ``residual`` is the noise of the target alone, from ``free``
    degrees of freedom, and ``most`` the variance of its response: an upper bound of its noise,
    which a source of little noise does not determine; ``likely`` is the noise of the target alone
    by the fit without history, which the grid covers too. ``varied`` is the share of the residual
    variance of new features that their rare values do not make up, and ``tails`` the variance of
    the log of the target's noise beyond that of normal responses.
    """
    known = residual if residual and free >= ENOUGH_FREE else None
    shares = SHARES if has_new else np.array([-np.inf])
    if has_new and known is not None and known < 1.0:
        shares = SHARES + _offset(np.log((1.0 - known) / known / varied))
    fall = np.logaddexp(0.0, shares + np.log(varied))[:, None]
    step = RATIOS[1] - RATIOS[0]
    further = np.arange(RATIOS[-1] + step, np.log(max(most, 1.0)) + step, step)
    expected = np.log(max(likely, LEAST_RATIO))
    nearer = np.arange(RATIOS[0] - step, expected - 2.0 * step, -step)[::-1]
    if known is not None:
        nearer, expected = nearer[:0], 0.0  # the grid is centred at the target's noise
    own = np.concatenate((nearer, RATIOS, further))
    ratios = np.broadcast_to(own, (len(shares), len(own)))
    if known is not None:
        fine = min(STEP * np.sqrt(2.0 / free), step)
        ratios = np.log(known) + fall + fine * np.arange(-4, 5)
    middle = len(nearer) + len(RATIOS) // 2
    prior = log_uniform(shares)[:, None] if has_new else np.zeros((1, 1))
    return Grid(
        signal=np.exp(shares),
        noise=np.exp(ratios - fall),
        log_prior=prior - np.log1p(ratios**2 / (RATIO_SCALE**2 + tails)),
        size=SIZES,
        log_size_prior=np.log(SIZE_PRIOR),
        middle=middle,
        likely=int(np.argmin(np.abs(own - expected))),
    )


def _offset(logit: float) -> float:
    """Return the shift of the shares, at most half a step, that puts one of them at this value."""
    step = SHARES[1] - SHARES[0]
    return float((logit - SHARES[0] + step / 2) % step - step / 2)
