from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise.errors import NeedsRows
from poolwise.methods import KernelTransfer
from poolwise.methods.kernel_transfer import CHUNK_BYTES
from tests.laws.problems import KINDS, least_squares, random_tables, tables_of, with_last_one

# The map's equations weigh the mean by 1e5, which costs up to seven of sixteen digits.
CLOSE = 1e-8


def radial_kernel(A, B, gamma):
    return np.exp(-gamma * ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))


def filled_the_slow_way(tables, source, gamma=None, a=1e5, b=1.0):
    """Return a source's rows with unseen features mapped as published, n x n matrices and all."""
    t = tables.target
    unseen = [n for n in t.names if n not in source.names]
    T, new, S = with_last_one(t.having(source.names)), t.having(unseen), with_last_one(source.X)
    gamma = 1.0 / S.shape[1] if gamma is None else gamma
    K_tt, K_ts = radial_kernel(T, T, gamma), radial_kernel(T, S, gamma)
    n_s, n_t = len(S), len(T)
    M_ss = np.full((n_s, n_s), 1.0 / n_s**2)
    M_st = np.full((n_s, n_t), 1.0 / (n_s * n_t))
    left = K_tt @ K_tt + a * K_ts @ M_ss @ K_ts.T + b * np.eye(n_t)
    q = np.linalg.solve(left, K_tt @ new + a * K_ts @ M_st @ new)
    columns = dict(zip(source.names, source.X.T, strict=True))
    columns |= dict(zip(unseen, (K_ts.T @ q).T, strict=True))
    return np.column_stack([columns[n] for n in t.names])


def pooled(tables, *options):
    sources = tables.sources.values()
    filled = [filled_the_slow_way(tables, s, *options) for s in sources]
    X = np.concatenate([tables.target.X, *filled])
    return X, np.concatenate([tables.target.y, *(s.y for s in sources)])


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", [k for k in KINDS if k != "weighted rows"])
def test_it_is_the_published_map_and_then_least_squares_with_equal_weights(kind, intercept):
    tables = tables_of(kind, seed=12)
    fit = KernelTransfer().solve(tables.problem(intercept=intercept))
    expected = least_squares(*pooled(tables), intercept=intercept)
    atol = CLOSE * np.abs(expected).max()
    assert_allclose([fit.intercept, *fit.coef], expected, rtol=0, atol=atol)
    assert fit.weights == dict.fromkeys(tables.sources, 1.0)


@pytest.mark.parametrize(
    ("gamma", "mean_weight", "ridge"), [(0.05, 1e5, 1.0), (2.0, 0.0, 1.0), (0.3, 3.0, 25.0)]
)
def test_width_and_penalties_can_be_chosen(gamma, mean_weight, ridge):
    tables = tables_of("one source", seed=12)
    method = KernelTransfer(gamma=gamma, mean_weight=mean_weight, ridge=ridge)
    expected = least_squares(*pooled(tables, gamma, mean_weight, ridge))
    fit = method.solve(tables.problem())
    assert_allclose([fit.intercept, *fit.coef], expected, rtol=CLOSE)


def test_a_source_too_large_for_one_chunk_is_filled_like_a_small_one():
    tables = random_tables(12, target_rows=120, features=3, sources={"old": (9000, (0, 1))})
    t, s = tables.target, tables.sources["old"]
    assert 8 * len(t.y) * len(s.y) > 2 * CHUNK_BYTES
    T, new = t.having(s.names), t.column("x2")
    K_tt, K_ts = radial_kernel(T, T, 1.0 / 3.0), radial_kernel(T, s.X, 1.0 / 3.0)
    k = K_ts.mean(axis=1)  # the same as with averaging matrices, which would take a gigabyte
    left = K_tt @ K_tt + 1e5 * np.outer(k, k) + np.eye(len(T))
    q = np.linalg.solve(left, K_tt @ new + 1e5 * k * new.mean())
    X = np.concatenate((t.X, np.column_stack((s.X, K_ts.T @ q))))
    expected = least_squares(X, np.concatenate((t.y, s.y)))
    fit = KernelTransfer().solve(tables.problem())
    assert_allclose([fit.intercept, *fit.coef], expected, rtol=CLOSE)


def test_shared_features_may_be_far_from_zero():
    tables = tables_of("one source", seed=12)

    def moved(table):
        shift = np.where(np.isin(table.names, ["x0", "x1"]), 1e6, 0.0)
        return replace(table, X=table.X + shift)

    here, far = (KernelTransfer().solve(t.problem()) for t in (tables, tables.each(moved)))
    assert_allclose(far.coef, here.coef, rtol=0, atol=CLOSE * np.abs(here.coef).max())


def test_rows_of_complete_sources_are_not_needed():
    tables = tables_of("nested sources", seed=12)
    problem = tables.problem()
    needed = {n: rows for n, rows in problem.source_rows.items() if n != "full"}
    fewer = replace(problem, source_rows=needed)
    assert (KernelTransfer().solve(fewer).coef == KernelTransfer().solve(problem).coef).all()


def test_the_tables_whose_rows_are_missing_are_named():
    problem = tables_of("nested sources", seed=12).problem()
    with pytest.raises(NeedsRows, match=r"of 'older' only moments"):
        KernelTransfer().solve(replace(problem, source_rows={"old": problem.source_rows["old"]}))
    with pytest.raises(NeedsRows, match=r"of 'the target' only moments"):
        KernelTransfer().solve(replace(problem, target_rows=None))
