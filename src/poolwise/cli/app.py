"""The verbs of the command line."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from poolwise.cli.compare import compare_methods
from poolwise.cli.demo import run_demo
from poolwise.cli.fit import fit_model
from poolwise.cli.messages import Refused
from poolwise.cli.moments import take_moments
from poolwise.cli.plan import plan_rows
from poolwise.cli.predict import predict_rows
from poolwise.cli.report import write_report
from poolwise.cli.reproduce import reproduce_papers_results
from poolwise.cli.screen import say_json
from poolwise.cli.version import tell_version

FORMAT, VERSION = "poolwise error", 1


class Verbs(TyperGroup):
    """The verbs; with --json, what goes wrong is an object on standard output as well."""

    def invoke(self, ctx: Any) -> Any:
        """Run the verb that was typed."""
        in_json = "--json" in ctx.args
        try:
            return super().invoke(ctx)
        except Exception as error:
            told = getattr(error, "format_message", None)  # by typer: not a command of ours
            if in_json and isinstance(error, Refused):
                _say_error(error.kind, error.message)
            elif in_json and told is not None:
                _say_error("UsageError", told())
            raise


def _say_error(kind: str, message: str) -> None:
    error = {"kind": kind, "message": message}
    say_json({"format": FORMAT, "version": VERSION, "error": error})


# Plain help: what rich draws takes as long to import as numpy, and its frames break in a narrow
# window.
app = typer.Typer(
    cls=Verbs, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None
)
app.command("fit", short_help="Fit a model on a recent table and its history.")(fit_model)
app.command("predict", short_help="Write rows with what a model predicts for them.")(predict_rows)
app.command("compare", short_help="Measure on recent rows whether history helps.")(compare_methods)
app.command("plan", short_help="Say when history will stop mattering.")(plan_rows)
app.command("report", short_help="Write a page that says whether history helps, and why.")(
    write_report
)
app.command("moments", short_help="Write what may leave the house when rows may not.")(take_moments)
app.command("reproduce", short_help="Compute the founding paper again.")(reproduce_papers_results)
app.command("demo", short_help="Tell two stories: history helps, and it does not.")(run_demo)
app.command("version", short_help="Say which version this is.")(tell_version)


def _tell(wanted: bool) -> None:
    if wanted:
        tell_version()
        raise typer.Exit


@app.callback()
def poolwise(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_tell, is_eager=True, help="Say which version this is."),
    ] = False,
) -> None:
    """Least squares that pools years of history with a small table that has new columns.

    For example, does history help? A page that says it, from two tables:

    poolwise report history.csv recent.csv --label y -o report.html

    A model, and what it predicts:

    poolwise fit history.csv recent.csv --label y -o model.json

    poolwise predict model.json new.csv -o predicted.csv

    Tables are CSV, Parquet or Feather; columns are matched by name. 'poolwise fit --help' tells
    more, and so for every verb.
    """
