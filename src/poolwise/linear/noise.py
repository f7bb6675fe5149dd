"""Noise of the target and of each source, with a substitute where it cannot be estimated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

from poolwise.errors import NoiseNotEstimable, PoolwiseWarning
from poolwise.linear.problem import Problem
from poolwise.linear.regress import Ddof, regress
from poolwise.moments.moments import Moments
from poolwise.numerics.chunks import HEAVIEST, WEIGHTS
from poolwise.numerics.least_squares import plain_residual
from poolwise.numerics.options import check_number
from poolwise.wording import rows_for

# Noise that was found before: the sources are the same for all methods and in all folds.
_KNOWN: WeakKeyDictionary[Moments, dict[tuple[Any, ...], float | None]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Noise:
    """Residual variances, and the precision weights that follow from them.

    Parameters
    ----------
    target : float or None
        Residual variance of the target; None if it has too few rows.
    sources : mapping of str to float or None
        Residual variance of each source, given the features it has.
    weights : mapping of str to float
        Weight of a row of each source where a target row has weight one: target noise over source
        noise, or a substitute. At most 1e100, and 1e150 for all rows.
    cautions : tuple of PoolwiseWarning
        Warnings about substitutes.
    """

    target: float | None
    sources: Mapping[str, float | None]
    weights: Mapping[str, float]
    cautions: tuple[PoolwiseWarning, ...]

    def with_weights(self, given: float | Mapping[str, float] | None) -> Noise:
        """Replace weights by given ones, for all sources or by name."""
        if given is None:
            return self
        named = given if isinstance(given, Mapping) else dict.fromkeys(self.weights, given)
        weights = {n: named.get(n, weight) for n, weight in self.weights.items()}
        for weight in weights.values():
            check_number("weights", weight)
        cautions = () if self.weights.keys() <= named.keys() and named else self.cautions
        floats = {n: float(w) for n, w in weights.items()}
        return replace(self, weights=floats, cautions=cautions)


def estimate_noise(problem: Problem, ddof: Ddof = "unbiased") -> Noise:
    """Estimate each noise by a least-squares fit of its own.

    Where that is not possible:

    - a source with no degrees of freedom takes the noise of the target's regression on the
      features they share, which is the same quantity under the model;
    - a target with no degrees of freedom takes the smallest noise of the sources, an upper bound
      of its own under the model: the rows then weigh nearly the same;
    - a target without residual is exact, and its sources get weight zero;
    - a source without residual, beside a target that has one, contradicts the model, and its rows
      weigh as much as the target's.
    """
    y, intercept, own_name = problem.response, problem.intercept, problem.target_name
    target = noise_of(problem.target, y, problem.features, intercept=intercept, ddof=ddof)
    own = source_noises(problem, ddof)
    if target == 0.0 and problem.target.rows <= len(problem.features) + intercept:
        target = None  # few rows of large weight: no residual, but no exact fit either
    cautions: list[PoolwiseWarning] = []
    if not problem.sources:
        return Noise(target, own, {}, ())
    if target == 0.0:
        why = "it is fitted without residual"
        then = f"The other tables get weight zero: this is the fit on {own_name} alone."
        cautions.append(NoiseNotEstimable.of(own_name, why, then))
        return Noise(target, own, dict.fromkeys(own, 0.0), tuple(cautions))

    usable: dict[str, float] = {}
    for name, source in problem.sources.items():
        noise, why = own[name], ""
        if noise is None:
            shared = problem.shared(source)
            noise = noise_of(problem.target, y, shared, intercept=intercept, ddof=ddof)
            why = rows_for(source.weight, len(shared) + intercept)
        elif noise == 0.0:
            why = "it is fitted without residual"
        if why:
            then = f"Its rows weigh as much as those of {own_name}."
            if noise:
                then = f"The noise of {own_name} given the same features is used instead."
            cautions.append(NoiseNotEstimable.of(f"table {name!r}", why, then))
        if noise:
            usable[name] = noise
    reference = target
    if reference is None:
        reference = min(usable.values(), default=1.0)
        d = len(problem.features)
        why = rows_for(problem.target.weight, d + intercept)
        then = (
            "The smallest noise of the other tables is used instead, an upper bound in the model."
            if usable
            else "All rows weigh the same."
        )
        cautions.append(NoiseNotEstimable.of(own_name, why, then))
    weights = {
        name: min(reference / usable[name], WEIGHTS[1], 0.5 * HEAVIEST / source.weight)
        if name in usable
        else 1.0
        for name, source in problem.sources.items()
    }
    return Noise(target, own, weights, tuple(cautions))


def source_noises(problem: Problem, ddof: Ddof = "unbiased") -> dict[str, float | None]:
    """Return the residual variance of each source, given the features it has."""
    y, intercept = problem.response, problem.intercept
    return {
        name: noise_of(source, y, problem.shared(source), intercept=intercept, ddof=ddof)
        for name, source in problem.sources.items()
    }


def noise_of(
    moments: Moments,
    response: str,
    features: Sequence[str],
    *,
    intercept: bool = True,
    ddof: Ddof = "unbiased",
) -> float | None:
    """Return the noise that `regress` finds, without its coefficients where that is quicker."""
    known = _KNOWN.setdefault(moments, {})
    key = response, tuple(features), intercept, ddof
    if key not in known:
        known[key] = _noise_of(moments, response, features, intercept, ddof)
    return known[key]


def _noise_of(
    moments: Moments, response: str, features: Sequence[str], intercept: bool, ddof: Ddof
) -> float | None:
    free = moments.weight - len(features) - intercept
    if intercept and free > 0 and ddof in ("unbiased", "mle"):
        at = [moments.place[n] for n in features]
        residual = plain_residual(moments.scatter, at, moments.place[response])
        if residual is not None:
            return residual / (moments.weight if ddof == "mle" else free)
    return regress(moments, response, features, intercept=intercept, ddof=ddof).noise
