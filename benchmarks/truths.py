"""Simulated tables with two new features, whose true response is linear, smooth or stepwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from poolwise._typing import Array

OLD, NEW = 5, 2  # features that both tables have, and that the target alone has


@dataclass(frozen=True, eq=False)
class Simulated:
    """Tables of one draw.

    Parameters
    ----------
    old, old_y : array
        Rows of the history, without the new features, and their response.
    X, y : array
        Rows of the target.
    test, test_y : array
        More rows like those of the target.
    """

    old: Array
    old_y: Array
    X: Array
    y: Array
    test: Array
    test_y: Array


def linear(X: Array) -> Array:
    truth: Array = X @ np.array([1.0, -1.0, 0.5, 0.0, 0.0, 1.0, -0.7])
    return truth


def smooth(X: Array) -> Array:
    truth: Array = 2.0 * np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 5] ** 2 + X[:, 6]
    return truth


def stepwise(X: Array) -> Array:
    truth: Array = 3.0 * (X[:, 0] > 0) * (X[:, 1] > 0) - 2.0 * (X[:, 2] > 0.5)
    return truth + 2.0 * (X[:, 5] > 0) + X[:, 6]


TRUTHS: dict[str, Callable[[Array], Array]] = {
    "linear": linear,
    "smooth": smooth,
    "stepwise": stepwise,
}


def simulated(truth: str, rng: np.random.Generator, *, history: int, target: int) -> Simulated:
    """Draw tables with standard normal noise; one new feature depends on an old one.

    Parameters
    ----------
    truth : str
        A key of ``TRUTHS``.
    rng : Generator
        Random number generator.
    history, target : int
        Numbers of rows.
    """

    def drawn(rows: int) -> tuple[Array, Array]:
        X = rng.normal(size=(rows, OLD + NEW))
        X[:, OLD] += 0.5 * X[:, 0]
        return X, TRUTHS[truth](X) + rng.normal(size=rows)

    (old, old_y), (X, y), (test, test_y) = drawn(history), drawn(target), drawn(2000)
    return Simulated(old[:, :OLD], old_y, X, y, test, test_y)
