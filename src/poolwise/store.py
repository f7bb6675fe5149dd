"""Store: moments as JSON, with every bit, and every check on the way back.

A file is text with plain numbers: reading one runs no code. What it may hold is published in
``schemas/moments-1.schema.json``. Doubles are written with as many digits as it takes to read the
same double again; the integers of exact sums are written in base sixteen.
"""

from __future__ import annotations

import math
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poolwise.chunks import HEAVIEST, LARGEST
from poolwise.double_double import Array, Pair
from poolwise.errors import NotOverwritten, NotWritten, UnreadableMoments
from poolwise.exact_sums import ExactSums
from poolwise.fraction_matrix import Integers
from poolwise.plausible import flaw_of, rounding_of
from poolwise.row_sums import USUAL
from poolwise.strict_json import (
    MOST_BYTES,
    AnyPath,
    Wrong,
    document,
    entries,
    integers,
    joined,
    line,
    lines,
    matrix,
    names,
    number,
    parsed,
    shown,
    text_in,
    vector,
)

FORMAT, VERSION = "poolwise moments", 1
SUFFIX = ".moments.json"
MOST_UNITS = 2200  # no double needs a larger power of two, and none of its squares
MOST_EXACT_UNITS = 2**14  # the same for exact sums, after a hundred maps
LARGEST_HELD = 2.0 ** (USUAL + 20)  # in its unit: squares, times weights, are still finite
CLOSE = 2.0**-40  # what a tail may be of its number, or a matrix from its transpose
EQUAL = 2.0**-90  # what pairs may be from the exact sums they were rounded from


@dataclass(frozen=True, eq=False)
class Record:
    """The plain numbers of moments.

    Parameters
    ----------
    names, rows, weight, weight_tail, mean, mean_tail, low, high, units, sums
        As in :class:`poolwise.Moments`.
    scatter : array of shape (p, p)
        The scatter, rounded to double.
    scatter_tail : array of shape (p, p) or None
        What rounding took from it, where that is kept.
    """

    names: tuple[str, ...]
    rows: int
    weight: float
    weight_tail: float
    mean: Array
    mean_tail: Array
    scatter: Array
    scatter_tail: Array | None
    low: Array
    high: Array
    units: NDArray[np.intp]
    sums: ExactSums | None = None


def is_moments_path(thing: object) -> bool:
    """Say whether something is a path of moments, by how it ends."""
    return isinstance(thing, str | os.PathLike) and str(os.fspath(thing)).lower().endswith(SUFFIX)


def write(path: AnyPath, text: str, *, overwrite: bool) -> None:
    """Write a whole text or none."""
    with (
        drafted(path, overwrite=overwrite) as draft,
        draft.open("x", encoding="ascii", newline="\n") as out,
    ):
        out.write(text)


@contextmanager
def drafted(path: AnyPath, *, overwrite: bool) -> Iterator[Path]:
    """Give another name to write to, which becomes the file's when all is written.

    Parameters
    ----------
    path : str or path
        The file, which is there whole in the end or, after an error, as it was.
    overwrite : bool
        Whether a file of that name may be replaced.
    """
    file = Path(path)
    draft = file.with_name(f".{secrets.token_hex(8)}.{file.name[-100:]}")
    try:
        if file.is_dir():
            raise NotWritten(str(file), "it is a folder")
        if not overwrite and file.exists():
            raise NotOverwritten(str(file))
        yield draft
        with draft.open("rb+") as written:
            os.fsync(written.fileno())
        draft.replace(file)
    except OSError as error:
        raise NotWritten(str(file), error.strerror or str(error)) from error
    finally:
        draft.unlink(missing_ok=True)


def read(path: AnyPath, *, max_bytes: int = MOST_BYTES) -> Record:
    """Read a file and check all that it says."""
    try:
        text = text_in(path, max_bytes)
    except Wrong as wrong:
        raise UnreadableMoments(str(path), *map(str, wrong.args)) from None
    return record_of(text, str(path))


