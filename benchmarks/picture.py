"""The picture of the README as SVG: two tables, and the errors of several ways to use them."""

from __future__ import annotations

from collections.abc import Mapping
from xml.sax.saxutils import escape

INK, SOFT, EDGE, PAPER = "#1f2933", "#5b6773", "#c5ccd3", "#ffffff"
OLD, NEW, OURS, TODAY = "#9fb8cc", "#e3a23c", "#0b62a4", "#a9b1b9"
WIDTH, HEIGHT = 900, 350
CELL, ROWS = 26, 13  # a column's width; rows drawn of history
LEFT, TOP = 36, 66
BARS, LONGEST, STEP = 610, 200, 29  # where bars begin, how long the longest is, from bar to bar


def svg(errors: Mapping[str, float], ours: frozenset[str], *, about: str) -> str:
    """Return the picture; errors are relative to the first one, and ``ours`` are highlighted.

    It has its own background, so that it can be read on light and dark pages.
    """
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" role="img" font-family="Helvetica, Arial, sans-serif" font-size="14">',
        "<title>A long table without the new columns, and a short one with them</title>",
        f'<rect x="1" y="1" width="{WIDTH - 2}" height="{HEIGHT - 2}" rx="10" fill="{PAPER}" '
        f'stroke="{EDGE}"/>',
        *_tables(),
        *_bars(errors, ours, about),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _tables() -> list[str]:
    """Draw history above, tall and narrow, and the new rows below, short and wide."""
    new_at, label_at = LEFT + 4 * CELL, LEFT + 6 * CELL + 12
    bottom, tall = TOP + ROWS * 14 + 10, ROWS * 14
    text = [
        _text(LEFT, TOP - 26, "old columns", SOFT),
        _text(new_at + 4, TOP - 26, "new", SOFT),
        _text(label_at, TOP - 26, "y", SOFT),
        _text(label_at + 34, TOP + 80, "history:", INK, weight="bold"),
        _text(label_at + 34, TOP + 99, "many rows,", SOFT),
        _text(label_at + 34, TOP + 118, "new columns missing", SOFT),
        _text(label_at + 34, bottom + 18, "new data:", INK, weight="bold"),
        _text(label_at + 34, bottom + 37, "few rows, all columns", SOFT),
    ]
    return [
        *text,
        *(_block(LEFT + k * CELL, TOP, CELL, tall, OLD) for k in range(4)),
        f'<rect x="{new_at}" y="{TOP}" width="{2 * CELL}" height="{tall}" fill="none" '
        f'stroke="{NEW}" stroke-width="1.5" stroke-dasharray="5 4"/>',
        _text(new_at + CELL, TOP + tall / 2 + 10, "?", NEW, size=30, anchor="middle"),
        _block(label_at, TOP, CELL - 6, tall, SOFT),
        *(_block(LEFT + k * CELL, bottom, CELL, 42, OLD) for k in range(4)),
        *(_block(new_at + k * CELL, bottom, CELL, 42, NEW) for k in range(2)),
        _block(label_at, bottom, CELL - 6, 42, SOFT),
    ]


def _bars(errors: Mapping[str, float], ours: frozenset[str], about: str) -> list[str]:
    """Draw a bar for each error, from zero."""
    parts = [_text(BARS, TOP - 26, "error on new rows", INK, weight="bold")]
    most = max(errors.values())
    for k, (label, error) in enumerate(errors.items()):
        y, long = TOP + k * STEP, LONGEST * error / most
        mine = label in ours
        weight = "bold" if mine else "normal"
        parts += [
            _text(BARS - 10, y + 15, label, INK, anchor="end", weight=weight),
            f'<rect x="{BARS}" y="{y}" width="{long:.1f}" height="21" rx="2" '
            f'fill="{OURS if mine else TODAY}"/>',
            _text(BARS + long + 8, y + 15, f"{error:.2f}", INK, weight=weight),
        ]
    return [*parts, _text(BARS + LONGEST + 44, HEIGHT - 24, about, SOFT, size=12, anchor="end")]


def _block(x: float, y: float, width: float, height: float, colour: str) -> str:
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{colour}" '
        f'stroke="{PAPER}" stroke-width="2"/>'
    )


def _text(
    x: float, y: float, words: str, colour: str, *, size: int = 14, anchor: str = "start",
    weight: str = "normal",
) -> str:  # fmt: skip
    return (
        f'<text x="{x:.4g}" y="{y:.4g}" fill="{colour}" font-size="{size}" '
        f'text-anchor="{anchor}" font-weight="{weight}">{escape(words)}</text>'
    )
