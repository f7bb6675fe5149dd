"""Tables of texts, and sentences between them, for terminals and for notebooks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from textwrap import fill

WIDTH = 100  # of a line of prose
NUMBER = r"[+-]?(\d[\d,]*\.?\d*(e[+-]?\d+)?|inf|nan)(%| sd)?"
NUMBERS = re.compile(rf"[<\[]? ?{NUMBER}(( to | of |, ){NUMBER})?\]?")  # such as [-1.2, +0.3]


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return lines of a table, in which words begin on the left and numbers end on the right."""
    cells = [[_printable(c) for c in row] for row in (head, *rows)]
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
    body = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _printable(text: str) -> str:
    """Show control characters instead of sending them to a terminal."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
