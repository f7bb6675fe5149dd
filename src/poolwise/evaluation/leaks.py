"""Columns by which rows belong together, so that random folds test on rows much like those seen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from poolwise.errors import DataWarning
from poolwise.tables.frames import FrameTable
from poolwise.tables.memory import Table

# The last word of the name of a column of identifiers, or of times.
IDENTIFIERS = re.compile(
    "account|animal|bank|client|clinic|company|customer|device|employee|farm|firm|fund|guid|"
    "hospital|house|household|id|ident|identifier|ids|key|machine|member|no|nr|patient|person|plant|"
    "player|product|pupil|respondent|school|sensor|serial|site|station|store|student|subject|user|"
    "uuid|worker"
)
TIMES = re.compile("date|datetime|day|hour|month|time|timestamp|week|year")
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
FEW, MANY = 10, 20  # values of a column with such a name, and of one without
MOST_ROWS = 20.0  # per value of a column without such a name
FEW_ROWS = 4.0  # per value of a text: it names units
EVEN = 0.8  # share of the numbers that have equally many rows, as in a panel


def leaks(table: Table) -> Iterator[DataWarning]:
    """Yield a warning for a column that repeats identifiers, and for one that orders rows in time.

    Random folds then test on persons, houses or days that were seen in training.
    """
    if not isinstance(table, FrameTable) or not table.rows:
        return
    repeated = {name: repeated_values(name, table.frame[name]) for name in table.names}
    name = max(repeated, key=lambda n: repeated[n], default="")
    if count := repeated.get(name):
        yield DataWarning(
            f"The {count:,} values of {name!r} repeat in the recent rows: rows of the same {name} "
            f"are in training and test sets, so the error for a new {name} is likely larger than "
            "measured.",
            f"Hold out whole groups: groups={name!r}.",
            column=name,
            groups=name,
        )
    times = [n for n in table.names if orders_rows(n, table.frame[n])]
    if times:
        name = max(times, key=lambda n: table.frame[n].n_unique())
        yield DataWarning(
            f"{name!r} holds the times of the recent rows, and training and test sets mix earlier "
            "and later ones: the error for later rows may be larger than measured.",
            f"Test on later rows: time={name!r}.",
            column=name,
            time=name,
        )


def repeated_values(name: str, column: nw.Series[Any]) -> int:
    """Return the number of different values if they look like identifiers that repeat, else 0."""
    values = _known(column)
    if values is None or TIMES.fullmatch(_last_word(name)) or orders_rows(name, column):
        return 0
    found, counts = np.unique(values, return_counts=True)
    if len(found) < FEW or 2 * counts[counts > 1].sum() < len(values):
        return 0
    if IDENTIFIERS.fullmatch(_last_word(name)):
        return len(found)
    if len(found) < MANY or len(values) > MOST_ROWS * len(found):
        return 0
    if values.dtype.kind in "OU":  # codes have digits, categories have not
        codes = sum(any(c.isdigit() for c in text) for text in found)
        is_name = len(values) <= FEW_ROWS * len(found)
        return len(found) if is_name or 2 * codes > len(found) else 0
    often = np.bincount(counts).argmax()
    is_panel = often > 1 and (counts == often).mean() >= EVEN
    is_sorted = np.count_nonzero(values[1:] != values[:-1]) == len(found) - 1
    return len(found) if is_panel and (is_sorted or np.ptp(found) > 2 * len(found)) else 0


def orders_rows(name: str, column: nw.Series[Any]) -> bool:
    """Return whether a column holds dates, or has the name of times and sorts the rows."""
    values = _known(column)
    if values is None or len(np.unique(values)) < 3:
        return False
    if values.dtype.kind == "M":
        return True
    if values.dtype.kind in "OU":
        return all(re.match(r"\d{4}-\d\d-\d\d", text) for text in values)
    steps = np.diff(values)
    is_sorted = bool((steps >= 0.0).all() or (steps <= 0.0).all())
    return is_sorted and TIMES.fullmatch(_last_word(name)) is not None


def _known(column: nw.Series[Any]) -> NDArray[np.generic] | None:
    """Return whole numbers, texts or dates without gaps; None for any other column."""
    kind = column.dtype
    if kind in (nw.String, nw.Categorical, nw.Enum):
        return np.array(column.drop_nulls().cast(nw.String).to_list(), dtype=np.str_)
    if kind in (nw.Date, nw.Datetime):
        return np.asarray(column.drop_nulls().to_numpy(), dtype="datetime64[us]")
    if not kind.is_numeric():
        return None
    values = np.asarray(column.drop_nulls().cast(nw.Float64).to_numpy())
    values = values[~np.isnan(values)]
    return values if len(values) and (values == np.floor(values)).all() else None


def _last_word(name: str) -> str:
    words = WORD.findall(name)
    return words[-1].lower() if words else ""
