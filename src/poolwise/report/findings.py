"""Findings: what the diagnostics saw, each as a sentence and as lines of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from poolwise.diagnostics import Conflict, Diagnosis, Influence, Predictability, Shift
from poolwise.report.words import named, number
from poolwise.wording import plural

LISTED = 20  # lines of a table
NONE = "There is no history, so there is nothing to compare."


def findings(found: Diagnosis) -> dict[str, Any]:
    """Return what each diagnostic says.

    Parameters
    ----------
    found : Diagnosis
        All of them.
    """
    parts: dict[str, tuple[Any, Callable[[Any], dict[str, Any]]]] = {
        "conflict": (found.conflict, _conflict),
        "predictability": (found.predictability, _predictability),
        "shift": (found.shift, _shift),
        "influence": (found.influence, _influence),
    }
    none = {"text": NONE, "lines": [], "more": 0}
    return {name: told(of) if found.sources else none for name, (of, told) in parts.items()}


def _conflict(found: Conflict) -> dict[str, Any]:
    ranked = sorted(found.lines, key=lambda x: -(x.probability or 0.0))
    lines = []
    for x in ranked[:LISTED]:
        column, size = _largest(x.differences)
        lines.append(
            {
                "source": x.source,
                "probability": x.probability,
                "verdict": x.verdict,
                "distance": x.distance,
                "column": column,
                "difference": size,
            }
        )
    likely = found.likely
    if not likely:
        text = "No source is seen to contradict the target."
    else:
        what = sorted({x.verdict for x in likely})
        text = (
            f"{named([x.source for x in likely])}: the response "
            f"{' or '.join(_SAID[w] for w in what)} than in the target. Bayes pooling gives such "
            "a source less weight."
        )
    return {"text": text, "lines": lines, "more": len(ranked) - len(lines)}


_SAID = {
    "other coefficients": "depends on the columns in another way",
    "another level": "has another level",
}


def _predictability(found: Predictability) -> dict[str, Any]:
    ranked = sorted(found.lines, key=lambda x: -(x.r2 or 0.0))
    lines = [
        {
            "feature": x.feature,
            "r2": x.r2,
            "low": x.low,
            "high": x.high,
            "by": list(x.by),
            "sources": list(x.sources),
            "is_high": x.is_high,
        }
        for x in ranked[:LISTED]
    ]
    high = list(dict.fromkeys(x.feature for x in ranked if x.is_high))
    if not ranked:
        text = "Every source has every column, so nothing had to be predicted."
    elif not high:
        text = "No new column is surely predictable from old ones."
    else:
        text = (
            f"Old columns tell something about {named(high)}. Bayes pooling uses that. Methods "
            "that take new columns as unrelated to old ones (data_pooling, mean_fill) are biased."
        )
    return {"text": text, "lines": lines, "more": len(ranked) - len(lines)}


def _shift(found: Shift) -> dict[str, Any]:
    lines = [
        {
            "source": x.source,
            "kind": x.kind,
            "columns": list(x.columns),
            "in_source": x.in_source,
            "in_target": x.in_target,
            "size": x.size,
            "p": x.p_holm,
        }
        for x in found.found[:LISTED]
    ]
    if not lines:
        text = (
            f"In {plural(found.tests, 'comparison')} of means, standard deviations and "
            "correlations of shared columns, none differs beyond chance."
        )
    else:
        columns = list(dict.fromkeys(n for x in found.found for n in x.columns))
        count = len(found.found)
        text = (
            f"{count:,} of {plural(found.tests, 'comparison')} "
            f"{'differs' if count == 1 else 'differ'} beyond chance: {named(columns)}. A shift of "
            "a column does no harm by itself; other units, or another way of measuring, do."
        )
    return {"text": text, "lines": lines, "more": len(found.found) - len(lines)}


def _influence(found: Influence) -> dict[str, Any]:
    ranked = sorted(found.lines, key=lambda x: -x.moved)
    lines = []
    for x in ranked[:LISTED]:
        column, size = _largest(x.changes)
        lines.append(
            {
                "source": x.source,
                "moved": x.moved,
                "gain": x.relative,
                "low": x.low,
                "high": x.high,
                "column": column,
                "change": size,
            }
        )
    if not ranked:
        text = "There is no noise, so no source can be weighed against another."
    else:
        first = ranked[0]
        text = (
            f"Without {named([first.source])}, predictions for the target rows would move by "
            f"{number(first.moved, 2)} standard deviations of the noise, root mean square"
            f"{'; no other source matters as much' if len(ranked) > 1 else ''}."
        )
    return {"text": text, "lines": lines, "more": len(ranked) - len(lines)}


def _largest(sizes: Mapping[str, float]) -> tuple[str | None, float | None]:
    if not sizes:
        return None, None
    name = max(sizes, key=lambda n: abs(sizes[n]))
    return name, sizes[name]
