"""Influence: what the answer would be without each source."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from poolwise.diagnostics.risk import Risk, solved
from poolwise.diagnostics.subject import problem_of
from poolwise.fit import LinearFit
from poolwise.fit.powers_of_two import held
from poolwise.problem import Problem
from poolwise.progress import tracked
from poolwise.text_tables import text_table

SHOWN = 20  # sources that are printed


@dataclass(frozen=True)
class InfluenceLine:
    """What leaving out one source does.

    Parameters
    ----------
    source : str
        Its name.
    changes : mapping of str to float
        Coefficients without it less those with it, in standard errors of those with it.
    moved : float
        Root mean square of the change of predictions on the target's rows, in standard deviations
        of the noise.
    gain : float or None
        Expected fall of the squared error of a prediction thanks to this source, beside all the
        others, in squared units of the response; None where no double can hold it.
    relative : float
        The same, as a share of the noise variance.
    low, high : float
        Ends of its 95 % interval, as shares of the noise variance.
    """

    source: str
    changes: dict[str, float]
    moved: float
    gain: float | None
    relative: float
    low: float
    high: float


@dataclass(frozen=True, repr=False)
class Influence:
    """How much the answer hangs on single sources. Print it, or use its fields.

    Parameters
    ----------
    lines : tuple of InfluenceLine
        One for each source.
    """

    lines: tuple[InfluenceLine, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists, numbers and strings."""
        return asdict(self)

    def __str__(self) -> str:
        if not self.lines:
            return "Influence: there is no history, or no noise."
        head = ["left out", "predictions move", "gain of it", "95% interval", "largest change"]
        ranked = sorted(self.lines, key=lambda x: -x.moved)
        rows = [
            [
                x.source,
                f"{x.moved:.2g} sd",
                f"{x.relative:.2g}",
                f"{x.low:.2g} to {x.high:.2g}",
                _largest(x.changes),
            ]
            for x in ranked[:SHOWN]
        ]
        lines = [
            "Influence, model-based: the answer without each source "
            "(gain as a share of the noise variance)",
            *text_table(head, rows),
        ]
        if len(ranked) > SHOWN:
            lines.append(f"... and {len(ranked) - SHOWN} more, which move less.")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)


def influence(
    problem: Problem, *, posterior: LinearFit | None = None, progress: bool | None = None
) -> Influence:
    """Fit Bayes pooling again without each source.

    The gain of a source is the one of ``poolwise.diagnostics.gain``, over the fit without it. Of
    two sources that say the same, each seems to matter little: the other is still there.

    Parameters
    ----------
    problem : Problem or fitted regressor
        Target and sources.
    posterior : LinearFit, optional
        Of Bayes pooling, if it is known already.
    progress : bool, optional
        Whether to show a progress bar; unless given, on a terminal.

    Returns
    -------
    Influence
        One line per source; it prints as a table.
    """
    problem = problem_of(problem)
    risk = Risk.of(problem, posterior)
    if not problem.sources or not risk.noise:
        return Influence(())
    names = list(problem.sources)
    lines = [
        _line(problem, risk, name)
        for name in tracked(names, len(names), "Leaving out", show=progress)
    ]
    return Influence(tuple(lines))


def _line(problem: Problem, risk: Risk, name: str) -> InfluenceLine:
    others = {n: s for n, s in problem.sources.items() if n != name}
    rows = {n: r for n, r in problem.source_rows.items() if n != name}
    without = solved(replace(problem, sources=others, source_rows=rows))
    mean, deviation = risk.gain(risk.posterior, without)
    wide, noise = risk.half_width(deviation), risk.noise
    step = without.coef - risk.posterior.coef
    error = np.sqrt(np.maximum(risk.covariance.diagonal()[1:], 0.0))
    changes = np.divide(step, error, out=np.zeros_like(step), where=error > 0.0)
    return InfluenceLine(
        source=name,
        changes=dict(zip(problem.features, changes.tolist(), strict=True)),
        moved=float(np.sqrt(risk.distance(without) / noise)),
        gain=held(mean, 2 * problem.units.get(problem.response, 0)),
        relative=mean / noise,
        low=(mean - wide) / noise,
        high=(mean + wide) / noise,
    )


def _largest(changes: dict[str, float]) -> str:
    name = max(changes, key=lambda n: abs(changes[n]))
    return f"{name}: {changes[name]:+.1f} standard errors"
