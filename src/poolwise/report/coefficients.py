"""Coefficients with history, and by least squares on the target alone."""

from __future__ import annotations

from typing import Any

from poolwise.linear.fit import Fit
from poolwise.methods.target_only import TargetOnly
from poolwise.model.summary import NO_COEFFICIENT, CoefficientLine, Summary, summarise
from poolwise.tables.intake import Intake
from poolwise.wording import plural

DRAWN = 20  # columns in the figure, so that it fits a printed page
NO_HISTORY = "There is no history: both are fits of the recent rows alone."
NOT_LINEAR = "The model is not linear and has no coefficients. These are of its linear candidate"
NEW = "On new columns it gives information only as far as old columns predict them."
BESIDE = "For comparison: least squares on the recent rows."


def coefficients(intake: Intake, summary: Summary, fit: Fit) -> dict[str, Any]:
    """Return each coefficient twice, with intervals where the theory gives them.

    ``effect`` is the coefficient times the standard deviation of the column in the target, which
    can be compared between columns. Of a weighted mean of candidates, the coefficients of the
    linear one are shown. A derived column has a coefficient with history only.
    """
    problem, parts = intake.problem, fit.parts()
    has_history = bool(problem.sources)
    known = plural(sum(c.seen_in > 0 for c in summary.coefficients), "column")
    text, label = f"History has {known}. {NEW}", "with history" if has_history else "this model"
    what = "prediction"
    if parts.plain is not None:
        method, own_fit = summary.method, parts.plain
        summary = summarise(problem, own_fit, method=method, columns=intake.columns)
        label = f"linear candidate{', with history' if has_history else ''}"
        share = next(c.weight for c in parts.candidates if c.name == "linear")
        text, what = f"{NOT_LINEAR}, which has {share:.0%} of the weight.", "linear prediction"
    alone = TargetOnly().solve(problem)
    without = summarise(problem, alone, method="target_only")
    asked = parts.problem or problem
    target = asked.target
    deviation = dict(zip(target.names, target.deviations().tolist(), strict=True))
    lines = []
    others = {c.name: c for c in without.coefficients}
    for own in summary.coefficients:
        other, size = others.get(own.name, NO_COEFFICIENT), deviation[own.name]
        lines.append(
            {
                "name": own.name,
                "column": own.column,
                "level": own.level,
                "reference": own.reference,
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
        "text": f"{text} {BESIDE}" if has_history else NO_HISTORY,
        "caption": _caption(len(lines), what),
        "labels": {
            "with": label,
            "without": "without (least squares)" if has_history else "least squares",
        },
        "intercept": {"with": _intercept(summary), "without": _intercept(without)},
        "lines": lines,
        "cautions": [str(caution) for caution in alone.cautions],
    }


def _caption(count: int, what: str) -> str:
    which = f"the {DRAWN} columns of {count:,} with the largest effects" if count > DRAWN else ""
    return (
        f"Change of the {what} when a column rises by one standard deviation{which and ', '}"
        f"{which}, with 95% intervals where they are known. An arrow: beyond the axis."
    )


def _numbers(line: CoefficientLine, size: float) -> dict[str, Any]:
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
