"""The figures of a report: what is drawn, from its data."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from poolwise.report.number_format import round_number, round_percent
from poolwise.report.svg import (
    BELOW,
    COLOURS,
    EDGE,
    Drawing,
    Format,
    cells,
    in_both_widths,
    text_width,
)
from poolwise.wording import change_range, change_words, number, percent, short

Kind: TypeAlias = Literal["with", "without", "other"]

MARKS: dict[Kind, dict[str, Any]] = {
    "with": {"marker": "o", "color": COLOURS["with"], "markerfacecolor": COLOURS["with"]},
    "without": {"marker": "s", "color": COLOURS["without"], "markerfacecolor": COLOURS["back"]},
    "other": {"marker": "o", "color": COLOURS["soft"], "markerfacecolor": COLOURS["back"]},
}
LABELS = {"wide": 40, "narrow": 38}  # letters in a line of a label
LINE, STEP = 16.0, 13.0  # from one line of a label to the next, and from one mark of a row
FAR = 1.5  # how far an axis goes beyond what must be seen, in lengths of that
FAR_OFF = 3.0  # times the smallest error: methods beyond that are an arrow and a number
MOST_EFFECTS = 20  # in a figure, so that it fits a printed page


@dataclass(frozen=True)
class Mark:
    """A number with its interval, how it is drawn, and what it is in words.

    The axis is long enough for it if ``must_show``; else it may be an arrow at the end, with the
    number as ``text`` beside it.
    """

    value: float
    low: float | None
    high: float | None
    kind: Kind
    tip: str
    must_show: bool = True
    text: str = ""


@dataclass(frozen=True)
class Row:
    """A label and its marks."""

    label: str
    marks: tuple[Mark, ...]
    is_strong: bool = False


def figures(data: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Return the figures of the data of a report, as SVG, in two widths each."""
    made: dict[str, dict[str, str]] = {}
    if rows := _changes(data["gain"]["lines"]):
        title = "Change of the error of predictions, against models without history"
        made["changes"] = _intervals(
            "changes", title, rows, "change of the error", shown=_signed_percent, reference=0.0
        )
    if "lines" in data["methods"]:
        lines = data["methods"]["lines"]
        base = next(x["rmse"] for x in lines if x["is_baseline"])
        rows = _methods([x for x in lines if x["is_drawn"]])
        title = "Error of each method on recent rows"
        made["methods"] = _intervals("methods", title, rows, "error (RMSE)", reference=base)
    rows = _coefficients([x for x in data["coefficients"]["lines"] if x["is_drawn"]])
    title = "Effect of each column, with history and without"
    label = "effect of one standard deviation"
    made["coefficients"] = _intervals("coefficients", title, rows, label, reference=0.0)
    if data["trees"] and data["trees"]["effects"]:
        rows = [_effect(x) for x in data["trees"]["effects"][:MOST_EFFECTS]]
        title, label = "Effect of each new column", "change of the prediction"
        made["effects"] = _intervals("effects", title, rows, label, reference=0.0)
    if len(data["plan"].get("rows", ())) > 1:
        title = "Gain of history as more recent rows arrive"
        made["plan"] = in_both_widths("plan", title, data["plan"]["text"], _draw_plan, data["plan"])
    if "points" in data["residuals"]:
        left = data["residuals"]
        title = "Residuals of the recent rows against their predictions"
        made["residuals"] = in_both_widths(
            "residuals", title, left["text"], _draw_points, left["points"]
        )
    return made


