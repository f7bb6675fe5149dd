"""As typed: what the library says in Python, in the options of ``poolwise moments``."""

from __future__ import annotations

import ast
import re
import shlex

OPTIONS = {
    "nulls": "--nulls",
    "texts": "--text",
    "drop": "--drop",
    "columns": "--columns",
    "weights": "--weights",
    "csv": "--csv",
    "checkpoint": "--checkpoint",
    "min_rows": "--min-rows",
}
FILES = re.compile(r"Files\(\.\.\., (.*?)\)(?=[\s,.;]|$)")
VALUE = r"""(\.\.\.|\d+|'[^']*'|"[^"]*"|\[(?:'[^']*'|"[^"]*"|, )+\])"""
GIVEN = re.compile(rf"\b({'|'.join(OPTIONS)})={VALUE}")
WORDS = {  # what no option does, and what is called otherwise
    "rename it or say Files(..., format=...)": "rename it",
    ", or say Files(..., format='csv'), 'parquet' or 'feather'": "",
    "csv={'null_values': [...]}": "--csv null_values=NAME,...",
    ".select(names)": "--drop",
    "a smaller min_rows": "a smaller --min-rows",
}
BY_FILTER = re.compile(r"leave them out with Files\(\.\.\., filter=.*?\)\), or (?=leave out all)")


def as_typed(message: object) -> str:
    """Return a message in which the library's arguments are options."""
    text = BY_FILTER.sub("", str(message))
    for python, typed in WORDS.items():
        text = text.replace(python, typed)
    return GIVEN.sub(_option, FILES.sub(r"\1", text))


def _option(found: re.Match[str]) -> str:
    option, value = OPTIONS[found[1]], found[2]
    if value == "...":
        return option
    given = ast.literal_eval(value)
    typed = ",".join(given) if isinstance(given, list) else str(given)
    return f"{option} {shlex.quote(typed)}"
