"""Store: moments as JSON, with every bit, and every check on the way back.

A file is text with plain numbers: reading one runs no code. What it may hold is published in
``schemas/moments-1.schema.json``. Doubles are written with as many digits as it takes to read the
same double again; the integers of exact sums are written in base sixteen.
"""

from __future__ import annotations

import json
import math
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from poolwise.chunks import HEAVIEST, LARGEST
from poolwise.double_double import Array, Pair
from poolwise.errors import NotOverwritten, NotWritten, UnreadableMoments
from poolwise.exact_sums import ExactSums
from poolwise.fraction_matrix import Integers
from poolwise.plausible import flaw_of, rounding_of
from poolwise.row_sums import USUAL

FORMAT, VERSION = "poolwise moments", 1
SUFFIX = ".moments.json"
MOST_BYTES = 2**28  # of a file that is read unless told otherwise
MOST_UNITS = 2200  # no double needs a larger power of two, and none of its squares
MOST_EXACT_UNITS = 2**14  # the same for exact sums, after a hundred maps
LARGEST_HELD = 2.0 ** (USUAL + 20)  # in its unit: squares, times weights, are still finite
CLOSE = 2.0**-40  # what a tail may be of its number, or a matrix from its transpose
EQUAL = 2.0**-90  # what pairs may be from the exact sums they were rounded from

AnyPath: TypeAlias = str | os.PathLike[str]


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
    """Write a whole file or none: under another name first, which is then changed."""
    file = Path(path)
    try:
        if file.is_dir():
            raise NotWritten(str(file), "it is a folder")
        if not overwrite and file.exists():
            raise NotOverwritten(str(file))
        _replace(file, text)
    except OSError as error:
        raise NotWritten(str(file), error.strerror or str(error)) from error


def _replace(file: Path, text: str) -> None:
    draft = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    try:
        with draft.open("x", encoding="ascii", newline="\n") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)


def read(path: AnyPath, *, max_bytes: int = MOST_BYTES) -> Record:
    """Read a file and check all that it says."""
    file = Path(path)
    try:
        with file.open("rb") as source:
            content = source.read(max_bytes + 1)
    except FileNotFoundError:
        why = "there is no such file"
        raise UnreadableMoments(str(path), why, "Check its name and its folder") from None
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise UnreadableMoments(str(path), why, "Check that it is a file you may read") from None
    if len(content) > max_bytes:
        then = "If it is meant to be that large, load it with a larger max_bytes"
        raise UnreadableMoments(str(path), f"it is larger than {max_bytes:,} bytes", then)
    try:
        return record_of(content.decode("utf-8"), str(path))
    except UnicodeDecodeError:
        raise UnreadableMoments(str(path), "it is not text in UTF-8") from None


def text_of(record: Record) -> str:
    """Write a record as JSON: one key per line, and one line per row of a matrix."""
    sums = record.sums
    low, high = ([_range(v) for v in side.tolist()] for side in (record.low, record.high))
    parts = {
        "format": json.dumps(FORMAT),
        "version": json.dumps(VERSION),
        "names": json.dumps([str(n) for n in record.names]),
        "rows": json.dumps(int(record.rows)),
        "weight": _line(record.weight),
        "weight_tail": _line(record.weight_tail),
        "units": _line(record.units.tolist()),
        "mean": _line(record.mean.tolist()),
        "mean_tail": _line(record.mean_tail.tolist()),
        "low": _line(low),
        "high": _line(high),
        "scatter": _lines(record.scatter.tolist()),
        "scatter_tail": _lines(
            None if record.scatter_tail is None else record.scatter_tail.tolist()
        ),
        "sums": "null",
    }
    if sums is not None:
        gram = [[format(int(v), "x") for v in row] for row in sums.gram]
        parts["sums"] = f'{{"units": {_line(sums.units.tolist())},\n  "gram": {_lines(gram)}}}'
    return "{\n" + ",\n".join(f' "{key}": {text}' for key, text in parts.items()) + "\n}\n"


def _range(value: float) -> float | None:
    return None if math.isinf(value) else value  # of no rows


def _line(value: Any) -> str:
    return json.dumps(value, allow_nan=False)


def _lines(matrix: Sequence[Any] | None) -> str:
    if not matrix:
        return _line(matrix)
    return "[\n  " + ",\n  ".join(map(_line, matrix)) + "]"


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
        return _record(_parsed(text))
    except _Wrong as wrong:
        raise UnreadableMoments(where, *map(str, wrong.args)) from None


