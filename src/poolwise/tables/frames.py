"""pandas, polars and Arrow tables, and objects with the Arrow C stream interface, by narwhals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from numbers import Real
from types import MappingProxyType
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array
from poolwise.errors import BadColumns, BadTable, NotNumeric
from poolwise.numerics.chunks import check_integers
from poolwise.tables.encoding import Column, KnownLevels
from poolwise.tables.text_values import (
    DATES,
    PARSERS,
    Kind,
    calendar_counts,
    numbers_among,
    parsed,
)
from poolwise.wording import listed

TO_NUMBERS = "Turn it into numbers (days since a date, say) or text, or drop it."


@dataclass(frozen=True, eq=False)
class FrameTable:
    """A data frame held in memory."""

    frame: nw.DataFrame[Any]
    names: tuple[str, ...]
    where: str
    chosen: frozenset[str] = frozenset()  # columns that are not taken for identifiers
    tell: Callable[[Any], None] | None = None  # called with the account before a fit

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.frame)

    def levels(
        self, names: Sequence[str], kinds: Mapping[str, Kind] = MappingProxyType({})
    ) -> KnownLevels:
        """Return the rows of each level, None for numbers; raise for values of another kind.

        Without a known kind, dates and numbers stored as text raise an error too.
        """
        found: dict[str, Mapping[str, float] | None] = {}
        for name in names:
            if not _missing(series := self.frame[name]).all():
                kind = kinds.get(name)
                known = None if kind is None else held(series)
                if kind in DATES and known == "number":
                    raise self.refused(name, "Its values are dates in the target.")
                if kind in DATES or (known == "text" and kind in PARSERS):
                    values = self._values(name, kind or "number")
                    found |= calendar_counts(name, values) if kind in DATES else {}
                    found[name] = None
                else:
                    found[name] = self._levels(name, known=kind is not None)
        return found

    def _levels(self, name: str, *, known: bool) -> dict[str, float] | None:
        series = self.frame[name]
        kind = held(series)
        if kind == "number":
            return None
        if kind != "text":
            raise self.refused(name, TO_NUMBERS)
        counts = Counter(_texts(series).tolist())
        counts.pop(None, None)
        levels = _ordered(series) or sorted(counts)
        if not known and series.dtype == nw.String and (numbers := numbers_among(levels)):
            raise numbers_as_text(name, self.where, levels, numbers)
        return {level: counts[level] for level in levels if level in counts}

    def _values(self, name: str, kind: Kind) -> Array:
        """Return the numbers, days or yes and no that a column holds, also as text."""
        series = self.frame[name]
        found = held(series)
        if found == "text":
            return parsed(_texts(series).tolist(), kind, name, self.where)
        if kind in DATES:
            if found != "date" and not _missing(series).all():
                raise self.refused(name, "Its values were dates at fit.")
            return _days(series)
        if found != "number":
            raise self.refused(name, "Convert it to numbers.")
        return _numbers(series)

    def present(self, name: str) -> tuple[Kind | None, list[Any]]:
        """Return what a column holds, and its values that are not missing; None for lists."""
        series = self.frame[name]
        gone = _missing(series)
        if gone.all():
            return "void", []
        kind = held(series)
        if kind is None:
            return None, []
        if kind == "text":
            return kind, _texts(series)[~gone].tolist()
        return kind, self._values(name, kind)[~gone].tolist()

    def is_whole(self, name: str) -> bool:
        """Return whether the type of a column is that of integers."""
        return bool(self.frame[name].dtype.is_integer())

    def is_category(self, name: str) -> bool:
        """Return whether the type of a column says that its texts are categories."""
        return self.frame[name].dtype in (nw.Categorical, nw.Enum)

    def missing(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """Return where values are null or NaN."""
        parts = [_missing(self.frame[n]) for n in names]
        return np.column_stack(parts) if parts else np.zeros((self.rows, 0), dtype=bool)

    def read(self, columns: Sequence[Column], start: int, stop: int) -> Array:
        """Return rows of encoded columns."""
        part = replace(self, frame=self.frame[start:stop])
        parts = [part._encode(column) for column in columns]
        return np.concatenate(parts, axis=1) if parts else np.zeros((part.rows, 0))

    def take(self, index: NDArray[np.intp]) -> FrameTable:
        """Return some rows."""
        return replace(self, frame=self.frame[index.tolist(), :])

    def _encode(self, column: Column) -> Array:
        series = self.frame[column.name]
        if column.levels is None:
            values = self._values(column.name, column.kind)
            if column.kind in DATES:
                return column.of_days(values)
            if np.nanmax(np.abs(values), initial=0.0) >= 2.0**53:
                numbers = [v if isinstance(v, int) else None for v in series.to_list()]
                check_integers(numbers, values, f"column {column.name!r} of {self.where}")
            return values[:, None]
        gone = _missing(series)
        if not (held(series) == "text" or gone.all()):
            raise self.refused(column.name, "At fit it held text: convert it.")
        texts = _texts(series).tolist()
        place = {text: k for k, text in enumerate(dict.fromkeys(texts))}
        return column.indicators([*place])[[place[text] for text in texts]]

    def refused(self, name: str, advice: str) -> NotNumeric:
        """Return the error for a column that holds values of another kind."""
        series = self.frame[name]
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
    kinds = sorted({type(n).__name__ for n in columns})
    if where == "X" and len(kinds) > 1 and "str" in kinds:  # scikit-learn has no names then
        what = f"The names of the columns of {where} are of different types: {listed(kinds)}."
        raise BadColumns(what, "Make them all text: X.columns = X.columns.astype(str).")
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


def numbers_as_text(
    name: str, where: str, levels: Sequence[str], numbers: Sequence[str]
) -> NotNumeric:
    """Return the error for a column of text of which most values are numbers."""
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
    return NotNumeric.of(name, f"of {where} {what}", advice, numbers=numbers)


def held(series: nw.Series[Any]) -> Kind | None:
    """Return what a series holds by its type; None for lists and the like."""
    if _is_number(series):
        return "number"
    if series.dtype in (nw.String, nw.Categorical, nw.Enum):
        return "text"
    if series.dtype in (nw.Date, nw.Datetime):
        return "date"
    dates = series.dtype == nw.Object and all(
        isinstance(v, date) for v in series.drop_nulls().to_list()
    )
    return "date" if dates and not _missing(series).all() else None


def _ordered(series: nw.Series[Any]) -> list[str]:
    """Return the levels of an ordered categorical in their order; none for others."""
    native = series.to_native()
    if series.implementation.is_pandas_like():
        is_ordered = getattr(native.dtype, "ordered", False)
        return [*map(str, native.cat.categories)] if is_ordered else []
    if isinstance(series.dtype, nw.Enum):
        return [*series.dtype.categories]
    if getattr(getattr(native, "type", None), "ordered", False):  # a dictionary of Arrow
        return [*map(str, native.unify_dictionaries().chunk(0).dictionary.to_pylist())]
    return []


def _days(series: nw.Series[Any]) -> Array:
    """Return days since 1970, as clocks of the series' own time zone show them."""
    gone, values = _missing(series), series
    if series.dtype == nw.Object:
        pairs = zip(series.to_list(), gone, strict=True)
        texts = [None if is_gone else v.isoformat() for v, is_gone in pairs]
        return parsed(texts, "date", series.name, "a table")
    if series.dtype == nw.Date:
        values = series.cast(nw.Datetime("us"))
    elif getattr(series.dtype, "time_zone", None):
        values = series.dt.replace_time_zone(None)
    micro = np.asarray(values.dt.timestamp("us").cast(nw.Float64).to_numpy(), dtype=np.float64)
    return np.where(gone, np.nan, micro / 86_400e6)


def _is_number(series: nw.Series[Any]) -> bool:
    if series.dtype in (nw.Object, nw.Unknown):
        return all(isinstance(v, Real | Decimal | np.bool_) for v in series.drop_nulls().to_list())
    return series.dtype.is_numeric() or series.dtype == nw.Boolean


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
