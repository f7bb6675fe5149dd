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
    """Print a table. If it is wider than the window, print each row as a list of its cells.

    Text is aligned to the left, numbers to the right. The first cell of a row is its name.
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


def _line(cells: Sequence[str], widths: Sequence[int], on_right: set[int]) -> str:
    spaces = [" " * (w - cell_len(cell)) for cell, w in zip(cells, widths, strict=True)]
    padded = [
        space + cell if k in on_right else cell + space
        for k, (cell, space) in enumerate(zip(cells, spaces, strict=True))
    ]
    return (" " * APART).join(padded).rstrip()
