"""Verdict: whether history helps, by how much, how surely and why, in plain sentences.

Two witnesses are heard. The model says what it expects, from all tables together; that is precise,
and rests on what the model assumes. Cross-validation says what happened on the target rows; that
assumes little, and is rough when there are few. Where they contradict each other beyond chance,
what was measured counts.
"""

from __future__ import annotations

import math
import re
from typing import Any

from poolwise.comparison import FEWEST_TESTED
from poolwise.contenders import BASELINE
from poolwise.diagnostics import Diagnosis
from poolwise.diagnostics.diagnosis import FEWEST_SURE, SMALL
from poolwise.diagnostics.gain import SURE
from poolwise.report.measured import ALONE
from poolwise.report.words import change_range, named, number, short, than
from poolwise.wording import plural, probability

ANSWERS = {
    "no_history": "There is no history",
    "unknown": "Nothing can be said about a gain",
    "hurts": "History does harm",
    "helps": "History helps",
    "probably_helps": "History probably helps",
    "unclear": "It is not clear whether history helps",
    "matters_little": "History makes little difference",
    "does_not_help": "History does not help",
}


def verdict(
    found: Diagnosis, gain: dict[str, Any], measured: dict[str, Any], plan: dict[str, Any]
) -> dict[str, Any]:
    """Return the answer, its reasons and what to do.

    Parameters
    ----------
    found : Diagnosis
        What the diagnostics say.
    gain : dict
        What the model expects and what was measured; see ``poolwise.report.gain``.
    measured : dict
        How all methods did on target rows; see ``poolwise.report.measured``.
    plan : dict
        What more rows would bring.
    """
    expected = _line(gain, "expected", ALONE)
    if own := [x for x in gain["lines"] if x["how"] == "expected" and x["fit"] != "history"]:
        expected = own[-1] if own[-1]["fit"] != BASELINE else expected
    seen = _line(gain, "measured", ALONE)
    if found.has_trees and found.sources:
        return _of_trees(found, gain, measured, seen)
    answer = _answer(found, expected, seen)
    said = ANSWERS[answer]
    if expected is not None and expected["fit"] != "history":
        said = re.sub("[Hh]istory", rf"\g<0> as {short(expected['fit'])} uses it", said)
    sentences = [f"{said}: {_how_much(answer, found, expected, seen)}."]
    if found.sources:
        sentences += [
            *_sure(answer, expected),
            *_measured(gain, measured),
            *_reasons(found),
            *_harm(measured),
            *_bent(measured),
            *_unused(measured),
            *_advice(answer, found, plan),
        ]
    return {
        "answer": answer,
        "headline": sentences[0],
        "sentences": sentences[1:],
        "text": " ".join(sentences),
    }


def _of_trees(
    found: Diagnosis, gain: dict[str, Any], measured: dict[str, Any], seen: dict[str, Any] | None
) -> dict[str, Any]:
    """Return the verdict on a model with trees: of these only measurements tell."""
    low, high = _ends(seen)
    answer = "unclear"  # one witness that is not sure makes nothing probable
    if seen is not None and low > 0.0 and seen["share"] > SMALL:
        answer = "hurts"
    elif seen is not None and high < 0.0:
        answer = "helps"
    said = "its worth to a model with trees could not be measured"
    if seen is not None:
        said = f"on the target rows, the error of predictions was {than(seen['share'])} without it"
        if seen["low"] is not None:
            said += f" (95% interval: {change_range(low, high)})"
    sentences = [
        *_measured(gain, measured, "; in the last, trees have their part" if seen else ""),
        *_reasons(found),
        *_harm(measured),
        *_advice(answer, found, {}),
    ]
    headline = f"{ANSWERS[answer]}: {said}."
    return {
        "answer": answer,
        "headline": headline,
        "sentences": sentences,
        "text": " ".join([headline, *sentences]),
    }


def _line(gain: dict[str, Any], how: str, against: str) -> dict[str, Any] | None:
    for line in gain["lines"]:
        if (line["how"], line["against"]) == (how, against):
            return dict(line)
    return None


def _answer(found: Diagnosis, expected: dict[str, Any] | None, seen: dict[str, Any] | None) -> str:
    if not found.sources:
        return "no_history"
    if expected is None:
        return "unknown"
    share = 0.0 if seen is None else seen["share"]
    low, high = _ends(seen)
    if low > 0.0 and share > SMALL:
        return "hurts"
    surely, against = high < 0.0, share > 0.0
    if abs(expected["of_noise"]) < SMALL:
        if surely and share < -SMALL:
            return "probably_helps"
        return "does_not_help" if found.conflict.likely else "matters_little"
    if expected["of_noise"] < 0.0:
        return "hurts" if expected["probability"] < 1.0 - SURE and not surely else "unclear"
    sure = expected["probability"] >= SURE and found.target_rows >= FEWEST_SURE
    if surely or (sure and not against):
        return "helps"
    return "unclear" if against else "probably_helps"


def _ends(seen: dict[str, Any] | None) -> tuple[float, float]:
    """Return the ends of an interval; one that is not known holds everything."""
    if seen is None or seen["low"] is None:
        return -math.inf, math.inf
    return seen["low"], seen["high"]


