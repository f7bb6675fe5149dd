"""Screen: words and tables on standard output, in a window of any width or in none."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from typing import Any

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from poolwise.cli.messages import harmless
from poolwise.text_tables import columns_of_numbers

WIDTH = 100  # of what is written to a file or to another program
APART = 2  # spaces between the columns of a table


def say(text: str = "", style: str = "", *, indent: int = 0) -> None:
    """Print a paragraph, broken between words.

    Parameters
    ----------
    text : str
        What to say.
    style : str
        A style of rich, such as ``"bold green"``; colours are for terminals alone.
    indent : int
        Spaces before each line but the first.
    """
    console = screen()
    lines = Text(harmless(text), style).wrap(console, max(console.width - indent, 10))
    for k, line in enumerate(lines):
        line.rstrip()
        console.print(Text(" " * indent if k else "") + line, soft_wrap=True)
    if not lines:
        console.print()


def show_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; where it is wider than the window, each row as a list of its cells.

    Words begin on the left of their column, and numbers end on the right.

    Parameters
    ----------
    head : sequence of str
        Names of the columns; the first names the rows.
    rows : sequence of sequence of str
        The cells.
    """
    console = screen()
    lines = [[harmless(cell) for cell in line] for line in (head, *rows)]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    if sum(widths) + APART * (len(widths) - 1) <= console.width:
        on_right = columns_of_numbers(lines[1:])
        for k, line in enumerate(lines):
            shown = _line(line, widths, on_right)
            console.print(Text(shown, "bold" if not k else ""), soft_wrap=True)
        return
    for first, *rest in lines[1:]:
        say(first, "bold", indent=2)
        for label, cell in zip(lines[0][1:], rest, strict=True):
            if cell not in ("", "-"):
                say(f"  {label}: {cell}", indent=4)


def say_json(found: dict[str, Any]) -> None:
    """Print what was found as JSON, in letters that every terminal and program knows."""
    typer.echo(json.dumps(_finite(found), indent=1, allow_nan=False, default=int))


def screen() -> Console:
    """Return standard output: as wide as the terminal, or as ``COLUMNS`` says."""
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = WIDTH
    return console


def _finite(value: Any) -> Any:
    """Return a copy in which null stands for what is not finite, which JSON cannot say."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _line(cells: Sequence[str], widths: Sequence[int], on_right: set[int]) -> str:
    """Return a line of a table."""
    spaces = [" " * (w - cell_len(cell)) for cell, w in zip(cells, widths, strict=True)]
    padded = [
        space + cell if k in on_right else cell + space
        for k, (cell, space) in enumerate(zip(cells, spaces, strict=True))
    ]
    return (" " * APART).join(padded).rstrip()
