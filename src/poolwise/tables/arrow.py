"""The kind of values in an Arrow column, and its values as doubles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np

from poolwise._typing import Array
from poolwise.errors import NotNumeric
from poolwise.numerics.chunks import check_integers
from poolwise.tables.encoding import Column, unseen_levels

Kind: TypeAlias = Literal["number", "text", "void"]
T = TypeVar("T")


def kind_of(arrow_type: Any) -> Kind | None:
    """Return whether an Arrow type holds numbers or text; None for dates, lists and the like."""
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
    return None


def kinds_wanted(
    types: Mapping[str, T],
    kind_of: Callable[[T], Kind | Literal["any"] | None],
    where: str,
    texts: Mapping[str, bool],
    response: str | None,
) -> dict[str, Kind]:
    """Return the kinds of columns that may be read; raise an error for others."""
    kinds: dict[str, Kind] = {}
    for name, held in types.items():
        if name in texts or name == response:
            kind = kind_of(held)
            if kind == "any":
                kind = "text" if texts.get(name) else "number"
            if kind is None or (name == response and kind == "text"):
                advice = "Turn it into numbers (days since a date, say) or text, or drop it."
                raise NotNumeric.of(name, f"of {where} holds {held}", advice, kind=str(held))
            kinds[name] = kind
    return kinds


def encode(values: Any, column: Column, where: str) -> Array:
    """Return an Arrow array as doubles, one column per output; a missing value is NaN."""
    import pyarrow as pa

    if pa.types.is_null(values.type):
        return np.full((len(values), len(column.outputs)), np.nan)
    if column.levels is None:
        return _numbers(values, f"column {column.name!r} of {where}")[:, None]
    return _indicators(values, column)


def is_missing(values: Any) -> Array:
    """Return where an Arrow array is null or NaN, as an array of booleans."""
    import pyarrow.compute as pc

    return np.asarray(pc.is_null(values, nan_is_null=True))


def texts_in(values: Any) -> set[str]:
    """Return the different texts of an Arrow array."""
    import pyarrow.compute as pc

    return {str(v) for v in pc.unique(_plain(values)).to_pylist() if v is not None}


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
    import pyarrow as pa
    import pyarrow.compute as pc

    texts, levels = _plain(values), column.levels or ()
    if not levels:  # a column without any value
        return np.zeros((len(texts), 0))
    found = pc.index_in(texts, value_set=pa.array(levels, type=pa.large_string()))
    if column.unseen == "raise" and found.null_count > texts.null_count:
        raise unseen_levels(column.name, sorted(texts_in(texts).difference(levels)), levels)
    at = np.asarray(pc.fill_null(found, 0))
    encoded = np.zeros((len(at), len(levels)))
    encoded[np.arange(len(at)), at] = 1.0
    encoded = encoded[:, len(levels) - len(column.indicated) :]
    encoded[np.asarray(texts.is_null())] = np.nan
    return encoded


def _plain(values: Any) -> Any:
    """Return texts as Arrow's most common string type."""
    import pyarrow as pa

    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    return values.cast(pa.large_string())
