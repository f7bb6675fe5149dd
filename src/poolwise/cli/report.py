"""poolwise report: one page that says whether history helps, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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
from poolwise.cli.given import Asked, tables_given
from poolwise.cli.interrupts import stop_if_interrupted
from poolwise.cli.messages import as_records, heard, told_plainly
from poolwise.cli.reporting import PAGES, report_on
from poolwise.cli.screen import say, say_json
from poolwise.cli.verdicts import say_verdict

FORMAT, VERSION = "poolwise report run", 1


def write_report(
    tables: Tables,
    label: Label,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="The page, .html; or its data, .json.", show_default=False
        ),
    ],
    title: Annotated[
        str | None, typer.Option(help="Title of the page.", show_default=False)
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(min=2, help="Folds of the recent rows; else 5.", show_default=False),
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
    csv_words: CsvWords = None,
    jobs: Jobs = 1,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write a page to show around: does history help, by how much, how surely, and why.

    For example:

    poolwise report history.csv recent.csv --label y -o report.html
    """
    check_out(out, PAGES, force=force)
    asked = Asked(tables, source, label, features, drop, text, weights, csv_words, jobs, nulls)
    written: list[Path] = []
    with (
        told_plainly(lambda: interrupted(written)),
        heard(quiet=as_json) as cautions,
        tables_given(asked) as given,
    ):
        if not as_json:
            given.account.show()
        made = report_on(
            given, method=method, precision=precision, seed=seed, folds=folds, title=title
        )
        rows_read = made.data["target_rows"] + made.data["history_rows"]
        given.account.warn_if_swapped(len(given.y), rows_read)
        stop_if_interrupted()
        made.save(out, overwrite=force)
        written.append(out)
    verdict = made.data["verdict"]
    if as_json:
        say_json(
            {
                "format": FORMAT,
                "version": VERSION,
                "report": str(out),
                "columns": given.account.as_dict(),
                "rows": {
                    "target": made.data["target_rows"],
                    "history": made.data["history_rows"],
                },
                "verdict": {k: verdict[k] for k in ("answer", "headline", "sentences", "text")},
                "warnings": as_records(cautions),
            }
        )
        return
    say()
    say_verdict(verdict)
    say()
    say(f"Written: {out}")
