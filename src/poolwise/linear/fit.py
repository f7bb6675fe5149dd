"""The protocol of all fits, and the parts of a fit that summaries show."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array

if TYPE_CHECKING:
    from poolwise.linear.linear_fit import LinearFit
    from poolwise.linear.problem import Problem

Record: TypeAlias = dict[str, Any]  # numbers, strings, None, and lists and dicts of these


class Fit(Protocol):
    """The result of a method. ``rows`` are arrays of the problem's features, in their order."""

    def predict(self, rows: Array) -> Array:
        """Return the prediction for each row."""

    def deviation(self, rows: Array) -> Array | None:
        """Return the standard deviation of a new response about each prediction, if known."""

    def half_width(self, rows: Array, coverage: float) -> Array | None:
        """Return half the width of the interval that holds each response with this probability."""

    def beyond(self, rows: Array, predicted: Array, least: float = 0.0) -> NDArray[np.intp]:
        """Return the places of predictions moved to a bound, by more than ``least``."""

    def gap_variance(self, rows: Array) -> Array:
        """Return the variance of each prediction that is due to the gaps of its row."""

    def parts(self) -> FitParts:
        """Return the parts that summaries, reports and model files show."""

    def record(self) -> Record:
        """Return plain data for the model file; moments are not in it."""


@dataclass(frozen=True)
class Candidate:
    """One of the models whose weighted mean predicts."""

    name: str
    words: str  # what it is
    weight: float  # its share of the prediction
    error: float  # root mean squared error on target rows that it was not fitted on


@dataclass(frozen=True)
class HeldOutErrors:
    """Errors of candidates on target rows that they were not fitted on."""

    rows: int  # of the target
    errors: Mapping[str, float]  # root mean squared error of each candidate
    error: float  # the same for the weighted mean, with weights chosen without the row
    fall: float  # relative reduction of its mean squared error against the candidate "linear"
    fall_error: float  # standard error of that
    alone: float | None = None  # smallest error of a candidate that was fitted without sources

    @property
    def sureness(self) -> float:
        """The reduction in standard errors."""
        if self.fall_error:
            return self.fall / self.fall_error
        return float(np.sign(self.fall)) * np.inf if self.fall else 0.0

    def in_words(self) -> str:
        """Describe by how much trees reduce the error, without a final full stop."""
        change = f"{abs(self.fall):.0%} {'lower' if self.fall > 0.0 else 'higher'} than"
        return (
            f"On the {self.rows:,} recent rows, each predicted by models that were not fitted on "
            f"it, the mean squared error with trees is {change if self.fall else 'the same as'} "
            f"with the linear model ({abs(self.sureness):.1f} standard errors)"
        )


@dataclass(frozen=True)
class PartialEffect:
    """The mean prediction over target rows, with one feature held at several values.

    Standard errors are from the jackknife over tenths of the target. Trees on all rows are grown
    without a fifth, so these errors are too large rather than too small.
    """

    feature: str
    values: tuple[float, ...]  # quantiles of the feature in the target, ascending
    means: tuple[float, ...]  # the mean prediction at each value, less its mean over the values
    deviations: tuple[float, ...]  # standard errors of the means
    change: float  # the mean prediction at the last value, less the one at the first
    change_deviation: float  # standard error of the change


@dataclass(frozen=True, eq=False)
class FitParts:
    """The parts of a fit that are shown."""

    linear: LinearFit  # of features and derived columns: noise, weight and conflict of each table
    derived: tuple[str, ...] = ()  # columns that were computed from the features
    problem: Problem | None = None  # with these columns, unless moments were left out
    candidates: tuple[Candidate, ...] = ()  # their weighted mean predicts; empty if `linear` does
    plain: LinearFit | None = None  # the candidate that is linear in the features alone
    held_out: HeldOutErrors | None = None  # errors of the candidates
    effects: Callable[[], tuple[PartialEffect, ...]] = tuple  # of features that the history lacks
    reason: str = ""  # why this fit, where there was a choice
    chosen: Any = None  # the method that was chosen

    @property
    def coefficients(self) -> LinearFit | None:
        """The linear fit of features and derived columns, if it predicts."""
        return None if self.candidates else self.linear

    @property
    def line(self) -> LinearFit | None:
        """The linear fit of the features alone, if it predicts."""
        return None if self.derived else self.coefficients


def finite(value: float) -> float | None:
    """Return a number that JSON can hold; None for NaN and infinity."""
    return value if math.isfinite(value) else None


def plain(value: Any, double: Callable[[float], Any] = float) -> Any:
    """Return a copy of JSON types: lists, mappings, numbers and strings."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return double(value)
    if is_dataclass(value):
        value = {own.name: getattr(value, own.name) for own in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item, double) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item, double) for item in value]
    return value
