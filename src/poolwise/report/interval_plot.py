"""Interval plot: a row for each thing, with a mark and an interval for each way of knowing it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from poolwise.report.svg import LETTER, Axis, Drawing, axis_about, draw_ticks_below, place
from poolwise.report.words import in_two_lines
from poolwise.report.words import width as text_width

Kind: TypeAlias = Literal["with", "without", "other"]

LABELS = 300.0  # room for labels beside a wide plot, at most
LINE = 16.0  # from one line of a label to the next
TOP, BOTTOM = 8.0, 44.0
FAR = 3.0  # how far an axis goes beyond what must be seen, in lengths of that
STEP = 12.0  # between the marks of a row
BOLD = 1.1 * LETTER  # letters that are set off are wider


@dataclass(frozen=True)
class Mark:
    """A number with its interval.

    Parameters
    ----------
    value : float
        The number.
    low, high : float or None
        Ends of the interval.
    kind : {"with", "without", "other"}
        How it is drawn.
    tip : str
        What it is, in words.
    must_show : bool, default=True
        Whether the axis must be long enough for it.
    """

    value: float
    low: float | None
    high: float | None
    kind: Kind
    tip: str
    must_show: bool = True


@dataclass(frozen=True)
class Row:
    """A label and its marks.

    Parameters
    ----------
    label : str
        What the row is about.
    marks : tuple of Mark
        What is known about it.
    is_strong : bool, default=False
        Whether the label is set off.
    """

    label: str
    marks: tuple[Mark, ...]
    is_strong: bool = False


def draw_intervals(
    drawing: Callable[[float, float], Drawing],
    rows: Sequence[Row],
    width: float,
    *,
    axis_label: str,
    shown: Callable[[float], str],
    reference: float | None = None,
    is_narrow: bool = False,
) -> str:
    """Draw rows of marks over one axis.

    Parameters
    ----------
    drawing : callable
        Makes a drawing of a width and a height.
    rows : sequence of Row
        From top to bottom.
    width : float
        Of the drawing.
    axis_label : str
        What the numbers are.
    shown : callable
        How a number of the axis is written.
    reference : float, optional
        Where to draw a line across all rows.
    is_narrow : bool, default=False
        Whether labels stand above the marks, as on a telephone.
    """
    room = width - 12.0 if is_narrow else LABELS - 16.0
    labels = [in_two_lines(row.label, room / (BOLD if row.is_strong else LETTER)) for row in rows]
    longest = max(text_width(line) for lines in labels for line in lines)
    left = 8.0 if is_narrow else min(max(BOLD * longest, 60.0) + 24.0, LABELS)
    axis = _axis(rows, reference, left, width - 14.0)
    inner = [STEP * max(len(row.marks), 1) + 12.0 for row in rows]
    heads = [LINE * len(lines) + 4.0 if is_narrow else 0.0 for lines in labels]
    heights = [
        head + height if is_narrow else max(height, LINE * len(lines) + 8.0)
        for head, height, lines in zip(heads, inner, labels, strict=True)
    ]
    bottom = TOP + sum(heights)
    out = drawing(width, bottom + BOTTOM)
    ticks = {tick: shown(tick) for tick in axis.ticks(4 if is_narrow else 6)}
    for tick in ticks:
        out.line("grid", (axis.at(tick), TOP), (axis.at(tick), bottom))
    draw_ticks_below(out, ticks, axis, bottom + 16.0, (0.0, width))
    if reference is not None:
        x = axis.at(reference)
        out.line("reference", (x, TOP), (x, bottom))
    out.text("axis", ((left + width - 14.0) / 2, bottom + 36.0), axis_label, anchor="middle")
    y = TOP
    for row, lines, head, height in zip(rows, labels, heads, heights, strict=True):
        kind = "label strong" if row.is_strong else "label"
        first = 14.0 if is_narrow else height / 2 + 4.5 - LINE * (len(lines) - 1) / 2
        for k, line in enumerate(lines):
            out.text(kind, (4.0, y + first + LINE * k), line, tip=row.label)
        middle = y + head + (height - head) / 2
        for k, mark in enumerate(row.marks):
            _draw_mark(out, mark, axis, middle + STEP * (k - (len(row.marks) - 1) / 2))
        y += height
    return out.written()


def _axis(rows: Sequence[Row], reference: float | None, start: float, stop: float) -> Axis:
    """Return an axis long enough for what must be seen, and not much longer."""
    marks = [m for row in rows for m in row.marks]
    first = [v for m in marks if m.must_show for v in (m.value, m.low, m.high) if v is not None]
    first += [] if reference is None else [reference]
    others = [v for m in marks for v in (m.value, m.low, m.high) if v is not None]
    low, high = min(first, default=0.0), max(first, default=1.0)
    room = FAR * (high - low) / 2
    kept = [v for v in others if low - room <= v <= high + room]
    return axis_about([low, high, *kept], start, stop)


def _draw_mark(out: Drawing, mark: Mark, axis: Axis, y: float) -> None:
    if mark.low is not None and mark.high is not None:
        out.line(f"interval {mark.kind}", (axis.at(mark.low), y), (axis.at(mark.high), y))
        for end, sign in ((mark.low, -1.0), (mark.high, 1.0)):
            x = axis.at(end)
            if axis.holds(end):
                out.line(f"end {mark.kind}", (x, y - 3.5), (x, y + 3.5))
            else:  # it goes on beyond the axis
                tip = [(x - 6.0 * sign, y - 4.5), (x, y), (x - 6.0 * sign, y + 4.5)]
                out.path(f"end {mark.kind}", tip, closed=False)
    x = axis.at(mark.value)
    if not axis.holds(mark.value):
        sign = 1.0 if mark.value > axis.high else -1.0
        tip = [(x - 9.0 * sign, y - 5.0), (x, y), (x - 9.0 * sign, y + 5.0)]
        steps = " L".join(f"{place(a)},{place(b)}" for a, b in tip)
        out.add("path", f"mark {mark.kind}", mark.tip, d=f"M{steps} Z")
    elif mark.kind == "without":
        out.add("rect", "mark without", mark.tip, x=x - 4.0, y=y - 4.0, width=8.0, height=8.0)
    else:
        out.add("circle", f"mark {mark.kind}", mark.tip, cx=x, cy=y, r=4.5)
