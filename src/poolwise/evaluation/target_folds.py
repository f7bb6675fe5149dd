"""Methods fitted on some target rows and all of the history, and scored on the other rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import threadpool_limits

from poolwise._typing import Array
from poolwise.errors import BadOption, BadWeights, NeedsRows, TooFewRows
from poolwise.evaluation.comparison import RIVALS
from poolwise.evaluation.risk import without_sources
from poolwise.evaluation.splitting import FEWEST, Fold, Positions, Splitting
from poolwise.linear.fit import Fit
from poolwise.linear.gaps import FilledFit
from poolwise.linear.problem import Method, Problem
from poolwise.methods import METHODS, is_method, method_of, needs_rows, with_seed
from poolwise.methods.boosting.booster import THREADS_PAY
from poolwise.model.regressor import PooledRegressor
from poolwise.tables.encoding import Column, encoded
from poolwise.tables.gap_rows import GapRows
from poolwise.tables.intake import Intake
from poolwise.tables.memory import ArrayTable
from poolwise.tables.rows import Pattern, TableRows
from poolwise.wording import listed

TREES = "trees_on_nan"  # a common baseline


def contenders_of(methods: Any, random_state: int) -> dict[str, Any]:
    """Return the methods to fit, by label, always with the rivals."""
    named = named_methods(methods, random_state)
    contenders = {label: _contender(given, random_state) for label, given in named.items()}
    for rival in RIVALS:
        contenders.setdefault(rival, method_of(rival))
    return contenders


def named_methods(methods: Any, random_state: int = 0) -> dict[str, Any]:
    """Return the methods to compare, by label; by default linear methods and trees on NaN."""
    if methods is None:
        trees = HistGradientBoostingRegressor(random_state=random_state)
        ours = {name: name for name, kind in METHODS.items() if not needs_rows(kind)}
        return {**ours, TREES: trees}
    if isinstance(methods, str):
        methods = [methods]
    named = methods if isinstance(methods, Mapping) else _labelled(methods)
    return {str(label): given for label, given in named.items()}


def method_in(contender: Any) -> Method | None:
    """Return the method of poolwise that a contender is or has; None for a user's estimator."""
    if isinstance(contender, PooledRegressor):
        return method_of(contender.method)
    return contender if is_method(contender) else None


def _contender(given: Any, random_state: int) -> Any:
    """Return the method or estimator; a method given by name gets the seed of the comparison."""
    if isinstance(given, str):
        return with_seed(given, random_state)
    if isinstance(given, type) or is_method(given):
        return method_of(given)
    if hasattr(given, "fit") and hasattr(given, "predict"):
        return given
    raise BadOption.unknown_method(given, list(METHODS))


def _labelled(methods: Iterable[Any]) -> dict[str, Any]:
    labelled: dict[str, Any] = {}
    for given in methods:
        label = given if isinstance(given, str) else type(given).__name__
        if isinstance(given, PooledRegressor) and isinstance(given.method, str):
            label = given.method + ("" if given.fit_intercept else " without intercept")
        count = sum(known == label or known.startswith(f"{label} ") for known in labelled)
        labelled[f"{label} {count + 1}" if count else label] = given
    return labelled


