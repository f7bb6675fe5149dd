"""Cross-validation of methods on target rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from poolwise.errors import BadWeights, NeedsRows, OutOfRange, TooFewRows
from poolwise.evaluation.comparison import BASELINE, RIVALS, Comparison
from poolwise.evaluation.gain import gain
from poolwise.evaluation.splitting import AT_RANDOM, Splitting, split_by
from poolwise.evaluation.target_folds import TargetRows, contenders_of, method_in
from poolwise.evaluation.verdict import HistoryEffect
from poolwise.linear.fit import Candidate
from poolwise.linear.problem import Method, Problem
from poolwise.methods import DEFAULT_METHOD, name_of_method, needs_rows
from poolwise.model.fitted_model import warn
from poolwise.model.regressor import PooledRegressor
from poolwise.model.tree_summary import MeanTrees
from poolwise.moments.progress import tracked
from poolwise.numerics.options import Precision, check_seed
from poolwise.tables.data_checks import suspicions
from poolwise.tables.encoding import MAX_LEVELS
from poolwise.tables.intake import Intake, gather
from poolwise.wording import plural

QUICK, SLOW = 0.2, 0.8  # seconds of a fit up to which folds are repeated four times, and twice


def compare(
    X: Any,
    y: Any,
    *,
    sources: Any = None,
    methods: Any = None,
    cv: Any = None,
    groups: Any = None,
    time: Any = None,
    repeats: int | None = None,
    sample_weight: Any = None,
    fit_intercept: bool = True,
    response: str = "y",
    response_transform: Any = None,
    max_levels: int = MAX_LEVELS,
    strict: bool = False,
    precision: Precision = "auto",
    random_state: int = 0,
    progress: bool | None = None,
) -> Comparison:
    """Cross-validate methods on target rows, with all of the history in every training set.

    Parameters
    ----------
    X : array-like or data frame
        Features of the target, as in :meth:`PooledRegressor.fit`. Rows with gaps are in training
        and test sets like others; a user's estimator gets NaN.
    y : array-like
        Response of the target.
    sources : object, optional
        History; see :class:`poolwise.Sources`.
    methods : list or mapping, optional
        Names of methods, method objects, :class:`PooledRegressor` objects, or any regressor that
        accepts NaN: it is fitted on all rows, stacked, with NaN where a source lacks a column. A
        mapping gives labels. By default every linear method, and scikit-learn's
        HistGradientBoostingRegressor as ``trees_on_nan``; methods that grow trees, such as
        ``boosted_pooling``, take seconds per fold and must be named. ``target_ridge``, the
        baseline, and ``target_only`` are always included; without history, only these are compared.
    cv : int, splitter or iterable, optional
        How to split the target rows; by default five folds, four times, or less often if a fit
        takes long. An integer is a number of folds, repeated as often. A splitter of scikit-learn
        gets the target rows and their groups; in a list of (train, test), positions are rows of
        ``X``.
    groups : array-like or str, optional
        The group of each row of ``X``, or a column of ``X``, which is then not a feature. Whole
        groups are held out: rows of one person are never in a training and a test set.
    time : array-like or str, optional
        The time of each row of ``X``, or a column of ``X``, which stays a feature. Each fold tests
        a part of the later half of the rows, and trains on all rows before it.
    repeats : int, optional
        How often the random folds are drawn.
    sample_weight : array-like, optional
        Row weights of the target.
    fit_intercept : bool, default=True
        Whether linear models have an intercept.
    response : str, default="y"
        Name of the response if ``y`` does not have a name.
    response_transform : {"log", "sqrt"} or pair of functions, optional
        As in :class:`PooledRegressor`, for all methods of poolwise. Errors are in the units of the
        response with any transform; regressors of your own learn from the response as it is.
    max_levels, strict
        As in :class:`PooledRegressor`.
    precision : {"auto", "fast", "accurate", "exact"}, default="auto"
        Digits of the second moments, for all methods; see :class:`PooledRegressor`.
    random_state : int, default=0
        Seed of the folds, of ``trees_on_nan``, and of methods with trees that are given by name.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal. Elsewhere a run of more than ten
        seconds has a line with the time left on standard error, unless this is False.

    Returns
    -------
    Comparison
        Scores per method and fold, differences against ``target_ridge`` with a corrected test, and
        the verdict. It prints as a table.

    Examples
    --------
    >>> import numpy as np
    >>> from poolwise import compare
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(330, 3))
    >>> y = X @ [1.0, 2.0, 1.0] + rng.normal(size=330)
    >>> result = compare(X[300:], y[300:], sources=(X[:300, :2], y[:300]), methods=["data_pooling"])
    >>> [row["method"] for row in result.table()]
    ['data_pooling', 'target_ridge', 'target_only']
    """
    X, splitting, told = split_by(X, groups=groups, time=time, cv=cv, repeats=repeats)
    warn(told)  # before the tables are read: the command line adds them to its account of these
    intake = gather(
        X,
        y,
        weights=sample_weight,
        sources=sources,
        response=response,
        intercept=fit_intercept,
        max_levels=max_levels,
        strict=strict,
        precision=precision,
        transform=response_transform,
    )
    warn((*intake.cautions, *suspicions(intake.problem, intake.without_units)))
    return compare_intake(
        intake, methods=methods, splitting=splitting, random_state=random_state, progress=progress
    )


def compare_intake(
    intake: Intake,
    *,
    methods: Any = None,
    splitting: Splitting = AT_RANDOM,
    random_state: int = 0,
    progress: bool | None = None,
    judged: str | None = None,
) -> Comparison:
    """Compare methods on tables that were read already; ``judged`` as in :class:`Comparison`."""
    check_seed(random_state)
    if methods is None and not intake.problem.sources:
        methods = ()
    contenders = contenders_of(methods, random_state)
    data = TargetRows.of(intake)
    folds = data.folds(splitting, repeats_of(intake.problem, contenders, judged), random_state)
    scores: dict[str, list[float]] = {label: [] for label in contenders}
    skipped: dict[str, str] = {}
    made: dict[str, list[tuple[Sequence[Candidate], float]]] = {}
    # Fold by fold: all methods on the first fold tell how long the others take.
    jobs = [(label, fold) for fold in folds for label in contenders]
    doing = f"Comparing {plural(len(contenders), 'method')} in {plural(len(folds), 'fold')}"
    for label, (train, test) in tracked(
        jobs, len(jobs), doing, sample=len(contenders), show=progress
    ):
        if label in skipped:
            continue
        try:
            fitted = data.fit(contenders[label], train)
            error_on_test = data.rmse(fitted, test)
        except (NeedsRows, TooFewRows, OutOfRange) as error:
            if label == judged and isinstance(error, OutOfRange):
                raise
            skipped[label] = str(error)
            continue
        except Exception as error:
            error.add_note(f"This happened in compare, with the method {label!r}.")
            raise
        parts = fitted.parts()
        if parts is not None and parts.held_out is not None:
            made.setdefault(label, []).append((parts.candidates, parts.held_out.error))
        scores[label].append(error_on_test)
    found = Comparison(
        scores={label: np.array(s) for label, s in scores.items() if label not in skipped},
        baseline=BASELINE,
        test_share=float(np.mean([len(test) / len(train) for train, test in folds])),
        skipped=skipped,
        history_rows=sum(s.rows for s in intake.problem.sources.values()),
        target_rows=len(data.y),
        held_out=len({k for _, test in folds for k in test.tolist()}),
        test_rows=float(np.mean([len(test) for _, test in folds])),
        own=tuple(label for label, c in contenders.items() if method_in(c) is None),
        nonlinear=tuple(label for label, c in contenders.items() if needs_rows(method_in(c))),
        trees={label: MeanTrees.of(each) for label, each in made.items()},
        judged=judged,
        scale=intake.problem.response if intake.transform.name else "",
        split=splitting.text,
    )
    method = found.judged_method
    if not intake.problem.sources or (method is not None and method not in found.scores):
        return found
    if method is None:
        return replace(found, expected=_expected(intake.problem, found.scale))
    contender = contenders[method]
    doing = f"{method} without history"
    alone = [
        data.rmse(data.fit(contender, train, history=False), test)
        for train, test in tracked(folds, len(folds), doing, show=progress)
    ]
    expected = None if judged else _expected(intake.problem, found.scale, method, contender)
    return replace(found, without=np.array(alone), expected=expected)


def measured_effect(
    intake: Intake,
    method: Method,
    *,
    splitting: Splitting = AT_RANDOM,
    random_state: int = 0,
    progress: bool | None = None,
) -> HistoryEffect | None:
    """Return the effect of history on held-out target rows, in the folds of :func:`compare`.

    None if there is no history or too few rows, and for methods that read rows again: these take
    seconds per fold.
    """
    if not intake.problem.sources or needs_rows(method):
        return None
    name = name_of_method(method)
    how: dict[str, Any] = {"random_state": random_state, "progress": progress}
    how |= {"methods": {name: method}, "splitting": splitting, "judged": name}
    try:
        return compare_intake(intake, **how).effect
    except (BadWeights, TooFewRows):  # a fold without weight or rows cannot be tested
        return None


def repeats_of(problem: Problem, contenders: Mapping[str, Any], judged: str | None) -> int:
    """Return how often the target is split into folds, so that a comparison takes minutes.

    It depends on the size of the problem and on the method that the verdict is about, and not on
    the time: whoever compares the same tables has the same folds.
    """
    ours = {n: m for n, c in contenders.items() if (m := method_in(c)) and n not in RIVALS}
    if judged is not None and judged in ours:
        ours = {judged: ours[judged]}
    if ours and all(needs_rows(method) for method in ours.values()):
        return 1
    seconds = fit_seconds(len(problem.features), len(problem.sources))
    return 4 if seconds <= QUICK else 2 if seconds <= SLOW else 1


def fit_seconds(features: int, sources: int) -> float:
    """Return the approximate seconds of one fit of Bayes pooling on one core of 2024.

    Within a factor of two for 10 to 60 features and 1 to 20 sources.
    """
    alone = 0.25 if sources <= 1 else 1.0  # one source needs no search over settings
    return 1e-3 * alone * float(features**1.4 * max(sources, 1) ** 0.6)


def _expected(
    problem: Problem, scale: str, label: str = "", contender: Any = None
) -> HistoryEffect | None:
    """Return the expected effect of history; of Bayes pooling if no theory covers the method."""
    if isinstance(contender, PooledRegressor):
        problem = replace(problem, intercept=contender.fit_intercept)
    method = method_in(contender)
    if method is None or needs_rows(method):
        return replace(gain(problem), scale=scale).effect(problem.target.rows)
    is_default = name_of_method(method) == DEFAULT_METHOD
    fit = None if is_default else method.solve(problem).parts().line
    effect = replace(gain(problem, fit, name=label), scale=scale).effect(problem.target.rows)
    return None if effect is None else replace(effect, method=label)
