"""Plots of the points of a figure, with labels at the curves instead of a legend."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from paper.figures import Point, curve_of
from paper.results import write_file
from paper.specs import DataSplit, FigureSpec

WIDTH, HEIGHT, DPI = 8.6, 5.0, 150
LEFT, RIGHT, BOTTOM, TOP = 0.09, 0.765, 0.165, 0.79  # of the panels; labels stand right of them
LABEL_GAP = 0.014  # of the width of the figure, between a panel and its labels
INK, FAINT = "#222222", "#767676"

SETTINGS = Path(__file__).with_name("figure.mplstyle")
ARROW = {"arrowstyle": "-", "linewidth": 0.7, "shrinkA": 1.0, "shrinkB": 1.0, "relpos": (0.0, 0.5)}


@dataclass(frozen=True)
class Style:
    """Style of a curve."""

    color: str  # of line, band and label
    dashes: Any = "-"  # so that colour is not the only difference
    width: float = 1.8


# Colours of Okabe and Ito, which colour-blind people can distinguish.
BASELINE = Style("#595959", (0, (5, 2)))
OURS = Style("#0072B2", "-", 2.4)
STYLES: Mapping[str, Style] = {
    **dict.fromkeys(("target_only", "noise_known", "mean_known"), BASELINE),
    **dict.fromkeys(("data_pooling", "noise_estimated", "mean_estimated"), OURS),
    "feature_transfer": Style("#D55E00", (0, (6, 1.5, 1.2, 1.5))),
    "kernel_transfer": Style("#009E73", (0, (1.3, 1.3)), 2.2),
}
# Further curves have dashes, so that a curve of the paper shows through where both are the same.
# Four colours and three kinds of dashes: twelve curves until two look alike.
FURTHER_COLORS = ("#8F4A78", "#7A5C00", "#B0183E", "#000000")
FURTHER_DASHES = ((0, (3, 1.5)), (0, (1.2, 1)), (0, (7, 1.5)))


def draw(points: Sequence[Point], spec: FigureSpec, out: Path) -> list[Path]:
    """Draw a figure as SVG and PNG, and return the two paths."""
    metadata = {"svg": {"Date": None, "Creator": "poolwise"}, "png": {"Software": "poolwise"}}
    drawings = {}
    with style.context(["default", SETTINGS]):  # overrides the user's settings
        figure = _drawn(points, spec)
        for kind, about in metadata.items():
            figure.savefig(file := io.BytesIO(), format=kind, dpi=DPI, metadata=about)
            drawings[out / f"{spec.name}.{kind}"] = file.getvalue()
    for path, drawing in drawings.items():
        write_file(path, drawing)
    return list(drawings)


def _drawn(points: Sequence[Point], spec: FigureSpec) -> Figure:
    figure = Figure(figsize=(WIDTH, HEIGHT))
    starts = [None] if spec.zoom_from is None else [None, spec.zoom_from]
    panels = figure.subplots(1, len(starts), squeeze=False)[0]
    figure.subplots_adjust(left=LEFT, right=RIGHT, bottom=BOTTOM, top=TOP, wspace=0.26)
    styles = styles_of(points)
    for panel, start in zip(panels, starts, strict=True):
        for curve, look in styles.items():
            shown = [p for p in curve_of(points, curve) if start is None or p.x >= start]
            x, mean, low, high = zip(*((p.x, p.mean, p.low, p.high) for p in shown), strict=True)
            panel.fill_between(x, low, high, color=look.color, alpha=0.14, linewidth=0)
            panel.plot(x, mean, color=look.color, linestyle=look.dashes, linewidth=look.width)
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(axis="y", color="#E4E4E4", linewidth=0.8)
        panel.margins(x=0.015)
        whole = spec.x.varies == "target_rows"
        panel.xaxis.set_major_locator(MaxNLocator(6, integer=whole, steps=[1, 2, 2.5, 5, 10]))
        if spec.measure == "gain":
            panel.axhline(0.0, color=INK, linewidth=0.9)
    panels[0].set_ylabel(spec.y_label)
    if len(panels) > 1:
        titles = ("the whole range", f"from {spec.zoom_from:g} rows on, enlarged")
        for panel, title in zip(panels, titles, strict=True):
            panel.set_title(title, loc="left", fontsize=9, color=FAINT)
    _label_ends(panels[-1], points, spec, styles)
    _write_words(figure, points, spec)
    return figure


def styles_of(points: Sequence[Point]) -> dict[str, Style]:
    """Return the style of each curve; curves of the paper have fixed styles."""
    further = map(Style, cycle(FURTHER_COLORS), cycle(FURTHER_DASHES))
    names = dict.fromkeys(p.curve for p in points)
    return {name: STYLES[name] if name in STYLES else next(further) for name in names}


def _label_ends(
    panel: Axes, points: Sequence[Point], spec: FigureSpec, styles: Mapping[str, Style]
) -> None:
    """Write each label right of the end of its curve, moved where it would cover another."""
    labels = {c.name: c.label for c in spec.curves}
    ends = {name: curve_of(points, name)[-1] for name in styles}
    low, high = panel.get_ylim()
    panel.set_ylim(low, high)
    names = sorted(ends, key=lambda name: ends[name].mean)
    at = [(ends[name].mean - low) / (high - low) for name in names]
    for name, wanted, height in zip(names, at, apart(at, 0.062), strict=True):
        panel.annotate(
            labels.get(name, name.replace("_", " ")),
            xy=(1.0, wanted),
            xytext=(1.0 + LABEL_GAP / panel.get_position().width, height),
            xycoords="axes fraction",
            textcoords="axes fraction",
            color=styles[name].color,
            fontsize=10,
            va="center",
            annotation_clip=False,
            arrowprops={**ARROW, "color": styles[name].color},
        )


def apart(heights: Sequence[float], gap: float) -> list[float]:
    """Return ascending heights moved as little as needed to be at least a gap apart.

    Neighbours that are too close become one group, spread evenly around its mean.
    """
    groups: list[tuple[float, int]] = []  # centre, members
    for height in heights:
        centre, members = height, 1
        while groups and centre - groups[-1][0] < gap * (members + groups[-1][1]) / 2:
            other, n = groups.pop()
            centre, members = (centre * members + other * n) / (members + n), members + n
        groups.append((centre, members))
    return [c + gap * (k - (members - 1) / 2) for c, members in groups for k in range(members)]


def _write_words(figure: Figure, points: Sequence[Point], spec: FigureSpec) -> None:
    once = isinstance(spec.experiment, DataSplit)
    what = "targets, one source and one test set" if once else "sources and targets, one test set"
    lines = (
        f"Lines: mean over {points[0].repetitions} {what}. Bands: 95 % confidence for that mean."
    )
    origin = f"{spec.where} of the paper, {points[0].protocol} protocol"
    figure.text(0.02, 0.955, spec.title, fontsize=13, fontweight="bold", va="center")
    figure.text(0.02, 0.918, spec.note, fontsize=9.5, va="top", linespacing=1.35)
    figure.text(0.02, 0.025, lines, fontsize=8, color=FAINT, va="center")
    figure.text(0.98, 0.025, origin, fontsize=8, color=FAINT, va="center", ha="right")
    figure.text((LEFT + RIGHT) / 2, 0.08, spec.x.label, ha="center", va="center")