@dataclass(frozen=True, eq=False)
class TargetRows:
    """The target's rows as one array, in which a gap is NaN, beside the problem they belong to."""

    intake: Intake
    names: tuple[str, ...]
    X: Array
    y: Array
    w: Array | None
    _found: dict[Any, Problem] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, intake: Intake) -> TargetRows:
        """Take the rows from the intake."""
        rows = intake.rows
        X = rows.table.read(intake.columns, 0, rows.table.rows)
        assert rows.y is not None  # a target has its response
        return cls(intake, encoded(intake.columns), X, rows.y, rows.weights)

    def folds(self, splitting: Splitting, repeats: int, random_state: int) -> list[Fold]:
        """Return the training and test rows of each split."""
        if (rows := len(self.y)) < FEWEST:
            raise TooFewRows(
                f"Cross-validation needs at least {FEWEST} recent rows; there are {rows}.",
                "Collect more rows before comparing methods.",
            )
        return splitting.folds(self.X, self.y, self.intake.positions, repeats, random_state)

    def fit(self, contender: Any, train: Positions, *, history: bool = True) -> Fit | StackedFit:
        """Fit on some target rows, with all of the history or without it."""
        if (method := method_in(contender)) is None:
            return self._fit_stacked(contender, train)
        intercept = self.intake.problem.intercept
        if isinstance(contender, PooledRegressor):
            intercept = contender.fit_intercept
            if contender.response_transform not in (None, self.intake.transform.option):
                what = "that of the comparison, which holds for all methods"
                raise BadOption.of("response_transform", contender.response_transform, what)
        return self.fit_method(method, train, intercept, history)

    def rmse(self, fit: Fit | StackedFit, test: Positions) -> float:
        """Return the root mean squared error on some target rows."""
        transform, predicted = self.intake.transform, fit.predict(self.X[test])
        if not isinstance(fit, StackedFit):  # which learnt from the response as it is
            predicted = transform.predicted(fit, self.X[test], predicted)[0]
        squared = (transform.inverse(self.y[test]) - predicted) ** 2
        weights = None if self.w is None else self.w[test]
        if weights is not None and not weights.any():
            raise BadWeights.of("All rows of a test fold have weight zero.")
        return float(np.sqrt(np.average(squared, weights=weights)))

    def fit_method(
        self, method: Method, train: Positions, intercept: bool, history: bool = True
    ) -> Fit:
        """Fit a method of poolwise on some target rows, with all of the history or without it."""
        problem = self._problem(train, intercept, history)
        fit, own = method.solve(problem), problem.target_rows
        return FilledFit(fit, own.joint) if isinstance(own, GapRows) else fit

    def _problem(self, train: Positions, intercept: bool, history: bool) -> Problem:
        """Return the problem of some target rows, which all methods of a fold share."""
        key = np.asarray(train).tobytes(), intercept, history
        if key in self._found:
            return self._found[key]
        if not any(known[0] == key[0] for known in self._found):
            self._found.clear()  # folds come one after the other
        rows = TableRows(
            ArrayTable(self.X[train], self.names),
            tuple(Column(n) for n in self.names),
            self.intake.problem.response,
            self.y[train],
            None if self.w is None else self.w[train],
            self.intake.rows.where,
        )
        problem = replace(self.intake.problem, intercept=intercept)
        problem = problem if history else without_sources(problem)
        own: Pattern = rows
        precision = self.intake.precision
        if np.isnan(self.X).any():
            own = GapRows.of(rows, others=tuple(problem.sources.values()))
            if precision == "auto":
                precision = "fast"  # the error of filled values is far above that of doubles
        target = own.moments(precision, intercept=intercept)
        self._found[key] = replace(problem, target=target, target_rows=own)
        return self._found[key]

    def _fit_stacked(self, estimator: Any, train: Positions) -> StackedFit:
        """Fit a user's estimator on all rows, with NaN where a source lacks a column."""
        problem = self.intake.problem
        if rowless := [n for n in problem.sources if n not in problem.source_rows]:
            raise NeedsRows(
                f"{type(estimator).__name__} is fitted to rows, and of {listed(rowless)} only "
                "moments are available.",
                "Give the rows, or compare methods that need only moments.",
            )
        X, y = [self.X[train]], [self.y[train]]
        w = [np.ones(len(train)) if self.w is None else self.w[train]]
        for name, source in problem.sources.items():
            shared = problem.shared(source)
            at = [self.names.index(n) for n in shared]
            rows = problem.source_rows[name]
            read = rows.with_gaps if isinstance(rows, GapRows) else rows.blocks
            for block, weights in read((*shared, problem.response)):
                part = np.full((len(block), len(self.names)), np.nan)
                part[:, at] = block[:, :-1]
                X.append(part)
                y.append(block[:, -1])
                w.append(np.ones(len(block)) if weights is None else weights)
        weights = np.concatenate(w)
        weighted = {"sample_weight": weights} if (weights != 1.0).any() else {}
        if weighted and not has_fit_parameter(estimator, "sample_weight"):
            raise BadOption.of(
                "methods", type(estimator).__name__, "a regressor that takes weights"
            )
        stacked, responses = np.concatenate(X), self.intake.transform.inverse(np.concatenate(y))
        threads = 1 if stacked.size < THREADS_PAY else None
        with threadpool_limits(threads, user_api="openmp"):
            fitted = clone(estimator).fit(stacked, responses, **weighted)

        def predict(X: Array) -> Array:
            with threadpool_limits(threads, user_api="openmp"):
                return np.asarray(fitted.predict(X), dtype=np.float64)

        return StackedFit(predict)


@dataclass(frozen=True, eq=False)
class StackedFit:
    """A user's estimator, fitted on stacked rows."""

    predict: Callable[[Array], Array]

    def parts(self) -> None:
        """Return None: the parts of a user's estimator are unknown."""
