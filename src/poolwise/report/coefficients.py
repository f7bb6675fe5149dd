"""Coefficients: with history, and by least squares on the target alone."""

from __future__ import annotations

from typing import Any

from poolwise.fit import LinearFit
from poolwise.intake import Intake
from poolwise.methods import method_of
from poolwise.report.words import plural
from poolwise.summary import Summary, summarise

DRAWN = 20  # columns in the figure, so that it fits a printed page


def coefficients(intake: Intake, summary: Summary) -> dict[str, Any]:
    """Return each coefficient twice, with intervals where the theory gives them.

    ``effect`` is the coefficient times the column's standard deviation in the target: by how much
    predictions change, in units of the response, when the column does what it usually does. That
    can be compared between columns.

    Parameters
    ----------
    intake : Intake
        Target and sources.
    summary : Summary
        Of the model.
    """
    problem = intake.problem
    alone: LinearFit = problem.restored(method_of("target_only").solve(problem))
    without = summarise(problem, alone, method="target_only")
    target = problem.tables()[0]
    deviation = dict(zip(target.names, target.deviations().tolist(), strict=True))
    lines = []
    for own, other in zip(summary.coefficients, without.coefficients, strict=True):
        size = deviation[own.name]
        lines.append(
            {
                "name": own.name,
                "seen_in": own.seen_in,
                "note": own.note or other.note,
                "deviation": size,
                "with": _numbers(own, size),
                "without": _numbers(other, size),
            }
        )
    ranked = sorted(lines, key=lambda x: -abs(x["with"]["effect"]))
    for rank, line in enumerate(ranked):
        line["rank"], line["is_drawn"] = rank, rank < DRAWN
    return {
        "text": _text(summary, has_history=bool(problem.sources)),
        "caption": _caption(len(lines)),
        "labels": {
            "with": "with history" if problem.sources else "this model",
            "without": "without (least squares)" if problem.sources else "least squares",
        },
        "intercept": {"with": _intercept(summary), "without": _intercept(without)},
        "lines": lines,
        "cautions": [str(caution) for caution in alone.cautions],
    }


def _text(summary: Summary, *, has_history: bool) -> str:
    if not has_history:
        return "There is no history: both are fits of the target rows alone."
    known = [c for c in summary.coefficients if c.seen_in]
    return (
        f"History speaks about {plural(len(known), 'column')} directly; about new ones it speaks "
        "only as far as old ones predict them. Beside them stands least squares on the target rows."
    )


def _caption(count: int) -> str:
    which = f"the {DRAWN} columns of {count:,} with the largest effects" if count > DRAWN else ""
    return (
        f"Change of the prediction when a column rises by one standard deviation{which and ', '}"
        f"{which}, with 95% intervals where there are any. An arrow goes on beyond the axis."
    )


def _numbers(line: Any, size: float) -> dict[str, Any]:
    effects = {
        f"effect{end}": None if value is None else value * size
        for end, value in (("", line.coef), ("_low", line.low), ("_high", line.high))
    }
    return {
        "coef": line.coef,
        "std_error": line.std_error,
        "low": line.low,
        "high": line.high,
        **effects,
    }


def _intercept(summary: Summary) -> dict[str, Any]:
    return {
        "coef": summary.intercept,
        "std_error": summary.intercept_std_error,
        "low": summary.intercept_low,
        "high": summary.intercept_high,
    }
