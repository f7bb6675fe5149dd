"""The figures of a report, drawn by matplotlib as SVG for a wide page and for a narrow one."""

from __future__ import annotations

import io
import math
import re
import textwrap
import unicodedata
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias
from xml.etree import ElementTree as ET

from poolwise.errors import NotInstalled
from poolwise.report.number_format import number, round_number, round_percent
from poolwise.wording import change_range, change_words, percent, short, visible

Kind: TypeAlias = Literal["with", "without", "other"]
Format: TypeAlias = Callable[[float], str]

# The colours of a light page. In the page each becomes a variable of templates/style.css, which
# has others for a dark page and for paper.
COLOURS = {
    "back": "#ffffff",
    "text": "#1b1f24",
    "soft": "#55606b",
    "rule": "#d5dae0",
    "with": "#0b5cad",
    "without": "#8a5300",
    "bad": "#a8201a",
    "band": "#cfe1f4",
}
LETTER = 13.0
STYLE: Any = {
    "figure.dpi": 72,  # one unit of the drawing is one point
    "svg.fonttype": "none",
    "svg.hashsalt": "poolwise",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": LETTER,
    "axes.edgecolor": COLOURS["rule"],
    "axes.labelcolor": COLOURS["soft"],
    "axes.labelsize": LETTER,
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": COLOURS["rule"],
    "grid.linewidth": 1.0,
    "text.color": COLOURS["text"],
    "xtick.labelcolor": COLOURS["soft"],
    "ytick.labelcolor": COLOURS["soft"],
    "xtick.bottom": False,
    "ytick.left": False,
    "lines.linewidth": 2.0,
}
MARKS: dict[Kind, dict[str, Any]] = {
    "with": {"marker": "o", "color": COLOURS["with"], "markerfacecolor": COLOURS["with"]},
    "without": {"marker": "s", "color": COLOURS["without"], "markerfacecolor": COLOURS["back"]},
    "other": {"marker": "o", "color": COLOURS["soft"], "markerfacecolor": COLOURS["back"]},
}
WIDTHS = {"wide": 720.0, "narrow": 330.0}
LABELS = {"wide": 40, "narrow": 38}  # letters in a line of a label
LINE, STEP = 16.0, 13.0  # from one line of a label to the next, and from one mark of a row
EDGE, BELOW = 30.0, 46.0  # room beside an axis, and below it
FAR = 1.5  # how far an axis goes beyond what must be seen, in lengths of that
FAR_OFF = 12.0  # times the smallest error: methods beyond that are an arrow
MOST_EFFECTS = 20  # in a figure, so that it fits a printed page
SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"


@dataclass(frozen=True)
class Mark:
    """A number with its interval, how it is drawn, and what it is in words.

    The axis is long enough for it if ``must_show``; else it may be an arrow at the end.
    """

    value: float
    low: float | None
    high: float | None
    kind: Kind
    tip: str
    must_show: bool = True


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
        made["plan"] = _both("plan", title, data["plan"]["text"], _draw_plan, data["plan"])
    if "points" in data["residuals"]:
        left = data["residuals"]
        title = "Residuals of the recent rows against their predictions"
        made["residuals"] = _both("residuals", title, left["text"], _draw_points, left["points"])
    return made