def _lines(label: str, most: int) -> list[str]:
    shown = short(label, 2 * most - 6)
    most = max(most * len(shown) // max(cells(shown), 1), 4)
    return [short(line, most) for line in textwrap.wrap(shown, most)[:2]] or [""]


def _intervals(
    key: str,
    title: str,
    rows: list[Row],
    axis_label: str,
    *,
    shown: Format = round_number,
    reference: float,
) -> dict[str, str]:
    described = "; ".join(f"{row.label}: {', '.join(m.tip for m in row.marks)}" for row in rows)
    how = {"axis_label": axis_label, "shown": shown, "reference": reference}
    return in_both_widths(key, title, described, _draw_intervals, rows, **how)


def _draw_intervals(
    out: Drawing, rows: Sequence[Row], *, axis_label: str, shown: Format, reference: float
) -> None:
    """Draw a row for each quantity, with a mark and an interval for each estimate of it."""
    is_narrow = out.size == "narrow"
    labels = [_lines(row.label, LABELS[out.size]) for row in rows]
    left = EDGE if is_narrow else max(text_width(t) for lines in labels for t in lines) + 22.0
    heads = [LINE * len(lines) if is_narrow else 0.0 for lines in labels]
    heights = [
        max(head + STEP * max(len(row.marks), 1) + 12.0, LINE * len(lines) + 8.0)
        for row, head, lines in zip(rows, heads, labels, strict=True)
    ]
    out.set_size(sum(heights) + 10.0 + BELOW, left)
    ax, top = out.axes, sum(heights)
    low, high = _ends([m for row in rows for m in row.marks], reference)
    ax.set_ylim(0.0, top)
    ax.set_yticks([])
    out.set_ticks(low, high, shown, out.width - left)
    ax.axvline(reference, color=COLOURS["soft"], linewidth=1.5, linestyle=(0, (4, 3)))
    ax.set_xlabel(axis_label)
    for row, lines, head, height in zip(rows, labels, heads, heights, strict=True):
        middle = top - head - (height - head) / 2.0
        weight = "bold" if row.is_strong else "normal"
        for k, line in enumerate(lines):
            y = top - LINE * (k + 0.7) if is_narrow else middle + LINE * (len(lines) / 2 - k - 0.5)
            place = (4.0 - left) / (out.width - left - EDGE)
            ax.text(
                place,
                y,
                line,
                transform=ax.get_yaxis_transform(),
                va="center",
                weight=weight,
                gid=out.tip("label", short(row.label, 120) if len(row.label) > len(line) else ""),
            )
        for k, mark in enumerate(row.marks):
            _draw_mark(out, mark, middle + STEP * ((len(row.marks) - 1) / 2 - k), low, high)
        top -= height


def _ends(marks: Sequence[Mark], reference: float) -> tuple[float, float]:
    """Return ends of an axis long enough for what must be seen, and not much longer."""
    seen = [m for m in marks if m.must_show or not m.text]
    numbers = [(v, m.must_show) for m in seen for v in (m.value, m.low, m.high) if v is not None]
    first = [reference, *(v for v, must in numbers if must)]
    low, high = min(first), max(first)
    room = FAR * (high - low)
    kept = [low, high, *(v for v, _ in numbers if low - room <= v <= high + room)]
    margin = 0.05 * (max(kept) - min(kept)) or 0.5 * abs(high) or 1.0
    return min(kept) - margin, max(kept) + margin


def _draw_mark(out: Drawing, mark: Mark, y: float, low: float, high: float) -> None:
    """Draw a mark and its interval; parts beyond the axis end in an arrow."""
    how = MARKS[mark.kind]
    is_written = bool(mark.text) and not low <= mark.value <= high  # instead of its interval
    if mark.low is not None and mark.high is not None and not is_written:
        ends = [min(max(v, low), high) for v in (mark.low, mark.high)]
        dashed = (0, (2.5, 1.5)) if mark.kind == "without" else "-"
        out.axes.plot(ends, [y, y], color=how["color"], linestyle=dashed)
        for end, at, arrow in zip((mark.low, mark.high), ends, "<>", strict=True):
            shape = "|" if low <= end <= high else arrow
            caps = {"marker": shape, "markersize": 7.0, "markeredgewidth": 1.5}
            out.axes.plot([at], [y], linestyle="none", color=how["color"], **caps)
    at, shape = min(max(mark.value, low), high), how["marker"]
    if at != mark.value:
        shape = ">" if mark.value > high else "<"
        side, offset = ("right", -8.0) if mark.value > high else ("left", 8.0)
        how_far = {"textcoords": "offset points", "ha": side, "va": "center"}
        out.axes.annotate(mark.text, (at, y), (offset, 0.0), color=how["color"], **how_far)
    out.axes.plot(
        [at],
        [y],
        linestyle="none",
        **{**how, "marker": shape},
        markersize=8.0,
        markeredgewidth=2.0,
        gid=out.tip(f"mark {mark.kind}", mark.tip),
    )


def _draw_plan(out: Drawing, plan: dict[str, Any]) -> None:
    """Draw the gain of history against the number of recent rows."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

    out.set_size(260.0 if out.size == "narrow" else 310.0, 62.0, 34.0)
    ax, rows = out.axes, plan["rows"]
    ax.set_xscale("log")
    ax.set_xlim(rows[0], max(rows[-1], 1.01 * rows[0]))
    ax.fill_between(rows, plan["gain_low"], plan["gain_high"], color=COLOURS["band"], linewidth=0)
    ax.axhline(plan["enough"], color=COLOURS["soft"], linewidth=1.5, linestyle=(0, (4, 3)))
    ax.plot(rows, plan["gain"], color=COLOURS["with"], linewidth=2.5)
    for n, g in zip(rows, plan["gain"], strict=True):
        tip = out.tip("mark with", f"{n:,.0f} recent rows: {percent(g)}")
        ax.plot([n], [g], "o", color=COLOURS["with"], markersize=8.0, gid=tip)
    ax.set_ylim(min(0.0, *plan["gain_low"]), None)
    ax.yaxis.set_major_locator(MaxNLocator(5))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: round_percent(value)))
    ax.set_xticks(_apart(rows, out.width - 62.0 - EDGE))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.xaxis.set_minor_locator(NullLocator())
    _name_axes(out, "gain, as a share of the noise variance", "recent rows")


def _apart(rows: Sequence[float], width: float) -> list[float]:
    """Return the numbers whose labels do not touch each other on a logarithmic axis."""
    kept, last = [], -math.inf
    for n in rows:
        at = width * math.log(n / rows[0]) / (math.log(rows[-1] / rows[0]) or 1.0)
        half = text_width(f"{n:,.0f}") / 2.0
        if at - half > last + 6.0:
            kept.append(n)
            last = at + half
    return kept


def _draw_points(out: Drawing, points: Sequence[dict[str, Any]]) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    out.set_size(270.0 if out.size == "narrow" else 330.0, 62.0, 34.0)
    ax = out.axes
    ax.axhline(0.0, color=COLOURS["soft"], linewidth=1.5, linestyle=(0, (4, 3)))
    plain = [p for p in points if not p["is_outlier"]]
    ax.plot(
        [p["predicted"] for p in plain],
        [p["residual"] for p in plain],
        linestyle="none",
        marker="o",
        markersize=6.0,
        markeredgecolor=COLOURS["with"],
        markerfacecolor="none",
        markeredgewidth=1.5,
        gid=out.tip("points"),
    )
    for p in points:
        if p["is_outlier"]:
            tip = out.tip("mark outlier", f"row {p['row']:,}: residual {number(p['residual'])}")
            how = {"color": COLOURS["bad"], "markersize": 8.0}
            ax.plot([p["predicted"]], [p["residual"]], "D", **how, gid=tip)
    values = [p["predicted"] for p in points]
    margin = 0.05 * (max(values) - min(values)) or 0.5 * abs(values[0]) or 1.0
    room = out.width - 62.0 - EDGE
    out.set_ticks(min(values) - margin, max(values) + margin, round_number, room)
    ax.yaxis.set_major_locator(MaxNLocator(5))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: round_number(value)))
    _name_axes(out, "residual", "prediction")


def _name_axes(out: Drawing, above: str, below: str) -> None:
    out.axes.set_xlabel(below)
    height = 72.0 * out.figure.get_figheight()
    where = 4.0 / out.width, 1.0 - 6.0 / height
    out.figure.text(*where, above, va="top", color=COLOURS["soft"])


def _changes(lines: list[dict[str, Any]]) -> list[Row]:
    rows = []
    for x in lines:
        tip = (
            f"{change_words(x['change'])}, interval {_interval(x['low'], x['high'], change_range)}"
        )
        kind: Kind = "with" if x["basis"] == "expected" else "without"
        rows.append(Row(x["label"], (Mark(x["change"], x["low"], x["high"], kind, tip),)))
    return rows


def _methods(lines: list[dict[str, Any]]) -> list[Row]:
    least = min(x["rmse"] for x in lines)
    rows = []
    for x in lines:
        kind: Kind = "with" if x["is_model"] else "without" if x["is_baseline"] else "other"
        low, high = (None, None) if x["is_baseline"] else (x["rmse_low"], x["rmse_high"])
        must = x["rmse"] <= FAR_OFF * least
        text = number(x["rmse"])
        mark = Mark(x["rmse"], low, high, kind, f"RMSE {text}", must_show=must, text=text)
        rows.append(Row(x["label"], (mark,), is_strong=x["is_model"]))
    return rows


def _coefficients(lines: list[dict[str, Any]]) -> list[Row]:
    kinds: tuple[Kind, ...] = ("with", "without")
    rows = []
    for x in lines:
        marks = []
        for kind in kinds:
            value, low, high = (x[kind][f"effect{end}"] for end in ("", "_low", "_high"))
            if value is not None:
                tip = f"{kind} history {number(value)}, interval {_interval(low, high)}"
                marks.append(Mark(value, low, high, kind, tip, must_show=kind == "with"))
        rows.append(Row(x["name"], tuple(marks)))
    return rows


def _effect(x: dict[str, Any]) -> Row:
    tip = f"{number(x['change'])}, interval {_interval(x['low'], x['high'])}"
    return Row(x["feature"], (Mark(x["change"], x["low"], x["high"], "with", tip),))


def _interval(
    low: float | None, high: float | None, shown: Callable[[float, float], str] | None = None
) -> str:
    if low is None or high is None:
        return "not known"
    return shown(low, high) if shown else f"{number(low)} to {number(high)}"


def _signed_percent(share: float) -> str:
    return ("+" if share > 0.0 else "") + round_percent(share)
