"""poolwise compare: which method predicts recent rows best, and whether history helps."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from poolwise.cli.arguments import (
    METHOD_NAMES,
    AsJson,
    CsvWords,
    Digits,
    Drop,
    Features,
    Jobs,
    Label,
    Nulls,
    Seed,
    Source,
    Tables,
    TextColumns,
    Weights,
    check_method,
    names_in,
)
from poolwise.cli.given import Asked, tables_given
from poolwise.cli.messages import as_records, heard, name, told_plainly
from poolwise.cli.screen import say, say_json, show_table

FORMAT, VERSION = "poolwise comparison", 1


def compare_methods(
    tables: Tables,
    label: Label,
    method: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,...",
            help="Methods to compare; else all, and boosted trees.",
            autocompletion=lambda: list(METHOD_NAMES),
            show_default=False,
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            min=2, help="Folds of the recent rows, split ten times; else 5.", show_default=False
        ),
    ] = None,
    source: Source = None,
    features: Features = None,
    drop: Drop = None,
    text: TextColumns = None,
    weights: Weights = None,
    nulls: Nulls = "split",
    seed: Seed = 0,
    precision: Digits = "auto",
    csv_words: CsvWords = None,
    jobs: Jobs = 1,
    as_json: AsJson = False,
) -> None:
    """Measure methods with and without history, on recent rows that they have not seen.

    For example:

    poolwise compare history.csv recent.csv --label y

    poolwise compare "history/*.parquet" recent.csv --label y --method bayes_pooling --json
    """
    methods = [check_method(m) for m in names_in(method)]
    asked = Asked(tables, source, label, features, drop, text, weights, csv_words, jobs, nulls)
    with (
        told_plainly("Interrupted."),
        heard(quiet=as_json) as cautions,
        tables_given(asked) as given,
    ):
        if not as_json:
            given.account.show()
        from poolwise.cross_validation import compare

        found = compare(
            given.X,
            given.y,
            sources=given.sources,
            methods=methods or (None if given.sources else ["target_only"]),
            cv=folds,
            sample_weight=given.weights,
            response=label,
            precision=precision,
            random_state=seed,
        )
        given.account.warn_if_swapped(len(given.y), found.target_rows + found.history_rows)
    if as_json:
        said = {
            "format": FORMAT,
            "version": VERSION,
            "columns": given.account.as_dict(),
            "rows": {"target": found.target_rows, "history": found.history_rows},
            "baseline": found.baseline,
            "methods": found.table(),
            "trees": {m: asdict(made) for m, made in found.trees.items()},
            "left_out": [{"method": m, "why": why} for m, why in found.skipped.items()],
            "verdict": {"answer": found.answer(), "text": found.verdict()},
            "warnings": as_records(cautions),
        }
        say_json(said)
        return
    say()
    head, rows = found.cells()
    show_table(head, [[name(cell) for cell in row] for row in rows])
    for left_out, why in found.skipped.items():
        say(f"{left_out} was left out: {why}")
    say()
    for note in found.notes():
        say(note)
    say(found.verdict(), "bold")
