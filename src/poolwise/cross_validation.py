"""compare(): which method predicts target rows best, measured on target rows alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import KFold, RepeatedKFold, check_cv
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import threadpool_limits

from poolwise.answer import Answer, AnyMethod, RowMethod, answered, is_method
from poolwise.comparison import Comparison
from poolwise.double_double import Array
from poolwise.errors import (
    BadOption,
    BadWeights,
    NeedsRows,
    NeedsTargetRows,
    TooFewRows,
    TooFewToCompare,
    UnknownMethod,
)
from poolwise.intake import Intake, gather
from poolwise.methods import METHOD_NAMES, METHODS, ROW_METHODS, method_of
from poolwise.options import check_seed
from poolwise.precision import Precision
from poolwise.progress import tracked
from poolwise.regressor import PooledRegressor
from poolwise.suspicions import suspicions
from poolwise.tables.arrays import ArrayTable
from poolwise.tables.columns import Column, encoded
from poolwise.tables.rows import TableRows
from poolwise.tree_summary import MeanTrees, TreeSummary

BASELINE = "target_only"
FEWEST = 3  # target rows that can be split
THREADS_PAY = 1_000_000  # values; below this, threads of a tree learner wait for each other
Predictor: TypeAlias = Callable[[Array], Array]


def compare(
    X: Any,
    y: Any,
    *,
    sources: Any = None,
    methods: Any = None,
    cv: Any = None,
    sample_weight: Any = None,
    fit_intercept: bool = True,
    response: str = "y",
    precision: Precision = "auto",
    random_state: int = 0,
    progress: bool | None = None,
) -> Comparison:
    """Cross-validate methods on target rows, with all of the history in every training set.

    Parameters
    ----------
    X : array-like or data frame
        Features of the target, as in :meth:`PooledRegressor.fit`. Rows with missing values count
        as history.
    y : array-like
        Response of the target.
    sources : object, optional
        History; see :class:`poolwise.Sources`.
    methods : list or mapping, optional
        What to compare: names of methods, method objects, :class:`PooledRegressor`
        objects, or any regressor that takes NaN: it is fitted on all rows, stacked, with NaN where
        a source lacks a column. A mapping gives labels. Unless given: every linear method, and
        scikit-learn's HistGradientBoostingRegressor as ``trees_on_nan``; those that grow trees
        themselves, such as ``boosted_pooling``, take seconds per fold and are to be named.
        ``target_only`` is always there, since the others are measured against it.
    cv : int, splitter or iterable, optional
        How to split the complete target rows; five folds, ten times, unless given. An integer
        means that many folds, ten times.
    sample_weight : array-like, optional
        Row weights of the target.
    fit_intercept : bool, default=True
        Whether linear models have an intercept.
    response : str, default="y"
        Name of the response where ``y`` brings none.
    precision : {"auto", "fast", "accurate", "exact"}, default="auto"
        Digits of the second moments, for all methods; see :class:`PooledRegressor`.
    random_state : int, default=0
        Seed of the folds, of ``trees_on_nan``, and of methods with trees that are given by name.
    progress : bool, optional
        Whether to show a progress bar; unless given, on a terminal.

    Returns
    -------
    Comparison
        Scores per method and fold, differences against ``target_only`` with a corrected test, and
        a verdict in words. It prints as a table.

    Examples
    --------
    >>> import numpy as np
    >>> from poolwise import compare
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(330, 3))
    >>> y = X @ [1.0, 2.0, 1.0] + rng.normal(size=330)
    >>> result = compare(X[300:], y[300:], sources=(X[:300, :2], y[:300]), methods=["data_pooling"])
    >>> [row["method"] for row in result.table()]
    ['data_pooling', 'target_only']
    """
    intake = gather(
        X,
        y,
        weights=sample_weight,
        sources=sources,
        response=response,
        intercept=fit_intercept,
        precision=precision,
    )
    for caution in (*intake.cautions, *suspicions(intake.problem)):
        warnings.warn(caution, stacklevel=2)
    return compare_intake(
        intake,
        methods=methods,
        cv=cv,
        precision=precision,
        random_state=random_state,
        progress=progress,
    )


def compare_intake(
    intake: Intake,
    *,
    methods: Any = None,
    cv: Any = None,
    repeats: int = 10,
    precision: Precision = "auto",
    random_state: int = 0,
    progress: bool | None = None,
) -> Comparison:
    """Compare methods on tables that were read already.

    Parameters
    ----------
    intake : Intake
        Target and sources.
    methods, cv, precision, random_state, progress
        As in :func:`compare`.
    repeats : int, default=10
        How often to split, unless ``cv`` is a splitter.
    """
    check_seed(random_state)
    contenders = _contenders(methods, random_state)
    data = _Data.of(intake, precision)
    folds = _folds(cv, repeats, data, random_state)
    scores: dict[str, list[float]] = {label: [] for label in contenders}
    skipped: dict[str, str] = {}
    made: dict[str, list[TreeSummary]] = {}
    jobs = [(label, fold) for label in contenders for fold in folds]
    for label, (train, test) in tracked(jobs, len(jobs), "Comparing", show=progress):
        if label in skipped:
            continue
        try:
            fitted = data.fit(contenders[label], train)
        except (NeedsRows, NeedsTargetRows, TooFewRows) as error:
            skipped[label] = str(error)
            continue
        except Exception as error:
            error.add_note(f"This happened in compare, with the method {label!r}.")
            raise
        if isinstance(fitted, Answer) and fitted.derived and fitted.derived.stack:
            made.setdefault(label, []).append(TreeSummary.of(fitted.derived.stack))
        scores[label].append(data.rmse(fitted.predict, test))
    return Comparison(
        scores={label: np.array(s) for label, s in scores.items() if label not in skipped},
        baseline=BASELINE,
        test_share=float(np.mean([len(test) / len(train) for train, test in folds])),
        skipped=skipped,
        history_rows=sum(s.rows for s in intake.problem.sources.values()),
        target_rows=len(data.y),
        test_rows=float(np.mean([len(test) for _, test in folds])),
        own=tuple(label for label, c in contenders.items() if not _is_line(c)),
        trees={label: MeanTrees.of(each) for label, each in made.items()},
    )


def fold_fits(
    intake: Intake,
    method: AnyMethod,
    *,
    folds: int,
    precision: Precision = "auto",
    random_state: int = 0,
) -> Iterator[tuple[NDArray[np.intp], Array, Array, Answer]]:
    """Fit on all folds but one and yield, for each fold, the rows left out, X, y, and the answer.

    Parameters
    ----------
    intake : Intake
        Target and sources.
    method : Method or RowMethod
        What to fit.
    folds : int
        Number of folds, at most; never more than there are rows.
    precision, random_state
        As in :func:`compare`.
    """
    data = _Data.of(intake, precision)
    if len(data.y) < FEWEST:
        raise TooFewToCompare(len(data.y), FEWEST)
    cv = KFold(min(folds, len(data.y)), shuffle=True, random_state=random_state)
    for train, test in cv.split(data.X):
        fit = data.fit_method(method, train, intake.problem.intercept)
        yield test, data.X[test], data.y[test], fit


def named_methods(methods: Any, random_state: int = 0) -> dict[str, Any]:
    """Return what is to be compared, by label; unless given, every method, and trees on NaN."""
    if methods is None:
        trees = HistGradientBoostingRegressor(random_state=random_state)
        return {**{name: name for name in METHODS}, "trees_on_nan": trees}
    if isinstance(methods, str):
        methods = [methods]
    named = methods if isinstance(methods, Mapping) else _labelled(methods)
    return {str(label): given for label, given in named.items()}


@dataclass(frozen=True, eq=False)
class _Stacked:
    """The user's own estimator, fitted on stacked rows."""

    predict: Predictor


