"""Simulated histories and targets for methods with trees, and models that several tests share."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from poolwise import PooledRegressor
from poolwise.errors import PoolwiseWarning

NOISE = 0.3


class World(NamedTuple):
    """A target of four columns, a source with the first three, and rows to try a model on."""

    X: np.ndarray
    y: np.ndarray
    source: tuple[np.ndarray, np.ndarray]
    tried: np.ndarray
    answers: np.ndarray


def _smooth(X):
    return np.sin(2.0 * X[:, 0]) + X[:, 0] * X[:, 1] + X[:, 2] + np.abs(X[:, 3])


def _steps(X):
    return 2.0 * (X[:, 0] > 0.0) * (X[:, 1] > 0.5) + (X[:, 2] > -1.0) + X[:, 3]


def _linear(X):
    return X @ [1.0, -1.0, 2.0, 0.5]


TRUTHS = {"smooth": _smooth, "steps": _steps, "linear": _linear}


def world(truth, seed=0, *, rows=60, history=300, source="honest"):
    """Draw a world; ``source`` says what became of the history's response."""
    rng = np.random.default_rng([seed, len(truth)])
    X = rng.uniform(-2.0, 2.0, size=(history + rows + 1000, 4))
    y = TRUTHS[truth](X) + NOISE * rng.normal(size=len(X))
    old = y[:history]
    old = {
        "honest": old,
        "permuted": rng.permutation(old),
        "flipped": -old,
        "shifted": old + 3.0 * old.std(),
    }[source]
    end = history + rows
    return World(X[history:end], y[history:end], (X[:history, :3], old), X[end:], y[end:])


def fit(method: Any, given: World, **options: Any) -> PooledRegressor:
    """Fit a method to a world, whatever it warns of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoolwiseWarning)
        return PooledRegressor(method).fit(given.X, given.y, sources=given.source, **options)


@cache
def fitted(method: str, truth: str = "smooth", seed: int = 0) -> PooledRegressor:
    """Return a model that nobody may change."""
    return fit(method, world(truth, seed))


def quietly(function: Any, *args: Any) -> Any:
    """Return what a call gives, whatever it warns of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoolwiseWarning)
        return function(*args)


def lacking(rows: np.ndarray) -> np.ndarray:
    """Return rows without the new column."""
    rows = rows.copy()
    rows[:, 3] = np.nan
    return rows


def error(model: Any, given: World) -> float:
    """Return the root of the mean squared error on new rows."""
    return float(np.sqrt(np.mean((model.predict(given.tried) - given.answers) ** 2)))
