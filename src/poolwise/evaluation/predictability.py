r"""How well old features predict each new one.

A source that lacks a feature still has information about it if its own features predict it. A
method that assumes no relation is then biased. In the target
:math:`x''_j = m + x' b + v`. With the ridge of ``poolwise.methods.bayes.imputation``, whose
penalty is integrated out, and the possibility of no relation at all, the coefficients have a
posterior, and with it

.. math:: R^2 = \frac{b^\top \Sigma b}{b^\top \Sigma b + s^2} .

Unlike the :math:`R^2` of least squares, it is not biased upwards by few rows and many features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array
from poolwise.evaluation.risk import Findings, Shown, problem_of
from poolwise.linear.problem import Problem
from poolwise.methods.bayes.imputation import Spectrum, by_penalty
from poolwise.methods.bayes.priors import NO_RELATION
from poolwise.methods.bayes.scaling import Scaled, scaled

DRAWS = 4000  # of the posterior; enough for two digits
BIASED = 0.1  # lower end of R squared from which data_pooling counts as biased
ENOUGH = 4.0  # target rows below which R squared is not estimated
NAMED = 3  # old features that are named


@dataclass(frozen=True)
class PredictabilityLine:
    r"""One new feature.

    Parameters
    ----------
    feature : str
        Its name.
    sources : tuple of str
        Sources that lack it and have the same features.
    r2, low, high : float or None
        Share of its variance in the target that their features explain, and its 95 % interval;
        None where the target has too few rows, or these columns are constant in it.
    related : float or None
        Probability that there is a relation at all.
    by : mapping of str to float
        The old features that matter most, with their coefficients in standard deviations.
    """

    feature: str
    sources: tuple[str, ...]
    r2: float | None
    low: float | None
    high: float | None
    related: float | None
    by: dict[str, float]

    @property
    def is_high(self) -> bool:
        """Whether a method that assumes no relation is clearly biased."""
        return self.low is not None and self.low >= BIASED


@dataclass(frozen=True, repr=False)
class Predictability(Findings):
    """How well old features predict new ones. Print it, or use its fields.

    Parameters
    ----------
    lines : tuple of PredictabilityLine
        One for each new feature, and for each set of features that sources without it have.
    """

    lines: tuple[PredictabilityLine, ...]

    def shown(self) -> Shown:
        """Return what is printed."""
        if not self.lines:
            return ["Predictability: every source has every feature."]
        head = ["new feature", "R squared", "95% interval", "mostly from", "lacking in"]
        rows = [
            [
                x.feature,
                "-" if x.r2 is None else f"{x.r2:.2f}",
                "-" if x.low is None else f"{x.low:.2f} to {x.high:.2f}",
                ", ".join(x.by) or "-",
                _listed(x.sources),
            ]
            for x in self.lines
        ]
        shown: Shown = ["Predictability: how well old features predict new ones", (head, rows)]
        if high := list(dict.fromkeys(x.feature for x in self.lines if x.is_high)):
            shown.append(
                f"{', '.join(high)}: related to old features, so data_pooling, which assumes no "
                "relation, is biased here."
            )
        return shown


def predictability(problem: Problem) -> Predictability:
    r"""Estimate how well the features of the sources predict those they lack.

    :math:`\Sigma` is the covariance of the old features in the target, to which all tables that
    have them add the weight of as many rows as there are features. Assumes a linear relation.

    Parameters
    ----------
    problem : Problem or fitted regressor
        Target and sources.

    Returns
    -------
    Predictability
        One line for each feature and each set of features that predicts it.
    """
    problem = problem_of(problem)
    own = scaled(problem)
    lines = []
    for features in dict.fromkeys(problem.shared(s) for s in problem.sources.values()):
        lacking = [n for n in problem.features if n not in features]
        names = tuple(n for n, s in problem.sources.items() if problem.shared(s) == features)
        lines += [_line(own, n, features, names) for n in lacking]
    return Predictability(tuple(sorted(lines, key=lambda x: problem.features.index(x.feature))))


def _line(
    own: Scaled, feature: str, features: tuple[str, ...], sources: tuple[str, ...]
) -> PredictabilityLine:
    target, place = own.target, {n: j for j, n in enumerate(own.features)}
    known = sorted(n for n in features if n in place and _varies(own, place[n]))
    unknown = PredictabilityLine(feature, sources, None, None, None, None, {})
    is_varied = feature in place and _varies(own, place[feature])
    if target.weight < ENOUGH or not is_varied or not known:
        return unknown
    has, j = np.array([place[n] for n in known], dtype=np.intp), place[feature]
    r2, related, mean = _posterior(
        target.gram[np.ix_(has, has)],
        target.gram[has, j],
        float(target.gram[j, j]),
        target.free,
        _covariance(own, has),
    )
    low, high = np.quantile(r2, (0.025, 0.975))
    size = np.sqrt(target.gram.diagonal())
    standard = mean * size[has] / size[j]
    first = sorted(range(len(known)), key=lambda k: -abs(standard[k]))[:NAMED]
    by = {known[k]: float(standard[k]) for k in first}
    return PredictabilityLine(
        feature, sources, float(r2.mean()), float(low), float(high), related, by
    )


def _varies(own: Scaled, j: int) -> bool:
    return bool(own.target.gram[j, j] > 1e-20 * max(own.target.free, 1.0))


def _covariance(own: Scaled, has: NDArray[np.intp]) -> Array:
    """Return the covariance of features in the target, plus a few rows' weight from all tables."""
    target, few = own.target, float(len(has))
    total, free = target.gram[np.ix_(has, has)].copy(), target.free
    for source in own.sources:
        at = {int(j): k for k, j in enumerate(source.at)}
        if all(int(j) in at for j in has):
            k = [at[int(j)] for j in has]
            total += source.gram[np.ix_(k, k)]
            free += source.free
    pooled = total / max(free, 1.0)
    sum_: Array = target.gram[np.ix_(has, has)] + few * pooled
    return sum_ / (target.free + few)