def text_of(record: Record) -> str:
    """Write a record as JSON: one key per line, and one line per row of a matrix."""
    sums = record.sums
    low, high = ([_range(v) for v in side.tolist()] for side in (record.low, record.high))
    parts = {
        "format": line(FORMAT),
        "version": line(VERSION),
        "names": line([str(n) for n in record.names]),
        "rows": line(int(record.rows)),
        "weight": line(record.weight),
        "weight_tail": line(record.weight_tail),
        "units": line(record.units.tolist()),
        "mean": line(record.mean.tolist()),
        "mean_tail": line(record.mean_tail.tolist()),
        "low": line(low),
        "high": line(high),
        "scatter": lines(record.scatter.tolist()),
        "scatter_tail": lines(
            None if record.scatter_tail is None else record.scatter_tail.tolist()
        ),
        "sums": "null",
    }
    if sums is not None:
        gram = [[format(int(v), "x") for v in row] for row in sums.gram]
        parts["sums"] = f'{{"units": {line(sums.units.tolist())},\n  "gram": {lines(gram)}}}'
    return joined(parts) + "\n"


def _range(value: float) -> float | None:
    return None if math.isinf(value) else value  # of no rows


def record_of(text: str, where: str) -> Record:
    """Read JSON as a record, and refuse whatever no moments of rows can be.

    Parameters
    ----------
    text : str
        The JSON.
    where : str
        What to call it in an error.
    """
    try:
        return record_in(parsed(text))
    except Wrong as wrong:
        raise UnreadableMoments(where, *map(str, wrong.args)) from None


def record_in(found: Any) -> Record:
    """Return the record that parsed JSON holds, or raise what is `Wrong` with it."""
    found = document(found, FORMAT, VERSION, Record.__dataclass_fields__)
    columns = names(found["names"], "names")
    p, rows, weight = len(columns), found["rows"], number(found["weight"], "weight")
    if type(rows) is not int or not 0 <= rows < 2**63:
        raise Wrong(f"rows is {shown(rows)}, and must be a whole number, not negative")
    if not 0.0 <= weight <= HEAVIEST:
        raise Wrong(f"the weight is {weight:g}, and must be between 0 and {HEAVIEST:g}")
    if weight > 0.0 and not rows:
        raise Wrong(f"it has the weight {weight:g} and no rows")
    is_empty = weight == 0.0
    record = Record(
        names=columns,
        rows=rows,
        weight=weight,
        weight_tail=number(found["weight_tail"], "weight_tail"),
        mean=vector(found["mean"], "mean", p),
        mean_tail=vector(found["mean_tail"], "mean_tail", p),
        scatter=matrix(found["scatter"], "scatter", p),
        scatter_tail=(
            None
            if found["scatter_tail"] is None
            else matrix(found["scatter_tail"], "scatter_tail", p)
        ),
        low=_ends(found["low"], "low", p, np.inf, is_empty),
        high=_ends(found["high"], "high", p, -np.inf, is_empty),
        units=integers(found["units"], "units", p, MOST_UNITS),
        sums=None if found["sums"] is None else _sums(found["sums"], p),
    )
    with np.errstate(over="ignore", under="ignore"):
        if is_empty:
            _check_empty(record)
        else:
            _check(record)
    return record


def _check_empty(record: Record) -> None:
    """Refuse products of no rows."""
    tail = 0.0 if record.scatter_tail is None else record.scatter_tail
    if record.scatter.any() or np.any(tail) or record.weight_tail or record.sums is not None:
        raise Wrong("it has products of rows but no weight")
    if (np.isinf(record.low) != np.isinf(record.high)).any():
        raise Wrong("a column has one end of its range but not the other")


