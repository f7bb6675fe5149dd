"""Arguments: those that several verbs take, written alike."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from poolwise.cli.messages import harmless
from poolwise.errors import UnknownMethod
from poolwise.options import LARGEST_SEED

METHOD_NAMES = (
    "bayes_pooling",
    "target_only",
    "data_pooling",
    "feature_transfer",
    "kernel_transfer",
    "source_columns_only",
    "mean_fill",
    "offset",
    "monotone_likelihood",
    "boosted_pooling",
    "derived_pooling",
    "auto",
)


def check_method(method: str) -> str:
    """Return the name of a method; refuse one that is none, and say which was meant."""
    if method not in METHOD_NAMES:
        raise typer.BadParameter(str(UnknownMethod(method, METHOD_NAMES)), param_hint="--method")
    return method


Tables = Annotated[
    list[str],
    typer.Argument(
        metavar="[HISTORY]... RECENT",
        help="History, as files, 'patterns*', folders or .moments.json; last the recent table, "
        "which has all columns. CSV, Parquet or Feather; - is standard input, as CSV.",
        show_default=False,
    ),
]
Label = Annotated[
    str, typer.Option(metavar="NAME", help="The column to predict.", show_default=False)
]
Source = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=PATH",
        help="History under a name of its own. May be repeated: with the same name, files are "
        "one table.",
        show_default=False,
    ),
]
Features = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME,...", help="Columns to predict from; else all.", show_default=False),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME,...", help="Columns to leave out.", show_default=False),
]
TextColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--text",
        metavar="NAME,...",
        help="Columns of CSV that are text, such as codes.",
        show_default=False,
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The column of row weights.", show_default=False),
]
Method = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help=f"How to pool: {', '.join(METHOD_NAMES)}.",
        callback=check_method,
        autocompletion=lambda: list(METHOD_NAMES),
    ),
]
Seed = Annotated[
    int,
    typer.Option(min=0, max=LARGEST_SEED, help="Of whatever is drawn at random."),
]
Digits = Annotated[
    Literal["auto", "fast", "accurate", "exact"],
    typer.Option("--precision", metavar="NAME", help="Sums: auto, fast, accurate or exact."),
]
Jobs = Annotated[int, typer.Option(min=1, help="Threads; numbers do not depend on it.")]
CsvWords = Annotated[
    list[str] | None,
    typer.Option(
        "--csv",
        metavar="KEY=VALUE",
        help="How CSV is written: 'delimiter=;'.",
        show_default=False,
    ),
]
Nulls = Annotated[
    Literal["split", "drop", "raise"],
    typer.Option(
        metavar="NAME",
        help="Missing values in history: split makes a table of each pattern, drop leaves the row "
        "out and counts it, raise is an error.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that are there.")]
AsJson = Annotated[bool, typer.Option("--json", help="Say in JSON what was found.")]


def names_in(given: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names between commas; one that has a comma of its own stands in quotes."""
    names: list[str] = []
    for text in given or ():
        if '"' not in text:  # a line break in a name needs no quotes
            names += text.split(",")
            continue
        try:
            names += [
                n for row in csv.reader([text], skipinitialspace=True, strict=True) for n in row
            ]
        except csv.Error:
            what = (
                f"{text} has a quote that is not closed, or text after one: '\"a,b\",c' is right."
            )
            raise typer.BadParameter(harmless(what)) from None
    return tuple(name.strip() for name in names)


def words_in(given: Sequence[str] | None) -> dict[str, Any] | None:
    """Return how CSV is written, from KEY=VALUE."""
    words = [word.partition("=") for word in given or ()]
    if wrong := [key for key, sign, value in words if not (key and sign and value)]:
        raise typer.BadParameter(f"{wrong[0]!r} is not KEY=VALUE.", param_hint="--csv")
    return {key: _typed(key, value) for key, _, value in words} or None


def _typed(key: str, value: str) -> str | int | bool | list[str]:
    """Return a value as pyarrow takes it; what it cannot take is told when a file is opened."""
    if key in ("skip_rows", "skip_rows_after_names", "block_size") and value.isdecimal():
        return int(value)
    if key in ("null_values", "true_values", "false_values", "column_names"):
        return list(names_in([value]))
    return {"true": True, "false": False}.get(value.lower(), value)


def check_out(
    out: Path | None,
    endings: Sequence[str],
    *,
    force: bool,
    hint: str = "--out",
    why: str = "",
) -> None:
    """Refuse a name to write to, before anything is read.

    Parameters
    ----------
    out : Path or None
        The file to write, if one was asked for.
    endings : sequence of str
        How its name may end.
    force : bool
        Whether it may be there already.
    hint : str
        The option that names it.
    why : str
        Why it must end so.
    """
    if out is None:
        return
    what = None
    if not out.name.lower().endswith(tuple(endings)):
        *most, last = endings
        which = f"{', '.join(most)} or {last}" if most else last
        what = f"{out} must end in {which}{why}."
    elif not out.parent.is_dir():
        what = f"There is no folder {out.parent}."
    elif not os.access(out.parent, os.W_OK):
        what = f"The folder {out.parent} does not let us write."
    elif out.is_dir():
        what = f"{out} is a folder. Give the name of a file."
    elif out.exists() and not force:
        what = f"{out} is there already. Give another name, or --force to replace it."
    if what:
        raise typer.BadParameter(harmless(what), param_hint=hint)


def interrupted(written: Sequence[Path]) -> str:
    """Say what an interrupt left behind."""
    if not written:
        return "Interrupted. Nothing was written."
    return f"Interrupted. Written before: {', '.join(map(str, written))}."
