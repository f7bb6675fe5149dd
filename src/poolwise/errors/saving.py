"""Errors about what is saved, loaded and exported: moments and models."""

from __future__ import annotations

from poolwise.errors.family import TransferError
from poolwise.wording import capital


class UnreadableMoments(TransferError):
    """A file that does not hold moments, or not ones that rows can have."""

    def __init__(self, path: str, why: str, then: str = "") -> None:
        advice = then or "Ask whoever made the file to write it again with Moments.save"
        super().__init__(f"{path} cannot be read as moments: {why}. {advice}.")


class NotOverwritten(TransferError):
    """A file that is there already."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path} is there already. Give another name, or overwrite=True (--force on the "
            "command line) to replace it."
        )


class NotWritten(TransferError):
    """A file that the system, or its format, did not let us write."""

    def __init__(self, path: str, why: str, then: str = "") -> None:
        advice = then or (
            "Give the name of a file in a folder that is there and that you may write to"
        )
        super().__init__(f"{path} cannot be written: {why}. {advice}.")


class TooFewToShare(TransferError):
    """Moments of so few rows that they tell about single ones."""

    def __init__(self, what: str, rows: float, least: int) -> None:
        self.short = f"{what} has {rows:g} rows, fewer than {least}"
        super().__init__(
            f"{capital(what)} has {rows:g} rows, fewer than min_rows={least}, and moments of so "
            "few rows tell about single ones: nothing was written. Add more rows, leave the "
            "column out with .select(names), or give a smaller min_rows."
        )


class UnreadableModel(TransferError):
    """A file that does not hold a fitted model, or one that contradicts itself."""

    def __init__(self, path: str, why: str, then: str = "") -> None:
        advice = then or "Ask whoever made the file to write it again with PooledRegressor.save"
        super().__init__(f"{path} cannot be read as a model: {why}. {advice}.")


class CannotSave(TransferError):
    """A model that a model file cannot hold."""

    def __init__(self, why: str, then: str) -> None:
        super().__init__(f"The model cannot be saved: {why}. {then}.")


class MomentsLeftOut(TransferError):
    """A question to a model that came without its moments."""

    def __init__(self, what: str, then: str = "") -> None:
        advice = then or (
            "Ask whoever saved it for a file with moments, or predict rows that have all columns"
        )
        super().__init__(
            f"This model was saved with moments=False, and {what} needs the moments it was "
            f"fitted from. {advice}."
        )


class CannotExport(TransferError):
    """A model that another format cannot say."""

    def __init__(self, format: str, why: str, then: str) -> None:
        super().__init__(f"The model cannot be written as {format}: {why}. {then}.")
