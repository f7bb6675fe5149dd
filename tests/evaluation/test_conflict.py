import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise.evaluation import conflict
from poolwise.methods import BayesPooling
from tests.evaluation.worlds import in_other_units, nested, turned_round, world
from tests.laws.problems import least_squares


@pytest.mark.parametrize("change", [in_other_units, turned_round])
def test_neither_units_nor_order_matter(change):
    was = {x.source: x for x in conflict(nested().problem()).lines}
    now = {x.source: x for x in conflict(change(nested()).problem()).lines}
    for name, line in was.items():
        other = now[name]
        assert_allclose(other.probability, line.probability, rtol=1e-6, atol=1e-9)
        assert_allclose(other.distance, line.distance, rtol=1e-6)
        for key, value in line.differences.items():
            assert_allclose(other.differences[key], value, rtol=1e-6, atol=1e-9)


def test_the_probability_is_that_of_bayes_pooling():
    problem = nested().problem()
    known = BayesPooling().solve(problem).conflict
    for line in conflict(problem).lines:
        assert_allclose(line.probability, known[line.source], atol=1e-9)
        assert_allclose(line.of_intercept + line.of_slopes, line.probability, atol=1e-9)


def test_the_kind_of_conflict_is_told():
    said = [
        conflict(world(1, target_rows=60, **more).problem).lines[0].verdict
        for more in ({}, {"shift": 3.0}, {"level": 4.0})
    ]
    assert said == ["agrees", "other coefficients", "another level"]
    assert conflict(world(1, target_rows=60, shift=3.0).problem).likely


def test_differences_are_those_of_two_regressions():
    tables = nested()
    line = next(x for x in conflict(tables.problem()).lines if x.source == "older")
    target, source = tables.target, tables.sources["older"]
    X, middle = target.having(source.names), target.X[:, :2].mean(axis=0)
    ours = least_squares(X - middle, target.y)
    theirs = least_squares(source.X - middle, source.y)
    variances, noises = [], []
    for rows, y, beta in ((X, target.y, ours), (source.X, source.y, theirs)):
        Z = np.column_stack((np.ones(len(y)), rows - middle))
        noises.append(np.sum((y - Z @ beta) ** 2) / (len(y) - 3))
        variances.append(noises[-1] * np.linalg.inv(Z.T @ Z).diagonal())
    expected = (theirs - ours) / np.sqrt(variances[0] + variances[1])
    assert list(line.differences) == ["(intercept)", "x0", "x1"]
    assert_allclose(list(line.differences.values()), expected, rtol=1e-8)
    apart = (theirs - ours)[0] + (X - middle) @ (theirs - ours)[1:]
    assert_allclose(line.distance, np.sqrt(np.mean(apart**2) / noises[0]), rtol=1e-8)
