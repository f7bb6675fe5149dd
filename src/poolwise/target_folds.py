"""Target folds: fit on some of the target's rows and all of the history, score on the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import RepeatedKFold, check_cv
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import threadpool_limits

from poolwise.answer import Answer, AnyMethod, answered, is_method
from poolwise.boosting.booster import THREADS_PAY
from poolwise.double_double import Array
from poolwise.errors import BadOption, BadWeights, NeedsRows, TooFewToCompare
from poolwise.intake import Intake
from poolwise.methods import method_of
from poolwise.precision import Precision
from poolwise.regressor import PooledRegressor
from poolwise.tables.arrays import ArrayTable
from poolwise.tables.columns import Column, encoded
from poolwise.tables.rows import TableRows

FEWEST = 3  # target rows that can be split

Predictor: TypeAlias = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class TargetRows:
    """The target's complete rows as one array, beside the problem they belong to."""

    intake: Intake
    names: tuple[str, ...]
    X: Array
    y: Array
    w: Array | None
    precision: Precision

    @classmethod
    def of(cls, intake: Intake, precision: Precision) -> TargetRows:
        """Take the rows from what was read."""
        rows = intake.rows
        X = rows.table.read(intake.columns, 0, rows.table.rows)
        assert rows.y is not None  # a target has its response
        return cls(intake, encoded(intake.columns), X, rows.y, rows.weights, precision)

    def fit(self, contender: Any, train: NDArray[np.intp]) -> Answer | Stacked:
        """Fit on some target rows and all of the history."""
        if is_method(contender):
            return self.fit_method(contender, train, self.intake.problem.intercept)
        if isinstance(contender, PooledRegressor):
            method, intercept = method_of(contender.method), contender.fit_intercept
            return self.fit_method(method, train, intercept)
        return self._fit_stacked(contender, train)

    def rmse(self, predict: Predictor, test: NDArray[np.intp]) -> float:
        """Return the root of the mean squared error on some target rows."""
        squared = (self.y[test] - predict(self.X[test])) ** 2
        weights = None if self.w is None else self.w[test]
        if weights is not None and not weights.any():
            raise BadWeights("All rows of a test fold have weight zero.")
        return float(np.sqrt(np.average(squared, weights=weights)))

    def fit_method(self, method: AnyMethod, train: NDArray[np.intp], intercept: bool) -> Answer:
        """Fit a method of ours on some target rows and all of the history."""
        response = self.intake.problem.response
        rows = TableRows(
            ArrayTable(self.X[train], self.names),
            tuple(Column(n) for n in self.names),
            response,
            self.y[train],
            None if self.w is None else self.w[train],
            "the target",
        )
        target = rows.moments(self.precision, intercept=intercept)
        problem = self.intake.problem.with_target(target, rows)
        return answered(method, replace(problem, intercept=intercept)).restored()

    def _fit_stacked(self, estimator: Any, train: NDArray[np.intp]) -> Stacked:
        problem = self.intake.problem
        if rowless := [n for n in problem.sources if n not in problem.source_rows]:
            raise NeedsRows(type(estimator).__name__, rowless)
        X, y = [self.X[train]], [self.y[train]]
        w = [np.ones(len(train)) if self.w is None else self.w[train]]
        for name, source in problem.sources.items():
            shared = problem.shared(source)
            at = [self.names.index(n) for n in shared]
            for block, weights in problem.source_rows[name].blocks((*shared, problem.response)):
                part = np.full((len(block), len(self.names)), np.nan)
                part[:, at] = block[:, :-1]
                X.append(part)
                y.append(block[:, -1])
                w.append(np.ones(len(block)) if weights is None else weights)
        weights = np.concatenate(w)
        weighted = {"sample_weight": weights} if (weights != 1.0).any() else {}
        if weighted and not has_fit_parameter(estimator, "sample_weight"):
            raise BadOption("methods", type(estimator).__name__, "a regressor that takes weights")
        rows, responses = np.concatenate(X), np.concatenate(y)
        threads = 1 if rows.size < THREADS_PAY else None
        with threadpool_limits(threads, user_api="openmp"):
            fitted = clone(estimator).fit(rows, responses, **weighted)

        def predict(X: Array) -> Array:
            with threadpool_limits(threads, user_api="openmp"):
                return np.asarray(fitted.predict(X), dtype=np.float64)

        return Stacked(predict)


@dataclass(frozen=True, eq=False)
class Stacked:
    """The user's own estimator, fitted on stacked rows."""

    predict: Predictor


def folds_of(
    cv: Any, repeats: int, data: TargetRows, random_state: int
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return the rows to fit on and the rows to score on, split by split."""
    if cv is None or isinstance(cv, int):
        wanted = 5 if cv is None else cv
        if len(data.y) < FEWEST:
            raise TooFewToCompare(len(data.y), FEWEST)
        cv = RepeatedKFold(
            n_splits=min(wanted, len(data.y)), n_repeats=repeats, random_state=random_state
        )
    return list(check_cv(cv).split(data.X, data.y))
