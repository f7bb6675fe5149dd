"""The gain that a fit expects of itself, and where it is unknown."""

from dataclasses import replace

import pytest
from numpy.testing import assert_allclose

from poolwise.linear.theory import (
    PooledTable,
    expected_gain,
    optimal_variance_gain,
    transfer_gain_of,
)
from poolwise.methods import DataPooling, TargetOnly
from tests.laws.problems import Tables, random_tables, tables_of
from tests.linear_methods import LINEAR_METHODS


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("ddof", ["unbiased", "mle"])
def test_the_gain_of_a_fit_is_the_expected_gain_with_its_own_noise(ddof, intercept):
    problem = tables_of("overlapping sources", seed=7).problem(intercept=intercept)
    fit = DataPooling(ddof=ddof).solve(problem)
    target = PooledTable(problem.target, fit.noise)
    sources = [
        PooledTable(problem.filled(s), fit.source_noise[name])
        for name, s in problem.sources.items()
    ]
    H = optimal_variance_gain(target, sources, fit.names, fit.centre, intercept=intercept)
    expected = expected_gain(H, problem.target, fit.names, fit.centre)
    assert_allclose(transfer_gain_of(problem, fit), expected, rtol=1e-8)
    assert expected > 0.0


@pytest.mark.parametrize("ddof", ["unbiased", "mle"])
def test_without_sources_nothing_is_gained(ddof):
    problem = Tables(tables_of("one source", seed=7).target).problem()
    gain = transfer_gain_of(problem, DataPooling(ddof=ddof).solve(problem))
    assert_allclose(gain, 0.0, atol=1e-14)
    assert_allclose(transfer_gain_of(problem, TargetOnly().solve(problem)), 0.0, atol=1e-14)


def test_the_gain_is_unknown_where_the_method_gives_no_covariance():
    problem = tables_of("one source", seed=7).problem()
    gains = {
        n: transfer_gain_of(problem, kind().solve(problem)) for n, kind in LINEAR_METHODS.items()
    }
    known = {name for name, gain in gains.items() if gain is not None}
    alone = {"target_only", "target_ridge"}
    assert known == {*alone, "data_pooling", "mean_fill", "bayes_pooling"}
    assert transfer_gain_of(problem, DataPooling(ridge=1.0).solve(problem)) is None


def test_the_gain_is_unknown_where_the_target_alone_determines_nothing():
    few = random_tables(7, target_rows=4, sources={"old": (30, (0, 1))}).problem()
    assert transfer_gain_of(few, DataPooling().solve(few)) is None

    tables = tables_of("one source", seed=7)
    X = tables.target.X.copy()
    X[:, 1] = 2.0 * X[:, 0]
    same = Tables(replace(tables.target, X=X), tables.sources).problem()
    fit = DataPooling().solve(same)
    assert fit.covariance is not None
    assert transfer_gain_of(same, fit) is None
