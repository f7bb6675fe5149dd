"""poolwise plan: what more recent rows would bring, and when history stops mattering."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from poolwise.cli.arguments import (
    AsJson,
    CsvWords,
    Digits,
    Drop,
    Features,
    Jobs,
    Nulls,
    Seed,
    Source,
    TextColumns,
    Weights,
)
from poolwise.cli.given import MOMENTS, Asked, Given, tables_given
from poolwise.cli.messages import as_records, heard, told_plainly
from poolwise.cli.screen import say, say_json, show_table

if TYPE_CHECKING:
    from poolwise.precision import Precision
    from poolwise.regressor import PooledRegressor

FORMAT, VERSION = "poolwise plan", 1


def plan_rows(
    tables: Annotated[
        list[str],
        typer.Argument(
            metavar="[HISTORY]... RECENT | MODEL",
            help="Tables as in 'poolwise fit', or the model that it wrote.",
            show_default=False,
        ),
    ],
    label: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The column to predict; a model knows it.", show_default=False
        ),
    ] = None,
    rows: Annotated[
        list[float] | None,
        typer.Option(
            min=1,
            metavar="NUMBER",
            help="A number of recent rows to look at, may be repeated; else today's, doubled "
            "until history stops mattering.",
            show_default=False,
        ),
    ] = None,
    enough: Annotated[
        float, typer.Option(help="Gain that does not matter, as a share of the noise variance.")
    ] = 0.01,
    draws: Annotated[int, typer.Option(min=1, help="Futures that are drawn.")] = 16,
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
    """Say how many more recent rows it takes until history does not matter.

    The plan is that of bayes_pooling, whatever the method of a model.

    For example:

    poolwise plan model.json

    poolwise plan history.csv recent.csv --label y --rows 100 --rows 1000
    """
    is_model = len(tables) == 1 and tables[0].lower().endswith(".json")
    is_model = is_model and not tables[0].lower().endswith(MOMENTS)
    if label is None and not is_model:
        raise typer.BadParameter(
            "Tables need --label, the column to predict.", param_hint="--label"
        )
    if is_model and (source or features or drop or text or weights):
        raise typer.BadParameter("A model has its tables and columns already.", param_hint="MODEL")
    account = None
    with told_plainly("Interrupted."), heard(quiet=as_json) as cautions:
        if is_model:
            from poolwise.regressor import PooledRegressor

            model = PooledRegressor.load(tables[0])
        else:
            asked = Asked(
                tables, source, label or "", features, drop, text, weights, csv_words, jobs, nulls
            )
            with tables_given(asked) as given:
                account = given.account
                if not as_json:
                    account.show()
                    say()
                model = _fitted(given, precision)
                rows_read = sum(table.rows for table in model.summary().tables)
                account.warn_if_swapped(len(given.y), rows_read)
        from poolwise.diagnostics import plan

        found = plan(model, rows, enough=enough, draws=draws, random_state=seed)
    if as_json:
        said = {
            "format": FORMAT,
            "version": VERSION,
            "columns": None if account is None else account.as_dict(),
            "plan": found.to_dict(),
            "verdict": {"answer": found.answer, "text": found.verdict},
            "warnings": as_records(cautions),
        }
        say_json(said)
        return
    say(found.verdict, "bold")
    if found.rows:
        say()
        show_table(*found.cells())
        say()
        say(found.note)


def _fitted(given: Given, precision: Precision) -> PooledRegressor:
    from poolwise.regressor import PooledRegressor

    model = PooledRegressor(response=given.account.response, precision=precision)
    return model.fit(given.X, given.y, sources=given.sources, sample_weight=given.weights)
