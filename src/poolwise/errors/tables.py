"""Errors about tables: their columns, shapes, types and levels."""

from __future__ import annotations

from collections.abc import Sequence

from poolwise.errors.family import TransferError
from poolwise.wording import capital, listed, nearest, plural


class UnknownTable(TransferError, TypeError):
    """A table of a type that no engine reads."""

    def __init__(self, kind: type, where: str) -> None:
        verbs = [verb for verb in ("collect", "compute") if hasattr(kind, verb)]
        super().__init__(
            f"{capital(where)} is a {kind.__module__}.{kind.__qualname__}, which poolwise cannot "
            "read. Give a NumPy array, a pandas or polars DataFrame, an Arrow table, or any object "
            "with __arrow_c_stream__." + (f" Call .{verbs[0]}() first." if verbs else "")
        )


class DuplicateColumns(TransferError):
    """Two columns have the same name."""

    def __init__(self, names: Sequence[str], where: str = "The table") -> None:
        twice = sorted({n for n in names if list(names).count(n) > 1}, key=str)
        super().__init__(
            f"{where} has more than one column named {listed(twice)}. "
            "Columns are matched by name: rename or drop the copies."
        )


class MissingColumns(TransferError):
    """A column was asked for that the table does not have."""

    def __init__(
        self,
        wanted: Sequence[str],
        there: Sequence[str],
        where: str = "The table",
        then: str = "",
    ) -> None:
        near = [m for n in wanted for m in nearest(n, there)]
        hint = f" Did you mean {listed(near)}?" if near else ""
        super().__init__(
            f"No column named {listed(wanted)}. {capital(where)} has {listed(there)}.{hint}"
            f"{then and f' {then}'}"
        )


class NotNumeric(TransferError):
    """A column whose type has no meaning in a linear model, or not the same in all tables."""

    def __init__(self, name: str, what: str, advice: str) -> None:
        super().__init__(f"Column {name!r} {what}. {advice}")


class NotRealNumbers(TransferError, TypeError):
    """An array of something else than real numbers, given to moments."""

    def __init__(self, kind: str) -> None:
        super().__init__(
            f"Moments are taken of real numbers, and the rows hold {kind}. Convert them, or use "
            "PooledRegressor.fit, which turns text and categories into indicators."
        )


class RowsWithoutFeatures(TransferError):
    """Rows in which every feature is missing."""

    def __init__(self, where: str, rows: int) -> None:
        super().__init__(
            f"{capital(where)} has {plural(rows, 'row')} in which every feature is missing. That "
            "says nothing about how the response depends on features: leave it out."
        )


class UnseenLevel(TransferError):
    """A category at prediction that no table had at fit."""

    def __init__(self, name: str, unseen: Sequence[str], levels: Sequence[str]) -> None:
        super().__init__(
            f"Column {name!r} holds {listed(unseen)}, which no table had at fit; "
            f"the levels are {listed(levels)}. Map them to a known level, or use "
            'PooledRegressor(unseen_level="ignore") to predict such rows as the reference level '
            f"{levels[0]!r}."
        )


class NotTwoDimensional(TransferError):
    """An array that is not rows and columns."""

    def __init__(self, where: str, shape: tuple[int, ...]) -> None:
        super().__init__(
            f"{capital(where)} is an array of shape {shape}. Give two dimensions: rows and columns "
            "(X.reshape(-1, 1) makes a single column of a vector)."
        )


class LengthsDiffer(TransferError):
    """Features and response of one table with different numbers of rows."""

    def __init__(self, where: str, features: int, response: int) -> None:
        super().__init__(
            f"{capital(where)} has {features:,} rows of features and {response:,} of the response. "
            "Give as many of one as of the other."
        )


class OtherColumns(TransferError):
    """Columns at prediction that are not those of fit, in their order."""

    def __init__(self, there: Sequence[str], wanted: Sequence[str]) -> None:
        unknown = [n for n in there if n not in wanted]
        what = f"It has {listed(unknown)}, not there at fit" if unknown else ""
        super().__init__(
            f"X must have the columns {listed(wanted)}, in this order. "
            + (f"{what}." if what else f"It has them in the order {listed(there)}.")
        )


class ShapeMismatch(TransferError):
    """Arrays that do not fit the names of their columns, or each other."""

    def __init__(self, names: int, shapes: Sequence[tuple[int, ...]]) -> None:
        super().__init__(
            f"{names} columns were named, but the rows come in arrays of shapes {list(shapes)}. "
            "Give arrays of equal length with one column per name between them."
        )


class ColumnMismatch(TransferError):
    """Two tables that should have the same columns do not."""

    def __init__(
        self, left: Sequence[str], right: Sequence[str], verb: str = "add", where: str = ""
    ) -> None:
        only_left = [n for n in left if n not in right]
        only_right = [n for n in right if n not in left]
        ours, theirs = ("the model", "what was given") if where else ("the left", "the right")
        what = f"{ours} has the order {listed(left)}, {theirs} {listed(right)}"
        if only_left or only_right:
            what = f"only {ours} has {listed(only_left)}, only {theirs} has {listed(only_right)}"
        advice = "Use .select(names) on both sides to keep the columns they share."
        if where:
            advice = "Give the columns that it had at fit"
            advice += (
                ", or give these rows as a source."
                if where == "the target"
                else (", or give these rows under another name, as another source.")
            )
        super().__init__(
            f"Cannot {verb} moments over different columns{where and f' in {where}'}: {what}. "
            f"{advice}"
        )


class NewLevels(TransferError):
    """Categories, in rows to be added, that a fitted model has no column for."""

    def __init__(self, column: str, new: Sequence[str], levels: Sequence[str]) -> None:
        super().__init__(
            f"Column {column!r} holds {listed(new)}, which no table had at fit; the levels are "
            f"{listed(levels)}. What is kept of the old rows has no column for a new level: fit "
            "again on all rows, or map it to a known level."
        )
