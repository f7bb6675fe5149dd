"""The command line: each command calls one function of the library."""

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
            sys.exit(str(NotInstalled.of("The command line", package, "cli", "Then try again.")))
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:  # characters that the terminal lacks are escaped
        reconfigure(errors="backslashreplace")
    try:
        from poolwise.cli.app import app

        app(prog_name="poolwise")
    except KeyboardInterrupt:  # before a command could handle it
        ignore_more()
        sys.exit(130)
