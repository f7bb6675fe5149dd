"""Every error and warning that poolwise raises on purpose.

A message says what is wrong, with names and numbers, and then what to do about it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any


class _Message:
    """Lets an exception whose arguments are not its message cross processes and pickles."""

    args: tuple[Any, ...]

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.args, self.__dict__)

    def __getstate__(self) -> dict[str, Any]:
        return {"args": self.args, **self.__dict__}  # for skops, which does not ask __reduce__


def _restored(kind: type[Exception], args: tuple[Any, ...], state: dict[str, Any]) -> Exception:
    message = kind.__new__(kind)
    message.args = args
    message.__dict__.update(state)
    return message


class TransferError(_Message, ValueError):
    """Base of every error that poolwise raises on purpose."""


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


class ShapeMismatch(TransferError):
    """Arrays that do not fit the names of their columns, or each other."""

    def __init__(self, names: int, shapes: Sequence[tuple[int, ...]]) -> None:
        super().__init__(
            f"{names} columns were named, but the rows come in arrays of shapes {list(shapes)}. "
            "Give arrays of equal length with one column per name between them."
        )


class MissingColumns(TransferError):
    """A column was asked for that the table does not have."""

    def __init__(
        self, wanted: Sequence[str], there: Sequence[str], where: str = "The table"
    ) -> None:
        near = [m for n in wanted for m in get_close_matches(str(n), map(str, there), n=1)]
        hint = f" Did you mean {listed(near)}?" if near else ""
        super().__init__(
            f"No column named {listed(wanted)}. {capital(where)} has {listed(there)}.{hint}"
        )


class DuplicateColumns(TransferError):
    """Two columns have the same name."""

    def __init__(self, names: Sequence[str], where: str = "The table") -> None:
        twice = sorted({n for n in names if list(names).count(n) > 1}, key=str)
        super().__init__(
            f"{where} has more than one column named {listed(twice)}. "
            "Columns are matched by name: rename or drop the copies."
        )


class BadWeights(TransferError):
    """Row weights of the wrong shape, negative, or not finite."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"{what} Give one finite, non-negative weight per row.")


class NotFinite(TransferError):
    """NaN or infinity where it means nothing."""

    def __init__(
        self, counts: Mapping[str, int], rows: int, where: str = "Input", then: str = ""
    ) -> None:
        self.counts, self.rows = counts, rows
        super().__init__(
            f"{capital(where)} contains NaN or infinity: {named_counts(counts)} of {rows:,} rows. "
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
            f"X contains NaN in columns that all data had at fit: {named_counts(counts)} of "
            f"{rows:,} rows. {may} Impute the others or drop these rows."
        )


