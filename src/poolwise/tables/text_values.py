"""Texts that stand for numbers, dates, or yes and no."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from poolwise._typing import Array
from poolwise.errors import NotNumeric

Kind: TypeAlias = Literal[
    "number", "text", "date", "month/day", "day/month", "digits", "truth", "void"
]
"""What a column holds.

month/day and day/month are dates with slashes, in this order. Digits are numbers stored as
text, truth is yes or no read as 1 or 0.
"""

WORDS: dict[Kind, str] = {
    "number": "numbers",
    "digits": "numbers",
    "text": "text",
    "date": "dates",
    "month/day": "dates as month/day/year",
    "day/month": "dates as day/month/year",
    "truth": "yes or no",
}
FEW_LEVELS = 20  # texts that look like numbers: more than this are numbers, not codes
# A number and its unit: a number followed by a single capital is a code.
WITH_UNIT = re.compile(r"\s*[-+]?\d+(?:[.,]\d+)?(?![A-Z]$)\s*(\D*)")
PLAIN = re.compile(r"\s*[-+]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][-+]?\d+)?\s*")
ISO = re.compile(
    r"\s*\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\s*"
)
DAY, MONTH, YEAR = r"(?P<day>\d{1,2})", r"(?P<month>\d{1,2})", r"(?P<year>\d{4})"
CLOCK = r"(?:,? (?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d))?(?: ?(?P<half>[ap])m)?)?"
DOTTED, MONTH_FIRST, DAY_FIRST = (
    re.compile(rf"\s*{parts}{CLOCK}\s*", re.IGNORECASE)
    for parts in (rf"{DAY}\.{MONTH}\.{YEAR}", f"{MONTH}/{DAY}/{YEAR}", f"{DAY}/{MONTH}/{YEAR}")
)
TRUTH = {"yes": 1.0, "y": 1.0, "true": 1.0, "no": 0.0, "n": 0.0, "false": 0.0}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
CALENDAR = {"month": MONTHS, "weekday": WEEKDAYS}


def number_of(text: str) -> float | None:
    """Return a plain number, with a decimal point or comma; None for other texts."""
    return float(text.replace(",", ".")) if PLAIN.fullmatch(text) else None


def day_of(text: str) -> float | None:
    """Return days since 1970 of a date or timestamp, as its clock shows them; None for others.

    It is written as 2024-12-31 or 31.12.2024.
    """
    if not ISO.fullmatch(text):
        return _day_written(DOTTED, text)
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError:  # the 31st of June
        return None
    return (time.replace(tzinfo=UTC) - EPOCH).total_seconds() / 86_400.0


def _day_written(order: re.Pattern[str], text: str) -> float | None:
    if (found := order.fullmatch(text)) is None:
        return None
    half = found["half"]
    parts = {n: int(v) for n, v in found.groupdict().items() if v is not None and n != "half"}
    if half is not None:
        if not 1 <= parts["hour"] <= 12:
            return None
        parts["hour"] = parts["hour"] % 12 + 12 * (half in "pP")
    try:
        time = datetime(**parts, tzinfo=UTC)
    except ValueError:
        return None
    return (time - EPOCH).total_seconds() / 86_400.0


def truth_of(text: str) -> float | None:
    """Return 1 for yes and 0 for no, in any case; None for other texts."""
    return TRUTH.get(spelling(text))


def spelling(text: str) -> str:
    """Return a text without surrounding blanks and case."""
    return text.strip().casefold()


PARSERS: dict[Kind, Callable[[str], float | None]] = {
    "number": number_of,
    "digits": number_of,
    "date": day_of,
    "month/day": partial(_day_written, MONTH_FIRST),
    "day/month": partial(_day_written, DAY_FIRST),
    "truth": truth_of,
}
DATES: tuple[Kind, ...] = ("date", "month/day", "day/month")


def parsed(texts: Iterable[str | None], kind: Kind, name: str, where: str) -> Array:
    """Return the values that texts stand for, NaN for None; raise an error for other texts."""
    parse, given = PARSERS[kind], [*texts]
    known: dict[str | None, float | None] = {
        t: parse(t) if t is not None else None for t in dict.fromkeys(given)
    }
    if bad := [text for text, value in known.items() if value is None and text is not None]:
        raise unreadable(name, bad, kind, where)
    return np.array([known[text] for text in given], dtype=np.float64)


def unreadable(name: str, bad: Sequence[str], kind: Kind, where: str) -> NotNumeric:
    """Return the error for texts that do not stand for values of the kind of their column."""
    few = ", ".join(map(repr, sorted(bad)[:3])) + (" and so on" if len(bad) > 3 else "")
    hint = {
        **dict.fromkeys(DATES, "Write dates as 2024-12-31 and times as 2024-12-31 23:59."),
        "truth": "Write yes or no, true or false, or 1 and 0.",
    }.get(kind, "Correct them or leave them empty, or drop the column of that table.")
    what = f"of {where} holds text, and these are not {WORDS[kind]}: {few}"
    return NotNumeric.of(name, what, hint, kind="text")


def calendar(days: Array) -> dict[str, Array]:
    """Return which month and weekday each day has, counted from zero; -1 where it is missing."""
    gone = np.isnan(days)
    whole = np.floor(np.where(gone, 0.0, days)).astype(np.int64)
    month = whole.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12
    return {"month": np.where(gone, -1, month), "weekday": np.where(gone, -1, (whole + 3) % 7)}


def parts_of(name: str) -> list[str]:
    """Return the names of the text columns that a column of dates has beside its trend."""
    return [f"{name} {part}" for part in CALENDAR]


def calendar_counts(name: str, days: Array) -> dict[str, dict[str, int]]:
    """Return how often each month and weekday is seen, by the name of the part of the column."""
    counts: dict[str, dict[str, int]] = {}
    for part, at in calendar(days).items():
        seen = np.bincount(at[at >= 0], minlength=len(CALENDAR[part])).tolist()
        own = {word: n for word, n in zip(CALENDAR[part], seen, strict=True) if n}
        counts[f"{name} {part}"] = own
    return counts


def kind_of_texts(levels: Collection[str]) -> Kind:
    """Return whether all texts are dates, or all are numbers and too many for codes.

    Dates with slashes are dates only if the day is above 12 in one of them: see `is_ambiguous`.
    """
    if len(orders := _orders(levels)) == 1:
        return orders[0]
    few = len(levels) <= FEW_LEVELS
    if few or any(number_of(level) is None for level in levels) or not _one_comma(levels):
        return "text"
    return "digits"


def is_ambiguous(levels: Collection[str]) -> bool:
    """Return whether all texts are dates with slashes, and day or month may come first."""
    return len(_orders(levels)) > 1


def _orders(levels: Collection[str]) -> list[Kind]:
    """Return the ways in which all texts can be read as dates."""
    return [k for k in DATES if all(PARSERS[k](level) is not None for level in levels)]


def _one_comma(levels: Collection[str]) -> bool:
    """Return whether commas among numbers are all decimal ones, and not of thousands."""
    behind = [len(level.strip().partition(",")[2]) for level in levels if "," in level]
    points = any("." in level for level in levels)
    return not behind or (not points and any(digits != 3 for digits in behind))


def numbers_among(levels: Sequence[str]) -> list[str]:
    """Return those of many texts that are numbers, if most of them are; else an empty list.

    A number may have a unit behind it, the same as most others, or a decimal comma.
    """
    units = {level: unit for level in levels if (unit := _unit_of(level)) is not None}
    common = {unit for unit, _ in Counter(units.values()).most_common(1)}
    numbers = [level for level, unit in units.items() if unit in {"", *common}]
    return numbers if len(levels) > FEW_LEVELS and 2 * len(numbers) > len(levels) else []


def _unit_of(text: str) -> str | None:
    """Return the text behind a leading number; None if there is no number."""
    try:
        return "" if float(text) is not None else None
    except ValueError:
        found = WITH_UNIT.fullmatch(text)
        return found[1] if found else None
