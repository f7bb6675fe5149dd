"""poolwise and its peers as solvers of the same problems."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.linalg import lstsq
from sklearn.linear_model import LinearRegression
from statsmodels.api import OLS

from benchmarks.estimates import Array, Estimates
from poolwise import PooledRegressor
from poolwise.numerics.options import Precision


def ours(X: Array, y: Array, *, intercept: bool, precision: Precision) -> Estimates:
    """Return the estimates of the regressor, which has its own standard errors."""
    model = PooledRegressor("target_only", fit_intercept=intercept, precision=precision).fit(X, y)
    first = 0 if intercept else 1
    return Estimates(
        np.append(model.intercept_, model.coef_)[first:], model.standard_errors_[first:]
    )


def by_numpy(X: Array, y: Array, *, intercept: bool) -> Estimates:
    A = _design(X, intercept=intercept)
    return _textbook(A, y, np.linalg.lstsq(A, y)[0])


def by_scipy(X: Array, y: Array, *, intercept: bool) -> Estimates:
    A = _design(X, intercept=intercept)
    return _textbook(A, y, lstsq(A, y)[0])


def by_sklearn(X: Array, y: Array, *, intercept: bool) -> Estimates:
    model = LinearRegression(fit_intercept=intercept).fit(X, y)
    b = np.append(model.intercept_, model.coef_) if intercept else model.coef_
    return _textbook(_design(X, intercept=intercept), y, b)


def by_statsmodels(X: Array, y: Array, *, intercept: bool) -> Estimates:
    """Return the estimates of its QR factorisation, with its own standard errors."""
    fit = OLS(y, _design(X, intercept=intercept)).fit(method="qr")
    return Estimates(fit.params, fit.bse)


PRECISIONS: tuple[Precision, ...] = ("auto", "accurate", "exact", "fast")
Solver = Callable[..., Estimates]
OURS: dict[str, Solver] = {name: partial(ours, precision=name) for name in PRECISIONS}
PEERS: dict[str, Solver] = {
    "numpy": by_numpy,
    "scipy": by_scipy,
    "sklearn": by_sklearn,
    "statsmodels": by_statsmodels,
}


def quietly(solver: Solver, X: Array, y: Array, *, intercept: bool) -> Estimates:
    """Run a solver without warnings: only its digits are judged."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return solver(X, y, intercept=intercept)


def _design(X: Array, *, intercept: bool) -> Array:
    return np.column_stack((np.ones(len(X)), X)) if intercept else X


def _textbook(A: Array, y: Array, b: Array) -> Estimates:
    """Add standard errors: the residual variance times the diagonal of inv(A'A)."""
    n, p = A.shape
    noise = np.sum((y - A @ b) ** 2) / (n - p)
    try:
        inverse = np.linalg.inv(A.T @ A)
    except np.linalg.LinAlgError:
        return Estimates(b, np.full(p, np.nan))
    return Estimates(b, np.sqrt(noise * inverse.diagonal()))