def _check(record: Record) -> None:
    """Refuse what no rows have."""
    columns, weight, S = record.names, record.weight, record.scatter
    low, high = np.ldexp(record.low, -record.units), np.ldexp(record.high, -record.units)
    size = np.maximum(np.abs(low), np.abs(high))
    _refuse(columns, record.low > record.high, "the range of {0!r} ends below its beginning")
    _refuse(columns, size > LARGEST_HELD, "{0!r} is held in a unit that does not suit its range")
    _refuse(
        columns, np.abs(record.mean) > LARGEST_HELD, "the mean of {0!r} is outside of its range"
    )
    rounding = rounding_of(weight, low, high)
    unit = np.sqrt(np.maximum(S.diagonal(), 0.0) + rounding)
    both = np.outer(unit, unit)
    tail = np.zeros_like(S) if record.scatter_tail is None else record.scatter_tail
    for part, room in ((S, CLOSE), (tail, CLOSE * CLOSE)):
        if (np.abs(part - part.T) > room * both).any():
            raise Wrong("the scatter is not symmetric")
    if flaw := flaw_of(columns, weight, record.mean, S, low, high, rounding):
        raise Wrong(flaw)
    too_large = np.abs(record.mean_tail) > CLOSE * size
    _refuse(columns, too_large, "the mean of {0!r} has too large a tail")
    if abs(record.weight_tail) > CLOSE * weight:
        raise Wrong("the weight has too large a tail")
    if (np.abs(tail) > CLOSE * both).any():
        raise Wrong("the scatter has too large a tail")
    if record.sums is not None:
        _check_sums(record, record.sums, size, both)


def _refuse(columns: Sequence[str], wrong: NDArray[np.bool_], what: str) -> None:
    """Name the first column that is wrong."""
    if wrong.any():
        raise Wrong(what.format(columns[int(np.argmax(wrong))]))


def _check_sums(record: Record, sums: ExactSums, size: Array, both: Array) -> None:
    """Refuse exact sums that other numbers of the file contradict."""
    if record.scatter_tail is None:
        raise Wrong("it has exact sums but no scatter_tail")
    if not sums.gram[-1, -1] > 0 or (sums.gram != sums.gram.T).any():
        raise Wrong("its exact sums are not those of rows")
    try:
        weight, mean, fractions = sums.parts(record.units)
        scatter = fractions.pair()
    except OverflowError:
        raise Wrong("its exact sums are beyond doubles") from None
    for exact, high, low, unit in (
        (weight, np.array(record.weight), np.array(record.weight_tail), np.array(record.weight)),
        (mean, record.mean, record.mean_tail, size),
        (scatter, record.scatter, record.scatter_tail, both),
    ):
        if (np.abs((exact - Pair(high, low)).high) > EQUAL * unit).any():
            raise Wrong("its exact sums contradict its weight, mean or scatter")


def _ends(found: Any, key: str, length: int, of_nothing: float, is_empty: bool) -> Array:
    """Return one end of each column's range; null is that of no rows."""
    values = entries(found, key, length)
    if None in values and not is_empty:
        raise Wrong(f"{key} holds null, and only moments without rows have no range")
    none = np.array([v is None for v in values], dtype=np.bool_)
    ends = vector([0.0 if v is None else v for v in values], key, length)
    if (np.abs(ends) > LARGEST).any():
        raise Wrong(f"{key} holds numbers beyond {LARGEST:g}")
    return np.where(none, of_nothing, ends)


def _sums(found: Any, p: int) -> ExactSums:
    if not isinstance(found, dict) or found.keys() != {"units", "gram"}:
        raise Wrong('sums must have the keys "units" and "gram"')
    units = integers(found["units"], "units of sums", p + 1, MOST_EXACT_UNITS)
    gram: Integers = np.full((p + 1, p + 1), 0, dtype=object)
    for i, row in enumerate(entries(found["gram"], "gram", p + 1)):
        gram[i] = [_hex(v) for v in entries(row, "gram", p + 1)]
    return ExactSums(gram, units)


def _hex(text: Any) -> int:
    digits = text.removeprefix("-") if type(text) is str else ""
    if not digits or not set(digits) <= set("0123456789abcdef"):
        raise Wrong("gram holds something that is not an integer in base sixteen")
    return int(text, 16)
