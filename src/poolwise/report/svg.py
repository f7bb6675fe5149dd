"""SVG: a drawing with a title and a description, made of elements that escape what they hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from poolwise.report.words import visible, width

LETTER = 13.0  # size of letters
ABOUT = 5  # ticks of an axis
GAP = 8.0  # between their labels


class Drawing:
    """An SVG image that says what it shows.

    Parameters
    ----------
    key : str
        Start of its identifiers in the page.
    title, description : str
        What it shows, for those who do not see it.
    size : tuple of float
        Width and height.
    """

    def __init__(self, key: str, title: str, description: str, size: tuple[float, float]) -> None:
        self.root = ET.Element(
            "svg",
            {
                "viewBox": f"0 0 {place(size[0])} {place(size[1])}",
                "role": "img",
                "aria-labelledby": f"{key}-title {key}-desc",
            },
        )
        ET.SubElement(self.root, "title", {"id": f"{key}-title"}).text = visible(title)
        ET.SubElement(self.root, "desc", {"id": f"{key}-desc"}).text = visible(description)

    def add(self, tag: str, kind: str, tip: str = "", **numbers: float | str) -> None:
        """Add a shape, with what to say when it is pointed at."""
        written = {
            key.replace("_", "-"): place(v) if isinstance(v, float | int) else v
            for key, v in numbers.items()
        }
        shape = ET.SubElement(self.root, tag, {"class": kind, **written})
        if tip:
            ET.SubElement(shape, "title").text = visible(tip)

    def line(self, kind: str, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Add a line."""
        self.add("line", kind, x1=start[0], y1=start[1], x2=end[0], y2=end[1])

    def path(self, kind: str, points: Sequence[tuple[float, float]], *, closed: bool) -> None:
        """Add a line through points, or an area inside them."""
        steps = " L".join(f"{place(x)},{place(y)}" for x, y in points)
        self.add("path", kind, d=f"M{steps}{' Z' if closed else ''}")

    def text(
        self, kind: str, at: tuple[float, float], text: str, tip: str = "", anchor: str = "start"
    ) -> None:
        """Add a text."""
        label = ET.SubElement(
            self.root,
            "text",
            {"class": kind, "x": place(at[0]), "y": place(at[1]), "text-anchor": anchor},
        )
        label.text = visible(text)
        if tip:
            ET.SubElement(label, "title").text = visible(tip)

    def written(self) -> str:
        """Return the drawing as text."""
        return ET.tostring(self.root, encoding="unicode")


@dataclass(frozen=True)
class Axis:
    """Where the numbers of an axis stand in a drawing.

    Parameters
    ----------
    low, high : float
        Numbers at its ends.
    start, stop : float
        Places of its ends.
    is_log : bool, default=False
        Whether equal ratios, not equal differences, are equally far apart.
    """

    low: float
    high: float
    start: float
    stop: float
    is_log: bool = False

    def at(self, value: float) -> float:
        """Return the place of a number; beyond the ends, that of the end."""
        low, high, v = self.low, self.high, min(max(value, self.low), self.high)
        if self.is_log:
            low, high, v = math.log(low), math.log(high), math.log(v)
        share = (v - low) / (high - low)
        return self.start + share * (self.stop - self.start)

    def holds(self, value: float) -> bool:
        """Say whether a number lies between the ends."""
        return self.low <= value <= self.high

    def ticks(self, about: int = ABOUT) -> list[float]:
        """Return round numbers between the ends, about so many."""
        step = _round_step((self.high - self.low) / about)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [k * step for k in range(first, last + 1)]


def axis_about(values: Sequence[float], start: float, stop: float, *, margin: float = 0.05) -> Axis:
    """Return an axis that holds all numbers, with some room."""
    low, high = min(values), max(values)
    room = margin * (high - low) or 0.5 * abs(high) or 1.0
    return Axis(low - room, high + room, start, stop)


def draw_ticks_below(
    out: Drawing, ticks: dict[float, str], axis: Axis, y: float, ends: tuple[float, float]
) -> None:
    """Write the numbers of an axis below it, all inside the drawing, and none over another."""
    last = -math.inf
    for tick, label in ticks.items():
        half = LETTER * width(label) / 2
        x = min(max(axis.at(tick), ends[0] + half), ends[1] - half)
        if x - half < last + GAP:
            continue
        out.text("tick", (x, y), label, anchor="middle")
        last = x + half


def place(value: float) -> str:
    """Return a coordinate as text."""
    return f"{value:.1f}".rstrip("0").rstrip(".")


def _round_step(step: float) -> float:
    size = 10.0 ** math.floor(math.log10(step))
    share = step / size
    return size * (1.0 if share < 1.5 else 2.0 if share < 3.5 else 5.0 if share < 7.5 else 10.0)
