"""Store: moments as JSON, with every bit, and every check on the way back.

A file is text with plain numbers: reading one runs no code. What it may hold is published in
``schemas/moments-1.schema.json``. Doubles are written with as many digits as it takes to read the
same double again; the integers of exact sums are written in base sixteen.
"""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from poolwise.chunks import HEAVIEST, LARGEST
from poolwise.double_double import Array
from poolwise.errors import UnreadableMoments
from poolwise.exact_sums import ExactSums
from poolwise.fraction_matrix import Integers
from poolwise.moments_record import Record, check_empty, check_record
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


def is_moments_path(thing: object) -> bool:
    """Say whether something is a path of moments, by how it ends."""
    return isinstance(thing, str | os.PathLike) and str(os.fspath(thing)).lower().endswith(SUFFIX)


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
            check_empty(record)
        else:
            check_record(record)
    return record


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
