"""Every error and warning that poolwise raises on purpose.

A message says what is wrong, with names and numbers; ``hint`` says what to do about it. A class
exists where someone would catch it, or filter it, by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Self

from poolwise.wording import capital, counted, did_you_mean, listed, nearest, plural


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


class BadOption(PoolwiseError):
    """An option or a method that does not exist, or a value it cannot have."""

    @classmethod
    def of(cls, option: str, value: object, allowed: str) -> Self:
        return cls(
            f"{option}={value!r} is not possible. It must be {allowed}.",
            option=option,
            value=value,
            allowed=allowed,
        )

    @classmethod
    def unknown_method(cls, name: object, there: Sequence[str]) -> Self:
        hint = did_you_mean(name, there)
        if isinstance(name, type):
            hint = f" {name.__name__} is a class: write {name.__name__}()."
        return cls(f"No method named {name!r}. There are {listed(there)}.{hint}")


class BadColumns(PoolwiseError):
    """Columns that are missing, repeated, or not the same in two tables."""

    @classmethod
    def repeated(cls, names: Sequence[str], where: str = "The table") -> Self:
        twice = sorted({n for n in names if list(names).count(n) > 1}, key=str)
        return cls(
            f"{where} has more than one column named {listed(twice)}. "
            "Columns are matched by name: rename or drop the copies."
        )

    @classmethod
    def missing(
        cls,
        wanted: Sequence[str],
        there: Sequence[str],
        where: str = "The table",
        then: str = "",
    ) -> Self:
        near = [m for n in wanted for m in nearest(n, there)]
        meant = f"Did you mean {listed(near)}?" if near else ""
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
        advice = "Use .select(names) on both sides to keep the columns they share."
        if where:
            advice = "Give the columns that it had at fit"
            advice += (
                ", or give these rows as a source."
                if where == "the target"
                else (", or give these rows under another name, as another source.")
            )
        return cls(
            f"Cannot {verb} moments over different columns{where and f' in {where}'}: {what}. "
            f"{advice}"
        )

    @classmethod
    def response_in_features(cls, response: str, where: str = "X") -> Self:
        return cls(
            f"{where} has a column named {response!r}, which is the name of the response. If it is "
            "the response, take it out; if not, rename it, or rename y (where y has no name: "
            "PooledRegressor(response=...))."
        )


class NotNumeric(PoolwiseError, TypeError):
    """A column whose type cannot be used as a number or category."""

    @classmethod
    def of(cls, name: str, what: str, advice: str, **about: Any) -> Self:
        return cls(f"Column {name!r} {what}.", advice, column=name, **about)

    @classmethod
    def not_real(cls, kind: str) -> Self:
        return cls(
            f"Moments are taken of real numbers, and the rows hold {kind}. Convert them, or use "
            "PooledRegressor.fit, which turns text and categories into indicators."
        )

    @classmethod
    def rounded(cls, count: int, largest: int, where: str = "The input") -> Self:
        return cls(
            f"{capital(where)} has {count:,} integers, up to {largest:,} in size, that have more "
            "than the 53 bits of a double and would be rounded.",
            "Subtract a common offset, or convert the column to float64 if the last digits do not "
            "matter.",
            count=count,
            largest=largest,
        )


class NotFinite(PoolwiseError):
    """NaN, infinity or missing values where they cannot be used."""

    @classmethod
    def of(cls, counts: Mapping[str, int], rows: int, where: str = "Input", then: str = "") -> Self:
        return cls(
            f"{capital(where)} contains NaN or infinity: {counted(counts)} of {rows:,} rows.",
            then or "Drop or impute these rows first.",
            counts=counts,
            rows=rows,
        )

    @classmethod
    def without_features(cls, where: str, rows: int) -> Self:
        return cls(
            f"{capital(where)} has {plural(rows, 'row')} in which every feature is missing. That "
            "says nothing about how the response depends on features: leave it out."
        )


class OutOfRange(PoolwiseError):
    """Numbers too large or too small for double precision."""

    @classmethod
    def predictions(cls, rows: int) -> Self:
        return cls(
            f"The predictions of {plural(rows, 'row')} are beyond the range of doubles.",
            "Are the columns in the units of the data at fit?",
        )


class BadWeights(PoolwiseError):
    """Row weights of the wrong shape, negative, or not finite."""

    @classmethod
    def of(cls, what: str) -> Self:
        return cls(what, "Give one finite, non-negative weight per row.")


class BadTable(PoolwiseError, TypeError):
    """An object that is not a table, or arrays whose shapes do not match."""

    @classmethod
    def unknown(cls, kind: type, where: str) -> Self:
        verbs = [verb for verb in ("collect", "compute") if hasattr(kind, verb)]
        return cls(
            f"{capital(where)} is a {kind.__module__}.{kind.__qualname__}, which poolwise cannot "
            "read. Give a NumPy array, a pandas or polars DataFrame, an Arrow table, or any object "
            "with __arrow_c_stream__." + (f" Call .{verbs[0]}() first." if verbs else "")
        )

    @classmethod
    def shapes(cls, names: int, shapes: Sequence[tuple[int, ...]]) -> Self:
        return cls(
            f"{names} columns were named, but the rows come in arrays of shapes {list(shapes)}. "
            "Give arrays of equal length with one column per name between them."
        )

    @classmethod
    def not_moments(cls, name: str, got: Any) -> Self:
        return cls(
            f"{capital(name)} is a {type(got).__name__}, and fit_moments takes moments alone. "
            "Make them with Moments.of_rows(names, rows), give the path of a .moments.json file, "
            "or use fit, which takes rows."
        )


class BadSource(PoolwiseError, TypeError):
    """A source that cannot be pooled with the target."""

    @classmethod
    def no_response(cls, source: str, response: str, there: Sequence[str]) -> Self:
        hint = did_you_mean(response, there)
        return cls(
            f"Source {source!r} has no column {response!r}, the name of the response; it has "
            f"{listed(there)}.{hint}",
            "Give (X, y), or name the response as the source does: by the name of y, or by "
            "PooledRegressor(response=...).",
            source=source,
            response=response,
        )

    @classmethod
    def nothing_shared(cls, source: str, has: Sequence[str], target: Sequence[str]) -> Self:
        return cls(
            f"Source {source!r} shares no feature with the target: it has {listed(has)}, "
            f"the target has {listed(target)}. Rename its columns, or leave it out."
        )

    @classmethod
    def other_response(cls, source: str, theirs: str, ours: str) -> Self:
        return cls(
            f"The response of source {source!r} is named {theirs!r}, the target's is {ours!r}. "
            "If they are the same quantity, give them the same name."
        )

    @classmethod
    def unusable_model(cls, why: str, then: str) -> Self:
        return cls(f"This model cannot be turned into moments: {why}. {then}.")


class BadLevels(PoolwiseError):
    """Categories that the model does not know."""

    @classmethod
    def unseen(cls, name: str, unseen: Sequence[str], levels: Sequence[str]) -> Self:
        return cls(
            f"Column {name!r} holds {listed(unseen)}, which no table had at fit; "
            f"the levels are {listed(levels)}.",
            'Map them to a known level, or use PooledRegressor(unseen_level="ignore") to predict '
            f"such rows as the reference level {levels[0]!r}.",
            column=name,
            unseen=unseen,
            reference=levels[0],
        )

    @classmethod
    def new(cls, column: str, new: Sequence[str], levels: Sequence[str]) -> Self:
        return cls(
            f"Column {column!r} holds {listed(new)}, which no table had at fit; the levels are "
            f"{listed(levels)}. What is kept of the old rows has no column for a new level: fit "
            "again on all rows, or map it to a known level."
        )

    @classmethod
    def unclear(cls, source: str, column: str, why: str, then: str = "") -> Self:
        advice = then or (
            "Take its moments with an indicator for every level, or add the missing indicator, "
            "which is one minus the sum of the others"
        )
        return cls(
            f"The levels of {column!r} in the moments of {source} are not clear: {why}.",
            f"{advice}.",
        )


class TooFewRows(PoolwiseError):
    """Fewer rows than the task needs."""

    @classmethod
    def empty_target(cls, rows: int, missing: Mapping[str, int] | None = None) -> Self:
        if rows and missing:
            gone = counted(missing)
            why = f"None of the {rows:,} rows of the target has all columns (missing: {gone})"
        else:
            why = f"The target has no rows, or their weights are all zero ({rows:,} rows)"
        return cls(
            f"{why}.",
            "The target is the new, complete data: at least one row must have every feature and "
            "the response (0 sample(s) do, a minimum of 1 is required). In cross-validation of "
            "stacked rows, split with poolwise.TargetSplit.",
            **({"missing": dict(missing)} if rows and missing else {"rows": rows}),
        )

    @classmethod
    def to_compare(cls, rows: int, needed: int) -> Self:
        return cls(
            f"The target has {rows} complete rows, and cross-validation needs at least {needed}. "
            "Collect more rows before comparing methods."
        )


class NeedsRows(PoolwiseError):
    """A task that needs rows or moments which are not available."""

    @classmethod
    def of(cls, method: str, sources: Sequence[str]) -> Self:
        return cls(
            f"{method} reads the rows of every source that lacks a column, and of "
            f"{listed(sources)} only moments are at hand. Give the rows, or use feature_transfer, "
            "which needs moments alone."
        )

    @classmethod
    def of_target(cls, method: str) -> Self:
        return cls(
            f"{method} learns from rows, and of the target only moments are at hand: it can "
            "neither be fitted to moments nor updated. Fit it to all rows again, or use "
            "bayes_pooling, which needs moments alone."
        )

    @classmethod
    def moments_left_out(cls, what: str, then: str = "") -> Self:
        advice = then or (
            "Ask whoever saved it for a file with moments, or predict rows that have all columns"
        )
        return cls(
            f"This model was saved without moments, and {what} needs the moments it was fitted "
            "from.",
            f"{advice}.",
        )


class NotAvailable(PoolwiseError, AttributeError):
    """A result that this kind of fit does not have."""


class CannotSubtract(PoolwiseError):
    """Rows to subtract that were never added."""

    @classmethod
    def of(cls, why: str) -> Self:
        return cls(
            f"These rows cannot be taken away: {why}. Subtract only rows that were added, with "
            "the weights and the columns they were added with."
        )


class BadFile(PoolwiseError):
    """A file that is missing, damaged, or not what its name says."""

    @classmethod
    def not_found(cls, path: str, why: str) -> Self:
        return cls(
            f"No file to read at {path!r}. {why} Relative paths begin at the working directory."
        )

    @classmethod
    def of(cls, file: str, form: str, why: str, column: str | None = None) -> Self:
        name = {"csv": "CSV", "parquet": "Parquet", "feather": "Feather"}.get(form, form)
        advice = (
            "Write it again if it was cut short. If it has another format, rename it or use "
            "Files(..., format=...). Files(..., csv=...) sets delimiter, decimal_point and "
            "encoding of CSV."
        )
        about: dict[str, Any] = {"file": file, "form": form, "why": why}
        if "UTF8" in why:
            advice = "It is in another encoding: set it with Files(..., csv={'encoding': ...})."
            about["encoding"] = "unknown"
        elif column is not None:
            advice = (
                "Correct it. If it stands for a missing number, use "
                "Files(..., csv={'null_values': [...]})."
            )
            about["column"] = column
        return cls(f"{file!r} cannot be read as {name}: {why}.", advice, **about)


class BadMomentsFile(BadFile):
    """A file that does not hold valid moments."""


class BadModelFile(BadFile):
    """A file that does not hold a valid model."""


class NotWritten(PoolwiseError):
    """A file that could not be written."""

    @classmethod
    def of(cls, path: str, why: str, then: str = "") -> Self:
        hint = then or "Give the name of a file in a folder that exists and that you may write to"
        return cls(f"{path} cannot be written: {why}.", f"{hint}.")

    @classmethod
    def exists(cls, path: str) -> Self:
        return cls(
            f"{path} exists already.",
            "Give another name, or overwrite=True to replace it.",
            existing=path,
        )


class TooFewToShare(PoolwiseError):
    """Moments of so few rows that they disclose single rows."""


class CannotExport(PoolwiseError):
    """A model that another format cannot express."""

    @classmethod
    def of(cls, format: str, why: str, then: str) -> Self:
        return cls(f"The model cannot be written as {format}: {why}. {then}.")

    @classmethod
    def to_model_file(cls, why: str, then: str) -> Self:
        return cls(f"The model cannot be saved: {why}.", f"{then}.")


class NotInstalled(PoolwiseError, ImportError):
    """A package that is needed and not installed."""

    @classmethod
    def of(cls, what: str, package: str, extra: str, otherwise: str) -> Self:
        return cls(
            f"{what} needs the package {package}, which is not installed. Run "
            f'pip install "poolwise[{extra}]". {otherwise}'
        )

    @classmethod
    def on_workers(cls, package: str, cluster: str, what_to_do: str) -> Self:
        return cls(
            f"The workers of {cluster} cannot import {package}: the Python that they run does not "
            f"have it. {what_to_do}"
        )


class WorkersLost(PoolwiseError):
    """Worker processes that ended before their work was done."""

    @classmethod
    def of(cls, cluster: str, where: str, why: str) -> Self:
        return cls(
            f"{cluster} gave up before {where} was read ({why}). If workers were ended, most "
            "likely for want of memory, give them more of it, or fewer threads each; their logs "
            "tell. If the client or the cluster was closed, open it again. Then fit once more."
        )


class DataWarning(PoolwiseWarning):
    """Data that look like a mistake, or something that had to be assumed about them."""

    @classmethod
    def level_assumed(cls, source: str, column: str, what: str) -> Self:
        return cls(
            f"The moments of {source} do not name all levels of {column!r}: {what}. Moments with "
            "an indicator for every level leave nothing to assume."
        )


class LeftOut(PoolwiseWarning):
    """Columns, rows or sources that were left out."""

    @classmethod
    def columns(cls, source: str, names: Sequence[str], lacking: Sequence[str] = ()) -> Self:
        lower = {str(n).lower(): n for n in lacking}
        near = [m for n in names for m in get_close_matches(str(n).lower(), lower, n=1, cutoff=0.8)]
        hint = f" Is it {listed([lower[m] for m in near])} by another name?" if near else ""
        return cls(
            f"Source {source!r} has {listed(names)}, which the target lacks: left out. "
            f"A model for the target cannot use them.{hint}",
            source=source,
            names=tuple(str(n) for n in names),
            near=tuple(lower[m] for m in near),
        )

    @classmethod
    def rows(cls, source: str, counts: Mapping[str, int], dropped: int, rows: int) -> Self:
        return cls(
            f"{dropped:,} of {rows:,} rows of source {source!r} were dropped because a value is "
            f"missing: {counted(counts)}.",
            'nulls="split" uses the rows that lack a feature.',
            counts=dict(counts),
            dropped=dropped,
            rows=rows,
        )

    @classmethod
    def empty_source(cls, source: str) -> Self:
        return cls(
            f"Source {source!r} has no rows, or their weights are all zero: it changes nothing. "
            "Was it filtered too far, or is it a stream that was read before?"
        )

    @classmethod
    def sources(cls, method: str, sources: Sequence[str], why: str) -> Self:
        return cls(
            f"{method} left out {listed(sources)}: {why}. data_pooling takes sources of any "
            "features and any number of rows."
        )


class FewRows(PoolwiseWarning):
    """A target with fewer rows than coefficients."""


LEAST_NORM = "the ones of least norm (in units of standard deviations) were taken"


class RankDeficient(PoolwiseWarning):
    """Columns that are linear combinations of others."""

    @classmethod
    def of(cls, dependent: Sequence[str], where: str, taken: str = LEAST_NORM) -> Self:
        return cls(
            f"In {where}, the columns {listed(dependent)} are linearly dependent: their "
            f"coefficients are not determined by the data, and {taken}. Predictions are "
            "not affected where the same relation holds; drop one of these columns to get unique "
            "coefficients."
        )


class DigitsLost(PoolwiseWarning):
    """Columns so nearly dependent that rounding leaves few digits of the coefficients."""


class NoiseNotEstimable(PoolwiseWarning):
    """A residual variance that cannot be estimated."""

    @classmethod
    def of(cls, where: str, why: str, then: str) -> Self:
        return cls(f"The noise of {where} cannot be estimated: {why}. {then}")


class OptionIgnored(PoolwiseWarning):
    """An option that names something which does not exist."""

    @classmethod
    def of(cls, option: str, names: Sequence[str], what: str, there: Sequence[str]) -> Self:
        return cls(
            f"{option} names {listed(names)}, and there are no such {what}: ignored. "
            f"There are {listed(there)}."
        )


class PredictionsBounded(PoolwiseWarning):
    """Predictions far outside the range of the observed responses."""
