"""poolwise demo: two stories, one in which history helps and one in which it does not."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from poolwise.cli.arguments import AsJson, Force, check_out
from poolwise.cli.messages import harmless, told_plainly
from poolwise.cli.screen import say_json

FORMAT, VERSION = "poolwise demo", 1


def run_demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for reports and figures.")] = (
        Path("demo_output")
    ),
    draws: Annotated[int, typer.Option(min=2, help="Random draws behind the figure.")] = 100,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Tell two stories on data that needs no network: history helps, and history does not.

    For example:

    poolwise demo

    poolwise demo -o somewhere --json
    """
    with told_plainly("Interrupted."):
        from poolwise.demo import FILES, tell_stories

        if out.exists() and not out.is_dir():
            raise typer.BadParameter(harmless(f"{out} is a file."), param_hint="--out")
        for file in (out / name for name in FILES if out.exists()):
            check_out(file, [file.suffix], force=force)
        stories = tell_stories(out, draws, force=force, quiet=as_json)
    if as_json:
        say_json({"format": FORMAT, "version": VERSION, "stories": stories})
