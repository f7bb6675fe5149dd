import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise import Moments
from poolwise.errors import LeftOut
from poolwise.linear.regress import regress
from poolwise.methods import Offset, TargetOnly
from poolwise.methods.source_columns_only import common_history
from tests.laws.problems import least_squares, random_tables, tables_of, with_one


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    ("kind", "kept"),
    [
        ("one source", ["x0", "x1"]),
        ("weighted rows", ["x0", "x1", "x3"]),
        ("nested sources", ["x0", "x1"]),
        ("overlapping sources", ["x0", "x2"]),
    ],
)
def test_it_is_two_least_squares_one_after_the_other(kind, kept, intercept):
    tables = tables_of(kind, seed=10)
    t, sources = tables.target, tables.sources.values()
    new = [n for n in t.names if n not in kept]
    old = least_squares(
        np.concatenate([s.having(kept) for s in sources]),
        np.concatenate([s.y for s in sources]),
        np.concatenate([s.w for s in sources]),
        intercept=intercept,
    )
    residual = t.y - with_one(t.having(kept)) @ old
    update = least_squares(t.having(new), residual, t.w, intercept=intercept)

    fit = Offset().solve(tables.problem(intercept=intercept))
    coef = dict(zip(fit.names, fit.coef, strict=True))
    assert_allclose([coef[n] for n in kept], old[1:], rtol=1e-10)
    assert_allclose([coef[n] for n in new], update[1:], rtol=1e-10)
    assert_allclose(fit.intercept, old[0] + update[0], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kind", ["one source", "weighted rows", "nested sources"])
def test_a_residual_regressed_on_all_columns_is_target_only(kind):
    problem = tables_of(kind, seed=10).problem()
    y = problem.response
    kept, sources = common_history(problem)
    parts = [source.select((*kept, y)) for source in sources.values()]
    old = regress(sum(parts, start=Moments.empty((*kept, y))), y)
    # The residual y - x'gamma as an affine map of the target's columns, all of which stay.
    columns = (*problem.features, y)
    matrix = np.eye(len(columns))
    matrix[-1, [columns.index(n) for n in kept]] = -old.coef
    left = problem.target.select(columns).affine(columns, matrix, np.zeros(len(columns)))
    update = regress(left, y)

    gamma = dict(zip(kept, old.coef, strict=True))
    joined = update.coef + np.array([gamma.get(n, 0.0) for n in problem.features])
    expected = TargetOnly().solve(problem)
    assert not np.allclose(update.coef, expected.coef, rtol=1e-3)  # the old model did something
    assert_allclose(joined, expected.coef, rtol=0, atol=1e-10 * np.abs(expected.coef).max())
    assert_allclose(update.noise, expected.noise, rtol=1e-10)


def test_with_no_common_feature_the_largest_source_is_the_old_model():
    tables = random_tables(10, sources={"small": (30, (0, 1)), "large": (50, (2, 3))})
    fit = Offset().solve(tables.problem())
    large = tables.sources["large"]
    assert_allclose(fit.coef[2:], least_squares(large.X, large.y)[1:], rtol=1e-10)
    assert [type(c) for c in fit.cautions] == [LeftOut]
    assert "'small'" in str(fit.cautions[0])
