"""Contents: everything a report says, as plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poolwise.answer import RowMethod
from poolwise.diagnostics import Diagnosis, diagnose, plan
from poolwise.errors import TooFewRows, TransferWarning
from poolwise.intake import Intake
from poolwise.precision import Precision
from poolwise.regressor import PooledRegressor
from poolwise.report.coefficients import coefficients
from poolwise.report.columns import columns
from poolwise.report.effort import Effort
from poolwise.report.findings import findings
from poolwise.report.gain import gain
from poolwise.report.measured import label_of, measured
from poolwise.report.residuals import residuals
from poolwise.report.trees import trees
from poolwise.report.verdict import verdict
from poolwise.report.words import short

FORMAT, VERSION = "poolwise report", 1


@dataclass(frozen=True, eq=False)
class Subject:
    """What a report is about.

    Parameters
    ----------
    model : PooledRegressor
        The fitted model.
    intake : Intake
        What it was fitted on.
    told : tuple of TransferWarning
        What was said at fit.
    positions : array of int
        Where the complete rows stand in the target's table, from one on.
    """

    model: PooledRegressor
    intake: Intake
    told: tuple[TransferWarning, ...]
    positions: NDArray[np.intp]


def contents(
    subject: Subject,
    provenance: Mapping[str, Any],
    *,
    title: str | None = None,
    methods: Any = None,
    cv: Any = None,
    random_state: int = 0,
    progress: bool | None = None,
) -> dict[str, Any]:
    """Collect everything that a report says.

    Parameters
    ----------
    subject : Subject
        Model and tables.
    provenance : mapping
        See ``poolwise.report.provenance``.
    title : str, optional
        Of the page.
    methods, cv, random_state, progress
        See :func:`poolwise.report`.
    """
    model, intake = subject.model, subject.intake
    precision: Precision = model.precision
    effort = Effort.of(intake.problem, grows_trees=isinstance(model.method_, RowMethod))
    summary, found = model.summary(), diagnose(model, progress=progress)
    seen = measured(
        intake,
        model.method_,
        summary.method,
        repeats=effort.repeats,
        methods=methods,
        cv=cv,
        precision=precision,
        random_state=random_state,
        progress=progress,
    )
    gained = gain(found, seen)
    planned = _plan(model, found, effort, random_state, progress)
    left = residuals(
        intake,
        model.method_,
        positions=subject.positions,
        folds=effort.folds,
        precision=precision,
        random_state=random_state,
        progress=progress,
    )
    response = summary.response
    everything = {
        "format": FORMAT,
        "version": VERSION,
        "title": title or _title(response, has_history=bool(found.sources)),
        "response": response,
        "method": summary.method,
        "method_label": label_of(summary.method, summary.method),
        "reason": summary.reason,
        "target_rows": found.target_rows,
        "history_rows": found.history_rows,
        "has_trees": found.has_trees,
        "verdict": verdict(found, gained, seen, planned),
        "tables": [_table(line) for line in summary.to_dict()["tables"]],
        "gain": gained,
        "columns": columns(intake, model.fit_, subject.told),
        "methods": seen,
        "coefficients": coefficients(intake, summary, model.derived_),
        "trees": trees(summary),
        "diagnostics": findings(found),
        "plan": planned,
        "residuals": left,
        "cautions": [str(caution) for caution in subject.told],
        "provenance": dict(provenance),
    }
    data: dict[str, Any] = plain(everything)
    return data


def plain(value: Any) -> Any:
    """Return a copy that JSON can hold and gives back unchanged; what is not finite is None."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.integer):
        return int(value)
    return value


def _title(response: str, *, has_history: bool) -> str:
    name = short(response)
    return f"Does history help to predict {name}?" if has_history else f"A model of {name}"


def _plan(
    model: PooledRegressor,
    found: Diagnosis,
    effort: Effort,
    random_state: int,
    progress: bool | None,
) -> dict[str, Any]:
    if not found.sources:
        return {"unavailable": "There is no history whose worth could change."}
    try:
        planned = plan(model, draws=effort.draws, random_state=random_state, progress=progress)
    except TooFewRows as error:
        return {"unavailable": str(error)}
    if not planned.rows:
        return {"unavailable": "The response does not vary, so there is nothing to plan."}
    return {**planned.to_dict(), "verdict": planned.verdict}


def _table(line: dict[str, Any]) -> dict[str, Any]:
    noise = line.pop("noise")
    return {**line, "noise_sd": None if noise is None else math.sqrt(noise)}
