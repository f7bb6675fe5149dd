"""PooledRegressor: every method behind scikit-learn's interface."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from poolwise.double_double import Array
from poolwise.errors import (
    BadOption,
    MissingHere,
    NotFinite,
    NotNumeric,
    OtherColumns,
    PredictionsBounded,
    TransferWarning,
)
from poolwise.fit import LinearFit, held, regress
from poolwise.intake import Intake, gather, gather_moments
from poolwise.intervals import prediction_deviation, quantile
from poolwise.methods import METHODS, method_of
from poolwise.moments import Moments
from poolwise.precision import Precision, check_precision
from poolwise.problem import JointMethod, Method, Problem
from poolwise.summary import Summary, summarise
from poolwise.suspicions import suspicions
from poolwise.tables import Table, open_table
from poolwise.tables.arrays import ArrayTable, unmasked
from poolwise.tables.columns import Column, encoded
from poolwise.theory import transfer_gain_of
from poolwise.updating import changed, is_moments


class PooledRegressor(RegressorMixin, BaseEstimator):
    r"""Linear regression on new, complete rows and on history that lacks some columns.

    ``X, y`` is the target: the new data, with all columns. History goes into the keyword
    ``sources``, so that cross-validation splits the target and only the target. Rows of ``X`` with
    missing values (NaN or null) are history too: each pattern of missing columns becomes a source,
    which is how history travels through a pipeline.

    Parameters
    ----------
    method : str or object, default="bayes_pooling"
        A key of ``poolwise.METHODS``, or a method object with its own parameters, such as
        ``BayesPooling(bounds=None)``.
    fit_intercept : bool, default=True
        Whether the model has an intercept.
    response : str, default="y"
        Name of the response where ``y`` brings none.
    unseen_level : {"raise", "ignore"}, default="raise"
        What a category that no table had at fit does at prediction: raise an error, or count as
        the column's reference level.
    precision : {"auto", "fast", "accurate", "exact"}, default="auto"
        Digits of the second moments of the tables. ``"fast"``: one double. ``"accurate"``: two,
        for columns that nearly depend on each other, at about four times the price of fast.
        ``"exact"``: no rounding at all, so that the fit has the same bits however rows are ordered
        or cut, at about six times the price of fast. ``"auto"``: accurate while that is cheap,
        else fast, and with more digits in a second reading where the columns turn out to need them.

    Attributes
    ----------
    coef_ : array of shape (d,)
        Coefficients, one per name in ``coef_names_``.
    coef_names_ : array of shape (d,)
        Names of the encoded columns: a text column ``region`` with levels north and south becomes
        ``region=south``; numbers and booleans keep their name.
    intercept_ : float
        Intercept.
    coef_cov_ : array of shape (d, d) or None
        Covariance of the coefficients, where the theory of the method gives one.
    conflict_ : dict of str to float
        Probability that a source contradicts the target, for each source that the method judged.
    standard_errors_ : array of shape (d + 1,) or None
        Standard errors of the intercept and the coefficients, where there is a covariance.
    transfer_gain_ : float or None
        Expected fall of the squared error of a prediction against least squares on the target,
        according to the model, averaged over the target's rows. ``poolwise.diagnose`` says more.
    optional_columns_ : list of str
        Columns of ``X`` that some row or source lacked: rows to predict may lack them too.
    fit_ : LinearFit
        The whole fit: noise, weights, dropped columns.
    problem_ : Problem
        The moments it was made from.
    n_features_in_ : int
        Number of columns of ``X``.
    feature_names_in_ : array of shape ``(n_features_in_,)``
        Names of the columns of ``X``, where they are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from poolwise import PooledRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(330, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + rng.normal(size=330)
    >>> X_old, y_old, X_new, y_new = X[:300, :2], y[:300], X[300:], y[300:]
    >>> model = PooledRegressor().fit(X_new, y_new, sources=(X_old, y_old))
    >>> model.coef_.round(1)
    array([0.8, 2. , 3. ])
    """

    __metadata_request__fit = {"sources": True}  # noqa: RUF012  scikit-learn reads it by this name

    def __init__(
        self,
        method: str | Method = "bayes_pooling",
        *,
        fit_intercept: bool = True,
        response: str = "y",
        unseen_level: Literal["raise", "ignore"] = "raise",
        precision: Precision = "auto",
    ) -> None:
        self.method = method
        self.fit_intercept = fit_intercept
        self.response = response
        self.unseen_level = unseen_level
        self.precision = precision

    def fit(
        self, X: Any, y: Any, *, sources: Any = None, sample_weight: Any = None
    ) -> PooledRegressor:
        """Fit on the target and its sources.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Features of the target. NaN says that a row lacks the column.
        y : array-like of shape (n,)
            Response of the target.
        sources : object, optional
            ``(X, y)``, ``(X, y, weights)``, a table with the response as a column, the path of
            files that have it, moments, the path of a ``.moments.json`` file, or a list or mapping
            of these; see :class:`poolwise.Sources`. Tables are matched by column name, arrays by
            position: a source's columns are the target's first ones.
        sample_weight : array-like of shape (n,), optional
            Row weights of the target. A weight counts as repetitions of the row.

        Returns
        -------
        PooledRegressor
            Itself.
        """
        with _all_or_nothing(self):
            _warn(fit_kept(self, X, y, sources=sources, sample_weight=sample_weight)[1])
        return self

    def fit_moments(
        self, target: Moments | str | PathLike[str], sources: Any = None
    ) -> PooledRegressor:
        """Fit without rows, from moments taken elsewhere.

        Parameters
        ----------
        target : Moments, or the path of a ``.moments.json`` file
            Of all features and of the response, which is named by the parameter ``response``.
        sources : Moments or path, or list or mapping of these
            Of some of the features and of the response.

        Returns
        -------
        PooledRegressor
            Itself.
        """
        with _all_or_nothing(self):
            self._check_options()
            problem, cautions = gather_moments(
                target, sources, self.response, intercept=self.fit_intercept
            )
            self.feature_names_in_ = np.array(problem.features, dtype=object)
            self.n_features_in_ = len(problem.features)
            columns = tuple(Column(n) for n in problem.features)
            optional = frozenset(problem.features).difference(problem.seen_by_all())
            _warn(self._solve(problem, columns, optional, cautions))
        return self

    def update(
        self, X: Any = None, y: Any = None, *, sources: Any = None, sample_weight: Any = None
    ) -> PooledRegressor:
        """Add rows to a fitted model, without the rows it was fitted on.

        The model is then the one that a fit on all rows gives: with ``precision="exact"`` to the
        last bit, else up to rounding. The columns, their levels and the reference level stay those
        of the fit. Methods that read rows, such as kernel_transfer, cannot be updated.

        Parameters
        ----------
        X : array-like, data frame, Moments, or path of a ``.moments.json`` file, optional
            Features of further rows of the target. NaN says that a row lacks the column. Moments
            are of the encoded columns and the response, as in ``problem_.target.names``.
        y : array-like of shape (n,), optional
            Their response; none with moments.
        sources : object, optional
            Rows or moments of sources, as in ``fit``. Those of a source that is known by its name
            are added to it; others are new sources.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows of ``X``.

        Returns
        -------
        PooledRegressor
            Itself. Where an error is raised it is as it was before.
        """
        with _all_or_nothing(self):
            _warn(self._change(X, y, sources, sample_weight, forget=False))
        return self

    def forget(
        self, X: Any = None, y: Any = None, *, sources: Any = None, sample_weight: Any = None
    ) -> PooledRegressor:
        """Take rows away from a fitted model: the reverse of :meth:`update`.

        The coefficients are then those of a fit on the other rows, as they are after an update.
        Ranges are not narrowed: predictions stay bounded by the responses that were ever there.
        Rows are read again, or their moments were kept, as in a monthly file.

        Parameters
        ----------
        X, y, sources, sample_weight
            As in :meth:`update`: rows that were in the fit or in an update, under the same source
            and with the same weights.

        Returns
        -------
        PooledRegressor
            Itself. Where an error is raised it is as it was before.

        Raises
        ------
        CannotSubtract
            These rows cannot have been there.
        """
        with _all_or_nothing(self):
            _warn(self._change(X, y, sources, sample_weight, forget=True))
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict the response.

        Rows may lack columns that some source lacked at fit, as NaN or, in a data frame, because
        the column is not there. They are predicted from what they have: by bayes_pooling from the
        same posterior, by other methods as if these columns had never been measured.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Features.
        return_std : bool, default=False
            Whether to return the standard deviation of a new response about its prediction too.

        Returns
        -------
        array of shape (n,), or a pair of them
            Predictions, and their standard deviations if asked for.
        """
        check_is_fitted(self)
        table, columns = self._open(X)
        predicted, deviation, beyond = np.empty(table.rows), np.empty(table.rows), 0
        for rows, fit, values in self._parts(table, columns):
            line = fit.line(values)
            predicted[rows] = fit.bounded(line)
            beyond += int(np.count_nonzero(predicted[rows] != line))
            if return_std:
                deviation[rows] = prediction_deviation(fit, values, _name(self.method_))
        if beyond and self.fit_.bounds is not None:
            _warn([PredictionsBounded(beyond, len(predicted), self.fit_.bounds)])
        return (predicted, deviation) if return_std else predicted

    def predict_interval(self, X: Any, coverage: float = 0.95) -> Array:
        """Return the interval that holds the response of each row with a given probability.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Features; rows may lack columns as in ``predict``.
        coverage : float, default=0.95
            The probability, according to the model.

        Returns
        -------
        array of shape (n, 2)
            Lower and upper ends.
        """
        check_is_fitted(self)
        table, columns = self._open(X)
        ends = np.empty((table.rows, 2))
        for rows, fit, values in self._parts(table, columns):
            deviation = prediction_deviation(fit, values, _name(self.method_))
            width = quantile(fit.tails, coverage) * deviation
            ends[rows] = fit.predict(values)[:, None] + np.outer(width, [-1.0, 1.0])
        return ends

    def _parts(
        self, table: Table, columns: Sequence[Column]
    ) -> Iterator[tuple[NDArray[np.intp], LinearFit, Array]]:
        """Yield the rows that have the same columns, the fit for them, and their values."""
        names = [c.name for c in columns]
        missing = table.missing(names)
        may_lack = self.optional_columns_
        wrong = {
            n: int(k)
            for n, k in zip(names, missing.sum(axis=0), strict=True)
            if k and n not in may_lack
        }
        if wrong:
            raise MissingHere(wrong, table.rows, may_lack)
        patterns, which = np.unique(missing, axis=0, return_inverse=True)
        has = [[c for c, gone in zip(columns, p, strict=True) if not gone] for p in patterns]
        fits = self._fits_on(has)
        for k, (there, fit) in enumerate(zip(has, fits, strict=True)):
            rows = np.flatnonzero(which.reshape(-1) == k)
            part = table if len(patterns) == 1 else table.take(rows)
            values = part.read(there, 0, part.rows)
            bad = np.count_nonzero(~np.isfinite(values), axis=0)
            if bad.any():
                counts = {n: int(b) for n, b in zip(encoded(there), bad, strict=True) if b}
                raise NotFinite(counts, table.rows, "X")
            yield rows, fit, values

    @property
    def transfer_gain_(self) -> float | None:
        """Expected fall of the squared error against least squares, according to the model."""
        check_is_fitted(self)
        gain, unit = transfer_gain_of(self.problem_, self._working_fit), self.problem_.units
        return held(gain, 2 * unit.get(self.problem_.response, 0))

    @property
    def standard_errors_(self) -> Array | None:
        """Standard errors of the intercept and the coefficients, in this order."""
        check_is_fitted(self)
        return self.fit_.standard_errors

    def summary(self) -> Summary:
        """Say what was fitted, from what, and with what result.

        Returns
        -------
        Summary
            Plain data that prints as text and shows as HTML.
        """
        check_is_fitted(self)
        return summarise(
            self.problem_,
            self.fit_,
            method=_name(self.method_),
            transfer_gain=self.transfer_gain_,
            cautions=self.cautions_,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "fit_")

    def _solve(
        self,
        problem: Problem,
        columns: tuple[Column, ...],
        optional: frozenset[str],
        cautions: Sequence[TransferWarning],
    ) -> tuple[TransferWarning, ...]:
        """Both doors lead here: let the method answer, keep the answer, return what to warn of."""
        method = _frozen(self.method)
        working = method.solve(problem)
        fit = problem.restored(working)
        self.method_ = method
        self._working_fit = working  # the same, but for columns of extreme size
        self.problem_ = problem.without_rows()
        self.columns_ = columns
        self.optional_columns_ = [c.name for c in columns if c.name in optional]
        self.fit_ = fit
        self.coef_, self.intercept_ = fit.coef, fit.intercept
        self.coef_names_ = np.array(fit.names, dtype=object)
        self.conflict_ = dict(fit.conflict)
        self.coef_cov_ = None if fit.covariance is None else fit.covariance[1:, 1:]
        told = (*cautions, *suspicions(problem), *fit.cautions)
        self.cautions_ = tuple(str(caution) for caution in told)
        return told

    def _change(
        self, X: Any, y: Any, sources: Any, weights: Any, *, forget: bool
    ) -> tuple[TransferWarning, ...]:
        """Add rows or take them away, and solve again; return what to warn of."""
        check_is_fitted(self)
        self._check_options()
        if X is not None and not is_moments(X):
            if y is None:
                raise BadOption("y", None, "the response of each row of X")
            X = self._whole(X)
            is_series = hasattr(y, "to_list") or hasattr(y, "to_pylist")
            y = y if is_series else column_or_1d(y, warn=True)
        change = changed(
            self.problem_,
            self.columns_,
            X,
            y,
            weights=weights,
            sources=sources,
            precision=self.precision,
            response_was_named=self.problem_.response != self.response,
            forget=forget,
        )
        optional = change.lacking.union(self.optional_columns_)
        return self._solve(change.problem, self.columns_, optional, change.cautions)

    def _whole(self, X: Any) -> Table:
        """Open a table that has all the columns of the fit."""
        if _is_frame(X):
            self._checked(X, reset=False)
        return self._open(X)[0]

    def _check_options(self) -> None:
        if self.unseen_level not in ("raise", "ignore"):
            raise BadOption("unseen_level", self.unseen_level, "'raise' or 'ignore'")
        check_precision(self.precision)

    def _checked(self, X: Any, y: Any = "no_validation", *, reset: bool) -> Any:
        """Let scikit-learn check names and shape, and turn what is no data frame into an array."""
        y = y if y is None else "no_validation"
        if _is_frame(X):
            open_table(X, "X")  # says what is wrong with a table better than what follows
            validate_data(self, X, y, reset=reset, skip_check_array=True)
            return X
        if type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2 and X.shape[1]:
            validate_data(self, X, y, reset=reset, skip_check_array=True)
            return X
        X = unmasked(X) if np.ma.isMaskedArray(X) else X
        return validate_data(
            self, X, y, reset=reset, dtype="numeric", ensure_all_finite=False, ensure_min_samples=0
        )

    def _open(self, X: Any) -> tuple[Table, list[Column]]:
        """Open a table to predict, with those of the columns at fit that it has."""
        if _is_frame(X):
            table = open_table(X, "X")
            lacking = {c.name for c in self.columns_}.difference(table.names)
            columns = [c for c in self.columns_ if c.name not in lacking]
            names = [c.name for c in columns]
            if not (lacking and lacking <= set(self.optional_columns_)):
                self._checked(X, reset=False)
            elif table.names != tuple(names):
                raise OtherColumns(table.names, names)
            return table, columns
        if texts := [c.name for c in self.columns_ if c.levels is not None]:
            raise NotNumeric(texts[0], "held text at fit", "Give a data frame, not an array.")
        array = open_table(np.asarray(self._checked(X, reset=False)), "X")
        assert isinstance(array, ArrayTable)
        return ArrayTable(array.values, tuple(c.name for c in self.columns_)), list(self.columns_)

    def _fits_on(self, patterns: Sequence[Sequence[Column]]) -> list[LinearFit]:
        """Return the fits for rows that have these columns."""
        names = self.fit_.names
        lacking = [sorted(set(names).difference(encoded(has))) for has in patterns]
        wanted = [tuple(lacks) for lacks in lacking if lacks]
        fits = dict(zip(wanted, self._fits_without(wanted), strict=True)) if wanted else {}
        return [fits[tuple(lacks)] if lacks else self.fit_ for lacks in lacking]

    def _fits_without(self, patterns: Sequence[Sequence[str]]) -> list[LinearFit]:
        """Return the fits for rows that lack these features."""
        problem, method = self.problem_, self.method_
        if isinstance(method, JointMethod):
            found = list(method.solve_without(problem, patterns))
        elif self.fit_.pool is not None:
            left = [[n for n in self.fit_.names if n not in lacking] for lacking in patterns]
            found = [
                regress(self.fit_.pool, problem.response, has, intercept=problem.intercept)
                for has in left
            ]
            if self.fit_.covariance is None:  # imputed rows are not as sure as they look
                found = [replace(fit, covariance=None) for fit in found]
        else:
            found = [method.solve(problem.without(lacking)) for lacking in patterns]
        return [problem.restored(fit) for fit in found]


def fit_kept(
    model: PooledRegressor, X: Any, y: Any, *, sources: Any = None, sample_weight: Any = None
) -> tuple[Intake, tuple[TransferWarning, ...]]:
    """Fit, and return what was read, rows included, and what to warn of.

    For those who go on with the same tables: history may take long to read, or come only once.

    Parameters
    ----------
    model : PooledRegressor
        What to fit.
    X, y, sources, sample_weight
        As in :meth:`PooledRegressor.fit`.
    """
    with _all_or_nothing(model):
        model._check_options()
        X = model._checked(X, y, reset=True)
        is_series = hasattr(y, "to_list") or hasattr(y, "to_pylist")
        is_vector = isinstance(y, np.ndarray) and y.ndim == 1
        intake = gather(
            X,
            y if is_series or is_vector else column_or_1d(y, warn=True),
            weights=sample_weight,
            sources=sources,
            response=model.response,
            intercept=model.fit_intercept,
            unseen_level=model.unseen_level,
            precision=model.precision,
        )
        told = model._solve(intake.problem, intake.columns, intake.optional, intake.cautions)
    return intake, told


@contextmanager
def _all_or_nothing(model: PooledRegressor) -> Iterator[None]:
    """Put a model back as it was when its fit fails."""
    before = dict(model.__dict__)
    try:
        yield
    except BaseException:
        model.__dict__.clear()
        model.__dict__.update(before)
        raise


def _warn(cautions: Iterable[TransferWarning]) -> None:
    for caution in cautions:
        warnings.warn(caution, stacklevel=3)


def _frozen(method: Any) -> Method:
    """Return a method of our own, which the caller cannot change after the fit."""
    found = method_of(method)
    return clone(found, safe=False) if found is method else found


def _name(method: Method) -> str:
    for name, kind in METHODS.items():
        if type(method) is kind:
            return name
    return type(method).__name__


def _is_frame(X: Any) -> bool:
    if isinstance(X, np.ndarray):
        return False
    is_stream = hasattr(X, "__arrow_c_stream__") or hasattr(X, "collect")
    return bool(nw.dependencies.is_into_dataframe(X)) or (is_stream and not hasattr(X, "__array__"))
