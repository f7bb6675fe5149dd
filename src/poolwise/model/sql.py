"""A fitted model as one SQL expression over the columns of a table.

Names and texts come from data and may look like SQL: they are quoted by the rules of each dialect.
Names that a dialect cannot quote or distinguish raise an error. Doubles have 17 digits.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from poolwise.errors import BadOption, NotWritten
from poolwise.model.exports import Line, NumberTerm, TextTerm, is_unicode
from poolwise.wording import listed

NOT_SQL = "The model cannot be written as SQL"
TOGETHER = 100  # terms in one bracket: engines limit how deeply expressions are nested


def expression(line: Line, dialect: str) -> str:
    """Return an expression that a database evaluates to the prediction.

    It is NULL where a number is missing or not a number, and where a text is missing or not a
    level of a strict model.
    """
    if dialect not in DIALECTS:
        raise BadOption.of("dialect", dialect, f"one of {listed([*DIALECTS])}")
    _check(line)
    spoken = DIALECTS[dialect]
    terms = [_number(line.level), *(_term(term, spoken) for term in line.terms)]
    while len(terms) > TOGETHER:
        parts = [terms[k : k + TOGETHER] for k in range(0, len(terms), TOGETHER)]
        terms = [_sum(part) for part in parts]
    total = _sum(terms)
    if line.bounds is not None:
        total = spoken.bounded(total, *line.bounds)
    if line.curve == "log":
        return f"exp({total})"
    return f"(pow({total}, 2) + {_number(line.adds)})" if line.curve else total


@dataclass(frozen=True)
class Dialect:
    """SQL of one engine, as text."""

    number: Callable[[str], str]  # a column as a double; NULL where it is not a number
    text: Callable[[str], str]  # a column as a text
    literal: Callable[[str], str]  # a text to compare with such a column
    bounded: Callable[[str, float, float], str]  # an expression, held between two bounds


def _duckdb_bounded(total: str, low: float, high: float) -> str:
    """Clip a number to bounds; NaN, which DuckDB orders above all numbers, stays NaN."""
    cases = []
    if math.isfinite(low):
        cases.append(f"WHEN {total} < {_number(low)} THEN {_number(low)}")
    if math.isfinite(high):
        above = f"BETWEEN {_number(high)} AND {_number(sys.float_info.max)}"
        cases.append(f"WHEN {total} {above} THEN {_number(high)}")
    return f"CASE {' '.join(cases)} ELSE {total} END" if cases else total


def _sqlite_bounded(total: str, low: float, high: float) -> str:
    if math.isfinite(high):
        total = f"min({total}, {_number(high)})"
    if math.isfinite(low):
        total = f"max({total}, {_number(low)})"
    return total


def _doubled(text: str, quote: str) -> str:
    return quote + text.replace(quote, 2 * quote) + quote


def _sqlite_number(name: str) -> str:
    """Return a number, or NULL: SQLite would compute with a text as zero."""
    column = _doubled(name, "`")
    return f"CASE WHEN typeof({column}) IN ('integer', 'real') THEN {column} END"


DIALECTS = {
    # Bytes, because a collation of DuckDB may treat different texts as equal.
    "duckdb": Dialect(
        number=lambda name: f"CAST({_doubled(name, chr(34))} AS DOUBLE)",
        text=lambda name: f"encode(CAST({_doubled(name, chr(34))} AS VARCHAR))",
        literal=lambda text: f"encode({_doubled(text, chr(39))})",
        bounded=_duckdb_bounded,
    ),
    # Backticks, because SQLite reads "a name" as a text if no column has it.
    "sqlite": Dialect(
        number=_sqlite_number,
        text=lambda name: f"CAST({_doubled(name, '`')} AS TEXT) COLLATE BINARY",
        literal=lambda text: _doubled(text, "'"),
        bounded=_sqlite_bounded,
    ),
}


def _term(term: NumberTerm | TextTerm, spoken: Dialect) -> str:
    if isinstance(term, NumberTerm):
        step = f"({spoken.number(term.name)} - {_number(term.centre)})"
        return f"{_number(term.coef)} * {step}"
    value = spoken.text(term.name)
    cases = [f"WHEN {spoken.literal(t)} THEN {_number(add)}" for t, add in term.adds.items()]
    if term.unseen is not None:
        column = f"CASE {value} {' '.join(cases)} ELSE {_number(term.unseen)} END"
        return f"CASE WHEN {value} IS NOT NULL THEN {column} END"
    return f"CASE {value} {' '.join(cases)} END"


def _sum(terms: Sequence[str]) -> str:
    return "(" + "\n + ".join(terms) + ")"


def _number(value: float) -> str:
    """Write a double: 17 digits, with an exponent, in brackets if negative (-- is a comment)."""
    text = f"{value:.16e}"
    return f"({text})" if value < 0.0 or text[0] == "-" else text


def _check(line: Line) -> None:
    """Raise an error for names and texts that SQL cannot express."""
    for term in line.terms:
        texts = [term.name, *(term.adds if isinstance(term, TextTerm) else ())]
        if bad := [t for t in texts if "\0" in t or not is_unicode(t)]:
            why = f"{bad[0]!r}, of column {term.name!r}, has a character that SQL does not allow"
            raise NotWritten(f"{NOT_SQL}: {why}.", "Rename it and fit again.")
        if not term.name:
            why = "the name of a column is empty"
            raise NotWritten(f"{NOT_SQL}: {why}.", "Give it a name and fit again.")
    alike = Counter(term.name.casefold() for term in line.terms)
    if same := [term.name for term in line.terms if alike[term.name.casefold()] > 1]:
        why = f"the columns {listed(same)} differ by case alone, which SQL does not distinguish"
        raise NotWritten(f"{NOT_SQL}: {why}.", "Rename them and fit again.")
