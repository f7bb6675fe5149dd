"""poolwise compare: measure methods with and without history on recent rows."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from poolwise.cli.input_tables import input_tables
from poolwise.cli.messages import name, running
from poolwise.cli.options import (
    AsJson,
    HistoryOptions,
    Label,
    SplitOptions,
    Tables,
    check_method,
    method_option,
    names_in,
    with_options,
)
from poolwise.cli.screen import say, say_json, show_table, show_verdict


@with_options
def compare_methods(
    *,
    tables: Tables,
    label: Label,
    method: Annotated[
        list[str] | None,
        method_option(
            "Methods to compare; default: all linear ones, and boosted trees.",
            metavar="NAME,...",
            show_default=False,
        ),
    ] = None,
    split: SplitOptions,
    options: HistoryOptions,
    as_json: AsJson = False,
) -> None:
    """Measure methods with and without history, on held-out recent rows.

    For example:

    poolwise compare history.csv recent.csv --label y

    poolwise compare "history/*.parquet" recent.csv --label y --method bayes_pooling --json
    """
    methods = [check_method(m) for m in names_in(method)]
    with (
        running(quiet=as_json) as cautions,
        input_tables(tables, label, options, split, cautions, quiet=as_json) as given,
    ):
        from poolwise.evaluation.compare import compare

        found = compare(
            **given.data,
            methods=methods or None,
            **given.split,
            response=label,
            response_transform=options.response_transform,
            max_levels=options.max_levels,
            strict=options.strict,
            precision=options.precision,
            random_state=options.seed,
        )
        verdict = found.verdict
    if as_json:
        result = {
            "columns": given.account.to_dict(),
            "rows": {
                "target": found.target_rows,
                "held_out": found.held_out,
                "history": found.history_rows,
            },
            "baseline": found.baseline,
            "split": found.split,
            "methods": found.table(),
            "trees": {m: asdict(made) for m, made in found.trees.items()},
            "left_out": [{"method": m, "why": why} for m, why in found.skipped.items()],
            "verdict": verdict.to_dict(),
        }
        say_json("comparison", result, cautions)
        return
    head, rows = found.cells()
    show_table(head, [[name(cell) for cell in row] for row in rows])
    say()
    for note in found.notes():
        say(note)
    show_verdict(verdict)
