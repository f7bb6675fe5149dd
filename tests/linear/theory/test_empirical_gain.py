"""The gain on rows that were not fitted: its definition, and the paper's first simulation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise.linear.theory import (
    PooledTable,
    empirical_gain,
    gain_at,
    optimal_variance_gain,
)
from poolwise.methods import DataPooling, TargetOnly
from tests.laws.problems import random_tables, tables_of
from tests.linear.theory.parts import problem_of


def test_the_empirical_gain_is_the_mean_difference_of_squared_errors():
    tables = tables_of("one source", seed=6)
    problem = tables.problem()
    alone, pooled = TargetOnly().solve(problem), DataPooling().solve(problem)
    test = random_tables(60, target_rows=50, sources={}).target
    total = 0.0
    for x, y in zip(test.X, test.y, strict=True):
        total += (y - alone.intercept - x @ alone.coef) ** 2
        total -= (y - pooled.intercept - x @ pooled.coef) ** 2
    assert_allclose(empirical_gain(alone, pooled, test.X, test.y), total / 50, rtol=1e-10)
    assert empirical_gain(alone, alone, test.X, test.y) == 0.0


def draw_of_the_paper(rng, rows):
    X = rng.normal(size=(rows, 2))
    return X, 2.0 + X @ [2.0, -2.0] + rng.normal(size=rows)


def gains_of_the_paper(target_rows, method, X, y, *, iterations):
    """Return what Algorithm 2 averages, for the first simulation of the paper."""
    rng = np.random.default_rng(0)
    gains = []
    for _ in range(iterations):
        X_s, y_s = draw_of_the_paper(rng, 100)
        X_t, y_t = draw_of_the_paper(rng, target_rows)
        problem = problem_of(X_t, y_t, X_s[:, :1], y_s)
        alone, pooled = TargetOnly().solve(problem), method.solve(problem)
        gains.append(empirical_gain(alone, pooled, X, y))
    return np.array(gains)


@pytest.mark.parametrize(("target_rows", "published"), [(10, 0.26), (30, 0.035)])
@pytest.mark.parametrize("weights", [None, 1.0 / 5.0], ids=["estimated", "real"])
def test_the_first_simulation_of_the_paper_is_reproduced(target_rows, published, weights):
    method = DataPooling(weights=weights, means={"x1": 0.0})
    X, y = draw_of_the_paper(np.random.default_rng(100), 1000)
    gains = gains_of_the_paper(target_rows, method, X, y, iterations=400)
    gain, error = gains.mean(), gains.std(ddof=1) / np.sqrt(len(gains))
    # The published mean of 200 runs has an error of sqrt(2) times ours, and two digits.
    assert abs(gain - published) < 3.0 * np.sqrt(3.0) * error
    assert gain > 5.0 * error


@pytest.mark.slow
def test_the_empirical_gain_is_on_average_the_one_of_the_theory():
    rng = np.random.default_rng(8)
    X, y = draw_of_the_paper(rng, 1000)
    surprises = []
    for _ in range(400):
        X_s, y_s = draw_of_the_paper(rng, 100)
        problem = problem_of(*draw_of_the_paper(rng, 12), X_s[:, :1], y_s)
        alone = TargetOnly().solve(problem)
        pooled = DataPooling(weights=1.0 / 5.0, means={"x1": 0.0}).solve(problem)
        target = PooledTable(problem.target, 1.0)
        source = PooledTable(problem.filled(problem.sources["old"], {"x1": 0.0}), 5.0)
        H = optimal_variance_gain(target, [source], pooled.names, pooled.centre)
        told = gain_at(H, X, pooled.centre).mean()
        surprises.append(empirical_gain(alone, pooled, X, y) - told)
    error = np.std(surprises, ddof=1) / np.sqrt(len(surprises))
    assert abs(np.mean(surprises)) < 3.0 * error
    assert error < 0.03  # a gain of 0.2 could not be missed
