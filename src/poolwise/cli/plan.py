"""poolwise plan: estimate what more recent rows bring, and when history stops mattering."""

from __future__ import annotations

from typing import Annotated

import typer

from poolwise.cli.input_tables import MOMENTS, input_tables
from poolwise.cli.messages import running, wrong_option
from poolwise.cli.options import AsJson, HistoryOptions, label_option, with_options
from poolwise.cli.screen import say, say_json, show_table, show_verdict


@with_options
def plan_rows(
    *,
    tables: Annotated[
        list[str],
        typer.Argument(
            metavar="[HISTORY]... RECENT | MODEL",
            help="Tables as in 'poolwise fit', or a model file.",
            show_default=False,
        ),
    ],
    label: Annotated[str | None, label_option("The column to predict; not with a model.")] = None,
    rows: Annotated[
        list[float] | None,
        typer.Option(
            min=1,
            metavar="NUMBER",
            help="A number of recent rows to look at. May be repeated; default: today's number, "
            "doubled until history stops mattering.",
            show_default=False,
        ),
    ] = None,
    enough: Annotated[
        float, typer.Option(help="A gain that does not matter, as a share of the noise variance.")
    ] = 0.01,
    draws: Annotated[int, typer.Option(min=1, help="Number of random futures.")] = 16,
    options: HistoryOptions,
    as_json: AsJson = False,
) -> None:
    """Estimate from how many recent rows on history does not matter.

    The plan always uses bayes_pooling, also for a model by another method.

    For example:

    poolwise plan model.json

    poolwise plan history.csv recent.csv --label y --rows 100 --rows 1000
    """
    path = tables[0].lower()
    is_model = len(tables) == 1 and path.endswith(".json") and not path.endswith(MOMENTS)
    about_tables = (options.history, options.features, options.drop, options.text, options.weights)
    if is_model and (any(about_tables) or options.response_transform):
        raise wrong_option("A model has its tables and columns already.", "MODEL")
    if label is None and not is_model:
        raise wrong_option("Tables need --label, the column to predict.", "--label")
    given = None
    with running(quiet=as_json) as cautions:
        from poolwise.evaluation import plan
        from poolwise.model.regressor import PooledRegressor

        if is_model:
            model = PooledRegressor.load(tables[0])
        else:
            with input_tables(tables, str(label), options, quiet=as_json) as given:
                model = PooledRegressor(
                    response=str(label),
                    response_transform=options.response_transform,
                    max_levels=options.max_levels,
                    strict=options.strict,
                    precision=options.precision,
                )
                model.fit(**given.data)
        found = plan(model, rows, enough=enough, draws=draws, random_state=options.seed)
    verdict = found.verdict
    columns = None if given is None else given.account.to_dict()
    if as_json:
        result = {"columns": columns, "plan": found.to_dict(), "verdict": verdict.to_dict()}
        say_json("plan", result, cautions)
        return
    show_verdict(verdict)
    if found.rows:
        say()
        show_table(*found.cells())
        say()
        say(found.note)
