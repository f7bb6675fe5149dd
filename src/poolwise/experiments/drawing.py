"""Drawing: points as a figure that can be read without a legend."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poolwise.errors import NotInstalled
from poolwise.experiments.figure_specs import DataSplit, FigureSpec
from poolwise.experiments.points import Point, curve_of
from poolwise.experiments.whole_files import replace_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HEIGHT, DPI = 8.6, 5.0, 150
LEFT, RIGHT, BOTTOM, TOP = 0.09, 0.765, 0.165, 0.79  # of the panels; labels stand right of them
LABEL_GAP = 0.014  # of the width of the figure, between a panel and its labels
INK, FAINT = "#222222", "#767676"

# Words stay text, and the same points give the same bytes.
SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "poolwise",
    "font.family": "sans-serif",
    "font.size": 10.0,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
}


@dataclass(frozen=True)
class Style:
    """How a curve looks.

    Parameters
    ----------
    color : str
        Of line, band and label.
    dashes : str or tuple
        Line style, so that colour is not all.
    width : float
        Of the line.
    """

    color: str
    dashes: Any = "-"
    width: float = 1.8


# Colours of Okabe and Ito, which colour-blind people tell apart.
BASELINE = Style("#595959", (0, (5, 2)))
OURS = Style("#0072B2", "-", 2.4)
STYLES: Mapping[str, Style] = {
    "target_only": BASELINE,
    "noise_known": BASELINE,
    "mean_known": BASELINE,
    "data_pooling": OURS,
    "noise_estimated": OURS,
    "mean_estimated": OURS,
    "feature_transfer": Style("#D55E00", (0, (6, 1.5, 1.2, 1.5))),
    "kernel_transfer": Style("#009E73", (0, (1.3, 1.3)), 2.2),
}
# Further curves have dashes, so that a curve of the paper shows through where both are the same.
# Four colours and three kinds of dashes: twelve curves until two look alike.
FURTHER_COLORS = ("#8F4A78", "#7A5C00", "#B0183E", "#000000")
FURTHER_DASHES = ((0, (3, 1.5)), (0, (1.2, 1)), (0, (7, 1.5)))


def draw(points: Sequence[Point], spec: FigureSpec, out: Path) -> list[Path]:
    """Draw a figure as SVG and PNG, and return the two paths.

    It needs matplotlib, which comes with ``poolwise[report]``.

    Parameters
    ----------
    points : sequence of Point
        All curves.
    spec : FigureSpec
        Title, labels and what is zoomed.
    out : Path
        Folder.
    """
    try:
        from matplotlib import style
    except ImportError as error:
        otherwise = "Without it the points of a figure can still be computed and kept as CSV."
        raise NotInstalled("Drawing a figure", "matplotlib", "report", otherwise) from error

    paths = [out / f"{spec.name}.svg", out / f"{spec.name}.png"]
    with style.context(["default", SETTINGS]):  # whatever the user has set
        figure = drawn(points, spec)
        svg, png = io.BytesIO(), io.BytesIO()
        figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": "poolwise"})
        figure.savefig(png, format="png", dpi=DPI, metadata={"Software": "poolwise"})
    for path, drawing in zip(paths, (svg, png), strict=True):
        replace_file(path, drawing.getvalue())
    return paths


def drawn(points: Sequence[Point], spec: FigureSpec) -> Figure:
    """Return the figure."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, HEIGHT))
    starts = [None] if spec.zoom_from is None else [None, spec.zoom_from]
    panels = figure.subplots(1, len(starts), squeeze=False)[0]
    figure.subplots_adjust(left=LEFT, right=RIGHT, bottom=BOTTOM, top=TOP, wspace=0.26)
    styles = styles_of(points)
    for panel, start in zip(panels, starts, strict=True):
        shown = [p for p in points if start is None or p.x >= start]
        for curve, style in styles.items():
            _draw_curve(panel, curve_of(shown, curve), style)
        _dress(panel, spec)
    panels[0].set_ylabel(spec.y_label)
    if len(panels) > 1:
        panels[0].set_title("the whole range", loc="left", fontsize=9, color=FAINT)
        enlarged = f"from {spec.zoom_from:g} rows on, enlarged"
        panels[1].set_title(enlarged, loc="left", fontsize=9, color=FAINT)
    _label_ends(panels[-1], points, spec, styles)
    _write_words(figure, points, spec)
    return figure


def styles_of(points: Sequence[Point]) -> dict[str, Style]:
    """Return how each curve looks: those of the paper always the same."""
    further = map(Style, cycle(FURTHER_COLORS), cycle(FURTHER_DASHES))
    names = dict.fromkeys(p.curve for p in points)
    return {name: STYLES[name] if name in STYLES else next(further) for name in names}


def _draw_curve(panel: Axes, points: Sequence[Point], style: Style) -> None:
    x = [p.x for p in points]
    low, high = [p.low for p in points], [p.high for p in points]
    panel.fill_between(x, low, high, color=style.color, alpha=0.14, linewidth=0)
    panel.plot(
        x,
        [p.mean for p in points],
        color=style.color,
        linestyle=style.dashes,
        linewidth=style.width,
    )


def _dress(panel: Axes, spec: FigureSpec) -> None:
    from matplotlib.ticker import MaxNLocator

    panel.spines[["top", "right"]].set_visible(False)
    panel.grid(axis="y", color="#E4E4E4", linewidth=0.8)
    panel.set_axisbelow(True)
    panel.margins(x=0.015)
    panel.xaxis.set_major_locator(
        MaxNLocator(nbins=6, integer=spec.x.varies == "target_rows", steps=[1, 2, 2.5, 5, 10])
    )
    if spec.measure == "gain":
        panel.axhline(0.0, color=INK, linewidth=0.9)


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
            arrowprops={
                "arrowstyle": "-",
                "color": styles[name].color,
                "linewidth": 0.7,
                "shrinkA": 1.0,
                "shrinkB": 1.0,
                "relpos": (0.0, 0.5),
            },
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
    return list(_spread(groups, gap))


def _spread(groups: Sequence[tuple[float, int]], gap: float) -> Iterator[float]:
    for centre, members in groups:
        for k in range(members):
            yield centre + gap * (k - (members - 1) / 2)


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
