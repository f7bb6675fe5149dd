"""Whether a source contradicts the target.

Bayes pooling gives each source a probability of conflict. The textbook comparison is given as well:
least squares on the source's features, in the source and in the target.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poolwise.evaluation.risk import (
    Findings,
    Shown,
    difference,
    largest_difference,
    problem_of,
    solved,
)
from poolwise.linear.linear_fit import LinearFit, recentred
from poolwise.linear.problem import Problem
from poolwise.linear.regress import regress
from poolwise.linear.theory import PooledTable
from poolwise.moments.moments import Moments
from poolwise.wording import named

LIKELY = 0.5  # probability from which a conflict is named
SURE = 0.95  # probability from which it is named without "probably"
INTERCEPT = "(intercept)"


@dataclass(frozen=True)
class ConflictLine:
    """One source.

    Parameters
    ----------
    source : str
        Its name.
    probability, of_intercept, of_slopes : float or None
        Probability of a conflict with the target, of the intercept alone, and of all coefficients;
        None where the source has too few rows or the response is constant.
    differences : mapping of str to float
        Coefficients in the source minus those in the target, in standard errors of the difference.
        The intercept is compared at the target's means. Empty where they are not determined.
    distance : float or None
        Root mean square of the difference of predictions on the target's rows, in standard
        deviations of the target's noise; None where ``differences`` is empty.
    """

    source: str
    probability: float | None
    of_intercept: float | None
    of_slopes: float | None
    differences: dict[str, float]
    distance: float | None

    @property
    def verdict(self) -> str:
        """The probability in words."""
        if self.probability is None:
            return "not judged"
        if self.probability < LIKELY:
            return "in doubt" if self.probability > 0.3 else "agrees"
        slopes = (self.of_slopes or 0.0) >= (self.of_intercept or 0.0)
        return "other coefficients" if slopes else "another level"


@dataclass(frozen=True, repr=False)
class Conflict(Findings):
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

    @property
    def text(self) -> str:
        """Which sources contradict the target, in what, and what becomes of them."""
        told = []
        slopes = [x.source for x in self.likely if x.verdict == "other coefficients"]
        level = [x.source for x in self.likely if x.verdict != "other coefficients"]
        if slopes:
            contradict = "contradicts" if len(slopes) == 1 else "contradict"
            sure = all((x.of_slopes or 0.0) >= SURE for x in self.likely if x.source in slopes)
            told.append(
                f"{named(slopes)}{self._of_all(slopes)} {'' if sure else 'probably '}{contradict} "
                "the recent rows: the response depends on the shared columns in another way. "
                "bayes_pooling relies less on such history."
            )
        if level:
            have = "has" if len(level) == 1 else "have"
            told.append(
                f"{named(level)}{self._of_all(level)} {have} another level of the response than "
                "the recent rows. bayes_pooling takes the level from the recent rows."
            )
        if unused := [x.source for x in self.lines if x.probability is None]:
            were = "was" if len(unused) == 1 else "were"
            told.append(f"{named(unused)}{self._of_all(unused)} {were} not used by bayes_pooling.")
        return " ".join(told) or "History is not seen to contradict the recent rows."

    def _of_all(self, some: list[str]) -> str:
        return "" if len(self.lines) == 1 else f" ({len(some)} of {len(self.lines)} tables)"

    def shown(self) -> Shown:
        """Return what is printed."""
        if not self.lines:
            return ["Conflict: not defined without history."]
        head = ["source", "other level", "other slopes", "verdict", "predictions apart"]
        head.append("largest difference")
        rows = []
        for x in sorted(self.lines, key=lambda x: -(x.probability or 0.0)):
            likely = ["-" if p is None else f"{p:.0%}" for p in (x.of_intercept, x.of_slopes)]
            apart = "-" if x.distance is None else f"{x.distance:.2g} sd"
            rows.append([x.source, *likely, x.verdict, apart, largest_difference(x.differences)])
        title = "Conflict: does a source contradict the target?"
        return [title, (head, rows)]


def conflict(problem: Problem, *, posterior: LinearFit | None = None) -> Conflict:
    """Return for each source whether it contradicts the target, in what, and by how much.

    The probability accounts for all uncertainty, including the relation of new features to old
    ones. The differences compare two regressions on the same features, one coefficient at a time.

    Parameters
    ----------
    problem : Problem or fitted regressor
        Target and sources.
    posterior : LinearFit, optional
        The fit of Bayes pooling, if it is known already.

    Returns
    -------
    Conflict
        One line per source; it prints as a table.
    """
    problem = problem_of(problem)
    fit = solved(problem) if posterior is None else posterior
    lines = []
    for name, source in problem.sources.items():
        differences, distance = _differences(problem, source)
        any_, level = fit.conflict.get(name), fit.level_conflict.get(name)
        slopes = None if any_ is None or level is None else any_ - level
        lines.append(ConflictLine(name, any_, level, slopes, differences, distance))
    return Conflict(tuple(lines))


def _differences(problem: Problem, source: Moments) -> tuple[dict[str, float], float | None]:
    """Compare least squares in a source and in the target, on the source's features."""
    features, y = problem.shared(source), problem.response
    theirs, ours = (
        regress(table, y, features, intercept=problem.intercept)
        for table in (source, problem.target)
    )
    if theirs.covariance is None or ours.covariance is None or theirs.cautions or ours.cautions:
        return {}, None
    step = difference(theirs, ours)
    variance = recentred(theirs.covariance, theirs.centre, ours.centre) + ours.covariance
    error = np.sqrt(np.maximum(variance.diagonal(), 0.0))
    names = (INTERCEPT, *features)
    flat = {*theirs.dropped, *ours.dropped}
    told = [
        j
        for j, n in enumerate(names)
        if error[j] > 0.0 and n not in flat and (j or problem.intercept)
    ]
    differences = {names[j]: float(step[j] / error[j]) for j in told}
    design = PooledTable(problem.target, 1.0).design(features, ours.centre) / problem.target.weight
    square = max(float(step @ design @ step), 0.0)
    return differences, float(np.sqrt(square / ours.noise)) if ours.noise else None
