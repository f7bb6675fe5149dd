"""Words: how names and numbers are written in sentences, tables and figures."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence

LONGEST = 48  # characters of a name in a sentence
NAMED = 5  # names in a sentence
SAME = 0.0005  # change that is none, to the digits that are written


def visible(text: str) -> str:
    """Write out what a reader could not see, or what would move text that he sees.

    Control characters, marks that turn the direction of writing, spaces of no width and lone
    surrogates stand as Python would write them.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def short(name: str, most: int = LONGEST) -> str:
    """Return a name that can be read, the middle of a long one left out."""
    shown = visible(name)
    if len(shown) <= most:
        return shown
    last = (most - 1) // 3
    return f"{shown[: most - 1 - last]}…{shown[-last:]}"


def width(text: str) -> float:
    """Return about how wide a text is, in units of its size."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return 0.6 * (len(text) - wide) + wide


def fitting(text: str, room: float) -> str:
    """Return a text short enough for a room, in units of the size of its letters."""
    shown = visible(text)
    if width(shown) <= room:
        return shown
    fits = [most for most in range(4, min(len(shown), 200)) if width(short(text, most)) <= room]
    return short(text, fits[-1] if fits else 4)


def in_two_lines(text: str, room: float) -> list[str]:
    """Return a text in one line, or in two where one is too long for a room."""
    shown = visible(text)
    if width(shown) <= room:
        return [shown]
    spaces = [k for k, c in enumerate(shown) if c == " " and 0.0 < width(shown[:k]) <= room]
    if not spaces:
        return [fitting(shown, room)]
    return [shown[: spaces[-1]], fitting(shown[spaces[-1] + 1 :], room)]


def named(names: Sequence[str], most: int = NAMED) -> str:
    """Return names as a list in a sentence."""
    shown = [f"“{short(n)}”" for n in names[:most]]
    if len(names) > most:
        shown.append(f"{len(names) - most} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with a few digits."""
    if value is None:
        return "–"
    if value == 0.0:
        return "0"
    large = 10.0**digits <= abs(value) < 1e9
    text = f"{value:,.0f}" if large else f"{value:#.{digits}g}".rstrip(".")
    return text.replace("-", "−", 1) if value < 0.0 else text


def round_number(value: float) -> str:
    """Return a number without zeros at its end, as at an axis."""
    text = number(value)
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def round_percent(share: float) -> str:
    """Return a share as a percentage without zeros at its end, as at an axis."""
    return f"{round_number(100.0 * share)}%"


def signed(value: float) -> str:
    """Return a number with its sign and a digit after the point."""
    return f"{value:+.1f}".replace("-", "−")


def percent(share: float) -> str:
    """Return a share as a percentage, with a digit after the point where it is small."""
    size = 100.0 * abs(share)
    sign = "−" if share < 0.0 and size >= 0.05 else ""
    return f"{sign}{size:.1f}%" if size < 9.95 else f"{sign}{size:,.0f}%"


def change(share: float) -> str:
    """Say by how much something is lower or higher."""
    if abs(share) < SAME:
        return "the same"
    if share >= 2.0:
        return f"{1.0 + share:.3g} times as high"
    return f"{percent(abs(share))} {'lower' if share < 0.0 else 'higher'}"


def than(share: float) -> str:
    """Say by how much something is lower or higher than what is named next."""
    said = change(share)
    return f"{said} as" if said.startswith("the same") or said.endswith("high") else f"{said} than"


def change_range(low: float, high: float) -> str:
    """Say between which changes something lies."""
    if max(abs(low), abs(high)) < SAME:
        return "less than 0.1% either way"
    if low * high > 0.0 and max(abs(low), abs(high)) < 2.0:
        near, far = sorted((abs(low), abs(high)))
        return f"{percent(near)} to {change(math.copysign(far, low))}"
    return f"{change(low)} to {change(high)}"


def p_value(p: float | None) -> str:
    """Return a p-value."""
    if p is None:
        return "–"
    return "<0.001" if p < 0.001 else f"{p:.3f}"
