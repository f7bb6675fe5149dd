"""Options that several commands share, declared once."""

from __future__ import annotations

import csv
import inspect
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from poolwise.cli.messages import harmless, wrong_option
from poolwise.errors import BadOption
from poolwise.methods import METHOD_LABELS
from poolwise.numerics.options import LARGEST_SEED

METHOD_NAMES = tuple(METHOD_LABELS)


def check_method(method: str) -> str:
    """Return the name of a method; raise an error for an unknown one."""
    if method not in METHOD_NAMES:
        raise wrong_option(str(BadOption.unknown_method(method, METHOD_NAMES)), "--method")
    return method


# Options whose help depends on the command. The type is in the command's signature.
def label_option(help_text: str) -> Any:
    """Return --label, the name of the response."""
    return typer.Option(metavar="NAME", help=help_text, show_default=False)


def method_option(help_text: str, **how: Any) -> Any:
    """Return --method, whose names the shell completes."""
    return typer.Option(help=help_text, autocompletion=lambda: list(METHOD_NAMES), **how)


def nulls_option(help_text: str) -> Any:
    """Return --nulls, what is done with rows that have missing values."""
    return typer.Option(metavar="NAME", help=help_text)


def out_option(help_text: str, *, show_default: bool = False) -> Any:
    """Return --out, the file or folder to write."""
    return typer.Option("--out", "-o", help=help_text, show_default=show_default)


Tables = Annotated[
    list[str],
    typer.Argument(
        metavar="[HISTORY]... RECENT",
        help="History tables (files, 'patterns*', folders or .moments.json), then the recent "
        "table, which has all columns. CSV, Parquet, Feather or Excel; - reads CSV from stdin.",
        show_default=False,
    ),
]
Label = Annotated[str, label_option("The column to predict.")]
Method = Annotated[
    str,
    method_option(
        f"How to pool: {', '.join(METHOD_NAMES)}.", metavar="NAME", callback=check_method
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace existing files.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
CsvOptions = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUE",
        help="CSV options of pyarrow, such as 'delimiter=;'. May be repeated.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class ReadingOptions:
    """Which columns to read, and how: options of every command that reads tables to fit."""

    features: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,...",
            help="Columns to use, besides the label; default: all.",
            show_default=False,
        ),
    ] = None
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME,...", help="Columns to leave out.", show_default=False),
    ] = None
    text: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,...",
            help="Columns that are text although they look numeric, such as codes.",
            show_default=False,
        ),
    ] = None
    weights: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The column of row weights.", show_default=False),
    ] = None
    precision: Annotated[
        Literal["auto", "fast", "accurate", "exact"],
        typer.Option(metavar="NAME", help="Digits of sums: auto, fast, accurate or exact."),
    ] = "auto"
    csv: CsvOptions = None
    jobs: Annotated[
        int, typer.Option(min=1, help="Threads that read files. Results do not depend on it.")
    ] = 1


@dataclass(frozen=True)
class HistoryOptions(ReadingOptions):
    """Options of every command that reads a recent table and its history."""

    history: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=PATH",
            help="A history table with a name. May be repeated; files with the same name are one "
            "table.",
            show_default=False,
        ),
    ] = None
    nulls: Annotated[
        Literal["split", "drop", "raise"],
        nulls_option(
            "Rows of history with missing values: split uses them (a fit fills the values in), "
            "drop leaves them out and counts them, raise is an error."
        ),
    ] = "split"
    log: Annotated[
        bool,
        typer.Option("--log", help="Fit the logarithm of the label; predictions are of the label."),
    ] = False
    sqrt: Annotated[
        bool, typer.Option("--sqrt", help="Fit the square root of the label, likewise.")
    ] = False
    max_levels: Annotated[
        int,
        typer.Option(
            min=2,
            metavar="NUMBER",
            help="The most frequent levels of a text column that are kept; others are merged.",
        ),
    ] = 50
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Raise one error that lists all columns and rows which would be left out, merged "
            "or converted.",
        ),
    ] = False
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of random numbers.")] = 0

    @property
    def response_transform(self) -> str | None:
        """The transform of the response, as the library names it."""
        if self.log and self.sqrt:
            raise wrong_option("--log and --sqrt are two transforms. Use one of them.", "--sqrt")
        return "log" if self.log else "sqrt" if self.sqrt else None


