"""poolwise predict: the rows of a table with what a model predicts for them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from poolwise.cli.arguments import (
    AsJson,
    CsvWords,
    Force,
    check_out,
    interrupted,
    words_in,
)
from poolwise.cli.interrupts import import_pandas, stop_if_interrupted
from poolwise.cli.messages import as_records, harmless, heard, name, told_plainly
from poolwise.cli.recent import CALLED, STDIN, open_table, paths_of, rows_of
from poolwise.cli.rows_out import ENDINGS, records_of, write_rows
from poolwise.cli.screen import say, say_json
from poolwise.errors import MissingColumns, OtherSpelling
from poolwise.progress import waiting
from poolwise.wording import listed

FORMAT, VERSION = "poolwise predictions", 1


def predict_rows(
    model: Annotated[
        Path, typer.Argument(help="The model, from 'poolwise fit'.", show_default=False)
    ],
    rows: Annotated[
        str,
        typer.Argument(
            metavar="ROWS",
            help="The rows to predict: CSV, Parquet or Feather; - is standard input, as CSV.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help=f"The file to write ({', '.join(ENDINGS)}); else CSV is printed.",
            show_default=False,
        ),
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(
            help="Add the ends of the interval that holds the response with this probability, "
            "between 0 and 1.",
            show_default=False,
        ),
    ] = None,
    std: Annotated[
        bool, typer.Option("--std", help="Add the standard deviation about the prediction.")
    ] = False,
    column: Annotated[str, typer.Option(help="What to call the predictions.")] = "prediction",
    unseen_level: Annotated[
        Literal["raise", "ignore"] | None,
        typer.Option(
            metavar="NAME",
            help="A category that no table had at fit: raise is an error, ignore takes it for "
            "the first one.",
            show_default="as the model says",
        ),
    ] = None,
    csv_words: CsvWords = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Predict rows, and write them with their predictions.

    Rows may lack columns that some history lacked. Text that a spreadsheet would take for a
    formula gets an apostrophe in front in CSV.

    For example:

    poolwise predict model.json new.csv -o out.csv

    poolwise predict model.json new.parquet --interval 0.9 -o out.parquet
    """
    check_out(out, ENDINGS, force=force)
    if interval is not None and not 0.0 < interval < 1.0:
        raise typer.BadParameter("It must be between 0 and 1: 0.9, say.", param_hint="--interval")
    written: list[Path] = []
    with (
        told_plainly(lambda: interrupted(written)),
        heard(quiet=as_json) as cautions,
        paths_of([rows]) as (path,),
    ):
        import numpy as np

        from poolwise.regressor import PooledRegressor

        import_pandas()
        fitted = PooledRegressor.load(model)
        if unseen_level is not None:
            fitted.columns_ = tuple(replace(c, unseen=unseen_level) for c in fitted.columns_)
        table = _read(fitted, path, words_in(csv_words))
        added = [column]
        added += [f"{column}_std"] if std else []
        added += [f"{column}_low", f"{column}_high"] if interval is not None else []
        if there := [n for n in added if n in table.column_names]:
            raise typer.BadParameter(
                f"{harmless(rows)} has a column {harmless(there[0])!r} already. Give the "
                "predictions another name.",
                param_hint="--column",
            )
        called = CALLED if rows == STDIN else rows
        used, lacking = _matched(fitted, table, called)
        X = table.select(used)
        if not hasattr(fitted, "feature_names_in_"):  # fitted on an array: columns x0, x1, ...
            X = np.column_stack([c.to_numpy(zero_copy_only=False) for c in X.columns])
        with waiting(f"Predicting {table.num_rows:,} rows"):
            values = _predicted(fitted, X, interval, std)
        for new, numbers in zip(added, values, strict=True):
            table = table.append_column(new, [numbers])
        stop_if_interrupted()
        if out is not None:
            with waiting(f"Writing {name(out.name)}"):
                write_rows(table, out, force=force)
            written.append(out)
        elif not as_json:
            _print(table)
    if as_json:
        ignored = [n for n in table.column_names if n not in (*used, *added)]
        say_json(
            {
                "format": FORMAT,
                "version": VERSION,
                "out": None if out is None else str(out),
                "rows": table.num_rows,
                "columns": {"used": used, "lacking": lacking, "ignored": ignored, "added": added},
                "predictions": None if out is not None else list(records_of(table.select(added))),
                "warnings": as_records(cautions),
            }
        )
    elif out is not None:
        without = f", without {', '.join(map(name, lacking))}" if lacking else ""
        rows_said = "1 row" if table.num_rows == 1 else f"{table.num_rows:,} rows"
        say(f"Written: {out}, {rows_said} predicted{without}.")


def _print(table: Any) -> None:
    """Print rows as CSV: to a program as they are, to a terminal without what it would obey."""
    if not sys.stdout.isatty():
        write_rows(table, sys.stdout.buffer)
        return
    shown = BytesIO()
    write_rows(table, shown)
    typer.echo(harmless(shown.getvalue().decode()), nl=False)


def _read(model: Any, path: str, words: Mapping[str, Any] | None) -> Any:
    """Read all columns; a text such as NA is a missing value in those of the model alone."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow.csv import ConvertOptions

    given = {**(words or {}), "strings_can_be_null": False}
    as_missing = given.get("null_values", ConvertOptions().null_values)
    reader = open_table(path, given, "the table to predict", "ROWS")
    table = rows_of(reader, reader.schema.names, _types(model, reader.schema))
    if reader.file.format != "csv":
        return table
    used = {column.name for column in model.columns_}
    for k, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            nulls = as_missing if field.name in used else [""]
            column = table.column(k)
            missing = pc.is_in(column, pa.array(nulls, pa.string()))
            own = pc.if_else(missing, pa.scalar(None, pa.string()), column)
            table = table.set_column(k, field, own)
    return table


def _types(model: Any, schema: Any) -> dict[str, Any]:
    """Return what to read columns of CSV as; what the model does not use stays as it is written."""
    import pyarrow as pa

    texts = {column.name: column.levels is not None for column in model.columns_}
    types = {field.name: pa.string() for field in schema if texts.get(field.name, True)}
    numbers = [f for f in schema if not texts.get(f.name, True) and not pa.types.is_boolean(f.type)]
    return types | {field.name: pa.float64() for field in numbers}


def _matched(model: Any, table: Any, where: str) -> tuple[list[str], list[str]]:
    """Return the columns to predict from, and those that may be lacking and are."""
    needed = [column.name for column in model.columns_]
    lacking = [n for n in needed if n not in table.column_names]
    if unknown := [n for n in lacking if n not in model.optional_columns_]:
        may = listed(model.optional_columns_)
        then = f"Rows to predict may lack columns that some table lacked at fit: {may}."
        raise MissingColumns(unknown, table.column_names, where, then)
    own = {_letters(n): n for n in table.column_names if n not in needed}
    if spelled := {n: own[_letters(n)] for n in lacking if _letters(n) in own}:
        warnings.warn(OtherSpelling(where, spelled), stacklevel=2)
    return [n for n in needed if n not in lacking], lacking


def _letters(name: str) -> str:
    """Return what a name has in common with other spellings of it."""
    return "".join(c for c in name.casefold() if c.isalnum()) or name


def _predicted(model: Any, X: Any, interval: float | None, std: bool) -> Sequence[Any]:
    found = [*model.predict(X, return_std=True)] if std else [model.predict(X)]
    if interval is not None:
        found += [*model.predict_interval(X, coverage=interval).T]
    return found
