"""Outcome: what one future of the target brings at one number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from poolwise.diagnostics.future import Features, Future
from poolwise.diagnostics.risk import COVERAGE, Risk, solved, without_sources
from poolwise.double_double import Array
from poolwise.fit import LinearFit
from poolwise.intervals import quantile
from poolwise.problem import Problem

MANY = (0.1, 0.9)  # of the ways in which the target may go on


@dataclass(frozen=True, eq=False)
class Outcome:
    """One future at one number of rows."""

    gain: float
    width: float
    width_alone: float
    errors: Array


def outcome_of(
    problem: Problem, future: Future, rows: float, features: Features, noise: float
) -> Outcome:
    """Fit with and without history what the target may have become.

    Parameters
    ----------
    problem : Problem
        Target and sources of today.
    future : Future
        One way in which the target may go on.
    rows : float
        How far.
    features : Features
        Where predictions are judged.
    noise : float
        Noise of the target, as it is known today.
    """
    then = replace(problem, target=future.grow(rows), target_rows=None, source_rows={})
    pooled, alone = solved(then), solved(without_sources(then))
    risk, alone_risk = (_risk(fit, features) for fit in (pooled, alone))
    assert pooled.covariance is not None
    truth = future.noise if rows > problem.target.weight else noise
    return Outcome(
        gain=Risk(pooled, features.design(pooled.centre, pooled.names)).distance(alone) / truth,
        width=_width(pooled, risk),
        width_alone=_width(alone, alone_risk),
        errors=np.sqrt(np.maximum(pooled.covariance.diagonal()[1:], 0.0)),
    )


def gain_range(found: Sequence[Outcome]) -> tuple[float, float]:
    """Return the range in which most futures have their gain."""
    low, high = np.quantile([o.gain for o in found], MANY)
    return float(low), float(high)


def _risk(fit: LinearFit, features: Features) -> float:
    assert fit.covariance is not None
    return float(np.sum(fit.covariance * features.design(fit.centre, fit.names)))


def _width(fit: LinearFit, risk: float) -> float:
    return 2.0 * quantile(fit.tails, COVERAGE) * float(np.sqrt((fit.noise or 0.0) + risk))
