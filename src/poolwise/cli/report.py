"""poolwise report: write a page that says whether history helps, and why."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from poolwise.cli.hints import as_typed
from poolwise.cli.input_tables import InputTables, input_tables
from poolwise.cli.interrupts import stop_if_interrupted
from poolwise.cli.messages import running
from poolwise.cli.options import (
    AsJson,
    Force,
    HistoryOptions,
    Label,
    Method,
    SplitOptions,
    Tables,
    check_out,
    out_option,
    with_options,
)
from poolwise.cli.screen import say, say_json, show_verdict
from poolwise.errors import PoolwiseWarning
from poolwise.methods import DEFAULT_METHOD

if TYPE_CHECKING:  # at run time, help would wait for numpy
    from poolwise.report import Report

PAGES = (".html", ".htm", ".json")


@with_options
def write_report(
    *,
    tables: Tables,
    label: Label,
    out: Annotated[Path, out_option("The file to write: .html, or .json for its data.")],
    title: Annotated[
        str | None, typer.Option(help="Title of the page.", show_default=False)
    ] = None,
    method: Method = DEFAULT_METHOD,
    split: SplitOptions,
    options: HistoryOptions,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write a page that says whether history helps, by how much, with what confidence, and why.

    For example:

    poolwise report history.csv recent.csv --label y -o report.html
    """
    check_out(out, PAGES, force=force)
    written: list[Path] = []
    with (
        running(quiet=as_json, written=written) as cautions,
        input_tables(tables, label, options, split, cautions, quiet=as_json) as given,
    ):
        made = report_on(given, method, options, cautions, title=title)
        rows = {"target": made.data["target_rows"], "history": made.data["history_rows"]}
        stop_if_interrupted()
        made.save(out, overwrite=force)
        written.append(out)
    if as_json:
        found = {
            "report": str(out),
            "columns": given.account.to_dict(),
            "rows": rows,
            "verdict": made.verdict.to_dict(),
        }
        say_json("report run", found, cautions)
        return
    show_verdict(made.verdict)
    say()
    say(f"Written: {out}")


def report_on(
    given: InputTables,
    method: str,
    options: HistoryOptions,
    cautions: Sequence[PoolwiseWarning],
    *,
    title: str | None = None,
) -> Report:
    """Return the report of a method, with the names of the files, the command and its options."""
    from poolwise.methods import with_seed
    from poolwise.report import report

    made = report(
        **given.data,
        method=with_seed(method, options.seed),
        response=given.label,
        response_transform=options.response_transform,
        max_levels=options.max_levels,
        strict=options.strict,
        precision=options.precision,
        **given.split,
        random_state=options.seed,
        title=title,
        files=given.files,
        command=["poolwise", *sys.argv[1:]],
    )
    return replace(made, data=as_typed(made.data, cautions))