def _both(
    key: str, title: str, described: str, draw: Callable[..., None], *what: Any, **how: Any
) -> dict[str, str]:
    """Draw a figure in both widths."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        otherwise = "Report.data and Report.json() have the same without it."
        raise NotInstalled.of("A page", "matplotlib", "report", otherwise) from error
    made = {}
    for size in WIDTHS:
        with mpl.rc_context(STYLE), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph")  # the reader's font has it
            drawing = Drawing(size)
            draw(drawing, *what, **how)
            made[size] = drawing.svg(f"{key}-{size}", title, described)
    return made


class Drawing:
    """A matplotlib figure of one axis, whose parts may have classes and tips."""

    def __init__(self, size: str) -> None:
        from matplotlib.figure import Figure

        self.size, self.width = size, WIDTHS[size]
        self.figure = Figure()
        self.axes: Any = None
        self._tips: list[tuple[str, str]] = []

    def set_size(self, height: float, left: float, top: float = 10.0) -> None:
        """Set the height of the figure, and where its axis begins."""
        self.figure.set_size_inches(self.width / 72.0, height / 72.0)
        inner = (self.width - left - EDGE) / self.width, (height - top - BELOW) / height
        self.axes = self.figure.add_axes((left / self.width, BELOW / height, *inner))
        self.figure.patch.set_visible(False)
        self.axes.patch.set_visible(False)

    def tip(self, kind: str, text: str = "") -> str:
        """Return an identifier that gives a part a class and a tooltip."""
        self._tips.append((kind, text))
        return f"tip-{len(self._tips) - 1}"

    def set_ticks(self, low: float, high: float, shown: Format, room: float) -> None:
        """Set the limits of the horizontal axis, and as many round numbers as fit."""
        from matplotlib.ticker import FuncFormatter, MaxNLocator

        self.axes.set_xlim(low, high)
        for most in range(7, 0, -1):
            locator = MaxNLocator(most, steps=[1, 2, 2.5, 5, 10])
            ticks = [t for t in locator.tick_values(low, high) if low <= t <= high]
            if sum(_width(shown(t)) + 12.0 for t in ticks) <= room:
                break
        self.axes.set_xticks(ticks)
        self.axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: shown(value)))

    def svg(self, key: str, title: str, described: str) -> str:
        """Return the figure as an element of a page: its own ids, and colours of the page."""
        for artist in self.figure.findobj():
            artist.set_clip_on(False)
        file = io.StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        self.figure.savefig(file, format="svg", metadata=nothing)
        root = ET.fromstring(file.getvalue())
        targets = {e.attrib[HREF][1:] for e in root.iter() if HREF in e.attrib}
        for parent in list(root.iter()):
            for child in list(parent):
                is_style = child.tag == f"{SVG}defs" and child.find(f"{SVG}style") is not None
                if is_style or (child.tag == f"{SVG}g" and not len(child)):
                    parent.remove(child)
        for e in list(root.iter()):
            self._adopt(e, f"figure-{key}", targets)
        box = root.get("viewBox", "")
        root.attrib.clear()
        root.attrib |= {"viewBox": box, "role": "img"}
        root.set("aria-labelledby", f"figure-{key}-title figure-{key}-desc")
        for tag, text in (("desc", described), ("title", title)):
            told = ET.Element(tag, {"id": f"figure-{key}-{tag}"})
            told.text = visible(text)
            root.insert(0, told)
        return ET.tostring(root, encoding="unicode")

    def _adopt(self, e: ET.Element, key: str, targets: set[str]) -> None:
        """Make an element part of the page."""
        e.tag = e.tag.removeprefix(SVG)
        e.tail = None
        if e.tag != "text":
            e.text = None
        own = e.attrib.pop("id", "")
        if own.startswith("tip-"):
            kind, tip = self._tips[int(own[4:])]
            e.set("class", kind)
            if tip:
                ET.SubElement(e, "title").text = visible(tip)
        elif own in targets:
            e.set("id", f"{key}-{own}")
        if HREF in e.attrib:
            e.set("href", f"#{key}-{e.attrib.pop(HREF)[1:]}")
        e.attrib.pop("clip-path", None)
        if e.get("transform", "").startswith("rotate(-0 "):
            del e.attrib["transform"]
        for name, value in e.attrib.items():
            if name == "style":
                e.set(name, _themed(value))
            elif name in ("d", "x", "y", "transform"):
                value = re.sub(r"-?\d+\.\d+", lambda m: f"{float(m[0]):.4g}", value)
                e.set(name, " ".join(value.split()))


def _themed(style: str) -> str:
    """Return a style in the colours and the font of the page."""
    parts = [part.strip() for part in style.split(";")]
    bold = any(part.startswith("font: 7") or part == "font-weight: 700" for part in parts)
    kept = [p for p in parts if not p.startswith("font")] + bold * ["font-weight: 700"]
    themed = "; ".join(kept)
    for name, colour in COLOURS.items():
        themed = themed.replace(colour, f"var(--{name})")
    return themed


def _width(text: str) -> float:
    """Return the approximate width of a text."""
    return 0.6 * LETTER * _cells(text)


def _cells(text: str) -> int:
    """Return the width of a text in letters; a Chinese or Japanese character counts as two."""
    return sum(2 if unicodedata.east_asian_width(c) in ("W", "F") else 1 for c in text)


def _lines(label: str, most: int) -> list[str]:
    """Return a label in one line or two, each of a limited length."""
    shown = short(label, 2 * most - 6)
    most = max(most * len(shown) // max(_cells(shown), 1), 4)
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
    return _both(key, title, described, _draw_intervals, rows, **how)


def _draw_intervals(
    out: Drawing, rows: Sequence[Row], *, axis_label: str, shown: Format, reference: float
) -> None:
    """Draw a row for each quantity, with a mark and an interval for each estimate of it."""
    is_narrow = out.size == "narrow"
    labels = [_lines(row.label, LABELS[out.size]) for row in rows]
    left = EDGE if is_narrow else max(_width(t) for lines in labels for t in lines) + 22.0
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
    numbers = [(v, m.must_show) for m in marks for v in (m.value, m.low, m.high) if v is not None]
    first = [reference, *(v for v, must in numbers if must)]
    low, high = min(first), max(first)
    room = FAR * (high - low)
    kept = [low, high, *(v for v, _ in numbers if low - room <= v <= high + room)]
    margin = 0.05 * (max(kept) - min(kept)) or 0.5 * abs(high) or 1.0
    return min(kept) - margin, max(kept) + margin


def _draw_mark(out: Drawing, mark: Mark, y: float, low: float, high: float) -> None:
    """Draw a mark and its interval; parts beyond the axis end in an arrow."""
    how = MARKS[mark.kind]
    if mark.low is not None and mark.high is not None:
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
        half = _width(f"{n:,.0f}") / 2.0
        if at - half > last + 6.0:
            kept.append(n)
            last = at + half
    return kept


def _draw_points(out: Drawing, points: Sequence[dict[str, Any]]) -> None:
    """Draw residuals against predictions."""
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
        mark = Mark(x["rmse"], low, high, kind, f"RMSE {number(x['rmse'])}", must_show=must)
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
