"""Errors of methods on held-out target rows, the effect of history, and the verdict."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import numpy as np

from poolwise.errors import BadWeights, TooFewRows
from poolwise.evaluation import Diagnosis
from poolwise.evaluation.compare import compare_intake
from poolwise.evaluation.comparison import BASELINE, RIVALS, Comparison, is_worse
from poolwise.evaluation.diagnosis import reasons
from poolwise.evaluation.splitting import Splitting
from poolwise.evaluation.target_folds import TREES, named_methods
from poolwise.evaluation.verdict import HistoryEffect, Verdict, no_history, verdict
from poolwise.linear.problem import Method
from poolwise.methods import METHOD_LABELS, name_of_method
from poolwise.tables.intake import Intake
from poolwise.wording import change_range, number, plural, than

ALONE = "without_history"
AGAINST = {
    ALONE: "against the same method without history",
    BASELINE: "against ridge regression on the recent rows",
    "target_only": "against least squares on the recent rows",
}
OVER = {"the target alone": ALONE, "least squares on the target": "target_only"}
EXPLAINED = (
    "The error is the root mean squared error (RMSE) of predictions for rows like the recent ones. "
    "“Expected” follows from the model of Bayes pooling and all tables; it is right if that model "
    "is. “Measured” is the result on held-out recent rows; it assumes little, and is rough if "
    "there are few rows. For it, models are fitted on part of the recent rows, so history "
    "matters more than with all of them."
)
NOT_LINEAR = (
    "No theory covers this model, which is not linear. Against the same method without history, "
    "the measured difference is due to history; against ridge regression, also to the model."
)
# Rows of the target and of the history from which a method that reads them again is left out.
TOO_MANY = {"kernel_transfer": (1_000, 10_000), TREES: (20_000, 50_000)}
DRAWN = 18  # methods in the figure, so that it fits a printed page
LABELS = METHOD_LABELS | {TREES: "Boosted trees on all rows, gaps left empty"}


def compared(
    intake: Intake,
    method: Method,
    *,
    methods: Any = None,
    splitting: Splitting,
    random_state: int = 0,
    progress: bool | None = None,
) -> tuple[dict[str, Any], Comparison | None]:
    """Compare the method of the model with others; return the data to show and the comparison.

    Unless ``methods`` are given, those that read rows again are left out where there are many rows.
    """
    name = name_of_method(method)
    contenders, left_out = _contenders(intake, methods, random_state)
    try:
        found = compare_intake(
            intake,
            methods={**contenders, name: method},
            splitting=splitting,
            random_state=random_state,
            progress=progress,
            judged=name,
        )
    except (BadWeights, TooFewRows) as error:
        return {"unavailable": str(error)}, None
    tested = {x["method"]: x for x in found.table()}  # corrected for as many tests as in compare
    if found.without is not None and name not in RIVALS:
        found = replace(found, scores={**found.scores, ALONE: found.without})
    if not all(np.isfinite(scores).all() for scores in found.scores.values()):
        return {"unavailable": "The squares of the errors are beyond the range of doubles."}, None
    base = float(found.scores[BASELINE].mean())
    lines = [_line(tested.get(x["method"], x), name, base) for x in found.table()]
    for rank, line in enumerate(lines):
        line["is_drawn"] = rank < DRAWN or line["is_model"] or line["is_baseline"]
    skipped = {**left_out, **found.skipped}
    assert intake.account is not None  # the target came as rows
    answered = " with a value to predict" if intake.account.tables[0].without_response else ""
    shown = {
        "baseline": BASELINE,
        "target_rows": found.target_rows,
        "folds": len(found.scores[BASELINE]),
        "held_out": found.held_out,
        "test_rows": found.test_rows,
        "text": _text(found, answered),
        "lines": lines,
        "harmful": [x["method"] for x in lines if x["method"] != ALONE and is_worse(x)],
        "left_out": [{"label": label_of(k, name), "why": why} for k, why in skipped.items()],
    }
    return shown, found


def gain(found: Diagnosis, comparison: Comparison | None) -> dict[str, Any]:
    """Return all changes of the error of predictions by history, expected ones first."""
    scale = found.gain.scale
    effects = [(OVER[x.over], x.effect(found.target_rows, scale)) for x in found.gain.lines]
    if comparison is not None and found.sources and comparison.judged not in RIVALS:
        own, other = comparison.effect, replace(comparison, without=None).effect
        if own is not None and own.over == HistoryEffect.over:
            effects.append((ALONE, own))
        if other is not None:
            effects.append((BASELINE, other))
    lines = [
        {
            **asdict(x),
            "against": base,
            "label": f"{x.basis.capitalize()} with {x.method}, {AGAINST[base]}",
        }
        for base, x in effects
    ]
    text = "" if lines else "The response does not vary."
    explained = [EXPLAINED, *([] if found.is_linear else [NOT_LINEAR])]
    if scale:
        explained.append(
            f"Expected changes are of the error of {scale}, measured ones of the error of the "
            "response itself."
        )
    return {
        "lines": lines,
        "text": text if found.sources else "There is no history, so there is no gain.",
        "explained": " ".join(explained),
    }


def report_verdict(
    found: Diagnosis, shown: dict[str, Any], comparison: Comparison | None, outlook: str
) -> Verdict:
    """Return the verdict of a report: measured if that was possible, expected otherwise."""
    if not found.sources:
        rows = plural(found.target_rows, "recent row")
        return no_history(f"There is no history: this is a model of {rows} alone.")
    said = [*reasons(found), *_harm(shown)]
    effect = None
    why = f"It could not be measured on recent rows. {shown.get('unavailable', '')}".strip()
    if comparison is not None:
        if comparison.judged in RIVALS:
            why = f"This model is of the recent rows alone: its method, {comparison.judged}, "
            why += "drops history."
        else:
            effect = comparison.effect
            said += _bent(comparison)
    said += [outlook] if outlook else []
    return verdict(found.effect, effect, reasons=said, not_measured=why, is_linear=found.is_linear)


def _harm(shown: dict[str, Any]) -> list[str]:
    """Describe the errors of other methods that use history."""
    lines = shown.get("lines", [])
    worse = [x for x in lines if x["method"] in shown["harmful"] and not x["is_model"]]
    if not worse:
        return []
    base = next(x["rmse"] for x in lines if x["is_baseline"])
    each = ", ".join(f"{x['method']} ({number(x['rmse'])})" for x in worse)
    return [f"Worse than {BASELINE} on the recent rows alone ({number(base)}): {each}."]


def _bent(found: Comparison) -> list[str]:
    """Return a sentence if boosted trees had a significantly lower error than the model."""
    assert found.judged is not None
    if TREES not in found.scores or found.judged == TREES:
        return []
    effect = replace(found, judged=TREES, without=found.scores[found.judged]).effect
    if effect is None or effect.interval[1] >= 0.0:
        return []
    return [
        f"Boosted trees on all rows, gaps left empty, had an error {than(effect.change)} this "
        f"model's (95% interval: {change_range(*effect.interval)}): the response does not seem "
        "to be linear in the columns. Try the method boosted_pooling, which uses trees and history."
    ]


def label_of(method: str, name: str) -> str:
    """Describe a method in a few words."""
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
    for method, (many, much_history) in TOO_MANY.items():
        if rows >= many or history >= much_history:
            del contenders[method]
            left_out[method] = (
                f"it reads rows again in each fold, and there are {plural(rows, 'recent row')} and "
                f"{plural(history, 'row')} of history. Use compare to include it."
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


def _text(found: Comparison, answered: str) -> str:
    history = " and all of the history" if found.history_rows else ""
    others = "the other recent rows"
    if found.held_out < found.target_rows:
        others = plural(found.held_out, "other recent row")
    said = (
        f"Each method was fitted on part of the {found.target_rows:,} recent rows{answered}"
        f"{history}, and predicted {others}; "
        f"{plural(len(found.scores[BASELINE]), 'fold')} in all, the same for every method. "
        f"{found.split}"
    ).rstrip()
    return " ".join([said, *found.remarks()])
