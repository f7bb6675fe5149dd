"""Every error and warning that poolwise raises on purpose.

A message says what is wrong, with names and numbers; ``hint`` says what to do about it. A class
exists where someone would catch it, or filter it, by name. A message that is written in one place
stands there; those below are shared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from poolwise.wording import ALIKE, NEAR, capital, counted, did_you_mean, listed, nearest


class PoolwiseError(ValueError):
    """Base of every error that poolwise raises on purpose.

    Parameters
    ----------
    message : str
        What is wrong, with names and numbers.
    hint : str
        What to do about it.
    **about
        Numbers and names of the message, for programs.
    """

    def __init__(self, message: str, hint: str = "", **about: Any) -> None:
        super().__init__(message, hint)
        self.message, self.hint, self.about = message, hint, about

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()


class PoolwiseWarning(UserWarning):
    """Base of every warning that poolwise gives on purpose.

    Parameters
    ----------
    message, hint, **about
        As in :class:`PoolwiseError`.
    """

    def __init__(self, message: str, hint: str = "", **about: Any) -> None:
        super().__init__(message, hint)
        self.message, self.hint, self.about = message, hint, about

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()

    def __getstate__(self) -> dict[str, Any]:
        return {"args": self.args, **self.__dict__}  # skops does not call __reduce__


def raise_all(faults: Sequence[PoolwiseError]) -> None:
    """Raise the only fault, or one error that lists all of them, if there are any."""
    if len(faults) == 1:
        raise faults[0]
    if faults:
        lines = [f"There are {len(faults)} faults.", *(f"- {fault}" for fault in faults)]
        raise BadColumns("\n".join(lines), "Each line says what to do.", faults=[*faults])


# Errors


class BadOption(PoolwiseError):
    """An option or a method that does not exist, or a value it cannot have."""

    @classmethod
    def of(cls, option: str, value: object, allowed: str) -> Self:
        message = f"{option}={value!r} is not possible."
        return cls(message, f"It must be {allowed}.", option=option, value=value)

    @classmethod
    def unknown_method(cls, name: object, there: Sequence[str]) -> Self:
        hint = did_you_mean(name, there)
        if isinstance(name, type):
            hint = f"{name.__name__} is a class: write {name.__name__}()."
        return cls(f"No method named {name!r}. There are {listed(there)}.", hint.lstrip())


class BadTable(PoolwiseError, TypeError):
    """An object that is not a table, or arrays whose shapes do not match."""

    @classmethod
    def unknown(cls, kind: type, where: str) -> Self:
        name = f"{kind.__module__}.{kind.__qualname__}"
        verbs = [verb for verb in ("collect", "compute") if hasattr(kind, verb)]
        return cls(
            f"{capital(where)} is a {name}, which poolwise cannot read.",
            "Give a NumPy array, a pandas or polars DataFrame, an Arrow table, or any object with "
            "__arrow_c_stream__." + (f" Call .{verbs[0]}() first." if verbs else ""),
        )


class BadColumns(PoolwiseError):
    """Columns that are missing, repeated, or not the same in two tables."""

    @classmethod
    def repeated(cls, names: Sequence[str], where: str = "The table") -> Self:
        twice = sorted({n for n in names if list(names).count(n) > 1}, key=str)
        return cls(
            f"{capital(where)} has more than one column named {listed(twice)}.",
            "Columns are matched by name: rename or drop the copies.",
        )

    @classmethod
    def missing(
        cls, wanted: Sequence[str], there: Sequence[str], where: str = "The table", then: str = ""
    ) -> Self:
        close = {n: nearest(n, there, ALIKE if len(wanted) > 1 else NEAR) for n in wanted}
        pairs = [
            f"{m!r} for {n!r}" if len(wanted) > 1 else repr(m) for n in wanted for m in close[n]
        ]
        meant = f"Did you mean {', '.join(pairs)}?" if pairs else ""
        return cls(
            f"No column named {listed(wanted)}. {capital(where)} has {listed(there)}.",
            f"{meant} {then}".strip(),
            columns=list(wanted),
        )

    @classmethod
    def differ(
        cls, left: Sequence[str], right: Sequence[str], verb: str = "add", where: str = ""
    ) -> Self:
        only_left = [n for n in left if n not in right]
        only_right = [n for n in right if n not in left]
        ours, theirs = ("the model", "what was given") if where else ("the left", "the right")
        what = f"{ours} has the order {listed(left)}, {theirs} {listed(right)}"
        if only_left or only_right:
            what = f"only {ours} has {listed(only_left)}, only {theirs} has {listed(only_right)}"
        hint = "Use .select(names) on both sides to keep the columns they share."
        if where:
            how = "as a source" if where == "the target" else "under another name, as a new source"
            hint = f"Give the columns that it had at fit, or give these rows {how}."
        place = where and f" in {where}"
        return cls(f"Cannot {verb} moments over different columns{place}: {what}.", hint)


class NotNumeric(PoolwiseError, TypeError):
    """A column whose type cannot be used as a number or category."""

    @classmethod
    def of(cls, name: str, what: str, hint: str, **about: Any) -> Self:
        return cls(f"Column {name!r} {what}.", hint, column=name, **about)


class NotFinite(PoolwiseError):
    """NaN, infinity or missing values where they cannot be used."""

    @classmethod
    def of(
        cls,
        counts: Mapping[str, int],
        rows: int,
        where: str = "Input",
        hint: str = "Drop or impute these rows first.",
    ) -> Self:
        message = f"{capital(where)} contains NaN or infinity: {counted(counts)} of {rows:,} rows."
        return cls(message, hint, counts=counts, rows=rows)


class OutOfRange(PoolwiseError):
    """Numbers too large or too small for double precision."""


class BadWeights(PoolwiseError):
    """Row weights of the wrong shape, negative, or not finite."""

    @classmethod
    def of(cls, message: str) -> Self:
        return cls(message, "Give one finite, non-negative weight per row.")


class BadSource(PoolwiseError, TypeError):
    """A source that cannot be pooled with the target."""

    @classmethod
    def no_response(cls, source: str, response: str, there: Sequence[str]) -> Self:
        return cls(
            f"Table {source!r} has no column {response!r}, the name of the response; it has "
            f"{listed(there)}.{did_you_mean(response, there)}",
            "Give (X, y), or name the response as the source does: by the name of y, or by "
            "PooledRegressor(response=...).",
            source=source,
            response=response,
        )

    @classmethod
    def nothing_shared(cls, source: str, has: Sequence[str], features: Sequence[str]) -> Self:
        return cls(
            f"Table {source!r} has no feature of the model: it has {listed(has)}, and the features "
            f"are {listed(features)}.",
            "Rename its columns, or leave it out.",
        )


class BadLevels(PoolwiseError):
    """Categories that the model does not know."""


class TooFewRows(PoolwiseError):
    """Fewer rows than the task needs."""

    @classmethod
    def empty_target(cls, rows: int, missing: Mapping[str, int] | None = None) -> Self:
        why = f"There are no rows, or their weights are all zero ({rows:,} rows)."
        about: dict[str, Any] = {"rows": rows}
        if rows and missing:
            why = f"Some columns have no value in the target (missing: {counted(missing)})."
            about = {"missing": dict(missing)}
        return cls(
            why,
            "The target is the new data: every feature needs a value in some row that has "
            "a response (0 sample(s) qualify, a minimum of 1 is required). In cross-validation of "
            "stacked rows, split with poolwise.TargetSplit.",
            **about,
        )


class NeedsRows(PoolwiseError):
    """A task that needs rows or moments which are not available."""

    @classmethod
    def moments_left_out(
        cls,
        what: str,
        hint: str = "Ask whoever saved it for a file with moments, or predict rows that have all "
        "columns.",
    ) -> Self:
        why = f"This model was saved without moments, and {what} needs those it was fitted from."
        return cls(why, hint)


class CannotSubtract(PoolwiseError):
    """Rows to subtract that were never added."""


class NotAvailable(PoolwiseError, AttributeError):
    """A result that this kind of fit does not have."""


class BadFile(PoolwiseError):
    """A file that is missing, damaged, or not what its name says."""

    @classmethod
    def not_found(
        cls, path: str, why: str, hint: str = "Relative paths begin at the working directory."
    ) -> Self:
        return cls(f"No file to read at {path!r}. {why}", hint)


class NotWritten(PoolwiseError):
    """A file that cannot be written, or a model that its format cannot express."""

    @classmethod
    def of(
        cls,
        what: str,
        why: str,
        hint: str = "Give the name of a file in a folder that exists and that you may write to.",
    ) -> Self:
        return cls(f"{what} cannot be written: {why}.", hint)


class TooFewToShare(PoolwiseError):
    """Moments of so few rows that they disclose single rows."""


class NotInstalled(PoolwiseError, ImportError):
    """A package that is needed and not installed."""

    @classmethod
    def of(cls, what: str, package: str, extra: str, otherwise: str) -> Self:
        message = f"{what} needs the package {package}, which is not installed."
        return cls(message, f'Run pip install "poolwise[{extra}]". {otherwise}')


class WorkersLost(PoolwiseError):
    """Worker processes that ended before their work was done."""

    @classmethod
    def of(cls, cluster: str, where: str, why: str) -> Self:
        return cls(
            f"{cluster} gave up before {where} was read ({why}).",
            "If workers were killed, most likely for lack of memory (see their logs), give them "
            "more, or fewer threads each. If the client or the cluster was closed, open it again. "
            "Then fit again.",
        )


# Warnings


class DataWarning(PoolwiseWarning):
    """Data that look like a mistake, or something that had to be assumed about them."""


class LeftOut(PoolwiseWarning):
    """Columns, rows, sources or options that were left out."""

    @classmethod
    def empty_source(cls, source: str) -> Self:
        return cls(
            f"Table {source!r} has no rows, or their weights are all zero: it changes nothing.",
            "Was it filtered too far, or is it a stream that was read before?",
        )

    @classmethod
    def sources(cls, method: str, sources: Sequence[str], why: str, hint: str = "") -> Self:
        other = "data_pooling takes tables of any features and any number of rows."
        return cls(f"{method} left out {listed(sources)}: {why}.", hint or other)


class RankDeficient(PoolwiseWarning):
    """Columns that are linear combinations of others."""

    @classmethod
    def of(
        cls,
        dependent: Sequence[str],
        where: str,
        taken: str = "the ones of least norm (in units of standard deviations) were taken",
    ) -> Self:
        return cls(
            f"In {where}, the columns {listed(dependent)} are linearly dependent: their "
            f"coefficients are not determined by the data, and {taken}. Predictions are not "
            "affected where the same relation holds.",
            "Drop one of these columns to get unique coefficients.",
        )


class DigitsLost(PoolwiseWarning):
    """Columns so nearly dependent that rounding leaves few digits of the coefficients."""


class NoiseNotEstimable(PoolwiseWarning):
    """A residual variance that cannot be estimated: too few rows, or a perfect fit."""

    @classmethod
    def of(cls, where: str, why: str, then: str) -> Self:
        return cls(f"The noise of {where} cannot be estimated: {why}. {then}")


class PredictionsBounded(PoolwiseWarning):
    """Predictions far outside the range of the observed responses."""
