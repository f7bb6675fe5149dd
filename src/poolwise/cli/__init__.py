"""The command line: one library call per verb."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from poolwise.cli.interrupts import ignore_more, listen
from poolwise.errors import NotInstalled


def main() -> None:
    """Run the command that was typed."""
    listen()
    for package in ("typer", "rich"):
        if find_spec(package) is None:
            sys.exit(str(NotInstalled("The command line", package, "cli", "Then try again.")))
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:  # a letter that the terminal lacks is written out
        reconfigure(errors="backslashreplace")
    try:
        from poolwise.cli.app import app

        app(prog_name="poolwise")
    except KeyboardInterrupt:  # before a verb could take it
        ignore_more()
        sys.exit(130)
