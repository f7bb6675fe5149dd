"""The commands of the command line."""

from __future__ import annotations

import platform
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from poolwise.cli.compare import compare_methods
from poolwise.cli.demo import run_demo
from poolwise.cli.fit import fit_model
from poolwise.cli.messages import CommandFailed
from poolwise.cli.moments import write_moments
from poolwise.cli.options import AsJson
from poolwise.cli.plan import plan_rows
from poolwise.cli.predict import predict_rows
from poolwise.cli.report import write_report
from poolwise.cli.screen import say, say_json

PACKAGES = ("numpy", "scipy", "scikit-learn", "pyarrow", "typer", "rich")


class Commands(TyperGroup):
    """The commands; with --json, an error is also an object on standard output."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was typed."""
        in_json = "--json" in ctx.args
        try:
            return super().invoke(ctx)
        except Exception as error:
            usage = getattr(error, "format_message", None)  # typer's: the command is wrong
            if in_json and isinstance(error, CommandFailed):
                _say_error(error.kind, error.message, error.hint)
            elif in_json and usage is not None:
                _say_error("UsageError", usage(), "")
            raise


def _say_error(kind: str, message: str, hint: str) -> None:
    say_json("error", {"error": {"kind": kind, "message": message, "hint": hint}})


# Plain help: rich takes as long to import as numpy, and its frames break in a narrow window.
app = typer.Typer(
    cls=Commands, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None
)
app.command("fit", short_help="Fit a model to a recent table and its history.")(fit_model)
app.command("predict", short_help="Write predictions of a model.")(predict_rows)
app.command("compare", short_help="Measure on recent rows whether history helps.")(compare_methods)
app.command("plan", short_help="Estimate when history stops mattering.")(plan_rows)
app.command("report", short_help="Write a page that says whether history helps, and why.")(
    write_report
)
app.command("moments", short_help="Write summary statistics to share instead of rows.")(
    write_moments
)
app.command("demo", short_help="Show two examples: history helps, and it does not.")(run_demo)


@app.command("version", short_help="Show installed versions.")
def show_version(as_json: AsJson = False) -> None:
    """Show the version of poolwise and of the packages it uses."""
    own = _version("poolwise") or "from a folder, not installed"
    packages = {package: _version(package) for package in PACKAGES}
    if as_json:
        python = platform.python_version()
        say_json("version", {"poolwise": own, "python": python, "packages": packages})
        return
    names = [f"{package} {there or 'not installed'}" for package, there in packages.items()]
    say(f"poolwise {own}")
    say(f"Python {platform.python_version()}, {', '.join(names)}")


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _show_version(wanted: bool) -> None:
    if wanted:
        show_version()
        raise typer.Exit


@app.callback()
def poolwise(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show installed versions."
        ),
    ] = False,
) -> None:
    """Least squares on a small recent table that has new columns, and on the history before it.

    Write a report on whether history helps:

    poolwise report history.csv recent.csv --label y -o report.html

    Fit a model and predict with it:

    poolwise fit history.csv recent.csv --label y -o model.json

    poolwise predict model.json new.csv -o predicted.csv

    Tables are CSV, Parquet, Feather or Excel; columns are matched by name. 'poolwise fit --help'
    lists the options of a command.
    """
