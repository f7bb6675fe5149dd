import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise.errors import LeftOut, NoiseNotEstimable, TooFewRows
from poolwise.methods import MonotoneLikelihood, TargetOnly
from tests.laws.problems import Table, Tables, least_squares, random_tables, tables_of, with_one


def closed_form(target, source):
    """Return intercept, coefficients and noise as section 6 of the methods has them, one source.

    y | x' ~ N(g0 + x'g, s2) from all rows; x'' | x', y ~ N(a + A x' + c y, Psi) from the target.
    """
    shared = list(source.names)
    new = [n for n in target.names if n not in shared]
    Z = with_one(np.concatenate((target.having(shared), source.X)))
    y = np.concatenate((target.y, source.y))
    g = np.linalg.lstsq(Z, y, rcond=None)[0]
    s2 = np.mean((y - Z @ g) ** 2)
    given = np.column_stack((with_one(target.having(shared)), target.y))
    B = np.linalg.lstsq(given, target.having(new), rcond=None)[0]
    residual = target.having(new) - given @ B
    Psi_inverse = np.linalg.inv(residual.T @ residual / len(target.y))
    a, A, c = B[0], B[1:-1].T, B[-1]
    pi = 1.0 / s2 + c @ Psi_inverse @ c
    coef = dict(zip(new, Psi_inverse @ c / pi, strict=True))
    coef |= dict(zip(shared, (g[1:] / s2 - A.T @ Psi_inverse @ c) / pi, strict=True))
    intercept = (g[0] / s2 - a @ Psi_inverse @ c) / pi
    return intercept, np.array([coef[n] for n in target.names]), 1.0 / pi


@pytest.mark.parametrize("kind", ["one source", "history in the last columns"])
@pytest.mark.parametrize("seed", range(3))
def test_with_one_source_it_is_the_closed_form(kind, seed):
    tables = tables_of(kind, seed)
    intercept, coef, noise = closed_form(tables.target, *tables.sources.values())
    fit = MonotoneLikelihood().solve(tables.problem())
    assert_allclose(fit.coef, coef, rtol=0, atol=1e-10 * np.abs(coef).max())
    assert_allclose(fit.intercept, intercept, rtol=1e-10)
    assert_allclose(fit.noise, noise, rtol=1e-10)


def expectation_maximisation(tables, steps):
    """Return mean and covariance of (x, y) after steps of EM, with no use of the nesting."""
    names = (*tables.target.names, "y")
    p = len(names)
    every = [tables.target, *tables.sources.values()]
    mean, cov = np.zeros(p), np.eye(p)
    for _ in range(steps):
        n, first, second = 0.0, np.zeros(p), np.zeros((p, p))
        for table in every:
            o = [names.index(m) for m in (*table.names, "y")]
            m = [j for j in range(p) if j not in o]
            seen = np.column_stack((table.X, table.y))
            G = np.linalg.solve(cov[np.ix_(o, o)], cov[np.ix_(o, m)])
            Z = np.empty((len(seen), p))
            Z[:, o] = seen
            Z[:, m] = mean[m] + (seen - mean[o]) @ G
            n, first = n + table.w.sum(), first + table.w @ Z
            second += Z.T * table.w @ Z
            left = cov[np.ix_(m, m)] - cov[np.ix_(m, o)] @ G
            second[np.ix_(m, m)] += table.w.sum() * left
        mean = first / n
        cov = second / n - np.outer(mean, mean)
    return mean, cov


def log_likelihood(tables, mean, cov):
    """Return the log-likelihood of all observed values, up to a constant."""
    names, total = (*tables.target.names, "y"), 0.0
    for table in (tables.target, *tables.sources.values()):
        o = [names.index(m) for m in (*table.names, "y")]
        z = np.column_stack((table.X, table.y)) - mean[o]
        V = cov[np.ix_(o, o)]
        distance = np.einsum("ij,ji->i", z, np.linalg.solve(V, z.T))
        total -= 0.5 * table.w @ (distance + np.linalg.slogdet(V)[1])
    return total


@pytest.mark.parametrize("kind", ["one source", "weighted rows", "nested sources"])
def test_it_is_where_expectation_maximisation_ends(kind):
    tables = tables_of(kind, seed=1)
    mean, cov = expectation_maximisation(tables, steps=600)
    again, _ = expectation_maximisation(tables, steps=601)
    assert_allclose(again, mean, rtol=0, atol=1e-12)  # it has ended
    d = len(tables.target.names)
    coef = np.linalg.solve(cov[:d, :d], cov[:d, d])
    fit = MonotoneLikelihood().solve(tables.problem())
    assert_allclose(fit.coef, coef, rtol=0, atol=1e-8 * np.abs(coef).max())  # EM stops short
    assert_allclose(fit.intercept, mean[d] - mean[:d] @ coef, rtol=1e-8)
    assert_allclose(fit.noise, cov[d, d] - cov[:d, d] @ coef, rtol=1e-8)