class _Wrong(Exception):
    """What is wrong with a file, and what to do about it unless that is the usual."""


def _parsed(text: str) -> dict[str, Any]:
    """Parse JSON: strictly, no key twice, no NaN."""
    try:
        found = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise _Wrong(f"it is not JSON (line {error.lineno}: {error.msg})") from None
    except RecursionError:
        raise _Wrong("its lists are nested too deeply") from None
    except ValueError:  # digits without end
        raise _Wrong("it holds an integer of too many digits") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise _Wrong(f'it does not say "format": "{FORMAT}"')
    version = found.get("version")
    if type(version) is not int or version < 1:
        raise _Wrong(f"its version is {_shown(version)}, and must be a whole number from 1")
    if version > VERSION:
        raise _Wrong(
            f"it is of version {version}, and this poolwise reads up to {VERSION}",
            "Install a newer poolwise",
        )
    keys = {"format", "version", *Record.__dataclass_fields__}
    if lacking := sorted(keys - found.keys()):
        raise _Wrong(f"it lacks {lacking}")
    if unknown := sorted(found.keys() - keys):
        raise _Wrong(f"it has keys that version {VERSION} does not have, {unknown[:12]}")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Wrong("it has the same key twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise _Wrong(f"it holds {name}, which is no number in JSON")


def _record(found: dict[str, Any]) -> Record:
    names = _names(found["names"])
    p, rows, weight = len(names), found["rows"], _number(found, "weight")
    if type(rows) is not int or not 0 <= rows < 2**63:
        raise _Wrong(f"rows is {_shown(rows)}, and must be a whole number, not negative")
    if not 0.0 <= weight <= HEAVIEST:
        raise _Wrong(f"the weight is {weight:g}, and must be between 0 and {HEAVIEST:g}")
    if weight > 0.0 and not rows:
        raise _Wrong(f"it has the weight {weight:g} and no rows")
    is_empty = weight == 0.0
    record = Record(
        names=names,
        rows=rows,
        weight=weight,
        weight_tail=_number(found, "weight_tail"),
        mean=_vector(found["mean"], "mean", p),
        mean_tail=_vector(found["mean_tail"], "mean_tail", p),
        scatter=_matrix(found["scatter"], "scatter", p),
        scatter_tail=(
            None
            if found["scatter_tail"] is None
            else _matrix(found["scatter_tail"], "scatter_tail", p)
        ),
        low=_ends(found["low"], "low", p, np.inf, is_empty),
        high=_ends(found["high"], "high", p, -np.inf, is_empty),
        units=_integers(found["units"], "units", p, MOST_UNITS),
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
        raise _Wrong("it has products of rows but no weight")
    if (np.isinf(record.low) != np.isinf(record.high)).any():
        raise _Wrong("a column has one end of its range but not the other")


def _check(record: Record) -> None:
    """Refuse what no rows have."""
    names, weight, S = record.names, record.weight, record.scatter
    low, high = np.ldexp(record.low, -record.units), np.ldexp(record.high, -record.units)
    size = np.maximum(np.abs(low), np.abs(high))
    _refuse(names, record.low > record.high, "the range of {0!r} ends below its beginning")
    _refuse(names, size > LARGEST_HELD, "{0!r} is held in a unit that does not suit its range")
    _refuse(names, np.abs(record.mean) > LARGEST_HELD, "the mean of {0!r} is outside of its range")
    rounding = rounding_of(weight, low, high)
    unit = np.sqrt(np.maximum(S.diagonal(), 0.0) + rounding)
    both = np.outer(unit, unit)
    tail = np.zeros_like(S) if record.scatter_tail is None else record.scatter_tail
    for matrix, room in ((S, CLOSE), (tail, CLOSE * CLOSE)):
        if (np.abs(matrix - matrix.T) > room * both).any():
            raise _Wrong("the scatter is not symmetric")
    if flaw := flaw_of(names, weight, record.mean, S, low, high, rounding):
        raise _Wrong(flaw)
    too_large = np.abs(record.mean_tail) > CLOSE * size
    _refuse(names, too_large, "the mean of {0!r} has too large a tail")
    if abs(record.weight_tail) > CLOSE * weight:
        raise _Wrong("the weight has too large a tail")
    if (np.abs(tail) > CLOSE * both).any():
        raise _Wrong("the scatter has too large a tail")
    if record.sums is not None:
        _check_sums(record, record.sums, size, both)


def _refuse(names: Sequence[str], wrong: NDArray[np.bool_], what: str) -> None:
    """Name the first column that is wrong."""
    if wrong.any():
        raise _Wrong(what.format(names[int(np.argmax(wrong))]))


def _check_sums(record: Record, sums: ExactSums, size: Array, both: Array) -> None:
    """Refuse exact sums that other numbers of the file contradict."""
    if record.scatter_tail is None:
        raise _Wrong("it has exact sums but no scatter_tail")
    if not sums.gram[-1, -1] > 0 or (sums.gram != sums.gram.T).any():
        raise _Wrong("its exact sums are not those of rows")
    try:
        weight, mean, fractions = sums.parts(record.units)
        scatter = fractions.pair()
    except OverflowError:
        raise _Wrong("its exact sums are beyond doubles") from None
    for exact, high, low, unit in (
        (weight, np.array(record.weight), np.array(record.weight_tail), np.array(record.weight)),
        (mean, record.mean, record.mean_tail, size),
        (scatter, record.scatter, record.scatter_tail, both),
    ):
        if (np.abs((exact - Pair(high, low)).high) > EQUAL * unit).any():
            raise _Wrong("its exact sums contradict its weight, mean or scatter")


def _names(found: Any) -> tuple[str, ...]:
    if not isinstance(found, list) or not all(type(n) is str for n in found):
        raise _Wrong("names is not a list of texts")
    if len(set(found)) < len(found):
        twice = sorted({n for n in found if found.count(n) > 1})
        raise _Wrong(f"it has more than one column named {twice[:12]}")
    return tuple(found)


def _number(found: dict[str, Any], key: str) -> float:
    return float(_vector([found[key]], key, 1)[0])


def _vector(found: Any, key: str, length: int) -> Array:
    values = _list(found, key, length)
    if not all(type(v) is float or type(v) is int for v in values):
        raise _Wrong(f"{key} holds something that is not a number")
    try:
        numbers = np.array(values, dtype=np.float64)
    except OverflowError:
        numbers = np.array([np.inf])
    if not np.isfinite(numbers).all():
        raise _Wrong(f"{key} holds a number beyond doubles")
    return numbers


def _matrix(found: Any, key: str, size: int) -> Array:
    rows = [_vector(row, key, size) for row in _list(found, key, size)]
    return np.array(rows).reshape(size, size)


def _ends(found: Any, key: str, length: int, of_nothing: float, is_empty: bool) -> Array:
    """Return one end of each column's range; null is that of no rows."""
    values = _list(found, key, length)
    if None in values and not is_empty:
        raise _Wrong(f"{key} holds null, and only moments without rows have no range")
    none = np.array([v is None for v in values], dtype=np.bool_)
    ends = _vector([0.0 if v is None else v for v in values], key, length)
    if (np.abs(ends) > LARGEST).any():
        raise _Wrong(f"{key} holds numbers beyond {LARGEST:g}")
    return np.where(none, of_nothing, ends)


def _integers(found: Any, key: str, length: int, most: int) -> NDArray[np.intp]:
    values = _list(found, key, length)
    if not all(type(v) is int and abs(v) <= most for v in values):
        raise _Wrong(f"{key} holds something that is not a whole number of at most {most:,}")
    return np.array(values, dtype=np.intp)


def _list(found: Any, key: str, length: int) -> list[Any]:
    if not isinstance(found, list) or len(found) != length:
        has = f"{len(found)} entries" if isinstance(found, list) else _shown(found)
        raise _Wrong(f"{key} is {has} where a list of {length} is needed")
    return found


def _sums(found: Any, p: int) -> ExactSums:
    if not isinstance(found, dict) or found.keys() != {"units", "gram"}:
        raise _Wrong('sums must have the keys "units" and "gram"')
    units = _integers(found["units"], "units of sums", p + 1, MOST_EXACT_UNITS)
    gram: Integers = np.full((p + 1, p + 1), 0, dtype=object)
    for i, row in enumerate(_list(found["gram"], "gram", p + 1)):
        gram[i] = [_hex(v) for v in _list(row, "gram", p + 1)]
    return ExactSums(gram, units)


def _hex(text: Any) -> int:
    digits = text.removeprefix("-") if type(text) is str else ""
    if not digits or not set(digits) <= set("0123456789abcdef"):
        raise _Wrong("gram holds something that is not an integer in base sixteen")
    return int(text, 16)


def _shown(value: Any) -> str:
    """Write a value in a few letters."""
    text = repr(value) if value is None or type(value) in (bool, int, float) else ""
    return text[:40] or f"a {type(value).__name__}"
