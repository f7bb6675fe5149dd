"""Errors about problems: a target, its sources, and what they have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from poolwise.errors.family import TransferError
from poolwise.wording import capital, counted, did_you_mean, listed


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


class NoResponse(TransferError):
    """A source without the response."""

    def __init__(self, source: str, response: str, there: Sequence[str]) -> None:
        hint = did_you_mean(response, there)
        super().__init__(
            f"Source {source!r} has no column {response!r}, the name of the response; it has "
            f"{listed(there)}.{hint} Give (X, y), or name the response as the source does: by the "
            "name of y, or by PooledRegressor(response=...)."
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


class EmptyTarget(TransferError):
    """A target without a row that has all columns."""

    def __init__(self, rows: int, missing: Mapping[str, int] | None = None) -> None:
        if rows and missing:
            why = f"None of the {rows:,} rows of X has all columns (missing: {counted(missing)})"
        else:
            why = f"The target has no rows, or their weights are all zero ({rows:,} rows)"
        super().__init__(
            f"{why}. The target is the new, complete data: at least one row must have every "
            "feature and the response (0 sample(s) do, a minimum of 1 is required). In "
            "cross-validation of stacked rows, split with poolwise.TargetSplit."
        )


class NoFeatures(TransferError):
    """A target with no feature at all."""

    def __init__(self, response: str) -> None:
        super().__init__(
            f"The target has no feature beside the response {response!r}: 0 feature(s), "
            "a minimum of 1 is required."
        )


class UnknownSource(TransferError):
    """A source to take rows from that is not there."""

    def __init__(self, name: str, there: Sequence[str]) -> None:
        super().__init__(
            f"There is no source {name!r} to take rows from; there are {listed(there)}. Rows are "
            "forgotten from the source they were given under."
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
