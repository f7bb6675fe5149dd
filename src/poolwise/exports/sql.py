"""SQL: a fitted model as one expression over the columns of a table.

Names and texts come from data and may look like SQL: they are quoted by the rules of each dialect,
and what a dialect cannot quote or tell apart is refused. Doubles are written with 17 digits.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from poolwise.errors import BadOption, CannotExport
from poolwise.exports.line import Line, NumberTerm, TextTerm, is_unicode
from poolwise.wording import listed

TOGETHER = 100  # terms in one bracket: engines refuse expressions that are nested too deeply


def expression(line: Line, dialect: str) -> str:
    """Return an expression that a database evaluates to the prediction.

    It is NULL where a number is missing or no number, and where a text is missing or no level,
    unless texts that are no level are ignored.

    Parameters
    ----------
    line : Line
        The model.
    dialect : {"duckdb", "sqlite"}
        Whose SQL.
    """
    if dialect not in DIALECTS:
        raise BadOption("dialect", dialect, f"one of {listed([*DIALECTS])}")
    _check(line)
    spoken = DIALECTS[dialect]
    terms = [_number(line.level), *(_term(term, spoken) for term in line.terms)]
    while len(terms) > TOGETHER:
        parts = [terms[k : k + TOGETHER] for k in range(0, len(terms), TOGETHER)]
        terms = [_sum(part) for part in parts]
    total = _sum(terms)
    if line.bounds is None:
        return total
    return spoken.bounded(total, *line.bounds)


@dataclass(frozen=True)
class Dialect:
    """How one engine says what we mean.

    Parameters
    ----------
    number, text : callable
        From the name of a column to its value as a double or a text; NULL where it is none.
    literal : callable
        From a text to what compares with such a value.
    bounded : callable
        From an expression and two bounds to the expression held between them.
    """

    number: Callable[[str], str]
    text: Callable[[str], str]
    literal: Callable[[str], str]
    bounded: Callable[[str, float, float], str]


def _duckdb_bounded(total: str, low: float, high: float) -> str:
    """Hold a number between bounds; NaN, which DuckDB counts as the largest number, stays one."""
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
    """Return a number; SQLite would count with a text as well, as zero."""
    column = _doubled(name, "`")
    return f"CASE WHEN typeof({column}) IN ('integer', 'real') THEN {column} END"


DIALECTS = {
    # Bytes, because a text of DuckDB may have a collation that takes different texts for the same.
    "duckdb": Dialect(
        number=lambda name: f"CAST({_doubled(name, chr(34))} AS DOUBLE)",
        text=lambda name: f"encode(CAST({_doubled(name, chr(34))} AS VARCHAR))",
        literal=lambda text: f"encode({_doubled(text, chr(39))})",
        bounded=_duckdb_bounded,
    ),
    # Backticks, because SQLite takes "a name" that is no column for a text.
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
    if term.ignores_unseen:
        column = f"CASE {value} {' '.join(cases)} ELSE {_number(0.0)} END"
        return f"CASE WHEN {value} IS NOT NULL THEN {column} END"
    return f"CASE {value} {' '.join(cases)} END"


def _sum(terms: Sequence[str]) -> str:
    return "(" + "\n + ".join(terms) + ")"


def _number(value: float) -> str:
    """Write a double: 17 digits, with an exponent, in brackets if negative (-- is a comment)."""
    text = f"{value:.16e}"
    return f"({text})" if value < 0.0 or text[0] == "-" else text


def _check(line: Line) -> None:
    """Refuse names and texts that SQL cannot say."""
    for term in line.terms:
        texts = [term.name, *(term.adds if isinstance(term, TextTerm) else ())]
        if bad := [t for t in texts if "\0" in t or not is_unicode(t)]:
            raise CannotExport(
                "SQL",
                f"{bad[0]!r}, of column {term.name!r}, has a character that SQL has not",
                "Rename it and fit again",
            )
        if not term.name:
            then = "Give it a name and fit again"
            raise CannotExport("SQL", "a column has the empty name", then)
    alike = Counter(term.name.casefold() for term in line.terms)
    if same := [term.name for term in line.terms if alike[term.name.casefold()] > 1]:
        raise CannotExport(
            "SQL",
            f"the columns {listed(same)} differ by case alone, which SQL does not tell apart",
            "Rename them and fit again",
        )
