"""Gain: by how much the error changes thanks to history, expected and measured, as shares."""

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


def gain(found: Diagnosis, measured: dict[str, Any]) -> dict[str, Any]:
    """Return all changes of the error of predictions, those that the model expects first.

    Parameters
    ----------
    found : Diagnosis
        What the model says.
    measured : dict
        What cross-validation says; see ``poolwise.report.measured``.
    """
    of_what = " of a linear model" if found.has_trees else ""
    lines = [_expected(x, of_what) for x in found.gain.lines]
    lines += [
        {
            "how": "measured",
            "fit": "model",
            "against": base,
            "label": f"Measured, {AGAINST[base]}",
            "probability": None,
            **{key: x[key] for key in ("share", "low", "high")},
        }
        for base, x in measured.get("changes", {}).items()
        if x is not None and found.sources
    ]
    text = "There is no history, so there is no gain." if not found.sources else ""
    return {"lines": lines, "text": text or ("" if lines else "The response does not vary.")}


def _expected(line: GainLine, of_what: str) -> dict[str, Any]:
    """Turn a fall of the squared error into a change of its root."""
    base = OVER[line.over]
    of_what = of_what if line.fit == "history" else f" of {line.fit}"
    return {
        "how": "expected",
        "fit": line.fit,
        "against": base,
        "label": f"Expected{of_what}, {AGAINST[base]}",
        "probability": line.probability,
        "share": -line.fall,
        "low": _share(line, line.high),
        "high": _share(line, line.low),
        "of_noise": line.relative,
    }


def _share(line: GainLine, fall: float) -> float:
    without = line.error_without
    return math.sqrt(max(without - fall, 0.0) / without) - 1.0
