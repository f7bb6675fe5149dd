"""PooledRegressor: every method behind scikit-learn's interface."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from poolwise.answer import AnyMethod
from poolwise.double_double import Array
from poolwise.drafts import write
from poolwise.errors import BadOption, NeedsTargetRows, NoCoefficients, TransferWarning
from poolwise.exports.line import Line, line_without
from poolwise.exports.onnx_graph import graph
from poolwise.exports.sklearn_pipeline import pipeline
from poolwise.exports.sql import expression
from poolwise.fit.powers_of_two import held
from poolwise.fitted_model import FittedModel, solved
from poolwise.input_checks import checked, checked_response, open_rows, open_whole
from poolwise.intake import Intake, gather
from poolwise.methods import name_of_method
from poolwise.model_file.reading import read
from poolwise.model_file.record import ModelRecord
from poolwise.model_file.writing import text_of
from poolwise.moments import Moments
from poolwise.moments_intake import MomentsIntake, gather_moments
from poolwise.options import checked_jobs
from poolwise.precision import Precision, check_precision
from poolwise.prediction import intervals, predictions
from poolwise.strict_json import MOST_BYTES, AnyPath
from poolwise.summary import Summary, summarise
from poolwise.tables import Table
from poolwise.tables.columns import Column
from poolwise.tables.moments_table import Levels
from poolwise.tables.responses import name_of
from poolwise.theory import transfer_gain_of
from poolwise.updating import Change, changed, is_moments

COEFFICIENTS = ("coef_", "intercept_", "coef_names_", "coef_cov_")


class PooledRegressor(RegressorMixin, BaseEstimator):
    r"""Regression on new, complete rows and on history that lacks some columns.

    ``X, y`` is the target: the new data, with all columns. History goes into the keyword
    ``sources``, so that cross-validation splits the target and only the target. Rows of ``X`` with
    missing values (NaN or null) are history too: each pattern of missing columns becomes a source,
    which is how history travels through a pipeline.

    Parameters
    ----------
    method : str or object, default="bayes_pooling"
        The name of a method, from ``poolwise.METHODS`` or, for those with trees,
        ``poolwise.methods.ROW_METHODS``; or an object with its own parameters, such as
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
    n_jobs : int, optional
        Threads that read files and add up long tables; one unless given, -1 for one per processor.
        Files give the same bits with any number. So does any table with ``precision="exact"``; else
        the last digits of a table in memory may depend on whether there is more than one.

    Attributes
    ----------
    coef_ : array of shape (d,)
        Coefficients, one per name in ``coef_names_``. A model that is a mean of lines and trees has
        none of these three, nor ``coef_cov_``.
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
    method_ : object
        The method that answered; with ``method="auto"`` the one that was taken.
    reason_ : str
        Why, in words, where one was taken.
    fit_ : LinearFit
        The whole fit: noise, weights, dropped columns.
    derived_ : Derived or None
        What trees add, where there are some.
    response_ : str
        Name of the response.
    problem_ : Problem or None
        The moments it was made from; None in a model that was saved without them.
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
        method: str | AnyMethod = "bayes_pooling",
        *,
        fit_intercept: bool = True,
        response: str = "y",
        unseen_level: Literal["raise", "ignore"] = "raise",
        precision: Precision = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.fit_intercept = fit_intercept
        self.response = response
        self.unseen_level = unseen_level
        self.precision = precision
        self.n_jobs = n_jobs

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
            With an indicator for every level of a text column (``site=coast``, ``site=inland``,
            ...) they count as moments of a table with that column, which rows to predict then have.
        sources : Moments or path, or list or mapping of these
            Of some of the features and of the response.

        Returns
        -------
        PooledRegressor
            Itself.
        """
        with _all_or_nothing(self):
            self._check_options()
            intake = gather_moments(
                target,
                sources,
                self.response,
                intercept=self.fit_intercept,
                unseen_level=self.unseen_level,
            )
            self.feature_names_in_ = np.array([c.name for c in intake.columns], dtype=object)
            self.n_features_in_ = len(intake.columns)
            _warn(self._solve(intake, intake.columns, intake.levels, None))
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
            are of the encoded columns and the response, as in ``problem_.target.names``; they may
            have indicators of the other levels, too.
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
        found = predictions(self._kept(), *self._rows(X), with_deviation=return_std)
        _warn(found.cautions)
        return (found.values, found.deviation) if return_std else found.values

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
        return intervals(self._kept(), *self._rows(X), coverage)

    def save(self, path: AnyPath, *, overwrite: bool = False, moments: bool = True) -> None:
        """Write the fitted model to a file, as JSON, with every bit.

        The file is there whole or not at all. What it tells of the rows is said in
        :doc:`/guides/model_files`.

        Parameters
        ----------
        path : str or path
            The file to write.
        overwrite : bool, default=False
            Whether a file of that name may be replaced.
        moments : bool, default=True
            Whether the moments of all tables are written too. Without them a loaded model predicts
            rows that have all columns, and nothing else.
        """
        model, named = self._kept(), hasattr(self, "feature_names_in_")
        text = text_of(ModelRecord(self.get_params(deep=False), named, model), moments=moments)
        write(path, text, overwrite=overwrite)

    @classmethod
    def load(cls, path: AnyPath, *, max_bytes: int = MOST_BYTES) -> PooledRegressor:
        """Read a model from a file that :meth:`save` wrote.

        Whatever the file holds, no code is run. A file that is damaged, contradicts itself or comes
        from a newer version is refused, with the reason.

        Parameters
        ----------
        path : str or path
            The file.
        max_bytes : int, default=2**28
            Refuse larger files.

        Returns
        -------
        PooledRegressor
            Fitted: it predicts, updates and summarises with the same bits.
        """
        record = read(path, max_bytes=max_bytes)
        model = cls(**record.options)
        model.n_features_in_ = len(record.fitted.columns)
        if record.named:
            names = [c.name for c in record.fitted.columns]
            model.feature_names_in_ = np.array(names, dtype=object)
        model._keep(record.fitted)
        return model

    def to_sklearn(self, *, without: Sequence[str] = ()) -> Any:
        """Return the model as a fitted estimator of scikit-learn, which needs no poolwise.

        It predicts rows that have all columns, and cannot be updated.

        Parameters
        ----------
        without : sequence of str, optional
            Columns of ``optional_columns_`` that the rows to predict do not have.

        Returns
        -------
        Pipeline, or TransformedTargetRegressor
            The latter holds predictions between bounds, where the model has some; its
            ``regressor_`` is the pipeline.
        """
        return pipeline(self._line(without))

    def to_onnx(self, *, without: Sequence[str] = ()) -> Any:
        """Return the model as ONNX, in doubles (``pip install "poolwise[onnx]"``).

        Inputs are ``numbers`` and ``texts``, one column for each name in the model's properties of
        the same names; the output is ``prediction``. It is NaN where a number is NaN, or a text was
        not there at fit (unless ``unseen_level="ignore"``).

        Parameters
        ----------
        without : sequence of str, optional
            Columns of ``optional_columns_`` that the rows to predict do not have.

        Returns
        -------
        onnx.ModelProto
            Write it with ``onnx.save``.
        """
        return graph(self._line(without))

    def to_sql(
        self, dialect: Literal["duckdb", "sqlite"] = "duckdb", *, without: Sequence[str] = ()
    ) -> str:
        """Return the model as an expression in SQL, over columns of the names at fit.

        It is NULL where a column is NULL, or a text was not there at fit (unless
        ``unseen_level="ignore"``).

        Parameters
        ----------
        dialect : {"duckdb", "sqlite"}, default="duckdb"
            Whose SQL.
        without : sequence of str, optional
            Columns of ``optional_columns_`` that the table does not have.

        Returns
        -------
        str
            To be put after SELECT. Names and texts in it are quoted.
        """
        return expression(self._line(without), dialect)

    def _line(self, without: Sequence[str]) -> Line:
        return line_without(self._kept(), without, are_named=hasattr(self, "feature_names_in_"))

    @property
    def transfer_gain_(self) -> float | None:
        """Expected fall of the squared error against least squares, according to the model."""
        model = self._kept()
        problem = model.known_problem("transfer_gain_")
        if model.derived is not None:
            return None  # what history adds is in the derived columns already
        gain = transfer_gain_of(problem, self._working_fit)
        return held(gain, 2 * problem.units.get(problem.response, 0))

    @property
    def standard_errors_(self) -> Array | None:
        """Standard errors of the intercept and the coefficients, in this order."""
        model = self._kept()
        if model.stack is not None:
            raise NoCoefficients("standard_errors_", name_of_method(model.method))
        return model.fit.standard_errors

    def summary(self) -> Summary:
        """Say what was fitted, from what, and with what result.

        Returns
        -------
        Summary
            Plain data that prints as text and shows as HTML.
        """
        model = self._kept()
        problem = model.known_problem("summary")
        if model.derived is not None and model.derived.problem is not None:
            problem = model.derived.problem
        return summarise(
            problem,
            model.fit,
            method=name_of_method(model.method),
            transfer_gain=self.transfer_gain_,
            cautions=model.cautions,
            reason=model.reason,
            stack=model.stack,
            made=() if model.derived is None else [c.name for c in model.derived.columns],
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "fit_")

    def _rows(self, X: Any) -> tuple[Table, list[Column]]:
        """Open a table to predict."""
        return open_rows(self, X, self.columns_, self.optional_columns_)

    def _keep(self, fitted: FittedModel) -> None:
        """Take what a fit or a file gives."""
        fit = fitted.fit
        self.method_ = fitted.method
        self._working_fit = fitted.working_fit
        self.problem_ = fitted.problem
        self.response_ = fitted.response
        self._own_name, self._levels = fitted.own_name, dict(fitted.levels)
        self.columns_ = fitted.columns
        self.optional_columns_ = list(fitted.optional)
        self.fit_ = fit
        self.derived_, self.reason_ = fitted.derived, fitted.reason
        self.conflict_ = dict(fit.conflict)
        self.cautions_ = fitted.cautions
        for name in COEFFICIENTS:
            self.__dict__.pop(name, None)
        if fitted.stack is not None:
            return
        self.coef_, self.intercept_ = fit.coef, fit.intercept
        self.coef_names_ = np.array(fit.names, dtype=object)
        self.coef_cov_ = None if fit.covariance is None else fit.covariance[1:, 1:]

    def __getattr__(self, name: str) -> Any:
        """Say why a model has no coefficients, where it has none."""
        if name in COEFFICIENTS and self.__dict__.get("derived_") is not None:
            raise NoCoefficients(name, name_of_method(self.method_))
        return object.__getattribute__(self, name)  # a property says itself what is wrong

    def _kept(self) -> FittedModel:
        """Return what `_keep` took."""
        check_is_fitted(self)
        return FittedModel(
            method=self.method_,
            columns=self.columns_,
            optional=tuple(self.optional_columns_),
            response=self.response_,
            own_name=self._own_name,
            levels=self._levels,
            fit=self.fit_,
            working_fit=self._working_fit,
            problem=self.problem_,
            cautions=self.cautions_,
            derived=self.derived_,
            reason=self.reason_,
        )

    def _change(
        self, X: Any, y: Any, sources: Any, weights: Any, *, forget: bool
    ) -> tuple[TransferWarning, ...]:
        """Add rows or take them away, and solve again; return what to warn of."""
        model = self._kept()
        self._check_options()
        if model.derived is not None:  # an update would be of its linear part alone
            raise NeedsTargetRows(name_of_method(model.method))
        if X is not None and not is_moments(X):
            if y is None:
                raise BadOption("y", None, "the response of each row of X")
            X, y = open_whole(self, X, model.columns), checked_response(y)
        change = changed(
            model,
            X,
            y,
            weights=weights,
            sources=sources,
            precision=self.precision,
            forget=forget,
            jobs=checked_jobs(self.n_jobs),
        )
        return self._solve(change, model.columns, model.levels, model.own_name)

    def _solve(
        self,
        read: Intake | MomentsIntake | Change,
        columns: tuple[Column, ...],
        levels: Mapping[str, Levels | None],
        own_name: str | None,
    ) -> tuple[TransferWarning, ...]:
        """Every door leads here: let the method answer, keep the answer, return what to warn of."""
        model, told = solved(
            self.method,
            read.problem,
            columns,
            optional=read.optional,
            own_name=own_name,
            levels=levels,
            cautions=read.cautions,
        )
        self._keep(model)
        return told

    def _check_options(self) -> None:
        if self.unseen_level not in ("raise", "ignore"):
            raise BadOption("unseen_level", self.unseen_level, "'raise' or 'ignore'")
        check_precision(self.precision)


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
        intake = gather(
            checked(model, X, y, reset=True),
            checked_response(y),
            weights=sample_weight,
            sources=sources,
            response=model.response,
            intercept=model.fit_intercept,
            unseen_level=model.unseen_level,
            precision=model.precision,
            jobs=checked_jobs(model.n_jobs),
        )
        levels = {c.name: Levels.of(c) for c in intake.columns}
        told = model._solve(intake, intake.columns, levels, name_of(y))
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