def _how_much(
    answer: str,
    found: Diagnosis,
    expected: dict[str, Any] | None,
    seen: dict[str, Any] | None,
) -> str:
    if answer == "no_history":
        return f"this is a model of {plural(found.target_rows, 'target row')} alone"
    if expected is None:
        return "the response does not vary"
    low, high = _ends(seen)
    unsure = expected["probability"] < SURE
    if seen is not None and (
        (answer == "hurts" and low > 0.0) or (answer == "helps" and high < 0.0 and unsure)
    ):
        said = f"on the target rows, the error of predictions was {than(seen['share'])} without it"
        return f"{said} (95% interval: {change_range(seen['low'], seen['high'])})"
    said = f"the error of predictions is expected to be {than(expected['share'])} without it"
    return f"{said} (95% interval: {change_range(expected['low'], expected['high'])})"


def _sure(answer: str, expected: dict[str, Any] | None) -> list[str]:
    if expected is None or answer not in ("helps", "probably_helps", "unclear"):
        return []
    sure = probability(expected["probability"])
    return [f"According to the model, history helps with probability {sure}."]


def _measured(gain: dict[str, Any], measured: dict[str, Any], beside: str = "") -> list[str]:
    if "unavailable" in measured:
        return [f"It could not be measured on target rows. {measured['unavailable']}"]
    parts = []
    for base, what in (
        (ALONE, "by the same method without history"),
        (BASELINE, "by least squares on the target rows alone"),
    ):
        if (x := _line(gain, "measured", base)) is None:
            continue
        sure = "" if x["low"] is None else f" (95% interval: {change_range(x['low'], x['high'])})"
        parts.append(f"{than(x['share'])} {what}{sure}")
    rows = f"{plural(measured['target_rows'], 'target row')}{_folds(measured)}"
    few = "; so few rows tell little" if measured["target_rows"] < FEWEST_TESTED else ""
    said = f"In cross-validation on the {rows} the error was {', and '.join(parts)}{beside}{few}."
    return [said] if parts else []


def _folds(measured: dict[str, Any]) -> str:
    """Say how many folds there were: poolwise.compare makes more, and other numbers."""
    return f" ({plural(measured['folds'], 'fold')})"


def _reasons(found: Diagnosis) -> list[str]:
    if not found.gain.lines:
        return []
    said = []
    by = "By linear models of the same tables, " if found.has_trees else ""
    if likely := found.conflict.likely:
        names = named([x.source for x in likely])
        of_all = "" if found.sources == 1 else f" ({len(likely)} of {found.sources} sources)"
        one = len(likely) == 1
        said.append(
            f"{by}{names}{of_all} {'contradicts' if one else 'contradict'} the target and "
            f"{'counts' if one else 'count'} for less: there, the response depends on the shared "
            "columns in another way, or has another level."
        )
    else:
        said.append(f"{f'{by}n' if by else 'N'}o source is seen to contradict the target.")
    if high := [x for x in found.predictability.lines if x.is_high]:
        columns = list(dict.fromkeys(x.feature for x in high))
        up_to = "up to " if len(columns) > 1 else ""
        said.append(
            f"Old columns predict {named(columns)} (R squared {up_to}"
            f"{max(x.r2 or 0.0 for x in high):.2f}), so that methods which fill new columns with "
            "their mean are biased here."
        )
    return said


def _harm(measured: dict[str, Any]) -> list[str]:
    """Say what it would cost to trust history blindly."""
    lines = measured.get("lines", [])
    worse = [x for x in lines if x["method"] in measured["harmful"] and not x["is_model"]]
    if not worse:
        return []
    base = next(x["rmse"] for x in lines if x["is_baseline"])
    count = "One other way" if len(worse) == 1 else f"{len(worse)} other ways"
    return [
        f"{count} to use this history {'was' if len(worse) == 1 else 'were'} worse than dropping "
        f"it, with errors up to {number(max(x['rmse'] for x in worse))} instead of {number(base)}."
    ]


def _bent(measured: dict[str, Any]) -> list[str]:
    """Say where trees did better than a linear model, beyond chance: the truth is not linear."""
    trees = measured.get("trees")
    if trees is None or _ends(trees)[1] >= 0.0:
        return []
    return [
        f"Boosted trees on all rows, gaps left empty, had an error {than(trees['share'])} this "
        f"model's (95% interval: {change_range(trees['low'], trees['high'])}): the response seems "
        "to depend on the columns in ways that no linear model has. Try the method "
        "boosted_pooling, which has trees and weighs history too."
    ]


def _unused(measured: dict[str, Any]) -> list[str]:
    if any(x["is_model"] and x["is_baseline"] for x in measured.get("lines", [])):
        return ["This model is of the target rows alone: its method, target_only, drops history."]
    return []


def _advice(answer: str, found: Diagnosis, plan: dict[str, Any]) -> list[str]:
    if answer in ("helps", "probably_helps"):
        return [plan["verdict"]] if "verdict" in plan else []
    if answer == "does_not_help":
        return [
            "The model has noticed and is nearly the one without history: little is lost by using "
            "it, and little by leaving the history out. Ask how the old rows were measured."
        ]
    if answer == "hurts" and found.has_trees:
        return ["Leave the history out, and ask how it was measured."]
    if answer == "hurts":
        return [
            "Leave the history out (method target_only), or take bayes_pooling, which can ignore "
            "it; and ask how it was measured."
        ]
    if answer == "unclear":
        return [f"{plural(found.target_rows, 'target row')} are too few to tell: collect more."]
    return []
