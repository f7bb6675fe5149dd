"""Plurals, lists of names, probabilities and text tables."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from html import escape
from textwrap import fill

WIDTH = 100  # of a line of prose
NEAR, ALIKE = 0.6, 0.75  # likeness of a name that one may mean, and of one among several
UNCHANGED = 0.0005  # relative change that rounds to none
NUMBER = r"[+-]?(\d[\d,]*\.?\d*(e[+-]?\d+)?|inf|nan)(%| sd)?"
NUMBERS = re.compile(rf"[<\[]? ?{NUMBER}(( to | of |, ){NUMBER})?\]?")  # such as [-1.2, +0.3]


def capital(text: str) -> str:
    """Capitalise the first letter of a sentence, unless it starts with the name of a file."""
    first = text.partition(" ")[0]
    return text[:1].upper() + text[1:] if first.isalpha() else text


def plural(count: int, noun: str) -> str:
    """Write a count with its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def probability(p: float) -> str:
    """Return a probability that is never written as certain."""
    if p > 0.995:
        return "above 99%"
    return "below 1%" if p < 0.005 else f"{p:.0%}"


def percent(share: float) -> str:
    """Return a share as a percentage, with a digit after the point where it is small."""
    size = 100.0 * abs(share)
    sign = "−" if share < 0.0 and size >= 0.05 else ""
    return f"{sign}{size:.1f}%" if size < 9.95 else f"{sign}{size:,.0f}%"


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with a few digits."""
    if value is None:
        return "–"
    if value == 0.0:
        return "0"
    large = 10.0**digits <= abs(value) < 1e9
    text = f"{value:,.0f}" if large else f"{value:#.{digits}g}".rstrip(".")
    return text.replace("-", "−", 1) if value < 0.0 else text


def change_words(share: float) -> str:
    """Describe by how much a value is lower or higher."""
    if abs(share) < UNCHANGED:
        return "the same"
    if share >= 2.0:
        return f"{1.0 + share:.3g} times as high"
    return f"{percent(abs(share))} {'lower' if share < 0.0 else 'higher'}"


def than(share: float) -> str:
    """Describe by how much a value is lower or higher than the one that is named next."""
    said = change_words(share)
    return f"{said} as" if said.startswith("the same") or said.endswith("high") else f"{said} than"


def change_range(low: float, high: float) -> str:
    """Describe the range of a change."""
    if max(abs(low), abs(high)) < UNCHANGED:
        return "less than 0.1% either way"
    if low * high > 0.0 and max(abs(low), abs(high)) < 2.0:
        near, far = sorted((abs(low), abs(high)))
        return f"{percent(near)} to {change_words(math.copysign(far, low))}"
    return f"{change_words(low)} to {change_words(high)}"


def listed(names: Sequence[object], most: int = 12) -> str:
    """List names in quotes, shortened when there are many."""
    shown = ", ".join(repr(str(n)) for n in names[:most]) or "none"
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def visible(text: str) -> str:
    """Return a text with control characters and other invisible ones written as Python would."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def short(name: str, most: int = 48) -> str:
    """Return a visible name, with the middle of a long one left out."""
    shown = visible(name)
    if len(shown) <= most:
        return shown
    last = (most - 1) // 3
    return f"{shown[: most - 1 - last]}…{shown[-last:]}"


def named(names: Sequence[str], most: int = 5) -> str:
    """Return short names in quotes, as a list in a sentence."""
    shown = [f"“{short(n)}”" for n in names[:most]]
    if len(names) > most:
        shown.append(f"{len(names) - most} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def nearest(name: object, there: Sequence[object], least: float = NEAR) -> list[str]:
    """Return the nearest name, regardless of case, or an empty list."""
    folded = {str(n).casefold(): str(n) for n in there}
    near = get_close_matches(str(name), [str(n) for n in there], 1, least)
    return near or [folded[n] for n in get_close_matches(str(name).casefold(), folded, 1, least)]


def did_you_mean(name: object, there: Sequence[object]) -> str:
    """Return " Did you mean ...?" with the nearest name, or an empty text."""
    near = nearest(name, there)
    return f" Did you mean {near[0]!r}?" if near else ""


def rows_for(rows: float, coefficients: int) -> str:
    """Write the number of rows and of coefficients."""
    many = "" if coefficients == 1 else "s"
    return f"{rows:g} row{'' if rows == 1 else 's'} for {coefficients} coefficient{many}"


def counted(counts: Mapping[str, int], most: int = 12, rows: int = 0) -> str:
    """Write the number of rows for each name, shortened when there are many; "all" for all rows."""
    shown = [
        f"{str(name)!r} in {'all ' if count == rows > 1 else ''}{count:,}"
        for name, count in list(counts.items())[:most]
    ]
    return ", ".join([*shown, plural(len(counts) - most, "more column")][: len(counts)])


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table, with text aligned left and numbers right."""
    cells = [[visible(c) for c in row] for row in (head, *rows)]
    widths = [max(len(row[j]) for row in cells) for j in range(len(head))]
    on_right = columns_of_numbers(rows)
    return [
        "  ".join(
            c.rjust(w) if j in on_right else c.ljust(w)
            for j, (c, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def columns_of_numbers(rows: Sequence[Sequence[str]]) -> set[int]:
    """Return the columns, but the first, whose cells are numbers, shares or intervals."""
    filled = [[c for c in column if c not in ("", "-")] for column in zip(*rows, strict=True)]
    return {
        j
        for j, cells in enumerate(filled)
        if j > 0 and cells and all(NUMBERS.fullmatch(cell) for cell in cells)
    }


def paragraph(text: str) -> str:
    """Return sentences in lines of one width."""
    return fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in HTML, all cells escaped."""
    top = "".join(f"<th>{escape(h)}</th>" for h in head)
    cells = [[f"{'&emsp;' * c.startswith('  ')}{escape(c.lstrip())}" for c in row] for row in rows]
    body = "".join("<tr>" + "".join(f"<td>{c}</td>" for c in row) + "</tr>" for row in cells)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
