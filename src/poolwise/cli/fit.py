"""poolwise fit: fit a model to a recent table and its history."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from poolwise.cli.hints import as_typed
from poolwise.cli.input_tables import MOMENTS, InputTables, input_tables
from poolwise.cli.interrupts import stop_if_interrupted
from poolwise.cli.messages import name, running, wrong_option
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
from poolwise.cli.report import PAGES, report_on
from poolwise.cli.screen import say, say_json, show_table, show_verdict
from poolwise.methods import DEFAULT_METHOD

if TYPE_CHECKING:
    from poolwise.evaluation.verdict import Verdict

MOST_LEVELS = 6  # of a column, whose coefficients are shown


@with_options
def fit_model(
    *,
    tables: Tables,
    label: Label,
    out: Annotated[Path | None, out_option("The model file to write (.json).")] = None,
    report: Annotated[
        Path | None,
        typer.Option(help="A report to write (.html or .json).", show_default=False),
    ] = None,
    method: Method = DEFAULT_METHOD,
    split: SplitOptions,
    options: HistoryOptions,
    moments: Annotated[
        bool,
        typer.Option(
            "--moments/--no-moments",
            help="Whether the model file holds the moments of all tables. Without them the model "
            "cannot predict rows that lack columns.",
        ),
    ] = True,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Fit a model to a recent table and to history that lacks some of its columns.

    For example:

    poolwise fit history.parquet recent.csv --label y -o model.json --report report.html

    poolwise fit --history 2019=a.csv --history 2020=b.csv recent.csv --label y -o model.json
    """
    check_out(out, [".json"], force=force)
    if out is not None and out.name.lower().endswith(MOMENTS):
        raise wrong_option(f"{out.name} would be read as moments. Name it model.json.", "--out")
    check_out(report, PAGES, force=force, hint="--report")
    if out is not None and out == report:
        raise wrong_option("Model and report are two files.", "--report")
    written: list[Path] = []
    with (
        running(quiet=as_json, written=written) as cautions,
        input_tables(tables, label, options, split, cautions, quiet=as_json) as given,
    ):
        if report is None:
            model, verdict = _fitted(given, method, options)
        else:
            made = report_on(given, method, options, cautions)
            model, verdict = made.model, made.verdict
            stop_if_interrupted()
            made.save(report, overwrite=force)
            written.append(report)
        summary = model.summary()
        if out is not None:
            stop_if_interrupted()
            model.save(out, overwrite=force, moments=moments)
            written.append(out)
    if as_json:
        found = {
            "model": None if out is None else str(out),
            "report": None if report is None else str(report),
            "columns": given.account.to_dict(),
            "verdict": verdict.to_dict(),
            "summary": as_typed(summary.to_dict(), cautions),
        }
        say_json("fit", found, cautions)
        return
    _show_summary(summary, given.X.where)
    say()
    show_verdict(verdict)
    if written:
        say()
        say(f"Written: {', '.join(map(str, reversed(written)))}")


def _fitted(given: InputTables, method: str, options: HistoryOptions) -> tuple[Any, Verdict]:
    """Fit a model; return it and the verdict, measured on held-out rows of the recent table."""
    from poolwise.evaluation import diagnose
    from poolwise.evaluation.compare import measured_effect
    from poolwise.evaluation.splitting import split_by
    from poolwise.methods import method_of, with_seed
    from poolwise.model.fitted_model import fit_kept, warn
    from poolwise.model.regressor import PooledRegressor

    own = with_seed(method, options.seed)
    model = PooledRegressor(
        own,
        response=given.label,
        response_transform=options.response_transform,
        max_levels=options.max_levels,
        strict=options.strict,
        precision=options.precision,
    )
    X, splitting, about_rows = split_by(given.X, **given.split)
    warn(about_rows)
    intake, told = fit_kept(model, **given.data | {"X": X})
    warn(told)
    measured = measured_effect(
        intake, method_of(own), splitting=splitting, random_state=options.seed
    )
    return model, replace(diagnose(model), measured=measured).verdict


def _show_summary(summary: Any, recent: str) -> None:
    """Print tables and coefficients; the recent table, which is the first, by its own name."""
    say(f"{summary.method}: {name(summary.response)}", "bold")
    say()
    parts = summary.parts(MOST_LEVELS)
    parts[0][1][0][0] = recent
    for head, rows in parts:
        heads = ["in history" if word == "in sources" else word for word in head]
        show_table(heads, [[name(cell) for cell in row] for row in rows])
        say()
    if any("not shown" in row[-1] for row in parts[1][1]):
        say(
            f"Of a column with many levels, the {MOST_LEVELS} with the largest coefficients are "
            "shown. All are in the model file, and in the summary of --json."
        )
    for sentence in summary.sentences():
        say(sentence)
