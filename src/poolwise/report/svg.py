"""SVG for the page of a report: matplotlib figures in the page's colours, in two widths."""

from __future__ import annotations

import io
import re
import unicodedata
import warnings
from collections.abc import Callable
from typing import Any, TypeAlias
from xml.etree import ElementTree as ET

from poolwise.errors import NotInstalled
from poolwise.wording import visible

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
WIDTHS = {"wide": 720.0, "narrow": 330.0}
EDGE, BELOW = 30.0, 46.0  # room beside an axis, and below it
SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"


def in_both_widths(
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
            if sum(text_width(shown(t)) + 12.0 for t in ticks) <= room:
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


def text_width(text: str) -> float:
    """Return the approximate width of a text."""
    return 0.6 * LETTER * cells(text)


def cells(text: str) -> int:
    """Return the width of a text in letters; a Chinese or Japanese character counts as two."""
    return sum(2 if unicodedata.east_asian_width(c) in ("W", "F") else 1 for c in text)
