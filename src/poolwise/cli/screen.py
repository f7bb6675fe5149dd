"""Results on standard output, as text for a window of any width or as JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from poolwise.cli.messages import as_records, harmless
from poolwise.errors import PoolwiseWarning
from poolwise.wording import columns_of_numbers

if TYPE_CHECKING:  # at run time, help would wait for numpy
    from poolwise.evaluation.verdict import Verdict
    from poolwise.tables.column_account import Account

WIDTH = 100  # of output to a file or to another program
APART = 2  # spaces between the columns of a table
SHORTEST = 12  # least width of the first column
EMPTY = ("", "-")  # cells that are not listed
STYLES = {  # by the level of a verdict
    "helps": "bold green",
    "probably_helps": "bold green",
    "no_clear_difference": "bold yellow",
    "hurts": "bold red",
}


def say(text: str = "", style: str = "", *, indent: int = 0) -> None:
    """Print a paragraph in a style of rich; lines after the first are indented."""
    console = screen()
    lines = Text(harmless(text), style).wrap(console, max(console.width - indent, 10))
    for k, line in enumerate(lines):
        line.rstrip()
        console.print(Text(" " * indent if k else "") + line, soft_wrap=True)
    if not lines:
        console.print()


def show_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table. Text is aligned to the left, numbers to the right.

    The first cell of a row is its name. If the table is wider than the window, text in the last
    column is on a line below its row, and so are the numbers of a row with a long name. If that is
    not enough, each row is a list of its cells.
    """
    width = screen().width
    lines = [[harmless(cell) for cell in line] for line in (head, *rows)]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    on_right, below = columns_of_numbers(lines[1:]), [""] * len(lines)
    if _total(widths) > width and len(widths) > 1 and len(widths) - 1 not in on_right:
        *widths, _ = widths
        below, lines = [line[-1] for line in lines], [line[:-1] for line in lines]
    room = width - (_total(widths) - widths[0])
    widths[0] = min(widths[0], max(room, SHORTEST))
    is_table = _total(widths) <= width
    for k, (line, last) in enumerate(zip(lines, below, strict=True)):
        is_heading = k and not any(line[1:])
        if is_heading:
            say(f"{line[0]}  {last}", indent=4)
        elif is_table:
            _print_line(line, widths, on_right, "" if k else "bold")
        elif k:
            say(line[0], "bold", indent=2)
            for label, cell in zip(lines[0][1:], line[1:], strict=True):
                if cell not in EMPTY:
                    say(f"  {label}: {cell}", indent=4)
        if k and not is_heading and last not in EMPTY:
            say(f"    {below[0]}: {last}", indent=6)


def show_verdict(verdict: Verdict) -> None:
    """Print a verdict, its headline in bold."""
    say(verdict.headline, STYLES.get(verdict.level, "bold"))
    if verdict.sentences:
        say(" ".join(verdict.sentences))


def show_account(account: Account) -> None:
    """Print what each column is and what is done with it, and the rows of each table."""
    say("Columns, matched by name" if account.sources else "Columns", "bold")
    for word, said in account.lines():
        say(f"  {word:<10}{said}", indent=12)


def say_json(
    kind: str, found: dict[str, Any], cautions: Sequence[PoolwiseWarning] | None = None
) -> None:
    """Print a result as JSON in ASCII, with its format and version, and its warnings if given."""
    from poolwise.linear.fit import finite, plain

    whole = {"format": f"poolwise {kind}", "version": 1, **found}
    if cautions is not None:
        whole["warnings"] = as_records(cautions)
    typer.echo(json.dumps(plain(whole, finite), indent=1, allow_nan=False))


def screen() -> Console:
    """Return standard output, with the width of the terminal or of ``COLUMNS``."""
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = WIDTH
    return console


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + APART * (len(widths) - 1)


def _print_line(
    cells: Sequence[str], widths: Sequence[int], on_right: set[int], style: str
) -> None:
    """Print a row of a table, with its name on a line of its own if that is too long."""
    first, *rest = cells
    if cell_len(first) > widths[0]:
        say(first, style, indent=2)
        cells = ["", *rest]
    if any(cells):
        screen().print(Text(_line(cells, widths, on_right), style), soft_wrap=True)


def _line(cells: Sequence[str], widths: Sequence[int], on_right: set[int]) -> str:
    spaces = [" " * (w - cell_len(cell)) for cell, w in zip(cells, widths, strict=True)]
    padded = [
        space + cell if k in on_right else cell + space
        for k, (cell, space) in enumerate(zip(cells, spaces, strict=True))
    ]
    return (" " * APART).join(padded).rstrip()
