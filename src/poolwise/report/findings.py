"""The diagnostics of a report, each as a sentence and as lines of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from poolwise.evaluation import Conflict, Diagnosis, Influence, Predictability, Shift
from poolwise.wording import named, number, plural

LISTED = 20  # lines of a table


def findings(found: Diagnosis) -> dict[str, Any]:
    """Return text, lines and the number of lines left out, for each diagnostic."""
    if not found.sources:
        none = {"text": "There is no history to compare with.", "lines": [], "more": 0}
        return dict.fromkeys(("conflict", "predictability", "shift", "influence"), none)
    return {
        "conflict": _conflict(found.conflict),
        "predictability": _predictability(found.predictability),
        "shift": _shift(found.shift),
        "influence": _influence(found.influence),
    }


def _told(text: str, lines: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {"text": text, "lines": lines[:LISTED], "more": max(len(lines) - LISTED, 0)}


def _fields(line: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(line, name) for name in names}


def _conflict(found: Conflict) -> dict[str, Any]:
    lines = [
        {
            **_fields(x, "source", "of_intercept", "of_slopes", "verdict", "distance"),
            **_largest(x.differences, "difference"),
        }
        for x in sorted(found.lines, key=lambda x: -(x.probability or 0.0))
    ]
    return _told(found.text, lines)


def _predictability(found: Predictability) -> dict[str, Any]:
    ranked = sorted(found.lines, key=lambda x: -(x.r2 or 0.0))
    lines = [
        {
            **_fields(x, "feature", "r2", "low", "high", "is_high"),
            "by": list(x.by),
            "sources": list(x.sources),
        }
        for x in ranked
    ]
    high = list(dict.fromkeys(x.feature for x in ranked if x.is_high))
    if not ranked:
        text = "History has every column."
    elif not high:
        text = "Old columns do not clearly predict any new column."
    else:
        text = (
            f"Old columns predict {named(high)} in part, which Bayes pooling uses. Methods that "
            "assume no relation of new columns to old ones (data_pooling, mean_fill) are biased."
        )
    return _told(text, lines)


def _shift(found: Shift) -> dict[str, Any]:
    lines = [
        {
            **_fields(x, "source", "kind", "in_source", "in_target", "size"),
            "columns": list(x.columns),
            "p": x.p_holm,
        }
        for x in found.found
    ]
    tests = plural(found.tests, "comparison")
    if not lines:
        return _told(f"In {tests} of shared columns, none differs beyond chance.", lines)
    columns = list(dict.fromkeys(n for x in found.found for n in x.columns))
    text = (
        f"{len(lines):,} of {tests} {'differs' if len(lines) == 1 else 'differ'} beyond chance: "
        f"{named(columns)}. A shift of a column does no harm by itself; other units, or another "
        "way of measuring, do."
    )
    return _told(text, lines)


def _influence(found: Influence) -> dict[str, Any]:
    ranked = sorted(found.lines, key=lambda x: -x.moved)
    lines = [
        {
            **_fields(x, "source", "moved", "low", "high"),
            "gain": x.relative,
            **_largest(x.changes, "change"),
        }
        for x in ranked
    ]
    if not ranked:
        return _told("There is no noise, so the influence of history cannot be computed.", lines)
    text = (
        f"Without {named([ranked[0].source])}, predictions for the recent rows would move by "
        f"{number(ranked[0].moved, 2)} standard deviations of the noise, root mean square"
        f"{'; no other table matters as much' if len(ranked) > 1 else ''}."
    )
    return _told(text, lines)


def _largest(sizes: Mapping[str, float], what: str) -> dict[str, Any]:
    if not sizes:
        return {"column": None, what: None}
    name = max(sizes, key=lambda n: abs(sizes[n]))
    return {"column": name, what: sizes[name]}
