"""The change of the fit when a source is left out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from poolwise.evaluation.risk import Findings, Risk, Shown, largest_difference, problem_of, solved
from poolwise.linear.linear_fit import LinearFit
from poolwise.linear.problem import Problem
from poolwise.moments.progress import tracked

SHOWN = 20  # sources that are printed


@dataclass(frozen=True)
class InfluenceLine:
    """The effect of leaving out one source.

    Parameters
    ----------
    source : str
        Its name.
    changes : mapping of str to float
        Coefficients without it minus those with it, in standard errors of the latter.
    moved : float
        Root mean square of the change of predictions on the target's rows, in standard deviations
        of the noise.
    gain, relative : float
        Expected reduction of the squared error of a prediction by this source, in squared units of
        the response and as a share of the noise variance.
    low, high : float
        Ends of the 95 % interval of ``relative``.
    """

    source: str
    changes: dict[str, float]
    moved: float
    gain: float
    relative: float
    low: float
    high: float


@dataclass(frozen=True, repr=False)
class Influence(Findings):
    """How much the fit depends on single sources. Print it, or use its fields.

    Parameters
    ----------
    lines : tuple of InfluenceLine
        One for each source.
    """

    lines: tuple[InfluenceLine, ...]

    def shown(self) -> Shown:
        """Return what is printed."""
        if not self.lines:
            return ["Influence: not defined without history or noise."]
        head = ["left out", "predictions move", "its gain", "95% interval", "largest change"]
        ranked = sorted(self.lines, key=lambda x: -x.moved)
        rows = []
        for x in ranked[:SHOWN]:
            numbers = f"{x.moved:.2g} sd", f"{x.relative:.2g}", f"{x.low:.2g} to {x.high:.2g}"
            rows.append([x.source, *numbers, largest_difference(x.changes)])
        title = (
            "Influence, model-based: the fit without each source "
            "(gain as a share of the noise variance)"
        )
        more = len(ranked) - SHOWN
        return [title, (head, rows), *[f"... and {more} more, which move less."] * (more > 0)]


def influence(
    problem: Problem, *, posterior: LinearFit | None = None, progress: bool | None = None
) -> Influence:
    """Fit Bayes pooling again without each source.

    Two sources with the same information each have little influence, because the other remains.

    Parameters
    ----------
    problem : Problem or fitted regressor
        Target and sources.
    posterior : LinearFit, optional
        The fit of Bayes pooling, if it is known already.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal.

    Returns
    -------
    Influence
        One line per source; it prints as a table.
    """
    problem = problem_of(problem)
    risk = Risk.of(problem, posterior)
    if not problem.sources or not risk.noise:
        return Influence(())
    names = tracked(list(problem.sources), len(problem.sources), "Leaving out", show=progress)
    return Influence(tuple(_line(problem, risk, name) for name in names))


def _line(problem: Problem, risk: Risk, name: str) -> InfluenceLine:
    others = {n: s for n, s in problem.sources.items() if n != name}
    rows = {n: r for n, r in problem.source_rows.items() if n != name}
    without = solved(replace(problem, sources=others, source_rows=rows))
    step = without.coef - risk.posterior.coef
    error = np.sqrt(np.maximum(risk.covariance.diagonal()[1:], 0.0))
    changes = np.divide(step, error, out=np.zeros_like(step), where=error > 0.0)
    return InfluenceLine(
        source=name,
        changes=dict(zip(problem.features, changes.tolist(), strict=True)),
        moved=float(np.sqrt(risk.distance(without) / risk.noise)),
        **risk.gain_interval(risk.posterior, without),
    )
