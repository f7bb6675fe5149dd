"""Coefficients: with history, and by least squares on the target alone."""

from __future__ import annotations

from typing import Any

from poolwise.answer import Derived
from poolwise.boosting.stack import Stack
from poolwise.fit import LinearFit
from poolwise.intake import Intake
from poolwise.methods.target_only import TargetOnly
from poolwise.summary import CoefficientLine, Summary, summarise
from poolwise.wording import plural

UNKNOWN = CoefficientLine("", None, None, None, None, 0)  # of a column that least squares lacks
DRAWN = 20  # columns in the figure, so that it fits a printed page


def coefficients(intake: Intake, summary: Summary, derived: Derived | None) -> dict[str, Any]:
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
    derived : Derived or None
        Its derived columns and candidates. Where there are candidates, the linear one's
        coefficients are shown; a derived column has one with history alone.
    """
    problem = intake.problem
    stack = None if derived is None else derived.stack
    if stack is not None:
        summary = summarise(problem, stack.candidates.linear, method=summary.method)
    alone: LinearFit = problem.restored(TargetOnly().solve(problem))
    without = summarise(problem, alone, method="target_only")
    asked = problem if derived is None or derived.problem is None else derived.problem
    target = asked.tables()[0]
    deviation = dict(zip(target.names, target.deviations().tolist(), strict=True))
    lines = []
    others = {c.name: c for c in without.coefficients}
    for own in summary.coefficients:
        other, size = others.get(own.name, UNKNOWN), deviation[own.name]
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
        "text": _text(summary, stack, has_history=bool(problem.sources)),
        "caption": _caption(len(lines), "prediction" if stack is None else "linear prediction"),
        "labels": {
            "with": _label(stack, has_history=bool(problem.sources)),
            "without": "without (least squares)" if problem.sources else "least squares",
        },
        "intercept": {"with": _intercept(summary), "without": _intercept(without)},
        "lines": lines,
        "cautions": [str(caution) for caution in alone.cautions],
    }


def _text(summary: Summary, stack: Stack | None, *, has_history: bool) -> str:
    if not has_history:
        return "There is no history: both are fits of the target rows alone."
    known = [c for c in summary.coefficients if c.seen_in]
    if stack is not None:
        share = stack.weights[stack.candidates.names.index("linear")]
        return (
            "The model is not linear, so it has no coefficients. These are of its linear "
            f"candidate, which has {share:.0%} of the weight; beside them stands least squares on "
            "the target rows."
        )
    return (
        f"History speaks about {plural(len(known), 'column')} directly; about new ones it speaks "
        "only as far as old ones predict them. Beside them stands least squares on the target rows."
    )


def _label(stack: Stack | None, *, has_history: bool) -> str:
    if stack is not None:
        return f"linear candidate{', with history' if has_history else ''}"
    return "with history" if has_history else "this model"


def _caption(count: int, what: str) -> str:
    which = f"the {DRAWN} columns of {count:,} with the largest effects" if count > DRAWN else ""
    return (
        f"Change of the {what} when a column rises by one standard deviation{which and ', '}"
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
