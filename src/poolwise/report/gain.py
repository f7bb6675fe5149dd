"""Gain: by how much the error differs from that of models without history, as shares."""

from __future__ import annotations

import math
from typing import Any

from poolwise.contenders import BASELINE
from poolwise.diagnostics import Diagnosis, GainLine
from poolwise.report.measured import ALONE

AGAINST = {
    ALONE: "against the same method without history",
    BASELINE: "against least squares on the target rows",
}
OVER = {"the target alone": ALONE, "least squares on the target": BASELINE}
EXPLAINED = (
    "The error is the root mean squared error (RMSE) of predictions for rows like those of the "
    "target. “Expected” is what {who} says, from all tables together; it holds as far as that "
    "model does. “Measured” is what happened in cross-validation on the target rows; it assumes "
    "little, and is rough when there are few rows. There, models see only part of the target rows, "
    "so that history matters more than it does with all of them."
)
OF_TREES = (
    " No theory says what to expect of trees. Against the same method without history, what was "
    "measured is history's; against least squares it is what trees and history bring together."
)
CAPTION = (
    "Change of the error, against models without history, with 95% intervals. Left of zero, the "
    "error is lower than without history. "
)
CAPTION_OF_TREES = (
    "Change of the error, against models without history, with 95% intervals. Left of zero, the "
    "error is lower; against least squares, trees have their part in that. "
)


def gain(found: Diagnosis, measured: dict[str, Any]) -> dict[str, Any]:
    """Return all changes of the error of predictions, those that the model expects first.

    Parameters
    ----------
    found : Diagnosis
        What the model says.
    measured : dict
        What cross-validation says; see ``poolwise.report.measured``.
    """
    lines = [_expected(x, found.has_trees) for x in found.gain.lines]
    own = " of this model" if found.has_trees else ""
    lines += [
        {
            "how": "measured",
            "fit": "model",
            "against": base,
            "label": f"Measured{own}, {AGAINST[base]}",
            "probability": None,
            **{key: x[key] for key in ("share", "low", "high")},
        }
        for base, x in measured.get("changes", {}).items()
        if x is not None and found.sources
    ]
    text = "There is no history, so there is no gain." if not found.sources else ""
    return {
        "lines": lines,
        "text": text or ("" if lines else "The response does not vary."),
        "explained": EXPLAINED.format(
            who="Bayes pooling, a linear model," if found.has_trees else "the model"
        )
        + (OF_TREES if found.has_trees else ""),
        "caption": CAPTION_OF_TREES if found.has_trees else CAPTION,
    }


def _expected(line: GainLine, has_trees: bool) -> dict[str, Any]:
    """Turn a fall of the squared error into a change of its root."""
    base = OVER[line.over]
    of_what = "" if line.fit == "history" else f" of {line.fit}"
    against = AGAINST[base]
    if has_trees:  # "the same method" would be taken for that of the model
        of_what = " of a linear model"
        against = "against itself without history" if base == ALONE else against
    return {
        "how": "expected",
        "fit": line.fit,
        "against": base,
        "label": f"Expected{of_what}, {against}",
        "probability": line.probability,
        "share": -line.fall,
        "low": _share(line, line.high),
        "high": _share(line, line.low),
        "of_noise": line.relative,
    }


def _share(line: GainLine, fall: float) -> float:
    without = line.error_without
    return math.sqrt(max(without - fall, 0.0) / without) - 1.0
