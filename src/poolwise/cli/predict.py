"""poolwise predict: write the rows of a table with the predictions of a model."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any

import typer

from poolwise.cli.input_tables import STDIN, STDIN_NAME, open_file, paths_of, read_file
from poolwise.cli.interrupts import import_pandas, stop_if_interrupted
from poolwise.cli.messages import harmless, name, running, wrong_option
from poolwise.cli.options import AsJson, CsvOptions, Force, check_out, csv_options, out_option
from poolwise.cli.screen import say, say_json
from poolwise.cli.write_table import SUFFIXES, records_of, write_table
from poolwise.errors import BadColumns, DataWarning, PoolwiseWarning
from poolwise.wording import capital, listed, plural

LACKS = ("--text", "--drop")  # options of other commands that hints may name


def predict_rows(
    model: Annotated[
        Path, typer.Argument(help="A model file of 'poolwise fit'.", show_default=False)
    ],
    rows: Annotated[
        str,
        typer.Argument(
            metavar="ROWS",
            help="The rows to predict: CSV, Parquet, Feather or Excel; - reads CSV from stdin.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        out_option(f"The file to write ({', '.join(SUFFIXES)}); default: CSV on standard output."),
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(
            help="Add the bounds of the interval that holds a new response with this probability.",
            show_default=False,
        ),
    ] = None,
    std: Annotated[
        bool, typer.Option("--std", help="Add the standard deviation of a new response.")
    ] = False,
    median: Annotated[
        bool,
        typer.Option("--median", help="Predict medians; they differ from means after --log."),
    ] = False,
    column: Annotated[str, typer.Option(help="Name of the column of predictions.")] = "prediction",
    strict: Annotated[
        bool | None,
        typer.Option(
            "--strict/--no-strict",
            help="Whether a category that no table had at fit is an error, or gets the effect of "
            "'other' or the mean effect.",
            show_default="as at fit",
        ),
    ] = None,
    csv: CsvOptions = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Predict rows, and write them with their predictions.

    Rows may lack columns that some history lacked. Missing values are filled in, with a note. In
    CSV, text that a spreadsheet would run as a formula gets a leading apostrophe.

    For example:

    poolwise predict model.json new.csv -o out.csv

    poolwise predict model.json new.parquet --interval 0.9 -o out.parquet
    """
    check_out(out, SUFFIXES, force=force)
    if interval is not None and not 0.0 < interval < 1.0:
        raise wrong_option("It must be between 0 and 1.", "--interval")
    written: list[Path] = []
    with (
        running(quiet=as_json, written=written, lacks=LACKS) as cautions,
        paths_of([rows]) as (path,),
    ):
        import numpy as np

        from poolwise.model.fitted_model import set_strict
        from poolwise.model.regressor import PooledRegressor
        from poolwise.moments.progress import waiting
        from poolwise.tables.memory import open_table

        import_pandas()
        fitted = PooledRegressor.load(model)
        if strict is not None:
            set_strict(fitted, strict=strict)
        table = _read(fitted, path, csv_options(csv))
        added = [column]
        added += [f"{column}_std"] if std else []
        added += [f"{column}_low", f"{column}_high"] if interval is not None else []
        if there := [n for n in added if n in table.column_names]:
            what = f"{rows} has a column {there[0]!r} already. Give the predictions another name."
            raise wrong_option(what, "--column")
        called = STDIN_NAME if rows == STDIN else rows
        used, lacking = _matched(fitted, table, called)
        X: Any = open_table(table.select(used), called)
        if not hasattr(fitted, "feature_names_in_"):  # fitted to an array: columns x0, x1, ...
            columns = [c.to_numpy(zero_copy_only=False) for c in table.select(used).columns]
            X = np.column_stack(columns)
        with waiting(f"Predicting {table.num_rows:,} rows"):
            statistic = "median" if median else "mean"
            values = _predicted(fitted, X, interval, std, statistic)
        for new, numbers in zip(added, values, strict=True):
            table = table.append_column(new, [numbers])
        stop_if_interrupted()
        if out is not None:
            with waiting(f"Writing {name(out.name)}"):
                write_table(table, out, force=force)
            written.append(out)
        elif not as_json:
            _print(table)
    if as_json:
        ignored = [n for n in table.column_names if n not in (*used, *added)]
        found = {
            "out": None if out is None else str(out),
            "rows": table.num_rows,
            "columns": {"used": used, "lacking": lacking, "ignored": ignored, "added": added},
            **_noted(cautions),
            "predictions": None if out is not None else list(records_of(table.select(added))),
        }
        say_json("predictions", found, cautions)
    elif out is not None:
        without = f", without {', '.join(map(name, lacking))}" if lacking else ""
        say(f"Written: {out}, {plural(table.num_rows, 'row')} predicted{without}.")


