"""Fits of hard cases, and everything that a model can be asked."""

import warnings

import numpy as np

from poolwise import PooledRegressor
from poolwise.errors import PoolwiseWarning
from tests.linear_methods import LINEAR_METHODS

PRECISIONS = ("fast", "accurate", "exact", "auto")
# Their penalties and kernels depend on the units of the columns.
WITHOUT_PENALTY = [m for m in LINEAR_METHODS if m not in ("feature_transfer", "kernel_transfer")]
# One more column is one more prior, which moves its answers by a few hundredths of a deviation.
SHRINKS = {"bayes_pooling": 0.05, "target_ridge": 0.05}
TRUTH = np.array([1.0, -2.0, 3.0])


def draw(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(-64, 64, size=(n, 3)) / 64.0
    return X, np.round(64.0 * (1.0 + X @ TRUTH + rng.normal(size=n))) / 64.0


def fit(method, precision, X, y, *, source=None, weights=None, **options):
    """Return a fitted model, and the kinds of warnings that it gave."""
    model = PooledRegressor(method, precision=precision, **options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y, sources=source, sample_weight=weights)
    kinds = [type(w.message) for w in caught]
    assert all(issubclass(kind, PoolwiseWarning) for kind in kinds), kinds
    return model, kinds


def split(X, y, features=3):
    """Return target and source, the source with the first features alone."""
    return (X[:20], y[:20]), (X[20:, :features], y[20:])


def all_is_told(model):
    """Ask for everything a model can say; all of it is finite or left out."""
    for numbers in (model.coef_, model.intercept_, model.standard_errors_, model.coef_cov_):
        assert numbers is None or np.isfinite(numbers).all()
    assert model.transfer_gain_ is None or np.isfinite(model.transfer_gain_)
    text = f"{model.summary()} {model.summary()._repr_html_()}"
    return "nan" not in text and "inf " not in text


def coefficients(model):
    return np.concatenate(([model.intercept_], model.coef_))
