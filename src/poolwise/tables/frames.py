"""pandas, polars and Arrow tables, and objects with the Arrow C stream interface, by narwhals."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array
from poolwise.errors import BadColumns, BadTable, NotNumeric
from poolwise.numerics.chunks import check_integers
from poolwise.tables.encoding import Column, KnownLevels, unseen_levels

FEW_LEVELS = 20  # texts that look like numbers: more than this are numbers, not codes
# A number and its unit: a number followed by a single capital is a code.
NUMBER = re.compile(r"\s*[-+]?\d+(?:[.,]\d+)?(?![A-Z]$)\s*(\D*)")


@dataclass(frozen=True, eq=False)
class FrameTable:
    """A data frame held in memory."""

    frame: nw.DataFrame[Any]
    names: tuple[str, ...]
    where: str

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.frame)

    def levels(self, names: Sequence[str]) -> KnownLevels:
        """Return sorted levels, None for numbers and booleans; raise for dates and the like."""
        return {name: self._levels(name) for name in names if not _missing(self.frame[name]).all()}

    def _levels(self, name: str) -> tuple[str, ...] | None:
        series = self.frame[name]
        if _is_number(series):
            return None
        if not _is_text(series):
            advice = "Turn it into numbers (days since a date, say) or text, or drop it."
            raise self._refused(name, series, advice)
        levels = tuple(sorted(set(_texts(series)).difference([None])))
        if series.dtype == nw.String and (numbers := numbers_among(levels)):
            raise self._numbers_as_text(name, levels, numbers)
        return levels

    def _numbers_as_text(
        self, name: str, levels: Sequence[str], numbers: Sequence[str]
    ) -> NotNumeric:
        other = sorted(set(levels).difference(numbers))
        what, then = f"holds numbers stored as text, {levels[0]!r} for one", "Convert it to numbers"
        if other:
            few = ", ".join(map(repr, other[:3])) + (" and so on" if len(other) > 3 else "")
            what = (
                f"holds text, but {len(numbers):,} of its {len(levels):,} different "
                f"values are numbers, and these are not: {few}"
            )
            then = "Correct them or leave them empty, and convert the column to numbers"
        advice = f"{then}, or to a categorical type if they are codes."
        return NotNumeric.of(name, f"of {self.where} {what}", advice, numbers=numbers)

    def missing(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """Return where values are null or NaN."""
        parts = [_missing(self.frame[n]) for n in names]
        return np.column_stack(parts) if parts else np.zeros((self.rows, 0), dtype=bool)

    def read(self, columns: Sequence[Column], start: int, stop: int) -> Array:
        """Return rows of encoded columns."""
        part = FrameTable(self.frame[start:stop], self.names, self.where)
        parts = [part._encode(column) for column in columns]
        return np.concatenate(parts, axis=1) if parts else np.zeros((part.rows, 0))

    def take(self, index: NDArray[np.intp]) -> FrameTable:
        """Return some rows."""
        return FrameTable(self.frame[index.tolist(), :], self.names, self.where)

    def _encode(self, column: Column) -> Array:
        series = self.frame[column.name]
        if column.levels is None:
            if not _is_number(series):
                raise self._refused(column.name, series, "Convert it to numbers.")
            values = _numbers(series)
            if np.nanmax(np.abs(values), initial=0.0) >= 2.0**53:
                numbers = [v if isinstance(v, int) else None for v in series.to_list()]
                check_integers(numbers, values, f"column {column.name!r} of {self.where}")
            return values[:, None]
        gone = _missing(series)
        if not (_is_text(series) or gone.all()):
            raise self._refused(column.name, series, "At fit it held text: convert it.")
        texts = _texts(series)
        if column.unseen == "raise":
            unseen = sorted(set(texts[~gone]).difference(column.levels))
            if unseen:
                raise unseen_levels(column.name, unseen, column.levels)
        encoded = np.zeros((self.rows, len(column.indicated)))
        for j, level in enumerate(column.indicated):
            encoded[:, j] = texts == level
        encoded[gone] = np.nan
        return encoded

    def _refused(self, name: str, series: nw.Series[Any], advice: str) -> NotNumeric:
        kinds = ", ".join(sorted({type(v).__name__ for v in series.drop_nulls().to_list()[:1000]}))
        kind = f"objects of type {kinds}" if series.dtype == nw.Object else f"{series.dtype}"
        if series.dtype == nw.Unknown:  # complex numbers, periods: the table knows their name
            kind = f"{getattr(series.to_native(), 'dtype', kinds)}"
        return NotNumeric.of(name, f"of {self.where} holds {kind}", advice, kind=kind)


def open_table(table: Any, where: str) -> FrameTable:
    """Open a data frame whose columns have different names."""
    if nw.dependencies.is_into_dataframe(table):
        native = nw.to_native(table, pass_through=True)
    elif hasattr(table, "__arrow_c_stream__"):
        native = _from_stream(table, where)
    else:
        raise BadTable.unknown(type(table), where)
    if nw.dependencies.is_pyarrow_table(native):
        native = _without_views(native)
    columns = native.column_names if hasattr(native, "column_names") else native.columns
    names = tuple(str(n) for n in columns)
    if len(set(names)) < len(names):
        raise BadColumns.repeated(names, where)
    if names != tuple(columns):  # only pandas has names that are not strings
        native = native.set_axis(list(names), axis="columns")
    return FrameTable(nw.from_native(native, eager_only=True), names, where)


def _from_stream(table: Any, where: str) -> Any:
    import pyarrow as pa

    try:
        return pa.table(table)
    except pa.ArrowInvalid:  # a stream of a single column, such as a series
        raise BadTable.unknown(type(table), where) from None


def _without_views(table: Any) -> Any:
    """Return an Arrow table without string views, of which Arrow cannot take some rows."""
    import pyarrow as pa

    plain = pa.large_string()
    for j, kind in enumerate(table.schema.types):
        if kind == pa.string_view():
            column = table.column(j).cast(plain)
        elif pa.types.is_dictionary(kind) and kind.value_type == pa.string_view():
            parts = [
                pa.DictionaryArray.from_arrays(part.indices, part.dictionary.cast(plain))
                for part in table.column(j).chunks
            ]
            column = pa.chunked_array(parts, type=pa.dictionary(kind.index_type, plain))
        else:
            continue
        table = table.set_column(j, table.schema.names[j], column)
    return table


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
        found = NUMBER.fullmatch(text)
        return found[1] if found else None


def _is_number(series: nw.Series[Any]) -> bool:
    if series.dtype in (nw.Object, nw.Unknown):
        return all(isinstance(v, Real | Decimal | np.bool_) for v in series.drop_nulls().to_list())
    return series.dtype.is_numeric() or series.dtype == nw.Boolean


def _is_text(series: nw.Series[Any]) -> bool:
    return series.dtype in (nw.String, nw.Categorical, nw.Enum)


def _texts(series: nw.Series[Any]) -> NDArray[np.object_]:
    native = series.to_native()
    if series.implementation.is_pandas_like() and hasattr(native.dtype, "categories"):
        # By category: otherwise integers beside missing values would become "1.0".
        levels = np.array([*map(str, native.cat.categories), None], dtype=object)
        return levels[np.asarray(native.cat.codes, dtype=np.intp)]
    texts = np.array(series.cast(nw.String).to_list(), dtype=object)
    texts[_missing(series)] = None
    return texts


def _numbers(series: nw.Series[Any]) -> Array:
    if series.dtype in (nw.Object, nw.Unknown):
        pairs = zip(series.to_list(), _missing(series), strict=True)
        return np.array([np.nan if gone else float(v) for v, gone in pairs], dtype=np.float64)
    if series.dtype.is_integer() and not series.implementation.is_polars():
        # Arrow's cast fails beyond 53 bits; polars cannot export 128-bit integers.
        return np.asarray(series.to_numpy(), dtype=np.float64)
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _missing(series: nw.Series[Any]) -> NDArray[np.bool_]:
    null = np.asarray(series.is_null().to_numpy(), dtype=bool)
    return null | np.isnan(_numbers(series)) if series.dtype.is_float() else null
