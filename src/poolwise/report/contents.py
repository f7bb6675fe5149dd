"""The contents of a report, as plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from poolwise.errors import PoolwiseWarning, TooFewRows
from poolwise.evaluation import Diagnosis, diagnose, plan
from poolwise.evaluation.compare import QUICK, SLOW, fit_seconds
from poolwise.evaluation.splitting import Splitting
from poolwise.linear.fit import finite, plain
from poolwise.linear.problem import Problem
from poolwise.methods import method_of, needs_rows
from poolwise.model.regressor import PooledRegressor
from poolwise.model.tree_summary import TreeSummary
from poolwise.report.coefficients import coefficients
from poolwise.report.column_roles import columns
from poolwise.report.findings import findings
from poolwise.report.measured import compared, gain, label_of, report_verdict
from poolwise.report.residuals import residuals
from poolwise.tables.intake import Intake
from poolwise.wording import named, plural, short

FORMAT, VERSION = "poolwise report", 1
# Standard errors to each side of an effect: they come from ten groups, so nine degrees of freedom.
EFFECT_WIDTH = 2.26


def contents(
    model: PooledRegressor,
    intake: Intake,
    told: Sequence[PoolwiseWarning],
    provenance: Mapping[str, Any],
    *,
    title: str | None = None,
    methods: Any = None,
    splitting: Splitting,
    random_state: int = 0,
    progress: bool | None = None,
) -> dict[str, Any]:
    """Collect everything that a report of a fitted model and its tables says.

    ``told`` are the warnings of the fit.
    """
    method = method_of(model.method)  # with its choice, if it chooses: that depends on the rows
    draws = _draws(intake.problem, reads_rows=needs_rows(method))
    summary, found = model.summary(), diagnose(model, progress=progress)
    how: dict[str, Any] = {"random_state": random_state, "progress": progress}
    seen, comparison = compared(intake, method, methods=methods, splitting=splitting, **how)
    planned = _plan(model, found, draws, **how)
    response = summary.response
    has_history = bool(found.sources)
    question = f"Does history help to predict {short(response)}?"
    data: dict[str, Any] = plain(
        {
            "format": FORMAT,
            "version": VERSION,
            "title": title or (question if has_history else f"A model of {short(response)}"),
            "response": response,
            "method": summary.method,
            "method_label": label_of(summary.method, summary.method),
            "reason": summary.reason,
            "rows": _rows(intake),
            "target_rows": found.target_rows,
            "history_rows": found.history_rows,
            "is_linear": found.is_linear,
            "verdict": report_verdict(found, seen, comparison, _outlook(planned)).to_dict(),
            "tables": [_table(line) for line in summary.to_dict()["tables"]],
            "gain": gain(found, comparison),
            "columns": columns(intake, model.fit_.parts().linear),
            "methods": seen,
            "coefficients": coefficients(intake, summary, model.fit_),
            "trees": None if summary.trees is None else _trees(summary.trees, summary.reason),
            "diagnostics": findings(found),
            "plan": planned,
            "residuals": residuals(intake, method, splitting=splitting, **how),
            "cautions": [str(caution) for caution in told],
            "provenance": dict(provenance),
        },
        finite,
    )
    return data


def _rows(intake: Intake) -> dict[str, Any]:
    """Return the rows of the tables as given, and those without a value to predict or with gaps."""
    assert intake.account is not None  # the target came as rows
    missing = intake.rows.table.missing([c.name for c in intake.columns])
    recent, *history = intake.account.tables
    lost, gaps = recent.without_response, int(np.count_nonzero(missing.any(axis=1)))
    lost_history = sum(table.without_response for table in history)
    counts = {
        "recent": recent.rows + lost,
        "without_response": lost,
        "with_gaps": gaps,
        "history": sum(table.rows for table in history) + lost_history,
        "history_without_response": lost_history,
    }
    without = f"without {named([intake.response])}, left out"
    notes = [f"{lost:,} {without}"] if lost else []
    notes += [f"{gaps:,} with missing values, filled in"] if gaps else []
    said = plural(counts["recent"], "recent row") + (f" ({'; '.join(notes)})" if notes else "")
    if history:
        said += f" and {plural(counts['history'], 'row')} of history"
        said += f" ({lost_history:,} {without})" if lost_history else ""
    return {**counts, "text": f"{said}."}


def _draws(problem: Problem, *, reads_rows: bool) -> int:
    """Return the number of futures of the plan: fewer for larger problems.

    It depends on the size of the problem and not on the time: the same data give the same report.
    """
    seconds = fit_seconds(len(problem.features), len(problem.sources))
    return 16 if reads_rows or seconds <= QUICK else 8 if seconds <= SLOW else 4


def _plan(model: PooledRegressor, found: Diagnosis, draws: int, **how: Any) -> dict[str, Any]:
    if not found.sources:
        return {"unavailable": "There is no history."}
    try:
        planned = plan(model, draws=draws, **how)
    except TooFewRows as error:
        return {"unavailable": str(error)}
    if not planned.rows:
        return {"unavailable": "The response does not vary, so there is nothing to plan."}
    return {**planned.to_dict(), "text": planned.outlook}


def _outlook(planned: dict[str, Any]) -> str:
    """Return the outlook of the plan, unless the gain is below its limit already."""
    stops = planned.get("stops_at")
    if "rows" not in planned or (stops is not None and stops <= planned["rows"][0]):
        return ""
    return str(planned["text"])


def _table(line: dict[str, Any]) -> dict[str, Any]:
    noise = line.pop("noise")
    return {**line, "noise_sd": None if noise is None else math.sqrt(noise)}


def _trees(own: TreeSummary, reason: str) -> dict[str, Any]:
    """Return candidates, their weights, and the effects of new columns."""
    return {
        "text": reason or own.text,
        "error": own.error,
        "candidates": [asdict(c) for c in own.candidates],
        "effects": [
            {
                **asdict(e),
                "low": e.change - EFFECT_WIDTH * e.change_deviation,
                "high": e.change + EFFECT_WIDTH * e.change_deviation,
            }
            for e in own.effects
        ],
    }
