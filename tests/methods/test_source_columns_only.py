import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from poolwise import Moments
from poolwise.errors import LeftOut
from poolwise.linear.problem import Problem
from poolwise.methods import SourceColumnsOnly
from poolwise.methods.source_columns_only import common_history
from tests.laws.problems import least_squares, random_tables, tables_of


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
def test_it_is_least_squares_of_all_rows_on_the_columns_that_all_have(kind, kept, intercept):
    tables = tables_of(kind, seed=9)
    every = [tables.target, *tables.sources.values()]
    X = np.concatenate([t.having(kept) for t in every])
    y, w = np.concatenate([t.y for t in every]), np.concatenate([t.w for t in every])
    expected = least_squares(X, y, w, intercept=intercept)
    fit = SourceColumnsOnly().solve(tables.problem(intercept=intercept))
    by_name = dict(zip(fit.names, fit.coef, strict=True))
    assert_allclose([by_name[n] for n in kept], expected[1:], rtol=1e-10)
    assert_allclose(fit.intercept, expected[0], rtol=1e-10)
    assert_array_equal([by_name[n] for n in fit.names if n not in kept], 0.0)


def test_new_columns_are_dropped_and_said_to_be():
    fit = SourceColumnsOnly().solve(tables_of("one source", seed=9).problem())
    assert fit.dropped == dict.fromkeys(["x2", "x3"], "not in every table used")


def test_with_no_common_feature_the_largest_source_decides():
    sources = {"small": (30, (0, 1)), "large": (50, (2, 3)), "also": (20, (1, 2, 3))}
    tables = random_tables(9, sources=sources)
    fit = SourceColumnsOnly().solve(tables.problem())
    used = [tables.target, tables.sources["large"], tables.sources["also"]]
    X = np.concatenate([t.having(["x2", "x3"]) for t in used])
    expected = least_squares(X, np.concatenate([t.y for t in used]))
    assert_allclose(fit.coef, [0.0, 0.0, *expected[1:]], rtol=1e-10)
    assert [type(c) for c in fit.cautions] == [LeftOut]
    assert "'small'" in str(fit.cautions[0])
    assert set(fit.weights) == {"large", "also"}


def test_the_noise_is_that_of_the_target_given_the_columns_kept():
    tables = tables_of("one source", seed=9)
    t = tables.target
    Z = np.column_stack((np.ones(len(t.y)), t.having(["x0", "x1"])))
    rss = np.linalg.lstsq(Z, t.y, rcond=None)[1][0]
    fit = SourceColumnsOnly().solve(tables.problem())
    assert_allclose(fit.noise, rss / (len(t.y) - 3), rtol=1e-10)


def moments(*names, rows=20, seed=0):
    return Moments.of_rows(names, np.random.default_rng(seed).normal(size=(rows, len(names))))


def test_history_is_what_all_sources_share():
    given = {"old": moments("b", "a", "y", rows=50), "older": moments("y", "a", rows=80)}
    problem = Problem(moments("a", "b", "c", "y"), given, "y")
    features, sources = common_history(problem)
    assert features == ("a",)
    assert list(sources) == ["old", "older"]


def test_history_without_a_feature_in_all_sources_is_that_of_the_largest():
    sources = {
        "small": moments("a", "y", rows=10),
        "large": moments("b", "c", "y", rows=99),
        "wide": moments("a", "b", "c", "y", rows=30),
    }
    features, kept = common_history(Problem(moments("a", "b", "c", "y"), sources, "y"))
    assert features == ("b", "c")
    assert list(kept) == ["large", "wide"]


def test_the_order_of_equal_sources_does_not_decide_which_is_largest():
    one, other = moments("a", "y"), moments("b", "y")
    target = moments("a", "b", "y")
    forth = common_history(Problem(target, {"one": one, "other": other}, "y"))
    back = common_history(Problem(target, {"other": other, "one": one}, "y"))
    assert forth == back