@dataclass(frozen=True)
class SplitOptions:
    """How commands that measure on held-out recent rows split them."""

    folds: Annotated[
        int | None,
        typer.Option(min=2, help="Folds of the recent rows; default: 5.", show_default=False),
    ] = None
    repeats: Annotated[
        int | None,
        typer.Option(
            min=1, help="How often folds are drawn; default: one to four.", show_default=False
        ),
    ] = None
    group: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="A column of persons, houses or the like: all rows of one are held out together. "
            "It is not used as a feature.",
            show_default=False,
        ),
    ] = None
    time: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="A column of times: recent rows are tested on models of earlier ones.",
            show_default=False,
        ),
    ] = None


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each parameter that is a dataclass of options by one parameter per option.

    typer builds the options of a command from its signature. Required ones come first in its help.
    """
    own = inspect.signature(command, eval_str=True).parameters.values()
    groups: dict[str, Any] = {p.name: p.annotation for p in own if is_dataclass(p.annotation)}
    options: list[inspect.Parameter] = []
    for parameter in own:
        group = groups.get(parameter.name)
        fields = [parameter] if group is None else _fields_of(group)
        options += [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in fields]
    options.sort(key=lambda p: p.default is not p.empty)

    @wraps(command)
    def typed(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{p.name: given.pop(p.name) for p in _fields_of(group)})
        command(**given)

    typed.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    typed.__annotations__ = {p.name: p.annotation for p in options}
    return typed


def _fields_of(group: Any) -> list[inspect.Parameter]:
    return list(inspect.signature(group, eval_str=True).parameters.values())


def names_in(given: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names between commas; a name that contains a comma is quoted."""
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
            what = f"{text} has an open quote, or text after a quote: '\"a,b\",c' is right."
            raise typer.BadParameter(harmless(what)) from None
    return tuple(name.strip() for name in names)


def csv_options(given: Sequence[str] | None) -> dict[str, Any] | None:
    """Return the options of pyarrow.csv, from KEY=VALUE."""
    pairs = [text.partition("=") for text in given or ()]
    if wrong := [key for key, sign, value in pairs if not (key and sign and value)]:
        raise wrong_option(f"{wrong[0]!r} is not KEY=VALUE.", "--csv")
    return {key: _csv_value(key, value) for key, _, value in pairs} or None


def _csv_value(key: str, value: str) -> str | int | bool | list[str]:
    """Return a value with the type that pyarrow expects; the reader raises for a wrong one."""
    if key in ("skip_rows", "skip_rows_after_names", "block_size") and value.isdecimal():
        return int(value)
    if key in ("null_values", "true_values", "false_values", "column_names"):
        return list(names_in([value]))
    return {"true": True, "false": False}.get(value.lower(), value)


def check_out(
    out: Path | None,
    suffixes: Sequence[str],
    *,
    force: bool,
    hint: str = "--out",
    why: str = "",
) -> None:
    """Raise an error for a file that cannot be written, before anything is read.

    ``hint`` is the option that names it, ``why`` the reason for its suffix.
    """
    if out is None:
        return
    what = None
    if not out.name.lower().endswith(tuple(suffixes)):
        *most, last = suffixes
        which = f"{', '.join(most)} or {last}" if most else last
        what = f"{out} must end in {which}{why}."
    elif not out.parent.is_dir():
        what = f"There is no folder {out.parent}."
    elif not os.access(out.parent, os.W_OK):
        what = f"The folder {out.parent} is not writable."
    elif out.is_dir():
        what = f"{out} is a folder. Give the name of a file."
    elif out.exists() and not force:
        what = f"{out} exists already. Give another name, or use --force to replace it."
    if what:
        raise wrong_option(what, hint)
