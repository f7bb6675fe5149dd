"""Measured: how methods did on target rows, held against two models without history."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from poolwise.answer import Answer, AnyMethod, answered
from poolwise.comparison import FEW_TEST_ROWS, LEVEL, Comparison
from poolwise.contenders import BASELINE, TREES, named_methods
from poolwise.cross_validation import compare_intake
from poolwise.diagnostics.risk import without_sources
from poolwise.errors import BadWeights, TooFewToCompare
from poolwise.intake import Intake
from poolwise.precision import Precision
from poolwise.problem import Problem
from poolwise.target_folds import FEWEST
from poolwise.wording import plural

ALONE = "without_history"
# Rows of the target and of the history up to which a method that reads them again is quick.
MOST_ROWS = {"kernel_transfer": (1_000, 20_000), TREES: (20_000, 50_000)}
DRAWN = 18  # methods in the figure, so that it fits a printed page
LABELS = {
    "bayes_pooling": "Bayes pooling",
    "target_only": "Least squares on the target rows, history dropped",
    "data_pooling": "Data pooling: new columns at their mean, rows weighed",
    "feature_transfer": "New columns predicted from old ones, linearly",
    "kernel_transfer": "New columns predicted from old ones, by a kernel",
    "source_columns_only": "New columns dropped, all rows stacked",
    "mean_fill": "New columns filled with their mean, all rows stacked",
    "offset": "Old model, corrected by the new columns",
    "monotone_likelihood": "Maximum likelihood of all columns",
    "boosted_pooling": "Bayes pooling and boosted trees, weighed",
    "derived_pooling": "Bayes pooling with a column that trees learnt from history",
    TREES: "Boosted trees on all rows, gaps left empty",
}


@dataclass(frozen=True, eq=False)
class WithoutHistory:
    """A method that never sees the sources.

    Parameters
    ----------
    method : Method or RowMethod
        What solves the target by itself.
    """

    method: AnyMethod

    def answer(self, problem: Problem) -> Answer:
        """Return the answer to the target."""
        return answered(self.method, without_sources(problem))


def measured(
    intake: Intake,
    method: AnyMethod,
    name: str,
    *,
    repeats: int,
    methods: Any = None,
    cv: Any = None,
    precision: Precision = "auto",
    random_state: int = 0,
    progress: bool | None = None,
) -> dict[str, Any]:
    """Cross-validate methods on target rows.

    Parameters
    ----------
    intake : Intake
        Target and sources.
    method : Method or RowMethod
        That of the model.
    name : str
        What it is called.
    repeats : int
        How often to split, unless ``cv`` is a splitter.
    methods, cv, precision, random_state, progress
        As in :func:`poolwise.compare`. Unless ``methods`` is given, those that read rows again are
        left out where there are many.
    """
    if (rows := intake.rows.count) < FEWEST:  # whatever the splitter would say
        return {"unavailable": str(TooFewToCompare(rows, FEWEST))}
    contenders, left_out = _contenders(intake, methods, random_state)
    own = {name: method}
    if intake.problem.sources and name != BASELINE:
        own[ALONE] = WithoutHistory(method)
    try:
        found = compare_intake(
            intake,
            methods={**contenders, **own},
            cv=cv,
            repeats=repeats,
            precision=precision,
            random_state=random_state,
            progress=progress,
        )
    except BadWeights as error:
        return {"unavailable": str(error)}
    if not all(np.isfinite(scores).all() for scores in found.scores.values()):
        return {"unavailable": "The squares of the errors are beyond the range of doubles."}
    base = float(found.scores[BASELINE].mean())
    lines = [_line(x, name, base) for x in found.table()]
    for rank, line in enumerate(lines):
        line["is_drawn"] = rank < DRAWN or line["is_model"] or line["is_baseline"]
    skipped = {**left_out, **found.skipped}
    return {
        "baseline": BASELINE,
        "target_rows": found.target_rows,
        "folds": len(found.scores[BASELINE]),
        "test_rows": found.test_rows,
        "text": _text(found),
        "lines": lines,
        "changes": {base: _change(found, name, base) for base in (ALONE, BASELINE)},
        "trees": _change(found, TREES, name),
        "harmful": [x["method"] for x in lines if _is_worse(x)],
        "left_out": [{"label": label_of(k, name), "why": why} for k, why in skipped.items()],
    }


def label_of(method: str, name: str) -> str:
    """Say what a method does, in a few words."""
    if method == ALONE:
        return f"{LABELS.get(name, name)}, history dropped"
    return LABELS.get(method, method)


def _contenders(
    intake: Intake, methods: Any, random_state: int
) -> tuple[dict[str, Any], dict[str, str]]:
    if methods is not None:
        return named_methods(methods, random_state), {}
    if not intake.problem.sources:
        return {}, {}
    rows = intake.rows.count
    history = sum(s.rows for s in intake.problem.sources.values())
    contenders = named_methods(None, random_state)
    left_out = {}
    for method, (most, most_history) in MOST_ROWS.items():
        if rows > most or history > most_history:
            del contenders[method]
            left_out[method] = (
                f"it reads rows again in each fold, and there are {plural(rows, 'target row')} and "
                f"{plural(history, 'row')} of history; compare can take the time."
            )
    return contenders, left_out


def _line(line: dict[str, Any], name: str, base: float) -> dict[str, Any]:
    ends = {
        f"rmse_{end}": None if line[end] is None else max(base + line[end], 0.0)
        for end in ("low", "high")
    }
    return {
        **line,
        **ends,
        "label": label_of(line["method"], name),
        "is_model": line["method"] == name,
        "is_baseline": line["method"] == BASELINE,
    }


def _text(found: Comparison) -> str:
    history = " and all of the history" if found.history_rows else ""
    said = (
        f"Each method was fitted on part of the {found.target_rows:,} target rows{history}, "
        "and predicted the other target rows; "
        f"{plural(len(found.scores[BASELINE]), 'fold')} in all, the same for every method."
    )
    if found.test_rows < FEW_TEST_ROWS:
        said += (
            f" The folds have {found.test_rows:.2g} test rows each: the error of so few compares "
            "methods, and is no error to expect."
        )
    return said


def _is_worse(line: dict[str, Any]) -> bool:
    return line["difference"] > 0.0 and line["p_holm"] is not None and line["p_holm"] < LEVEL


def _change(found: Comparison, name: str, base: str) -> dict[str, Any] | None:
    """Return the change of a method's error against another one, as shares."""
    if name not in found.scores or base not in found.scores or base == name:
        return None
    lines = {x["method"]: x for x in replace(found, baseline=base).table()}
    line, own = lines[name], lines[base]["rmse"]
    if not own:
        return None
    low, high = (  # no error falls by more than all of it
        None if line[end] is None else max(line[end] / own, -1.0) for end in ("low", "high")
    )
    share = line["difference"] / own
    return {"share": share, "low": low, "high": high, "rmse": line["rmse"], "rmse_without": own}
