r"""Conflict: whether a source says something else than the target does.

Bayes pooling gives each source a probability of conflict, for the intercept alone or for all
coefficients. Beside it stands what a textbook would compare: least squares of the response on the
source's features, in the source and in the target, coefficient by coefficient.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from poolwise.bayes.conflict import levels
from poolwise.bayes.model import model
from poolwise.bayes.posterior import points
from poolwise.bayes.scaling import scaled
from poolwise.diagnostics.subject import problem_of
from poolwise.double_double import Array
from poolwise.fit import LinearFit, recentred, regress
from poolwise.moments import Moments
from poolwise.problem import Problem
from poolwise.text_tables import text_table
from poolwise.theory import Part

LIKELY = 0.5  # probability from which a conflict is named
INTERCEPT = "(intercept)"


@dataclass(frozen=True)
class ConflictLine:
    """One source.

    Parameters
    ----------
    source : str
        Its name.
    probability : float or None
        That it is in conflict with the target, by Bayes pooling; None where it has too few rows or
        the response is constant.
    of_intercept : float or None
        Probability that the intercept alone is in conflict.
    of_slopes : float or None
        Probability that the coefficients are, and with them the intercept.
    differences : mapping of str to float
        Coefficients of the source's features in the source, less those in the target, in standard
        errors of the difference. The intercept is compared at the target's means. Empty where one
        of the tables does not determine them.
    distance : float or None
        Root mean square of the difference of predictions on the target's rows, in standard
        deviations of the target's noise given these features; None as above.
    """

    source: str
    probability: float | None
    of_intercept: float | None
    of_slopes: float | None
    differences: dict[str, float]
    distance: float | None

    @property
    def verdict(self) -> str:
        """What the probability says, in words."""
        if self.probability is None:
            return "not judged"
        if self.probability < LIKELY:
            return "in doubt" if self.probability > 0.3 else "agrees"
        slopes = (self.of_slopes or 0.0) >= (self.of_intercept or 0.0)
        return "other coefficients" if slopes else "another level"


@dataclass(frozen=True, repr=False)
class Conflict:
    """Which sources contradict the target. Print it, or use its fields.

    Parameters
    ----------
    lines : tuple of ConflictLine
        One for each source.
    """

    lines: tuple[ConflictLine, ...]

    @property
    def likely(self) -> tuple[ConflictLine, ...]:
        """Sources that are more likely in conflict than not."""
        return tuple(x for x in self.lines if (x.probability or 0.0) >= LIKELY)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists, numbers and strings."""
        return asdict(self)

    def __str__(self) -> str:
        if not self.lines:
            return "Conflict: there is no history."
        head = ["source", "conflict", "verdict", "predictions apart", "largest difference"]
        rows = [
            [
                x.source,
                "-" if x.probability is None else f"{x.probability:.0%}",
                x.verdict,
                "-" if x.distance is None else f"{x.distance:.2g} sd",
                _largest(x.differences),
            ]
            for x in sorted(self.lines, key=lambda x: -(x.probability or 0.0))
        ]
        return "\n".join(
            ["Conflict: does a source contradict the target?", *text_table(head, rows)]
        )

    def __repr__(self) -> str:
        return str(self)


def conflict(problem: Problem) -> Conflict:
    """Say for each source whether it contradicts the target, in what, and by how much.

    The probability of conflict takes all that is uncertain into account, the relation of new
    features to old ones included. The differences do not: they compare two regressions on the same
    features, and judge one coefficient at a time.

    Parameters
    ----------
    problem : Problem or fitted regressor
        Target and sources.

    Returns
    -------
    Conflict
        One line per source; it prints as a table.
    """
    problem = problem_of(problem)
    judged = _judged(problem)
    lines = []
    for name, source in problem.sources.items():
        differences, distance = _differences(problem, source)
        any_, level, slopes = judged.get(name, (None, None, None))
        lines.append(ConflictLine(name, any_, level, slopes, differences, distance))
    return Conflict(tuple(lines))


def _judged(problem: Problem) -> Mapping[str, tuple[float, float, float]]:
    """Return the probabilities of any conflict, of the intercept's alone, of all coefficients'."""
    own = scaled(problem)
    if own.response_unit == 0.0 or not own.sources:
        return {}
    known = model(own)
    at, kinds = points(known.evidence), levels(intercept=own.intercept)
    by_level = np.einsum(
        "m,mkl->kl", at.weight.sum(axis=1), known.evidence.frames.conflict[at.cells[:, 0]]
    )
    of_slopes = kinds.slopes + kinds.both > 0.0
    slopes = by_level[:, of_slopes].sum(axis=1)
    level = by_level[:, ~of_slopes & (kinds.intercept > 0.0)].sum(axis=1)
    found = {}
    for source, a, b in zip(own.sources, level.tolist(), slopes.tolist(), strict=True):
        found[source.name] = (min(a + b, 1.0), a, b)
    return found


def _differences(problem: Problem, source: Moments) -> tuple[dict[str, float], float | None]:
    """Compare least squares in a source and in the target, on the source's features."""
    features, y = problem.shared(source), problem.response
    theirs, ours = (
        regress(table, y, features, intercept=problem.intercept)
        for table in (source, problem.target)
    )
    if any(f.covariance is None or f.cautions for f in (theirs, ours)):
        return {}, None
    step, variance = _step(theirs, ours)
    error = np.sqrt(np.maximum(variance.diagonal(), 0.0))
    names = (INTERCEPT, *features)
    flat = {*theirs.dropped, *ours.dropped}
    told = [
        j
        for j, n in enumerate(names)
        if error[j] > 0.0 and n not in flat and (j or problem.intercept)
    ]
    differences = {names[j]: float(step[j] / error[j]) for j in told}
    design = Part(problem.target, 1.0).design(features, ours.centre) / problem.target.weight
    square = max(float(step @ design @ step), 0.0)
    return differences, float(np.sqrt(square / ours.noise)) if ours.noise else None


def _step(theirs: LinearFit, ours: LinearFit) -> tuple[Array, Array]:
    """Return the difference of (level, coef) at our centre, and its covariance."""
    assert theirs.covariance is not None
    assert ours.covariance is not None
    level = theirs.level - ours.level + float((ours.centre - theirs.centre) @ theirs.coef)
    there = recentred(theirs.covariance, theirs.centre, ours.centre)
    return np.append(level, theirs.coef - ours.coef), there + ours.covariance


def _largest(differences: Mapping[str, float]) -> str:
    if not differences:
        return "-"
    name = max(differences, key=lambda n: abs(differences[n]))
    return f"{name}: {differences[name]:+.1f} standard errors"