def test_no_other_coefficients_are_more_likely():
    tables = tables_of("nested sources", seed=1)
    fit = MonotoneLikelihood().solve(tables.problem())
    d = len(fit.names)
    mean, cov = expectation_maximisation(tables, steps=600)

    def at(coef, level, noise):
        """Return the likelihood with y | x replaced, and the distribution of x left as it is."""
        joint, centre = cov.copy(), mean.copy()
        joint[:d, d] = joint[d, :d] = cov[:d, :d] @ coef
        joint[d, d] = noise + coef @ cov[:d, :d] @ coef
        centre[d] = level + (mean[:d] - fit.centre) @ coef
        return log_likelihood(tables, centre, joint)

    best = at(fit.coef, fit.level, fit.noise)
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2, 1e-1):
        for _ in range(20):
            coef, level, noise = np.split(size * rng.normal(size=d + 2), [d, d + 1])
            other = at(fit.coef + coef, fit.level + level[0], fit.noise * np.exp(noise[0]))
            assert other < best


def test_sources_that_are_not_nested_are_left_out_the_smallest_first():
    sources = {"small": (30, (0, 2)), "large": (60, (0, 1)), "inside": (20, (0,))}
    tables = random_tables(4, sources=sources)
    fit = MonotoneLikelihood().solve(tables.problem())
    kept = {n: s for n, s in tables.sources.items() if n != "small"}
    expected = MonotoneLikelihood().solve(Tables(tables.target, kept).problem())
    assert_allclose(fit.coef, expected.coef, rtol=1e-12)
    assert expected.cautions == ()
    assert [type(c) for c in fit.cautions] == [LeftOut]
    assert "'small'" in str(fit.cautions[0])


def test_complete_sources_are_simply_stacked():
    tables = random_tables(4, sources={"full": (9, (0, 1, 2, 3))})
    full = tables.sources["full"]
    X, y = np.concatenate((tables.target.X, full.X)), np.concatenate((tables.target.y, full.y))
    expected = least_squares(X, y)
    fit = MonotoneLikelihood().solve(tables.problem())
    assert_allclose([fit.intercept, *fit.coef], expected, rtol=1e-10)
    assert_allclose(fit.noise, np.mean((y - with_one(X) @ expected) ** 2), rtol=1e-10)


@pytest.mark.parametrize("intercept", [True, False])
def test_complete_sources_help_a_target_with_too_few_rows(intercept):
    tables = random_tables(4, target_rows=2, sources={"full": (9, (0, 1, 2, 3))})
    full = tables.sources["full"]
    X, y = np.concatenate((tables.target.X, full.X)), np.concatenate((tables.target.y, full.y))
    fit = MonotoneLikelihood().solve(tables.problem(intercept=intercept))
    expected = least_squares(X, y, intercept=intercept)
    assert_allclose([fit.intercept, *fit.coef], expected, rtol=1e-9, atol=1e-9)


def test_a_target_of_too_few_rows_is_refused():
    tables = random_tables(4, target_rows=5, sources={"old": (30, (0, 1))})
    with pytest.raises(TooFewRows, match="at least 6 recent rows here; there are 5"):
        MonotoneLikelihood().solve(tables.problem())
    enough = random_tables(4, target_rows=6, sources={"old": (30, (0, 1))})
    assert np.isfinite(MonotoneLikelihood().solve(enough.problem()).coef).all()


def test_a_target_without_residual_is_fitted_alone():
    tables = tables_of("one source", seed=1)
    t = tables.target
    exact = Tables(Table(t.names, t.X, t.X @ [1.0, 2.0, 3.0, 4.0]), tables.sources)
    fit = MonotoneLikelihood().solve(exact.problem())
    assert (fit.coef == TargetOnly().solve(exact.problem()).coef).all()
    assert [type(c) for c in fit.cautions] == [NoiseNotEstimable]


def test_a_pool_without_residual_keeps_the_shared_features_alone():
    # Seen from a source a trillion times as wide, the target lies on the line.
    rng = np.random.default_rng(0)
    x, z, e = rng.normal(size=(3, 12))
    old = 1e12 * rng.normal(size=30)
    tables = Tables(
        Table(("x", "z"), np.column_stack((x, z)), 2.0 * x + 1e-3 * z + 1e-3 * e),
        {"old": Table(("x",), old[:, None], 2.0 * old)},
    )
    fit = MonotoneLikelihood().solve(tables.problem())
    assert_allclose(fit.coef, [2.0, 0.0], rtol=1e-12)
    assert [type(c) for c in fit.cautions] == [NoiseNotEstimable]
