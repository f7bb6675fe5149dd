"""Tables of texts, for terminals and for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return lines of a table: the first and last column to the left, the others to the right."""
    cells = [[_printable(c) for c in row] for row in (head, *rows)]
    widths = [max(len(row[j]) for row in cells) for j in range(len(head))]
    return [
        "  ".join(
            c.ljust(w) if j in (0, len(row) - 1) else c.rjust(w)
            for j, (c, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in HTML, all cells escaped."""
    top = "".join(f"<th>{escape(h)}</th>" for h in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _printable(text: str) -> str:
    """Show control characters instead of sending them to a terminal."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
