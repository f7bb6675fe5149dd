"""poolwise demo: two stories, one in which history helps and one in which it does not."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from poolwise.cli.arguments import AsJson
from poolwise.cli.messages import told_plainly
from poolwise.cli.screen import say_json

FORMAT, VERSION = "poolwise demo", 1


def run_demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for reports and figures.")] = (
        Path("demo_output")
    ),
    draws: Annotated[int, typer.Option(min=2, help="Random draws behind the figure.")] = 100,
    as_json: AsJson = False,
) -> None:
    """Tell two stories on data that needs no network: history helps, and history does not.

    Files of an earlier demo in the same folder are replaced.

    For example:

    poolwise demo

    poolwise demo -o somewhere --json
    """
    with told_plainly("Interrupted."):
        from poolwise.demo import tell_stories

        stories = tell_stories(out, draws, quiet=as_json)
    if as_json:
        say_json({"format": FORMAT, "version": VERSION, "stories": stories})
