"""Transfer gain against target rows: the paper's two gain figures, by its Algorithm 2.

The truth is y = 2 + 2 x0 - 2 x1 + noise, all of variance one; the source has 100 rows and lacks x1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from poolwise.double_double import Array
from poolwise.fit import LinearFit
from poolwise.methods.data_pooling import DataPooling
from poolwise.methods.target_only import TargetOnly
from poolwise.moments import Moments
from poolwise.problem import Problem
from poolwise.theory import mean_empirical_gain

SOURCE_ROWS, TEST_ROWS = 100, 1000
NOISE_RATIO = 1.0 / (1.0 + 2.0**2)  # target noise over source noise, which holds 2 x1 as well


@dataclass(frozen=True)
class Curve:
    """One curve of a figure.

    Parameters
    ----------
    label : str
        The paper's name of the curve.
    method : DataPooling
        What is compared with target-only least squares.
    mean : float
        Mean of the new feature x1.
    """

    label: str
    method: DataPooling
    mean: float


CURVES = (
    Curve("real alpha", DataPooling(weights=NOISE_RATIO, means={"x1": 0.0}), 0.0),
    Curve("estimated alpha", DataPooling(means={"x1": 0.0}), 0.0),
    Curve("true mean", DataPooling(means={"x1": 1.0}), 1.0),
    Curve("estimated mean", DataPooling(), 1.0),
)


def gain_point(
    curve: Curve, target_rows: int, *, iterations: int = 200, random_state: int = 0
) -> tuple[float, float]:
    """Return the mean gain at one number of target rows, and its standard error.

    Parameters
    ----------
    curve : Curve
        Which curve.
    target_rows : int
        Rows of each target.
    iterations : int, default=200
        Samples of source and target.
    random_state : int, default=0
        Seed.
    """
    test = _rows(np.random.default_rng([random_state, 1]), TEST_ROWS, curve.mean)

    def sample(rng: np.random.Generator) -> tuple[LinearFit, LinearFit]:
        source = _rows(rng, SOURCE_ROWS, curve.mean)
        target = Moments.of_rows(("x0", "x1", "y"), _rows(rng, target_rows, curve.mean))
        history = Moments.of_rows(("x0", "y"), source[:, [0, 2]])
        problem = Problem(target, {"history": history}, "y")
        return TargetOnly().solve(problem), curve.method.solve(problem)

    return mean_empirical_gain(
        sample, test[:, :2], test[:, 2], iterations=iterations, random_state=random_state
    )


def gain_table(
    target_rows: tuple[int, ...] = (5, 6, 8, 10, 12, 14, 17, 20, 25, 30),
    *,
    iterations: int = 200,
    random_state: int = 0,
) -> Iterator[Mapping[str, float]]:
    """Yield one record per number of target rows, with the gain of each curve.

    Parameters
    ----------
    target_rows : tuple of int
        Where to evaluate.
    iterations : int, default=200
        Samples per point.
    random_state : int, default=0
        Seed.
    """
    for n in target_rows:
        record: dict[str, float] = {"target rows": n}
        for curve in CURVES:
            gain = gain_point(curve, n, iterations=iterations, random_state=random_state)
            record[curve.label], record[f"{curve.label} se"] = gain
        yield record


def _rows(rng: np.random.Generator, rows: int, mean: float) -> Array:
    x = rng.normal(size=(rows, 2))
    x[:, 1] += mean
    y = 2.0 + 2.0 * x[:, 0] - 2.0 * x[:, 1] + rng.normal(size=rows)
    return np.column_stack((x, y))
