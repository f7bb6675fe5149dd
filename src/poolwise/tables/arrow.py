"""The kind of values in an Arrow column, and its values as doubles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array
from poolwise.errors import NotNumeric
from poolwise.numerics.chunks import check_integers
from poolwise.tables.encoding import Column
from poolwise.tables.text_values import DATES, PARSERS, Kind, parsed

TO_NUMBERS = "Turn it into numbers (days since a date, say) or text, or drop it."
TO_DATES = "The target holds dates there: turn it into dates, or drop it."
T = TypeVar("T")


def kind_of(arrow_type: Any) -> Kind | None:
    """Return whether an Arrow type holds numbers, text or dates; None for lists and the like."""
    import pyarrow as pa

    types = pa.types
    if types.is_null(arrow_type):
        return "void"
    is_number = types.is_integer(arrow_type) or types.is_floating(arrow_type)
    if is_number or types.is_boolean(arrow_type) or types.is_decimal(arrow_type):
        return "number"
    is_text = types.is_string(arrow_type) or types.is_large_string(arrow_type)
    if is_text or types.is_string_view(arrow_type) or types.is_dictionary(arrow_type):
        return "text"
    return "date" if types.is_date(arrow_type) or types.is_timestamp(arrow_type) else None


def kind_as(held: Kind | Literal["any"] | None, wanted: Kind | None) -> Kind | None:
    """Return how a column is read, which may hold text that stands for what is wanted."""
    if held == "any":
        return wanted or "number"
    if held == "text" and wanted in PARSERS:
        return "digits" if wanted == "number" else wanted
    if held == "date" and wanted in DATES:
        return wanted
    is_plain = held != "date" and wanted not in DATES
    return held if held == "void" or is_plain else None


def kinds_wanted(
    types: Mapping[str, T],
    kind_of: Callable[[T], Kind | Literal["any"] | None],
    where: str,
    wanted: Mapping[str, Kind | None],
    response: str | None,
    answer: Kind = "number",
) -> dict[str, Kind]:
    """Return the kinds of columns that may be read; raise an error for others."""
    kinds: dict[str, Kind] = {}
    for name, held in types.items():
        if name in wanted or name == response:
            kind = kind_as(kind_of(held), wanted.get(name, answer))
            if kind is None or (name == response and kind == "digits"):
                advice = TO_DATES if wanted.get(name) in DATES else TO_NUMBERS
                raise NotNumeric.of(name, f"of {where} holds {held}", advice, kind=str(held))
            kinds[name] = kind
    return kinds


def encode(values: Any, column: Column, where: str) -> Array:
    """Return an Arrow array as doubles, one column per output; a missing value is NaN."""
    import pyarrow as pa

    if pa.types.is_null(values.type):
        return np.full((len(values), len(column.outputs)), np.nan)
    if column.levels is not None:
        return _indicators(values, column)
    if column.kind in DATES:
        return column.of_days(days_in(values, column.kind, column.name, where))
    if kind_of(values.type) == "text":
        return parsed(_plain(values).to_pylist(), column.kind, column.name, where)[:, None]
    return _numbers(values, f"column {column.name!r} of {where}")[:, None]


def days_in(values: Any, kind: Kind, name: str, where: str) -> Array:
    """Return days since 1970, as clocks of the column's own time zone show them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if kind_of(values.type) == "text":
        return parsed(_plain(values).to_pylist(), kind, name, where)
    if pa.types.is_timestamp(values.type) and values.type.tz is not None:
        values = pc.local_timestamp(values)
    micro = values.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
    return _numbers(micro, name) / 86_400e6


def is_missing(values: Any) -> Array:
    """Return where an Arrow array is null or NaN, as an array of booleans."""
    import pyarrow.compute as pc

    return np.asarray(pc.is_null(values, nan_is_null=True))


def texts_in(values: Any) -> dict[str, int]:
    """Return how often each text of an Arrow array is seen."""
    import pyarrow.compute as pc

    counted = pc.value_counts(_plain(values)).to_pylist()
    return {str(c["values"]): c["counts"] for c in counted if c["values"] is not None}


def _numbers(values: Any, where: str) -> Array:
    import pyarrow as pa

    held = values if values.type == pa.float64() else values.cast(pa.float64(), safe=False)
    doubles = np.asarray(held.to_numpy(zero_copy_only=False), dtype=np.float64)
    if pa.types.is_integer(values.type) and values.type.bit_width == 64:
        low, high = (f.reduce(doubles, initial=0.0) for f in (np.fmin, np.fmax))  # none is NaN
        if max(-low, high) >= 2.0**53:
            large = np.flatnonzero(np.abs(doubles) >= 2.0**53)
            check_integers(values.take(pa.array(large)).to_pylist(), doubles[large], where)
    return doubles


def _indicators(values: Any, column: Column) -> Array:
    import pyarrow.compute as pc

    coded = _plain(values).dictionary_encode()
    rows = column.indicators([*coded.dictionary.to_pylist(), None])
    at: NDArray[np.intp] = np.asarray(pc.fill_null(coded.indices, len(rows) - 1))
    return rows[at]


def _plain(values: Any) -> Any:
    """Return texts as Arrow's most common string type."""
    import pyarrow as pa

    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    return values.cast(pa.large_string())
