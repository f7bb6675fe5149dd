"""poolwise fit: a model of the recent table and its history."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from poolwise.cli.arguments import (
    AsJson,
    CsvWords,
    Digits,
    Drop,
    Features,
    Force,
    Jobs,
    Label,
    Method,
    Nulls,
    Seed,
    Source,
    Tables,
    TextColumns,
    Weights,
    check_out,
    interrupted,
)
from poolwise.cli.given import MOMENTS, Asked, tables_given
from poolwise.cli.interrupts import stop_if_interrupted
from poolwise.cli.messages import as_records, heard, name, told_plainly
from poolwise.cli.reporting import PAGES, report_on
from poolwise.cli.screen import say, say_json, show_table
from poolwise.cli.seeded import seeded
from poolwise.cli.verdicts import say_verdict

OWN_GAPS = "There is no history: one table was given. Its rows that lack values were used, too."
FORMAT, VERSION = "poolwise fit", 1


def fit_model(
    tables: Tables,
    label: Label,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The model, a .json file.", show_default=False),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(help="A page that says it all, .html; or .json.", show_default=False),
    ] = None,
    source: Source = None,
    features: Features = None,
    drop: Drop = None,
    text: TextColumns = None,
    weights: Weights = None,
    nulls: Nulls = "split",
    method: Method = "bayes_pooling",
    seed: Seed = 0,
    precision: Digits = "auto",
    moments: Annotated[
        bool,
        typer.Option(
            "--moments/--no-moments",
            help="Whether the model keeps the moments of all tables; without them it cannot "
            "predict rows that lack columns.",
        ),
    ] = True,
    csv_words: CsvWords = None,
    jobs: Jobs = 1,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Fit a model on a recent table and on history that lacks some of its columns.

    For example:

    poolwise fit history.parquet recent.csv --label y -o model.json --report report.html

    poolwise fit --source 2019=a.csv --source 2020=b.csv recent.csv --label y -o model.json
    """
    check_out(out, [".json"], force=force)
    if out is not None and out.name.lower().endswith(MOMENTS):
        raise typer.BadParameter(
            f"{out.name} would be taken for moments. Name it model.json.", param_hint="--out"
        )
    check_out(report, PAGES, force=force, hint="--report")
    if out is not None and out == report:
        raise typer.BadParameter("Model and report are two files.", param_hint="--report")
    written: list[Path] = []
    asked = Asked(tables, source, label, features, drop, text, weights, csv_words, jobs, nulls)
    with (
        told_plainly(lambda: interrupted(written)),
        heard(quiet=as_json) as cautions,
        tables_given(asked) as given,
    ):
        if not as_json:
            given.account.show()

        answer: dict[str, Any]
        if report is None:
            from poolwise.diagnostics import diagnose
            from poolwise.regressor import PooledRegressor

            model = PooledRegressor(seeded(method, seed), response=label, precision=precision)
            model.fit(given.X, given.y, sources=given.sources, sample_weight=given.weights)
            found = diagnose(model)
            answer = {"answer": found.answer, "text": found.verdict}
            if found.sources and not given.sources:
                answer = {"answer": "no_history", "text": OWN_GAPS}
        else:
            made = report_on(given, method=method, precision=precision, seed=seed)
            model, answer = made.model, made.data["verdict"]
            stop_if_interrupted()
            made.save(report, overwrite=force)
            written.append(report)
        rows_read = sum(table.rows for table in model.summary().tables)
        given.account.warn_if_swapped(len(given.y), rows_read)
        if out is not None:
            stop_if_interrupted()
            model.save(out, overwrite=force, moments=moments)
            written.append(out)
    summary = model.summary()
    if as_json:
        said = {
            "format": FORMAT,
            "version": VERSION,
            "model": None if out is None else str(out),
            "report": None if report is None else str(report),
            "columns": given.account.as_dict(),
            "verdict": {"answer": answer["answer"], "text": answer["text"]},
            "summary": summary.to_dict(),
            "warnings": as_records(cautions),
        }
        say_json(said)
        return
    _show(summary)
    say()
    say_verdict(answer)
    if written:
        say()
        say(f"Written: {', '.join(map(str, reversed(written)))}")


def _show(summary: Any) -> None:
    """Print tables and coefficients."""
    say()
    say(f"{summary.method}: {name(summary.response)}", "bold")
    say()
    for head, rows in summary.parts():
        show_table(head, [[name(cell) for cell in row] for row in rows])
        say()
    for sentence in summary.sentences():
        say(sentence)