@dataclass(frozen=True, eq=False)
class _Data:
    """The target's complete rows as one array, beside the problem they belong to."""

    intake: Intake
    names: tuple[str, ...]
    X: Array
    y: Array
    w: Array | None
    precision: Precision

    @classmethod
    def of(cls, intake: Intake, precision: Precision) -> _Data:
        rows = intake.rows
        X = rows.table.read(intake.columns, 0, rows.table.rows)
        assert rows.y is not None  # a target has its response
        return cls(intake, encoded(intake.columns), X, rows.y, rows.weights, precision)

    def fit(self, contender: Any, train: NDArray[np.intp]) -> Answer | _Stacked:
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

    def _fit_stacked(self, estimator: Any, train: NDArray[np.intp]) -> _Stacked:
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

        return _Stacked(predict)


def _contenders(methods: Any, random_state: int) -> dict[str, Any]:
    named = named_methods(methods, random_state)
    contenders = {label: _contender(given, random_state) for label, given in named.items()}
    contenders.setdefault(BASELINE, method_of(BASELINE))
    return contenders


def _contender(given: Any, random_state: int) -> Any:
    """Return what fits; a method with trees that is given by name has the seed of all."""
    if isinstance(given, str) and given in ROW_METHODS:
        kind: Any = ROW_METHODS[given]
        return kind(random_state=random_state)
    if isinstance(given, str | type) or is_method(given):
        return method_of(given)
    if hasattr(given, "fit") and hasattr(given, "predict"):
        return given
    raise UnknownMethod(given, list(METHOD_NAMES))


def _is_line(contender: Any) -> bool:
    """Say whether a contender is a linear method of ours."""
    if isinstance(contender, PooledRegressor):
        contender = method_of(contender.method)
    return is_method(contender) and not isinstance(contender, RowMethod)


def _labelled(methods: Iterable[Any]) -> dict[str, Any]:
    labelled: dict[str, Any] = {}
    for given in methods:
        label = given if isinstance(given, str) else type(given).__name__
        if isinstance(given, PooledRegressor) and isinstance(given.method, str):
            label = given.method + ("" if given.fit_intercept else " without intercept")
        count = sum(known == label or known.startswith(f"{label} ") for known in labelled)
        labelled[f"{label} {count + 1}" if count else label] = given
    return labelled


def _folds(
    cv: Any, repeats: int, data: _Data, random_state: int
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    if cv is None or isinstance(cv, int):
        wanted = 5 if cv is None else cv
        if len(data.y) < FEWEST:
            raise TooFewToCompare(len(data.y), FEWEST)
        cv = RepeatedKFold(
            n_splits=min(wanted, len(data.y)), n_repeats=repeats, random_state=random_state
        )
    return list(check_cv(cv).split(data.X, data.y))