def _print(table: Any) -> None:
    """Print rows as CSV; on a terminal, control characters are escaped."""
    if not sys.stdout.isatty():
        write_table(table, sys.stdout.buffer)
        return
    shown = BytesIO()
    write_table(table, shown)
    typer.echo(harmless(shown.getvalue().decode()), nl=False)


def _read(model: Any, path: str, csv: Mapping[str, Any] | None) -> Any:
    """Read all columns; texts such as NA are missing values only in columns of the model."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow.csv import ConvertOptions

    given = {**(csv or {}), "strings_can_be_null": False}
    as_missing = given.get("null_values", ConvertOptions().null_values)
    reader = open_file(path, given, "the table to predict", "ROWS")
    reader.read_as_text([column.name for column in model.columns_ if column.levels is not None])
    table = read_file(reader, reader.schema.names, _types(model, reader.schema))
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
    """Return types for columns of CSV; columns that the model does not use are text."""
    import pyarrow as pa

    texts = {column.name: column.kind != "number" for column in model.columns_}
    types = {field.name: pa.string() for field in schema if texts.get(field.name, True)}
    numbers = [f for f in schema if not texts.get(f.name, True) and not pa.types.is_boolean(f.type)]
    return types | {field.name: pa.float64() for field in numbers}


def _matched(model: Any, table: Any, where: str) -> tuple[list[str], list[str]]:
    """Return the columns to predict from, and the optional columns that are missing."""
    needed = [column.name for column in model.columns_]
    lacking = [n for n in needed if n not in table.column_names]
    if unknown := [n for n in lacking if n not in model.optional_columns_]:
        may = listed(model.optional_columns_)
        then = f"Rows to predict may lack columns that some table lacked at fit: {may}."
        raise BadColumns.missing(unknown, table.column_names, where, then)
    own = {_letters(n): n for n in table.column_names if n not in needed}
    if spelled := {n: own[_letters(n)] for n in lacking if _letters(n) in own}:
        pairs = ", ".join(f"{theirs!r} for {ours!r}" for ours, theirs in spelled.items())
        message = f"{capital(where)} has {pairs}: the spelling differs, so it was not used."
        warnings.warn(DataWarning(message, "Rename it if it is the same column."), stacklevel=2)
    return [n for n in needed if n not in lacking], lacking


def _noted(cautions: Sequence[PoolwiseWarning]) -> dict[str, Any]:
    """Return the counts of missing values and new levels by column, from the notes."""
    found = {key: c.about for c in cautions for key in ("gaps", "new_levels") if key in c.about}
    return {
        "gaps": {
            "rows": found["gaps"]["rows"] if "gaps" in found else 0,
            "columns": found["gaps"]["gaps"] if "gaps" in found else {},
        },
        "new_levels": found["new_levels"]["new_levels"] if "new_levels" in found else {},
    }


def _letters(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum()) or text


def _predicted(
    model: Any, X: Any, interval: float | None, std: bool, statistic: str
) -> Sequence[Any]:
    predicted = model.predict(X, return_std=std, statistic=statistic)
    found = [*predicted] if std else [predicted]
    if interval is not None:
        found += [*model.predict_interval(X, coverage=interval).T]
    return found