def _posterior(
    gram: Array, cross: Array, square: float, free: float, covariance: Array
) -> tuple[Array, float, Array]:
    """Return draws of R squared, the probability of a relation, and the mean coefficients.

    Neither the order nor the signs of the features matter.
    """
    spectrum = Spectrum.of(gram)
    e, U = spectrum.values, spectrum.vectors
    z = spectrum.turned(cross)
    shrink, each, left = by_penalty(spectrum, z[:, None], np.array([square]), free)
    log_weight, left = each[:, 0], left[:, 0]
    top = max(log_weight.max(), 0.0)
    some = (1.0 - NO_RELATION) * np.exp(log_weight - top)
    none = NO_RELATION * np.exp(-top)
    related = float(some.sum() / (some.sum() + none))
    mean = U @ ((some @ (shrink * z)) / (some.sum() + none))
    rng = np.random.default_rng(0)
    counts = np.round(np.cumsum(some) / (some.sum() + none) * DRAWS).astype(np.intp)
    at = np.searchsorted(counts, np.arange(counts[-1]), side="right")
    normal = rng.normal(size=(DRAWS, len(e)))[: len(at)]
    chance = rng.chisquare(max(free, 1.0), size=DRAWS)[: len(at)]
    noise = left[at] / chance
    sign = np.where(z < 0.0, -1.0, 1.0)
    b = shrink[at] * z + sign * normal * np.sqrt(noise[:, None] * shrink[at])
    signal = np.einsum("ij,jk,ik->i", b, U.T @ covariance @ U, b, optimize=True)
    rows = free + len(e)  # from which the spread of old features is known
    signal *= rows / rng.chisquare(rows, size=DRAWS)[: len(at)]
    r2 = np.zeros(DRAWS)
    r2[: len(at)] = signal / (signal + noise)
    return r2, related, mean


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")
