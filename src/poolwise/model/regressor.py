"""All methods behind the interface of scikit-learn."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator, RegressorMixin

from poolwise._typing import Array
from poolwise.linear.problem import Method
from poolwise.linear.response_transform import Statistic
from poolwise.methods import DEFAULT_METHOD
from poolwise.model.fitted_model import FittedAttributes, all_or_nothing, fit_kept, fitted, warn
from poolwise.model.prediction import intervals, predictions
from poolwise.model.saving import Saving
from poolwise.model.summary import Summary, summary_of
from poolwise.model.updating import Updating
from poolwise.numerics.options import Precision
from poolwise.tables.encoding import MAX_LEVELS


class PooledRegressor(Updating, Saving, FittedAttributes, RegressorMixin, BaseEstimator):
    """Regression on a complete target and on sources that lack some of its columns.

    ``X, y`` is the target; history goes into ``sources``, so that cross-validation splits the
    target only, or is a block of rows of ``X`` that lack the same columns. Other gaps are filled.

    Parameters
    ----------
    method : str or object, default="bayes_pooling"
        A name in ``poolwise.METHODS``, or an object such as ``BayesPooling(bounds=None)``.
    fit_intercept : bool, default=True
    response : str, default="y"
        Name of the response if ``y`` does not have a name.
    response_transform : {"log", "sqrt"} or pair of functions, optional
        Scale of the response of all tables, which predictions are brought back from.
    max_levels : int, default=50
        The most frequent levels of a text column that keep an indicator; levels beyond count as
        *other*, or get the column's mean effect if fewer than 5 rows have them.
    strict : bool, default=False
        Whether columns, rows and levels that cannot be used as they are raise one error that lists
        them, instead of being left out, merged or converted; see ``account_``.
    precision : {"auto", "fast", "accurate", "exact"}, default="auto"
        Digits of sums: one double (fast), two (4 times the time), all (6 times), or as needed.
    n_jobs : int, optional
        Threads that read files and sum long tables; -1 for one per processor.

    Attributes
    ----------
    intercept_, coef_, coef_names_ : float, array of shape (d,), array of shape (d,)
        A text column ``region`` with levels north and south becomes ``region=south``. A mean of
        lines and trees does not have these three, nor ``coef_cov_`` and ``standard_errors_``.
    coef_cov_, standard_errors_ : array of shape (d, d) or None, array of shape (d + 1,) or None
        Covariance of the coefficients; standard errors of intercept and coefficients.
    conflict_, transfer_gain_ : dict of str to float, float or None
        Probability that a source contradicts the target; expected gain against least squares.
    account_ : Account or None
        What each column of the tables is, what was done with it, and why; it prints as text.
    optional_columns_ : list of str
        Columns of ``X`` that some source lacked: a table to predict may lack them too.
    method_, reason_ : object, str
        The method that made the fit and, where ``method="auto"`` chose it, why.
    fit_, problem_ : Fit, Problem or None
        A :class:`LinearFit` unless trees were grown; its moments, unless saved without them.

    Examples
    --------
    >>> import numpy as np
    >>> from poolwise import PooledRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(330, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + rng.normal(size=330)
    >>> model = PooledRegressor().fit(X[300:], y[300:], sources=(X[:300, :2], y[:300]))
    >>> model.coef_.round(1)
    array([0.8, 2. , 3. ])
    """

    __metadata_request__fit = {"sources": True}  # noqa: RUF012  scikit-learn reads it by this name

    def __init__(
        self,
        method: str | Method = DEFAULT_METHOD,
        *,
        fit_intercept: bool = True,
        response: str = "y",
        response_transform: Any = None,
        max_levels: int = MAX_LEVELS,
        strict: bool = False,
        precision: Precision = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.fit_intercept = fit_intercept
        self.response = response
        self.response_transform = response_transform
        self.max_levels = max_levels
        self.strict = strict
        self.precision = precision
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, *, sources: Any = None, sample_weight: Any = None) -> Self:
        """Fit on the target and its sources.

        Parameters
        ----------
        X, y : array-like or data frame of shape (n, n_features), array-like of shape (n,)
            Features and response of the target. A gap is NaN.
        sources : object, optional
            ``(X, y)``, ``(X, y, weights)``, a table with the response as a column, a path, moments,
            or several of these: see :class:`poolwise.Sources`.
        sample_weight : array-like of shape (n,), optional
            Row weights of the target. A weight counts as repetitions of the row.

        Returns
        -------
        PooledRegressor
        """
        with all_or_nothing(self):  # a warning may be turned into an error
            warn(fit_kept(self, X, y, sources=sources, sample_weight=sample_weight)[1])
        return self

    def predict(self, X: Any, return_std: bool = False, statistic: Statistic = "mean") -> Any:
        """Predict the response of rows, in which a gap is NaN.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
        return_std : bool, default=False
            Whether to return the standard deviation of a new response about its prediction too.
        statistic : {"mean", "median"}, default="mean"
            What to predict; they differ with a ``response_transform`` only.

        Returns
        -------
        array of shape (n,), or a pair of them
        """
        found = predictions(self, X, with_deviation=return_std, statistic=statistic)
        warn(found.warnings)
        return (found.values, found.deviation) if return_std else found.values

    def predict_interval(self, X: Any, coverage: float = 0.95) -> Array:
        """Return the interval that holds each response with a given probability.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
        coverage : float, default=0.95
            The probability, according to the model.

        Returns
        -------
        array of shape (n, 2)
        """
        found, notes = intervals(self, X, coverage)
        warn(notes)
        return found

    def summary(self, X: Any = None) -> Summary:
        """Return tables, coefficients and warnings of the fit: plain data that prints as text.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features), optional
            Rows to predict. The summary names predictions that a bound limited, and the columns.

        Returns
        -------
        Summary
        """
        return summary_of(fitted(self), () if X is None else predictions(self, X).cautions)
