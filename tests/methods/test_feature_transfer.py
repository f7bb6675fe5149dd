from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise.methods import FeatureTransfer
from tests.laws.problems import (
    KINDS,
    Table,
    Tables,
    least_squares,
    random_tables,
    tables_of,
    with_last_one,
)

# The map's equations weigh the mean by 1e5, which costs up to seven of sixteen digits.
CLOSE = 1e-8


def filled_the_slow_way(tables, source, a=1e5, b=1.0):
    """Return a source's rows with unseen features mapped as published, n x n matrices and all."""
    t = tables.target
    unseen = [n for n in t.names if n not in source.names]
    T, new, S = with_last_one(t.having(source.names)), t.having(unseen), with_last_one(source.X)
    n_s, n_t = len(S), len(T)
    M_ss = np.full((n_s, n_s), 1.0 / n_s**2)
    M_st = np.full((n_s, n_t), 1.0 / (n_s * n_t))
    left = T.T @ T + a * S.T @ M_ss @ S + b * np.eye(S.shape[1])
    W = np.linalg.solve(left, T.T @ new + a * S.T @ M_st @ new)
    columns = dict(zip(source.names, source.X.T, strict=True))
    columns |= dict(zip(unseen, (S @ W).T, strict=True))
    return np.column_stack([columns[n] for n in t.names])


def pooled(tables, *penalties):
    sources = tables.sources.values()
    filled = [filled_the_slow_way(tables, s, *penalties) for s in sources]
    X = np.concatenate([tables.target.X, *filled])
    return X, np.concatenate([tables.target.y, *(s.y for s in sources)])


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", [k for k in KINDS if k != "weighted rows"])
def test_it_is_the_published_map_and_then_least_squares_with_equal_weights(kind, intercept):
    tables = tables_of(kind, seed=11)
    fit = FeatureTransfer().solve(tables.problem(intercept=intercept))
    expected = least_squares(*pooled(tables), intercept=intercept)
    atol = CLOSE * np.abs(expected).max()
    assert_allclose([fit.intercept, *fit.coef], expected, rtol=0, atol=atol)
    assert fit.weights == dict.fromkeys(tables.sources, 1.0)


@pytest.mark.parametrize(("mean_weight", "ridge"), [(0.0, 1.0), (10.0, 0.0), (3.0, 25.0)])
def test_both_penalties_can_be_chosen(mean_weight, ridge):
    tables = tables_of("one source", seed=11)
    method = FeatureTransfer(mean_weight=mean_weight, ridge=ridge)
    expected = least_squares(*pooled(tables, mean_weight, ridge))
    fit = method.solve(tables.problem())
    assert_allclose([fit.intercept, *fit.coef], expected, rtol=CLOSE)


def test_without_penalties_an_exact_relation_fills_the_source_exactly():
    complete = random_tables(11, target_rows=20, features=3, sources={"old": (50, (0, 1, 2))})

    def related(table):
        return replace(table, X=np.column_stack((table.X[:, :2], table.X[:, :2] @ [1.0, -2.0] + 5)))

    complete = complete.each(related)
    lacking = Tables(complete.target, {"old": complete.sources["old"].in_order(["x0", "x1"])})
    filled = FeatureTransfer(mean_weight=0.0, ridge=0.0).solve(lacking.problem()).pool
    known = complete.target.moments + complete.sources["old"].moments
    assert_allclose(filled.mean, known.mean, rtol=1e-10)
    ours = filled.scatter_between(known.names, known.names)
    expected = known.scatter_between(known.names, known.names)
    assert_allclose(ours, expected, rtol=0, atol=1e-10 * expected.max())


def test_the_pool_holds_target_and_filled_sources():
    tables = tables_of("nested sources", seed=11)
    pool = FeatureTransfer().solve(tables.problem()).pool
    X, y = pooled(tables)
    rows = np.column_stack((X, y))
    assert pool.names == (*tables.target.names, "y")
    assert pool.weight == len(y)
    assert_allclose(pool.mean, rows.mean(axis=0), rtol=CLOSE)
    scatter = (rows - rows.mean(axis=0)).T @ (rows - rows.mean(axis=0))
    ours = pool.scatter_between(pool.names, pool.names)
    assert_allclose(ours, scatter, rtol=0, atol=CLOSE * scatter.max())


def test_a_feature_may_be_named_one():
    tables = tables_of("one source", seed=11)
    renamed = tables.each(
        lambda t: Table(tuple({"x0": "one", "x3": "one'"}.get(n, n) for n in t.names), t.X, t.y)
    )
    plain, named = (FeatureTransfer().solve(t.problem()) for t in (tables, renamed))
    assert (plain.coef == named.coef).all()