class OtherColumns(TransferError):
    """Columns at prediction that are not those of fit, in their order."""

    def __init__(self, there: Sequence[str], wanted: Sequence[str]) -> None:
        unknown = [n for n in there if n not in wanted]
        what = f"It has {listed(unknown)}, which were not there at fit" if unknown else ""
        super().__init__(
            f"X must have the columns {listed(wanted)}, in this order. "
            + (f"{what}." if what else f"It has them in the order {listed(there)}.")
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
            f"The predictions of {rows:,} rows are beyond the range of doubles. Is X in the units "
            "of the data at fit?"
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


class SingularTarget(TransferError):
    """A theory that needs a target which determines its coefficients."""

    def __init__(self, rank: int, coefficients: int) -> None:
        super().__init__(
            f"The target determines {rank} of {coefficients} coefficients, so the variance of "
            "target-only least squares is infinite and there is no gain to compute. Leave out "
            "dependent features, or collect more rows."
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
            f"{capital(where)} has {rows:,} rows in which every feature is missing. They say "
            "nothing about how the response depends on features: drop them."
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


class UnknownTable(TransferError, TypeError):
    """A table of a type that no engine reads."""

    def __init__(self, kind: type, where: str) -> None:
        verbs = [verb for verb in ("collect", "compute") if hasattr(kind, verb)]
        super().__init__(
            f"{capital(where)} is a {kind.__module__}.{kind.__qualname__}, which poolwise cannot "
            "read. Give a NumPy array, a pandas or polars DataFrame, an Arrow table, or any object "
            "with __arrow_c_stream__." + (f" Call .{verbs[0]}() first." if verbs else "")
        )


class BadSource(TransferError, TypeError):
    """A source that is neither (X, y) nor moments."""

    def __init__(self, name: str, got: Any, *, is_split: bool = False) -> None:
        if is_split:
            super().__init__(
                f"Source {name!r} has its response beside files, a dataset or a frame of a "
                "cluster, whose rows cannot be matched with it. Give them alone, the response "
                "being one of their columns."
            )
            return
        super().__init__(
            f"Source {name!r} is a {type(got).__name__}. Give (X, y), (X, y, weights), a table, "
            "files, a query, a dataset or a Dask or Spark DataFrame that hold the response as a "
            "column, Moments, or the path of a .moments.json file. (A list is a list of sources: "
            "write (X, y), not [X, y].)"
        )


class NoUncertainty(TransferError):
    """A question about uncertainty that a fit cannot answer."""

    def __init__(self, method: str) -> None:
        super().__init__(
            f"This fit of {method} has no standard deviation of its predictions: its theory gives "
            "no covariance, or the noise of the target could not be estimated. bayes_pooling "
            "has one wherever the response varies; target_only and data_pooling have one where "
            "the target has more rows than coefficients."
        )


class NotMoments(TransferError, TypeError):
    """Rows where only moments are taken."""

    def __init__(self, name: str, got: Any) -> None:
        super().__init__(
            f"{capital(name)} is a {type(got).__name__}, and fit_moments takes moments alone. "
            "Make them with Moments.of_rows(names, rows), give the path of a .moments.json file, "
            "or use fit, which takes rows."
        )


class NotAProblem(TransferError, TypeError):
    """Something to diagnose that has no target and no sources."""

    def __init__(self, got: Any) -> None:
        super().__init__(
            f"A {type(got).__name__} cannot be diagnosed: it has no target and no sources. Give a "
            "fitted PooledRegressor, or a Problem made of moments."
        )


class SlicedSources(TransferError):
    """A bare container of sources that scikit-learn may have cut like rows."""

    def __init__(self, kind: str, length: int) -> None:
        super().__init__(
            f"sources is a {kind} of length {length}, and X has {length} rows: scikit-learn cuts "
            "such an argument like rows in cross-validation, so sources may have been lost. "
            "Wrap it: sources=poolwise.Sources(...)."
        )


class EmptyTarget(TransferError):
    """A target without a row that has all columns."""

    def __init__(self, rows: int, missing: Mapping[str, int] | None = None) -> None:
        if rows and missing:
            why = (
                f"None of the {rows:,} rows of X has all columns (missing: {named_counts(missing)})"
            )
        else:
            why = f"The target has no rows, or their weights are all zero ({rows:,} rows)"
        super().__init__(
            f"{why}. The target is the new, complete data: at least one row must have every "
            "feature and the response (0 sample(s) do, a minimum of 1 is required). In "
            "cross-validation of stacked rows, split with poolwise.TargetSplit."
        )


class NoResponse(TransferError):
    """A source without the response."""

    def __init__(self, source: str, response: str, there: Sequence[str]) -> None:
        near = get_close_matches(response, [str(n) for n in there], n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        super().__init__(
            f"Source {source!r} has no column {response!r}, the name of the response; it has "
            f"{listed(there)}.{hint} Give (X, y), or name the response as the source does: by the "
            "name of y, or by PooledRegressor(response=...)."
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


class TooFewToCompare(TransferError):
    """A target too small for cross-validation."""

    def __init__(self, rows: int, needed: int) -> None:
        super().__init__(
            f"The target has {rows} complete rows, and cross-validation needs at least {needed}. "
            "Collect more rows before comparing methods."
        )


class NoFeatures(TransferError):
    """A target with no feature at all."""

    def __init__(self, response: str) -> None:
        super().__init__(
            f"The target has no feature beside the response {response!r}: 0 feature(s), "
            "a minimum of 1 is required."
        )


class NoSharedColumn(TransferError):
    """A source that has no feature in common with the target."""

    def __init__(self, source: str, has: Sequence[str], target: Sequence[str]) -> None:
        super().__init__(
            f"Source {source!r} shares no feature with the target: it has {listed(has)}, "
            f"the target has {listed(target)}. Rename its columns, or leave it out."
        )


class TooManyColumns(TransferError):
    """A source array with more columns than the target."""

    def __init__(self, source: str, has: int, target: int) -> None:
        super().__init__(
            f"Source {source!r} is an array of {has} columns, the target has {target}. Arrays are "
            "matched by position (the source's columns are the target's first ones): give at most "
            f"{target} columns, or use tables with column names."
        )


class DifferentResponse(TransferError):
    """The response of a source is not the response of the target."""

    def __init__(self, source: str, theirs: str, ours: str) -> None:
        super().__init__(
            f"The response of source {source!r} is named {theirs!r}, the target's is {ours!r}. "
            "If they are the same quantity, give them the same name."
        )


class ResponseInFeatures(TransferError):
    """A feature that bears the name of the response."""

    def __init__(self, response: str, where: str = "X") -> None:
        super().__init__(
            f"{where} has a column named {response!r}, which is the name of the response. If it is "
            "the response, take it out; if not, rename it, or rename y (where y has no name: "
            "PooledRegressor(response=...))."
        )


class NeedsRows(TransferError):
    """A method that reads rows was given moments alone."""

    def __init__(self, method: str, sources: Sequence[str]) -> None:
        super().__init__(
            f"{method} reads the rows of every source that lacks a column, and of "
            f"{listed(sources)} only moments are at hand. Give the rows, or use feature_transfer, "
            "which needs moments alone."
        )


class NeedsTargetRows(TransferError):
    """A method that learns from rows was given a target as moments alone, or an update."""

    def __init__(self, method: str) -> None:
        super().__init__(
            f"{method} learns from rows, and of the target only moments are at hand: it can "
            "neither be fitted to moments nor updated. Fit it to all rows again, or use "
            "bayes_pooling, which needs moments alone."
        )


class RowsMoved(TransferError):
    """A source whose rows came otherwise when they were read again."""

    def __init__(self, source: str) -> None:
        super().__init__(
            f"The rows of source {source!r} were not the same, or not in the same order, when they "
            "were read again: a row would get its value from trees that have already seen it. "
            "Keep the rows as they are: write them to files and give these, or sort a DataFrame of "
            "Spark, or persist one of Dask."
        )


class NoCoefficients(TransferError, AttributeError):
    """Coefficients of a model that is not linear."""

    def __init__(self, attribute: str, method: str) -> None:
        super().__init__(
            f"There is no {attribute}: {method} is a weighted mean of linear models and trees. "
            "summary() has the weights and what each new column does; fit_ is the linear "
            "candidate with derived columns; derived_pooling and bayes_pooling have coefficients."
        )


class NotALine(TransferError):
    """A model with trees where only a line can be written."""

    def __init__(self, method: str) -> None:
        super().__init__(
            f"scikit-learn, ONNX and SQL get linear models from here, and this one of {method} has "
            "trees in it. save() keeps all of it; bayes_pooling gives a model that is a line."
        )


class TooFewRows(TransferError):
    """Fewer rows than the method can live with."""

    def __init__(self, method: str, rows: float, needed: int, instead: str) -> None:
        super().__init__(
            f"{method} needs a target of at least {needed} rows here and has {rows:g}. "
            f"Use {instead}, or collect more rows."
        )


class UnknownMethod(TransferError):
    """A method name that is not registered."""

    def __init__(self, name: object, there: Sequence[str]) -> None:
        near = get_close_matches(str(name), there, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        if isinstance(name, type):
            hint = f" {name.__name__} is a class: write {name.__name__}()."
        super().__init__(f"No method named {name!r}. There are {listed(there)}.{hint}")


class BadOption(TransferError):
    """An option that is not one of its values."""

    def __init__(self, option: str, value: object, allowed: str) -> None:
        super().__init__(f"{option}={value!r} is not possible. It must be {allowed}.")


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


class TooFewToShare(TransferError):
    """Moments of so few rows that they tell about single ones."""

    def __init__(self, what: str, rows: float, least: int) -> None:
        self.short = f"{what} has {rows:g} rows, fewer than {least}"
        super().__init__(
            f"{capital(what)} has {rows:g} rows, fewer than min_rows={least}, and moments of so "
            "few rows tell about single ones: nothing was written. Add more rows, leave the "
            "column out with .select(names), or give a smaller min_rows."
        )


class CannotSubtract(TransferError):
    """Rows to be taken away that were never there."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"These rows cannot be taken away: {why}. Subtract only rows that were added, with "
            "the weights and the columns they were added with."
        )


class UnknownSource(TransferError):
    """A source to take rows from that is not there."""

    def __init__(self, name: str, there: Sequence[str]) -> None:
        super().__init__(
            f"There is no source {name!r} to take rows from; there are {listed(there)}. Rows are "
            "forgotten from the source they were given under."
        )


class NewLevels(TransferError):
    """Categories, in rows to be added, that a fitted model has no column for."""

    def __init__(self, column: str, new: Sequence[str], levels: Sequence[str]) -> None:
        super().__init__(
            f"Column {column!r} holds {listed(new)}, which no table had at fit; the levels are "
            f"{listed(levels)}. What is kept of the old rows has no column for a new level: fit "
            "again on all rows, or map it to a known level."
        )


class UnclearLevels(TransferError):
    """Indicators in moments that do not tell which level each row has."""

    def __init__(self, source: str, column: str, why: str, then: str = "") -> None:
        advice = then or (
            "Take its moments with an indicator for every level, or add the one that is missing, "
            "which is one less the sum of the others, with Moments.affine"
        )
        super().__init__(
            f"The levels of {column!r} in the moments of {source} are not clear: {why}. {advice}."
        )


class UnusableModel(TransferError):
    """A published model that does not tell enough to stand in for its rows."""

    def __init__(self, why: str, then: str) -> None:
        super().__init__(f"This model cannot be turned into moments: {why}. {then}.")


class UnknownDataset(TransferError):
    """A name that no dataset of the experiments has."""

    def __init__(self, name: object, there: Sequence[str]) -> None:
        near = get_close_matches(str(name), there, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        super().__init__(f"No dataset named {name!r}. There are {listed(there)}.{hint}")


class UnknownResult(TransferError):
    """A name that no table or figure of the paper has."""

    def __init__(self, name: object, there: Sequence[str]) -> None:
        near = get_close_matches(str(name), there, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        super().__init__(
            f"No table or figure named {name!r}.{hint} There are {listed(there)}. On the command "
            "line 'list' tells what each of them shows, and 'all' computes them all."
        )


class DatasetNotFound(TransferError):
    """A dataset that no folder holds and that could not be downloaded."""

    def __init__(
        self, name: str, file: str, tried: Sequence[str], source: str | None = None
    ) -> None:
        told = f"Tried: {'; '.join(tried)}." if tried else "No folder was named."
        folder = "the folder that POOLWISE_DATA, or --data DIR, names"
        out = (
            f"There is no address to download it from. Make it from {source}, and save it as "
            f"{file} in {folder}."
            if source
            else f"Put {file} into {folder}, or try again with a connection to the internet."
        )
        super().__init__(f"The dataset {name!r} is out of reach. {told} {out}")


class WrongChecksum(TransferError):
    """A file, here or on a server, that is not the dataset its name says."""

    def __init__(self, name: str, where: str, expected: str, found: str, then: str) -> None:
        super().__init__(
            f"{where} is not the dataset {name!r}: its SHA-256 is {found}, and should be "
            f"{expected}. {then}"
        )


class UnreadableDataset(TransferError):
    """A file that does not hold the numbers it should."""

    def __init__(self, name: str, file: str, why: str, wanted: str) -> None:
        super().__init__(
            f"{file} cannot be read as the dataset {name!r}: {why}. It must be {wanted}."
        )


class FilesNotFound(TransferError):
    """A path, a pattern or a folder that stands for no file."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            f"No file to read at {path!r}. {why} Relative paths begin at the working directory."
        )


class UnknownFormat(TransferError):
    """A file whose name does not say how it is written."""

    def __init__(self, file: str, there: Sequence[str]) -> None:
        super().__init__(
            f"The suffix of {file!r} does not say how it is written. Known are {list(there)}. "
            "Rename it, or say Files(..., format='csv'), 'parquet' or 'feather'. Files of moments "
            "end in .moments.json."
        )


class UnreadableFile(TransferError):
    """A file that is broken, cut short, or not what its name says."""

    def __init__(
        self, file: str, form: str, why: str, column: str | None = None, then: str = ""
    ) -> None:
        self.file, self.form, self.why, self.column = file, form, why, column
        name = {"csv": "CSV", "parquet": "Parquet", "feather": "Feather"}.get(form, form)
        super().__init__(
            f"{file!r} cannot be read as {name}: {why}. Write it again if it was cut short; if it "
            "is of another kind, rename it or say Files(..., format=...); how CSV is written can "
            f"be said by Files(..., csv=...).{then and f' {then}'}"
        )


class NotACheckpoint(TransferError):
    """A file where a checkpoint should be is none."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            f"{path!r} should be the checkpoint of a reading, but is not ({why}). Remove it to "
            "begin anew, or name another file."
        )


class NotInFile(TransferError):
    """A column that a file must have and lacks."""

    def __init__(self, file: str, column: str, there: Sequence[str], why: str) -> None:
        lower = {n.lower(): n for n in there}
        near = get_close_matches(column.lower(), lower, n=1)
        hint = f" Did you mean {lower[near[0]]!r}?" if near else ""
        super().__init__(
            f"{file!r} has no column {column!r}, {why}; it has {listed(there)}.{hint} Add or "
            "rename the column, or leave the file out."
        )


class NullsInFile(TransferError):
    """Missing values in a file or a stream, where they are not to be."""

    def __init__(self, file: str, counts: Mapping[str, int], rows: int) -> None:
        where = capital(file) if file.startswith("source ") else repr(file)  # a stream
        super().__init__(
            f"{where} has missing values in {rows:,} rows: {_counted(counts)}. "
            'nulls="drop" leaves such rows out; nulls="split" makes a source of each pattern of '
            "missing features."
        )


class NullResponse(NotFinite):
    """Rows of files or of a stream without a response, where those that lack features are used."""

    def __init__(self, where: str, response: str, count: int, rows: int) -> None:
        self.counts, self.rows = {response: count}, rows
        TransferError.__init__(
            self,
            f"{capital(where)} lacks the response {response!r} in {count:,} of {rows:,} rows, and "
            "such rows are of no use. Of files, leave them out with Files(..., filter="
            f"~pyarrow.dataset.field({response!r}).is_null(nan_is_null=True)), or leave out all "
            'that lack any value with Files(..., nulls="drop"). Of a data frame or a stream, '
            "filter them out before.",
        )


class TooManyPatterns(TransferError):
    """Missing values so scattered that their patterns cannot all be kept."""

    def __init__(self, where: str, most: int) -> None:
        super().__init__(
            f"The rows of {where} lack columns in more than {most:,} different patterns, and each "
            'would be a source. Read them with Files(..., nulls="drop"), read fewer columns with '
            "Files(..., columns=...), or impute the values first."
        )


class WorkerDied(TransferError):
    """A process of several that ended in the middle of its work."""

    def __init__(self, jobs: int) -> None:
        super().__init__(
            f"One of {jobs} worker processes was ended from outside, most likely by a system short "
            "of memory. What was finished is kept. Give the same command again with fewer --jobs "
            "(jobs= in Python); --jobs 1 needs the least memory."
        )


class WorkersLost(TransferError):
    """A cluster that stopped before it had read everything."""

    def __init__(self, cluster: str, where: str, why: str) -> None:
        super().__init__(
            f"{cluster} gave up before {where} was read ({why}). If workers were ended, most "
            "likely for want of memory, give them more of it, or fewer threads each; their logs "
            "tell. If the client or the cluster was closed, open it again. Then fit once more."
        )


class NotInstalled(TransferError, ImportError):
    """Work that needs a package which is not there."""

    def __init__(self, what: str, package: str, extra: str, otherwise: str) -> None:
        super().__init__(
            f"{what} needs the package {package}, which is not installed. Run "
            f'pip install "poolwise[{extra}]". {otherwise}'
        )


class NotOnWorkers(TransferError, ImportError):
    """Work that needs a package which the workers of a cluster do not have."""

    def __init__(self, package: str, cluster: str, what_to_do: str) -> None:
        super().__init__(
            f"The workers of {cluster} cannot import {package}: the Python that they run does not "
            f"have it. {what_to_do}"
        )


class TransferWarning(_Message, UserWarning):
    """Base of every warning that poolwise gives on purpose."""


class DroppedColumns(TransferWarning):
    """Columns of a source that the target lacks."""

    def __init__(self, source: str, names: Sequence[str], lacking: Sequence[str] = ()) -> None:
        lower = {str(n).lower(): n for n in lacking}
        near = [m for n in names for m in get_close_matches(str(n).lower(), lower, n=1, cutoff=0.8)]
        hint = f" Is it {listed([lower[m] for m in near])} by another name?" if near else ""
        self.source, self.names = source, tuple(str(n) for n in names)
        self.near = tuple(lower[m] for m in near)
        super().__init__(
            f"Source {source!r} has {listed(names)}, which the target lacks: left out. "
            f"A model for the target cannot use them.{hint}"
        )


class SwappedTables(TransferWarning):
    """A recent table that looks like the history, and history that looks like the recent table."""

    def __init__(self, names: Sequence[str], history_rows: int, target_rows: int) -> None:
        super().__init__(
            f"History has {listed(names)}, which the recent table lacks, and the recent table has "
            f"no column of its own, but more rows: {target_rows:,} beside {history_rows:,}. Are "
            "they swapped? History comes first, the recent table last."
        )


class OtherSpelling(TransferWarning):
    """Columns to predict from that a table lacks, and has under names that look alike."""

    def __init__(self, where: str, spelled: Mapping[str, str]) -> None:
        pairs = ", ".join(f"{own!r} for {name!r}" for name, own in spelled.items())
        super().__init__(
            f"{capital(where)} has {pairs}: names must be alike to the letter, so what it holds "
            "there was not used. Rename it if it is the same column."
        )


class ModelAssumes(TransferWarning):
    """What stands in for numbers that a published model does not tell."""

    def __init__(self, what: str) -> None:
        super().__init__(f"The published model does not tell everything: {what}")


class EmptySource(TransferWarning):
    """A source without rows."""

    def __init__(self, source: str) -> None:
        super().__init__(
            f"Source {source!r} has no rows, or their weights are all zero: it changes nothing. "
            "Was it filtered too far, or is it a stream that was read before?"
        )


class LevelAssumed(TransferWarning):
    """A level of a text column that moments do not name, and the one that stands in for it."""

    def __init__(self, source: str, column: str, what: str) -> None:
        super().__init__(
            f"The moments of {source} do not name all levels of {column!r}: {what}. Moments with "
            "an indicator for every level leave nothing to assume."
        )


class RowsDropped(TransferWarning):
    """Rows left out because a value is missing."""

    def __init__(self, source: str, counts: Mapping[str, int], dropped: int, rows: int) -> None:
        self.counts, self.dropped, self.rows = dict(counts), dropped, rows
        super().__init__(
            f"{dropped:,} of {rows:,} rows of source {source!r} were dropped because a value is "
            f'missing: {_counted(counts)}. nulls="split" would make use of those that lack a '
            "feature."
        )


class BeginsAnew(TransferWarning):
    """A checkpoint of something else than what is read now."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path!r} is the checkpoint of a reading of other files, of these files before they "
            "changed, of other columns, or by another version of poolwise: all was read anew."
        )


class FragmentsLeftOut(TransferWarning):
    """Rows whose pattern of missing columns is too rare to be a source."""

    def __init__(self, where: str, rows: int, patterns: int) -> None:
        super().__init__(
            f"{rows:,} rows of {where} lack values in {patterns:,} patterns of too few rows to "
            "estimate a noise from: left out. Impute or drop these values to use the rows."
        )


class LevelsApart(TransferWarning):
    """A text column with no level in common between a source and the target."""

    def __init__(
        self, source: str, column: str, theirs: Sequence[str], ours: Sequence[str]
    ) -> None:
        super().__init__(
            f"Column {column!r} has the levels {listed(theirs)} in source {source!r} and "
            f"{listed(ours)} in the target, none in common. Spelt differently, or filled in? Then "
            "map them, or leave the column out of the source."
        )


class OtherUnits(TransferWarning):
    """A column whose location or scale is far from the target's."""

    def __init__(
        self, source: str, column: str, theirs: tuple[float, float], ours: tuple[float, float]
    ) -> None:
        super().__init__(
            f"Column {column!r} of source {source!r} has mean {theirs[0]:.3g} and standard "
            f"deviation {theirs[1]:.3g}; in the target they are {ours[0]:.3g} and {ours[1]:.3g}. "
            "Other units, or scaled on one side only? (A Pipeline transforms X and not sources: "
            "there, stack the rows with NaN instead.)"
        )


class FilledColumn(TransferWarning):
    """A source column that is constant although the target's varies."""

    def __init__(self, source: str, column: str, value: float) -> None:
        super().__init__(
            f"Column {column!r} is {value:.6g} in every row of source {source!r} but varies in "
            "the target: it looks filled in. If it was not measured, leave it out of the source "
            "(or set it to NaN), so that it counts as unseen."
        )


class ConstantFeatures(TransferWarning):
    """Features that do not vary in any table."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(
            f"{listed(names)} have one value in every row: they explain nothing and get "
            "coefficient zero. Are they the right columns?"
        )


class ConstantResponse(TransferWarning):
    """A response that does not vary."""

    def __init__(self, where: str, value: float) -> None:
        super().__init__(
            f"The response is {value:.6g} in every row of {where}: there is nothing to explain. "
            "Is it the right column?"
        )


class DigitsLost(TransferWarning):
    """Columns so nearly dependent that rounding leaves few digits of the coefficients."""

    def __init__(self, where: str, error: float, better: str = "accurate") -> None:
        super().__init__(
            f"The columns of {where} are so nearly dependent that rounding may change the "
            f"coefficients by a share of {error:.0e}. Read the rows with precision={better!r}; "
            "moments that are already taken must be taken again."
        )


class VarianceLeftOut(TransferWarning):
    """Noise or standard errors that no double can hold."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(
            f"The numbers in {listed(names)} are so large or so small that the noise or the "
            "standard errors are beyond double precision: they are left out. Multiply or divide "
            "these columns by a power of ten to have them."
        )


LEAST_NORM = "the ones of least norm (in units of standard deviations) were taken"


class RankDeficient(TransferWarning):
    """Columns that are linear combinations of others."""

    def __init__(self, dependent: Sequence[str], where: str, taken: str = LEAST_NORM) -> None:
        super().__init__(
            f"In {where}, the columns {listed(dependent)} are linearly dependent: their "
            f"coefficients are not determined by the data, and {taken}. Predictions are "
            "not affected where the same relation holds; drop one of these columns to get unique "
            "coefficients."
        )


class PredictionsBounded(TransferWarning):
    """Predictions far outside of all responses that were seen."""

    def __init__(self, count: int, rows: int, bounds: tuple[float, float]) -> None:
        low, high = bounds
        super().__init__(
            f"{count:,} of {rows:,} predictions fell outside of the bounds, {low:.5g} to "
            f"{high:.5g}, and are held there: a linear model is not to be trusted far from its "
            "data. Look at the features of these rows, or switch the bounds off with "
            "method=BayesPooling(bounds=None)."
        )


class FewRows(TransferWarning):
    """A target with fewer rows than coefficients."""

    def __init__(self, weight: float, coefficients: int, rows: int = 0) -> None:
        said = (
            f"The target has {rows_for(weight, coefficients)}: the target alone "
            "does not determine the model, nor its noise."
        )
        if weight < 0.999 * rows:  # not by rounding alone
            said += (
                f" The weights of its {rows:,} rows sum to {weight:.5g}: scale them to a mean of "
                "one, since a weight counts as repetitions."
            )
        super().__init__(said)


class NoiseNotEstimable(TransferWarning):
    """A residual variance that is zero or has no degrees of freedom."""

    def __init__(self, where: str, why: str, then: str) -> None:
        super().__init__(f"The noise of {where} cannot be estimated: {why}. {then}")


class OptionIgnored(TransferWarning):
    """An option that names something which is not there."""

    def __init__(self, option: str, names: Sequence[str], what: str, there: Sequence[str]) -> None:
        super().__init__(
            f"{option} names {listed(names)}, and there are no such {what}: ignored. "
            f"There are {listed(there)}."
        )


class SourceLeftOut(TransferWarning):
    """A source that a method cannot use beside the others."""

    def __init__(self, method: str, sources: Sequence[str], why: str) -> None:
        super().__init__(
            f"{method} left out {listed(sources)}: {why}. data_pooling takes sources of any "
            "features and any number of rows."
        )


def capital(text: str) -> str:
    """Start a sentence, unless it starts with the name of a file."""
    first = text.partition(" ")[0]
    return text[:1].upper() + text[1:] if first.isalpha() else text


def listed(names: Sequence[object], most: int = 12) -> str:
    """Write names as a list, shortened when there are many."""
    shown = [str(n) for n in names[:most]]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{shown}{more}"


def rows_for(rows: float, coefficients: int) -> str:
    """Write how many rows there are for how many coefficients."""
    many = "" if coefficients == 1 else "s"
    return f"{rows:g} row{'' if rows == 1 else 's'} for {coefficients} coefficient{many}"


def named_counts(counts: Mapping[str, int], most: int = 12) -> str:
    """Write counts by name as a dict, shortened when there are many."""
    shown = {str(n): c for n, c in list(counts.items())[:most]}
    more = f" and {len(counts) - most} more columns" if len(counts) > most else ""
    return f"{shown}{more}"


def _counted(counts: Mapping[str, int], most: int = 12) -> str:
    """Write counts by name as a sentence, shortened when there are many."""
    shown = [f"{name!r} in {count:,}" for name, count in list(counts.items())[:most]]
    return ", ".join([*shown, f"{len(counts) - most} more columns"][: len(counts)])
