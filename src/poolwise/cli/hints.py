"""What to do about an error or a warning, in options of the command line."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping
from typing import Any

from poolwise.errors import (
    BadColumns,
    BadFile,
    BadLevels,
    BadOption,
    BadSource,
    DataWarning,
    DigitsLost,
    LeftOut,
    NotFinite,
    NotNumeric,
    NotWritten,
    PoolwiseError,
    PoolwiseWarning,
    PredictionsBounded,
    TooFewRows,
    TooFewToShare,
)

# Class, a key that `about` must have, and the hint that replaces the hint of the library. Values of
# `about` are filled in; {typed} is the name of the column as a shell takes it. Rules whose
# hint names an option that the command lacks are skipped.
HINTS: tuple[tuple[type[PoolwiseError | PoolwiseWarning], str, str], ...] = (
    (NotWritten, "existing", "Give another name, or use --force to replace it."),
    (BadFile, "suffix", "Rename it. Files of moments end in .moments.json."),
    (BadFile, "max_bytes", ""),
    (BadFile, "encoding", "It is in another encoding: set it with --csv encoding=NAME."),
    (
        BadFile,
        "column",
        "Correct it. If it stands for a missing number, use --csv null_values=TEXT,... If the "
        "column holds text, use --text {typed}, or leave it out with --drop {typed}.",
    ),
    (
        BadFile,
        "column",
        "Correct it: the column held numbers at fit. If it stands for a missing number, use --csv "
        "null_values=TEXT,...",
    ),
    (
        BadFile,
        "form",
        "Write it again if it was cut short. Rename it if it has another format. --csv sets "
        "delimiter, decimal_point and encoding of CSV.",
    ),
    (
        NotNumeric,
        "numbers",
        "If they are codes, use --text {typed}. If they are numbers, correct the others, or name "
        "the texts that stand for a missing number: --csv null_values=TEXT,...",
    ),
    (NotNumeric, "levels", "Leave it out with --drop {typed}. Or group it into fewer levels."),
    (
        NotNumeric,
        "kinds",
        "Write it alike in all files, use --text {typed}, or leave it out with --drop {typed}.",
    ),
    (
        NotNumeric,
        "kind",
        "Turn it into numbers (days since a date, for example) or text, or leave it out with "
        "--drop {typed}.",
    ),
    (NotNumeric, "kind", "Convert it to the kind of value that it held at fit."),
    (
        NotNumeric,
        "largest",
        "Leave the column out with --drop if it is an identifier. Otherwise subtract a common "
        "offset.",
    ),
    (NotNumeric, "largest", "Write it with fewer digits, as a number with a decimal point."),
    (
        NotFinite,
        "patterns",
        "Use --nulls drop, leave columns out with --drop, or impute the values first.",
    ),
    (
        NotFinite,
        "missing",
        "--nulls drop leaves such rows out; --nulls split makes a table of each pattern of missing "
        "columns.",
    ),
    (
        NotFinite,
        "transform",
        "--sqrt takes zero, but no negative values. Otherwise leave rows out.",
    ),
    (
        NotFinite,
        "response",
        "Leave such rows out of the file, or use the command without --strict.",
    ),
    (NotFinite, "response", "Leave out all rows that lack a value with --nulls drop."),
    (BadSource, "response", "Give the column the same name in all tables."),
    (BadColumns, "response", "Leave it out with --drop {typed}, or rename it."),
    (
        BadLevels,
        "unseen",
        "Map them to a known level, or use --no-strict to predict such rows with the mean effect "
        "of the column.",
    ),
    (
        TooFewRows,
        "missing",
        "Every column of the recent table needs a value in some row. Leave columns out with "
        "--drop.",
    ),
    (TooFewRows, "rows", "The recent table needs rows."),
    (TooFewRows, "planned", "Collect more rows. poolwise fit says what history does today."),
    (
        TooFewToShare,
        "min_rows",
        "Add rows, leave the column out with --drop, or use a smaller --min-rows.",
    ),
    (LeftOut, "dropped", "--nulls split uses the rows that lack a feature."),
    (DataWarning, "groups", "Hold out whole groups with --group {typed}."),
    (DataWarning, "time", "Test on later rows with --time {typed}."),
    (DataWarning, "swapped", "Are they swapped? History comes first, the recent table last."),
    (DataWarning, "source", "Other units, or scaled in one table only?"),
    (DigitsLost, "precision", "Use --precision {precision}."),
    (PredictionsBounded, "bounds", "Check the columns of these rows."),
)
OPTIONS = {  # argument of the library -> option of the command line, where their names differ
    "columns": "features",
    "coverage": "interval",
    "cv": "folds",
    "min_rows": "min-rows",
    "n_jobs": "jobs",
    "random_state": "seed",
    "texts": "text",
}


def message_and_hint(
    problem: PoolwiseError | PoolwiseWarning, lacks: Collection[str] = ()
) -> tuple[str, str]:
    """Return what is wrong, and what to do about it with a command that ``lacks`` some options."""
    about = problem.about
    if faults := about.get("faults"):
        first, *_ = problem.message.splitlines()
        each = (" ".join(message_and_hint(fault, lacks)).rstrip() for fault in faults)
        return "\n".join([first, *(f"- {line}" for line in each)]), problem.hint
    if isinstance(problem, BadOption) and "option" in about:
        option = OPTIONS.get(about["option"], about["option"])
        value = f"--{option} {_typed(about['value'])}"
        return f"{value} is not possible.", problem.hint
    for kind, key, hint in HINTS:
        if isinstance(problem, kind) and key in about and not any(o in hint for o in lacks):
            values = {**about, "typed": _typed(about.get("column", "NAME"))}
            return problem.message, hint.format_map(values)
    return problem.message, problem.hint


def as_typed(value: Any, cautions: Collection[PoolwiseWarning]) -> Any:
    """Replace texts of warnings in data by texts that name command-line options."""
    typed = {str(caution): " ".join(message_and_hint(caution)).rstrip() for caution in cautions}

    def replaced(value: Any) -> Any:
        if isinstance(value, str):
            return typed.get(value, value)
        if isinstance(value, Mapping):
            return {key: replaced(item) for key, item in value.items()}
        return [*map(replaced, value)] if isinstance(value, list | tuple) else value

    return replaced(value)


def _typed(value: object) -> str:
    parts = value if isinstance(value, list | tuple) else [value]
    return shlex.quote(",".join(map(str, parts)))
