"""The verbs of the command line."""

from __future__ import annotations

import typer

from poolwise.cli.moments import take_moments
from poolwise.cli.reproduce import reproduce_papers_results

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.command("moments")(take_moments)
app.command("reproduce")(reproduce_papers_results)


@app.callback()
def poolwise() -> None:
    """Least squares that pools years of history with a small table that has new columns."""
