"""Samples: sources, targets and a test set for all repetitions of one point, and their scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from poolwise.double_double import Array
from poolwise.experiments.figure_specs import Curve, Measure
from poolwise.experiments.stacked_methods import STACKED, target_only
from poolwise.experiments.stacked_moments import StackedFit, StackedMoments
from poolwise.methods import METHODS
from poolwise.moments import Moments
from poolwise.problem import Problem

COLUMNS = ("old", "new", "y")


@dataclass(frozen=True, eq=False)
class Samples:
    """All repetitions of one point of a figure.

    Parameters
    ----------
    x : float
        The point.
    source : array of shape (R, n_S, 2)
        Rows of old column and response.
    target : array of shape (R, n_T, 3)
        Rows of old column, new column and response.
    test : array of shape (n, 3)
        The same, for the test.
    """

    x: float
    source: Array
    target: Array
    test: Array

    def __post_init__(self) -> None:
        # The order of sums follows that of memory, and another process gets its arrays like this.
        for name in ("source", "target", "test"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name)))

    def score(self, curve: Curve, measure: Measure) -> Array:
        """Return what a figure shows of a curve, for each repetition."""
        test = StackedMoments.of_rows(self.test[None])
        error = self.fit(curve).squared_error(test)
        if measure == "mse":
            return error
        return target_only(self.target, self.source).squared_error(test) - error

    def fit(self, curve: Curve) -> StackedFit:
        """Fit all repetitions: stacked where the method has a stacked form, else one by one."""
        if curve.method in STACKED:
            return STACKED[curve.method](self.target, self.source, **curve.options)
        return self.fit_one_by_one(curve)

    def fit_one_by_one(self, curve: Curve) -> StackedFit:
        """Fit repetition by repetition with any registered method."""
        method = METHODS[curve.method](**curve.options)
        fits = [method.solve(problem) for problem in self._problems]
        coef = np.array([fit.coef for fit in fits])
        return StackedFit(coef, np.array([f.intercept for f in fits]), np.full(len(fits), np.nan))

    @cached_property
    def _problems(self) -> list[Problem]:
        """One problem per repetition, made once for all curves.

        Sums in doubles are enough: these columns are far from depending on each other, and the
        bands of a figure far wider than rounding.
        """
        old = (COLUMNS[0], COLUMNS[-1])
        return [
            Problem(
                Moments.of_rows(COLUMNS, T, precision="fast"),
                {"source": Moments.of_rows(old, S, precision="fast")},
                COLUMNS[-1],
                target_rows=_ArrayRows(COLUMNS, T),
                source_rows={"source": _ArrayRows(old, S)},
            )
            for S, T in zip(self.source, self.target, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class _ArrayRows:
    """Rows of an array, for the one method that reads rows."""

    names: Sequence[str]
    rows: Array

    def blocks(self, names: Sequence[str]) -> Iterator[tuple[Array, Array | None]]:
        """Yield these columns of all rows."""
        yield self.rows[:, [self.names.index(n) for n in names]], None
