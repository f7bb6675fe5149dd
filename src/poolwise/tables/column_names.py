"""What a column's name says of its values: identifiers, an index or times."""

from __future__ import annotations

import re

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
NUMBER = "0123456789_"  # at the end of person2
INDEX = {"index", "rownames", "row_names", "row.names", "rowname", "row", "rowid", "row_id"}
# Units have several rows each; a record is one row.
UNITS = (
    "account|animal|bank|client|clinic|company|customer|device|employee|farm|firm|fund|hospital|"
    "house|household|machine|member|patient|person|plant|player|product|pupil|respondent|school|"
    "sensor|site|station|store|student|subject|user|worker"
)
RECORDS = "case|item|order|record|row|transaction|unit"
KEYS = {"guid", "id", "ident", "identifier", "ids", "key", "nr", "pid", "rownames", "uid", "uuid"}
NUMBERED = re.compile(rf"({UNITS}|{RECORDS})[_. -]?(id|ids|no|nr|num|number|key)", re.IGNORECASE)
NAMES_UNITS = KEYS | {"no", "serial", *UNITS.split("|")}
TIMES = {"date", "datetime", "day", "hour", "month", "period", "quarter", "time", "timestamp"}
TIMES |= {"week", "year"}
COUNTS = TIMES | {"age", "dose", "step", "t", "trend", "x"}


def last_word(name: str) -> str:
    """Return the last word of a name, in small letters: key of order_key and of orderKey."""
    words: list[str] = WORD.findall(name)
    return words[-1].lower() if words else ""


def names_rows(name: str) -> bool:
    """Return whether a column is named like an identifier: id, order_id, userKey."""
    return last_word(name) in KEYS or bool(NUMBERED.fullmatch(name))


def names_index(name: str) -> bool:
    """Return whether a column of different values is the index of a data frame."""
    return name.lower() in INDEX


def names_units(name: str) -> bool:
    """Return whether a column of repeated values names units, each of several rows."""
    return last_word(name.rstrip(NUMBER)) in NAMES_UNITS


def names_times(name: str) -> bool:
    """Return whether a column holds times."""
    return last_word(name.rstrip(NUMBER)) in TIMES


def may_count(name: str) -> bool:
    """Return whether a column that counts rows may measure something: day, dose."""
    return last_word(name) in COUNTS
