"""poolwise demo: two examples, one in which history helps and one in which it does not."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from poolwise.cli.messages import running, wrong_option
from poolwise.cli.options import AsJson, Force, check_out, out_option
from poolwise.cli.screen import say_json


def run_demo(
    out: Annotated[Path, out_option("Folder for reports and figures.", show_default=True)] = Path(
        "demo_output"
    ),
    draws: Annotated[int, typer.Option(min=2, help="Random draws for the figure.")] = 100,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Show two examples, without a network: history helps, and history does not help.

    For example:

    poolwise demo

    poolwise demo -o somewhere --json
    """
    with running(quiet=as_json):
        from poolwise.cli.demo_stories import FILES, tell_stories

        if out.exists() and not out.is_dir():
            raise wrong_option(f"{out} is a file.", "--out")
        for file in (out / name for name in FILES if out.exists()):
            check_out(file, [file.suffix], force=force)
        stories = tell_stories(out, draws, quiet=as_json)
    if as_json:
        say_json("demo", {"stories": stories})
