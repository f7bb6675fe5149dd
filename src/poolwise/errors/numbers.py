"""Errors about numbers: missing, infinite, too large, rounded, or of the wrong weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from poolwise.errors.family import TransferError
from poolwise.wording import capital, counted, listed, plural


class NotFinite(TransferError):
    """NaN or infinity where it means nothing."""

    def __init__(
        self, counts: Mapping[str, int], rows: int, where: str = "Input", then: str = ""
    ) -> None:
        self.counts, self.rows = counts, rows
        super().__init__(
            f"{capital(where)} contains NaN or infinity: {counted(counts)} of {rows:,} rows. "
            f"{then or 'Drop or impute these rows first.'}"
        )


class MissingHere(TransferError):
    """NaN, at prediction, in a column that every source and the target had."""

    def __init__(self, counts: Mapping[str, int], rows: int, may_be_missing: Sequence[str]) -> None:
        may = (
            f"Only columns that some source lacks may be missing: {listed(may_be_missing)}."
            if may_be_missing
            else "No source lacked a column when this model was fitted, so none may be missing."
        )
        super().__init__(
            f"X contains NaN in columns that all data had at fit: {counted(counts)} of "
            f"{rows:,} rows. {may} Impute the others or drop these rows."
        )


class TooLarge(TransferError):
    """Finite numbers so large that their differences overflow."""

    def __init__(self, names: Sequence[str], limit: float) -> None:
        super().__init__(
            f"Numbers in {listed(names)} are beyond {limit:g} in size, the most that can be "
            "handled. Divide these columns by a power of ten (the coefficients scale with it)."
        )


class BeyondDoubles(TransferError):
    """Coefficients that no double can hold."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(
            f"The coefficients of {listed(names)} are beyond the range of doubles, because the "
            "units of these columns and of the response are so far apart. Multiply or divide "
            "these columns by a power of ten (the coefficients scale with it)."
        )


class PredictionsBeyondDoubles(TransferError):
    """Predictions that no double can hold."""

    def __init__(self, rows: int) -> None:
        super().__init__(
            f"The predictions of {plural(rows, 'row')} are beyond the range of doubles. Is X in "
            "the units of the data at fit?"
        )


class UnitsApart(TransferError):
    """A column of quite different size in two tables."""

    def __init__(self, column: str, sizes: Mapping[str, float]) -> None:
        told = " and ".join(f"up to {size:.3g} in {where}" for where, size in sizes.items())
        super().__init__(
            f"Column {column!r} holds numbers {told}. Tables whose sizes differ by a factor of "
            "more than 1e120 cannot be added up. Give the column in the same unit everywhere."
        )


class RoundedIntegers(TransferError):
    """Integers that a double cannot hold."""

    def __init__(self, count: int, largest: int, where: str = "The input") -> None:
        super().__init__(
            f"{capital(where)} has {count:,} integers, up to {largest:,} in size, that have more "
            "than the 53 bits of a double and would be rounded. Subtract a common offset, or "
            "convert the column to float64 if the last digits do not matter."
        )


class BadWeights(TransferError):
    """Row weights of the wrong shape, negative, or not finite."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"{what} Give one finite, non-negative weight per row.")


class CannotSubtract(TransferError):
    """Rows to be taken away that were never there."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"These rows cannot be taken away: {why}. Subtract only rows that were added, with "
            "the weights and the columns they were added with."
        )
