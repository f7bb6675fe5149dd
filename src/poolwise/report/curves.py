"""Curves: the planning curve, and residuals against predictions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from poolwise.report.svg import Axis, Drawing, axis_about, draw_ticks_below, place
from poolwise.report.words import number, percent, round_number, round_percent

TOP, BOTTOM, RIGHT = 30.0, 48.0, 14.0


def draw_plan(
    drawing: Callable[[float, float], Drawing],
    plan: dict[str, Any],
    width: float,
    *,
    is_narrow: bool = False,
) -> str:
    """Draw the gain of history against the rows of the target.

    Parameters
    ----------
    drawing : callable
        Makes a drawing of a width and a height.
    plan : dict
        See ``poolwise.report.contents``.
    width : float
        Of the drawing.
    is_narrow : bool, default=False
        Whether it is for a telephone.
    """
    left, height = 58.0, 250.0 if is_narrow else 300.0
    out, bottom = drawing(width, height), height - BOTTOM
    rows = plan["rows"]
    x = Axis(rows[0], max(rows[-1], 1.01 * rows[0]), left, width - RIGHT, is_log=True)
    spread = [0.0, plan["enough"], *plan["gain"], *plan["gain_low"], *plan["gain_high"]]
    y = axis_about(spread, bottom, TOP)
    _draw_heights(out, y, round_percent, left, width)
    draw_ticks_below(out, {n: f"{n:,.0f}" for n in rows}, x, bottom + 18.0, (0.0, width))
    upper = [(x.at(n), y.at(g)) for n, g in zip(rows, plan["gain_high"], strict=True)]
    lower = [(x.at(n), y.at(g)) for n, g in zip(rows, plan["gain_low"], strict=True)]
    out.path("band", [*upper, *reversed(lower)], closed=True)
    at = y.at(plan["enough"])
    out.line("reference", (left, at), (width - RIGHT, at))
    middle = [(x.at(n), y.at(g)) for n, g in zip(rows, plan["gain"], strict=True)]
    out.path("curve", middle, closed=False)
    for (cx, cy), n, g in zip(middle, rows, plan["gain"], strict=True):
        tip = f"{n:,.0f} target rows: {percent(g)}"
        out.add("circle", "mark with", tip, cx=cx, cy=cy, r=4.0)
    out.text("axis", (4.0, 14.0), "gain, as a share of the noise variance")
    out.text("axis", ((left + width) / 2, height - 8.0), "rows of the target", anchor="middle")
    return out.written()


def draw_residuals(
    drawing: Callable[[float, float], Drawing],
    points: Sequence[dict[str, Any]],
    width: float,
    *,
    is_narrow: bool = False,
) -> str:
    """Draw residuals against predictions.

    Parameters
    ----------
    drawing : callable
        Makes a drawing of a width and a height.
    points : sequence of dict
        See ``poolwise.report.residuals``.
    width : float
        Of the drawing.
    is_narrow : bool, default=False
        Whether it is for a telephone.
    """
    left, height = 58.0, 260.0 if is_narrow else 320.0
    out, bottom = drawing(width, height), height - BOTTOM
    x = axis_about([p["predicted"] for p in points], left, width - RIGHT)
    y = axis_about([0.0, *(p["residual"] for p in points)], bottom, TOP)
    _draw_heights(out, y, round_number, left, width)
    ticks = {tick: round_number(tick) for tick in x.ticks(4 if is_narrow else 6)}
    for tick in ticks:
        out.line("grid", (x.at(tick), TOP), (x.at(tick), bottom))
    draw_ticks_below(out, ticks, x, bottom + 18.0, (0.0, width))
    out.line("reference", (left, y.at(0.0)), (width - RIGHT, y.at(0.0)))
    for p in sorted(points, key=lambda p: bool(p["is_outlier"])):
        cx, cy = x.at(p["predicted"]), y.at(p["residual"])
        if p["is_outlier"]:
            tip = f"row {p['row']:,}: residual {number(p['residual'])}"
            corners = [(cx, cy - 6.0), (cx + 6.0, cy), (cx, cy + 6.0), (cx - 6.0, cy)]
            steps = " L".join(f"{place(a)},{place(b)}" for a, b in corners)
            out.add("path", "mark outlier", tip, d=f"M{steps} Z")
        else:
            out.add("circle", "mark point", cx=cx, cy=cy, r=3.5)
    out.text("axis", (4.0, 14.0), "residual")
    out.text("axis", ((left + width) / 2, height - 8.0), "prediction", anchor="middle")
    return out.written()


def _draw_heights(
    out: Drawing, axis: Axis, shown: Callable[[float], str], left: float, width: float
) -> None:
    """Draw lines across, with their numbers to the left."""
    for tick in axis.ticks():
        out.line("grid", (left, axis.at(tick)), (width - RIGHT, axis.at(tick)))
        out.text("tick", (left - 6.0, axis.at(tick) + 4.5), shown(tick), anchor="end")
