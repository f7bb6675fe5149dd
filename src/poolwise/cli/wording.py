"""Wording: what the library says to programmers, said to those who type commands."""

from __future__ import annotations

import ast
import re
import shlex

# What a message advises in Python -> the same on the command line; "" where it does not apply.
PHRASES = {
    'PooledRegressor(unseen_level="ignore")': "--unseen-level ignore",
    ", or say Files(..., format='csv'), 'parquet' or 'feather'": "",
    "rename it or say Files(..., format=...)": "rename it",
    "Files(..., csv=...)": "--csv",
    "which Files(..., weights=...) names": "which --weights names",
    'Files(..., nulls="drop")': "--nulls drop",
    "Files(..., columns=...)": "--features",
    'nulls="drop"': "--nulls drop",
    'nulls="split"': "--nulls split",
    " In cross-validation of stacked rows, split with poolwise.TargetSplit.": "",
    " (0 sample(s) do, a minimum of 1 is required)": "",
    "saved with moments=False": "saved with --no-moments",
    ", or switch the bounds off with method=BayesPooling(bounds=None)": "",
    " If it is meant to be that large, load it with a larger max_bytes.": "",
    "Give (X, y), or name the response as the source does: by the name of y, or by "
    "PooledRegressor(response=...)": "Give the column the same name in all tables",
    "with PooledRegressor.save": "with poolwise fit",
    "with Moments.save": "with poolwise moments",
    " (A Pipeline transforms X and not sources: there, stack the rows with NaN instead.)": "",
    "diagnose, which is about today": "poolwise fit, whose verdict is about today",
    "Give another name, or overwrite=True (--force on the command line) to": (
        "Give another name, or --force to"
    ),
    "a mapping by the words of pyarrow.csv's options": (
        "a word of pyarrow.csv's options, such as delimiter, decimal_point or encoding"
    ),
    ", with Moments.affine": "",
    "or to a categorical type if they are codes": "or name it with --text if they are codes",
    ": 0 feature(s), a minimum of 1 is required": "",
    "csv={'null_values': [...]}": "--csv null_values=NAME,...",
    ".select(names)": "--drop",
    "a smaller min_rows": "a smaller --min-rows",
}
OPTIONS = {  # arguments that a message gives a value
    "nulls": "--nulls",
    "texts": "--text",
    "drop": "--drop",
    "columns": "--features",
    "weights": "--weights",
    "csv": "--csv",
    "checkpoint": "--checkpoint",
    "min_rows": "--min-rows",
}
FILES = re.compile(r"Files\(\.\.\., (.*?)\)(?=[\s,.;]|$)")
VALUE = r"""(\.\.\.|\d+|'[^']*'|"[^"]*"|\[(?:'[^']*'|"[^"]*"|, )+\])"""
GIVEN = re.compile(rf"\b({'|'.join(OPTIONS)})={VALUE}")
BY_FILTER = re.compile(r"leave them out with Files\(\.\.\., filter=.*?\)\), or (?=leave out all)")
QUOTED_OR_X = re.compile(r"'[^']*'|\bX\b")
PRECISION = re.compile(r"precision='(\w+)'")
OPTION = re.compile(r"^(\w+)=(.*?) is not possible\.", re.DOTALL)  # as BadOption begins
NAMES = {"texts": "text", "random_state": "seed", "coverage": "interval", "min_rows": "min-rows"}


def as_typed(message: str) -> str:
    """Return a message with options of the command line where it has arguments of Python.

    Parameters
    ----------
    message : str
        What an error or a warning of the library says.
    """
    said = BY_FILTER.sub("", message)
    for phrase, typed in PHRASES.items():
        said = said.replace(phrase, typed)
    said = GIVEN.sub(_option, FILES.sub(r"\1", said))
    said = QUOTED_OR_X.sub(_table, said)
    said = PRECISION.sub(r"--precision \1", said)
    return OPTION.sub(lambda m: f"--{NAMES.get(m[1], m[1])} {m[2]} is not possible.", said)


def _table(found: re.Match[str]) -> str:
    """Return a quoted name as it is, and another word for the table that programs call X."""
    if found[0] != "X":
        return found[0]
    return "the table" if found.start() else "The table"


def _option(found: re.Match[str]) -> str:
    """Return an argument of Python and its value as they are typed."""
    option, value = OPTIONS[found[1]], found[2]
    if value == "...":
        return option
    given = ast.literal_eval(value)
    typed = ",".join(given) if isinstance(given, list) else str(given)
    return f"{option} {shlex.quote(typed)}"
