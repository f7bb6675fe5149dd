"""Figures: what of the contents is drawn, each figure for a wide page and for a narrow one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from poolwise.report.curves import draw_plan, draw_residuals
from poolwise.report.interval_plot import Kind, Mark, Row, draw_intervals
from poolwise.report.svg import Drawing
from poolwise.report.words import change, change_range, number, round_number, round_percent

WIDE, NARROW = 720.0, 330.0
FAR_OFF = 12.0  # times the smallest error: methods beyond that are drawn as an arrow
MOST_EFFECTS = 20  # in the figure, so that it fits a printed page


def figures(data: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Return the drawings that there is something to draw in, as SVG.

    Parameters
    ----------
    data : dict
        See ``poolwise.report.contents``.
    """
    made: dict[str, dict[str, str]] = {}
    if rows := _changes(data):
        made["changes"] = _both(
            "changes",
            "Change of the error of predictions, against models without history",
            rows,
            axis_label="change of the error",
            shown=_signed_percent,
            reference=0.0,
        )
    if "lines" in data["methods"]:
        lines = data["methods"]["lines"]
        base = next(x["rmse"] for x in lines if x["method"] == data["methods"]["baseline"])
        made["methods"] = _both(
            "methods",
            "Error of each method on target rows",
            _methods([x for x in lines if x["is_drawn"]]),
            axis_label="error (RMSE)",
            shown=round_number,
            reference=base,
        )
    made["coefficients"] = _both(
        "coefficients",
        "Effect of each column, with history and without",
        _coefficients([x for x in data["coefficients"]["lines"] if x["is_drawn"]]),
        axis_label="effect of one standard deviation",
        shown=round_number,
        reference=0.0,
    )
    if data["trees"] and data["trees"]["effects"]:
        made["effects"] = _both(
            "effects",
            "Effect of each new column",
            [_effect(x) for x in data["trees"]["effects"][:MOST_EFFECTS]],
            axis_label="change of the prediction",
            shown=round_number,
            reference=0.0,
        )
    if len(data["plan"].get("rows", ())) > 1:
        plan = data["plan"]
        title = "Gain of history as more target rows arrive"
        made["plan"] = {
            size: draw_plan(
                _drawing(f"plan-{size}", title, plan["verdict"]),
                plan,
                width,
                is_narrow=size == "narrow",
            )
            for size, width in (("wide", WIDE), ("narrow", NARROW))
        }
    if "points" in data["residuals"]:
        left = data["residuals"]
        title = "Residuals of the target rows against their predictions"
        made["residuals"] = {
            size: draw_residuals(
                _drawing(f"residuals-{size}", title, left["text"]),
                left["points"],
                width,
                is_narrow=size == "narrow",
            )
            for size, width in (("wide", WIDE), ("narrow", NARROW))
        }
    return made


def _both(key: str, title: str, rows: list[Row], **how: Any) -> dict[str, str]:
    described = "; ".join(f"{row.label}: {', '.join(m.tip for m in row.marks)}" for row in rows)
    return {
        size: draw_intervals(
            _drawing(f"{key}-{size}", title, described),
            rows,
            width,
            is_narrow=size == "narrow",
            **how,
        )
        for size, width in (("wide", WIDE), ("narrow", NARROW))
    }


def _drawing(key: str, title: str, description: str) -> Callable[[float, float], Drawing]:
    def sized(width: float, height: float) -> Drawing:
        return Drawing(f"figure-{key}", title, description, (width, height))

    return sized


def _changes(data: dict[str, Any]) -> list[Row]:
    rows = []
    for x in data["gain"]["lines"]:
        if x["share"] is not None:
            tip = f"{change(x['share'])}, interval {_interval(x, change_range)}"
            kind: Kind = "with" if x["how"] == "expected" else "without"
            rows.append(Row(x["label"], (Mark(x["share"], x["low"], x["high"], kind, tip),)))
    return rows


def _methods(lines: list[dict[str, Any]]) -> list[Row]:
    least = min(x["rmse"] for x in lines)
    rows = []
    for x in lines:
        kind: Kind = "with" if x["is_model"] else "without" if x["is_baseline"] else "other"
        low, high = (None, None) if x["is_baseline"] else (x["rmse_low"], x["rmse_high"])
        must = x["rmse"] <= FAR_OFF * least
        mark = Mark(x["rmse"], low, high, kind, f"RMSE {number(x['rmse'])}", must_show=must)
        rows.append(Row(x["label"], (mark,), is_strong=x["is_model"]))
    return rows


def _coefficients(lines: list[dict[str, Any]]) -> list[Row]:
    rows = []
    for x in lines:
        marks = []
        for kind in ("with", "without"):
            own = x[kind]
            if own["effect"] is None:
                continue
            ends = _interval(
                {"low": own["effect_low"], "high": own["effect_high"]},
                lambda low, high: f"{number(low)} to {number(high)}",
            )
            tip = f"{kind} history {number(own['effect'])}, interval {ends}"
            marks.append(
                Mark(
                    own["effect"],
                    own["effect_low"],
                    own["effect_high"],
                    "with" if kind == "with" else "without",
                    tip,
                    must_show=kind == "with",
                )
            )
        rows.append(Row(x["name"], tuple(marks)))
    return rows


def _effect(x: dict[str, Any]) -> Row:
    ends = f"{number(x['low'])} to {number(x['high'])}"
    tip = f"{number(x['change'])}, interval {ends}"
    return Row(x["feature"], (Mark(x["change"], x["low"], x["high"], "with", tip),))


def _interval(ends: dict[str, Any], shown: Callable[[float, float], str]) -> str:
    if ends["low"] is None or ends["high"] is None:
        return "not known"
    return shown(ends["low"], ends["high"])


def _signed_percent(share: float) -> str:
    return ("+" if share > 0.0 else "") + round_percent(share)
