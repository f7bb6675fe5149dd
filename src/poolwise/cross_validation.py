"""compare(): which method predicts target rows best, measured on target rows alone."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from poolwise.answer import Answer, AnyMethod
from poolwise.comparison import Comparison
from poolwise.contenders import BASELINE, contenders_of, is_line
from poolwise.double_double import Array
from poolwise.errors import NeedsRows, NeedsTargetRows, TooFewRows, TooFewToCompare
from poolwise.intake import Intake, gather
from poolwise.options import check_seed
from poolwise.precision import Precision
from poolwise.progress import tracked
from poolwise.suspicions import suspicions
from poolwise.target_folds import FEWEST, TargetRows, folds_of
from poolwise.tree_summary import MeanTrees, TreeSummary


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
    contenders = contenders_of(methods, random_state)
    data = TargetRows.of(intake, precision)
    folds = folds_of(cv, repeats, data, random_state)
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
        own=tuple(label for label, c in contenders.items() if not is_line(c)),
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
    data = TargetRows.of(intake, precision)
    if len(data.y) < FEWEST:
        raise TooFewToCompare(len(data.y), FEWEST)
    cv = KFold(min(folds, len(data.y)), shuffle=True, random_state=random_state)
    for train, test in cv.split(data.X):
        fit = data.fit_method(method, train, intake.problem.intercept)
        yield test, data.X[test], data.y[test], fit
