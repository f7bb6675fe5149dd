"""Problem: what it refuses, and what it says about target and sources."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from poolwise import Moments
from poolwise.errors import BadColumns, BadSource, TooFewRows
from poolwise.linear.problem import Problem


def moments(*names, rows=20, seed=0):
    return Moments.of_rows(names, np.random.default_rng(seed).normal(size=(rows, len(names))))


@pytest.fixture
def problem():
    sources = {
        "old": moments("b", "a", "y", rows=50, seed=1),
        "older": moments("y", "a", rows=80, seed=2),
    }
    return Problem(moments("a", "b", "c", "y"), sources, "y")


def test_features_are_all_columns_but_the_response(problem):
    assert problem.features == ("a", "b", "c")
    assert Problem(moments("y", "a"), {}, "y").features == ("a",)


def test_shared_and_unseen_features_are_in_the_targets_order(problem):
    old, older = problem.sources["old"], problem.sources["older"]
    assert (problem.shared(old), problem.unseen(old)) == (("a", "b"), ("c",))
    assert (problem.shared(older), problem.unseen(older)) == (("a",), ("b", "c"))


def test_seen_by_all_is_what_every_source_has(problem):
    assert problem.seen_by_all() == ("a",)
    assert Problem(problem.target, {}, "y").seen_by_all() == ("a", "b", "c")


def test_a_filled_source_holds_unseen_features_at_the_targets_mean(problem):
    old = problem.sources["old"]
    filled = problem.filled(old)
    assert filled.names == problem.target.names
    assert filled.mean_of("c") == problem.target.mean_of("c")
    assert filled.is_constant("c")
    assert_array_equal(
        filled.scatter_between(old.names, old.names), old.scatter_between(old.names, old.names)
    )


def test_a_filled_source_takes_means_that_are_known(problem):
    filled = problem.filled(problem.sources["old"], {"c": 7.0, "a": 99.0})
    assert filled.mean_of("c") == 7.0
    assert filled.mean_of("a") == problem.sources["old"].mean_of("a")


def test_without_features_it_is_as_if_they_had_never_been_measured(problem):
    left = problem.without(["a"])
    assert left.features == ("b", "c")
    assert {name: s.names for name, s in left.sources.items()} == {"old": ("b", "y")}
    assert_allclose(left.target.mean, problem.target.select(["b", "c", "y"]).mean)


def test_without_keeps_whether_there_is_an_intercept(problem):
    bare = Problem(problem.target, problem.sources, "y", intercept=False)
    assert bare.without(["c"]).intercept is False
    assert problem.without(["c"]).intercept is True


def test_without_rows_only_moments_are_left(problem):
    rows = object()
    held = Problem(problem.target, problem.sources, "y", True, rows, {"old": rows})
    assert held.without_rows().target_rows is None
    assert held.without_rows().source_rows == {}
    assert held.without_rows().sources == held.sources


def test_empty_sources_are_left_out(problem):
    sources = {"none": Moments.empty(["a", "y"]), **problem.sources}
    assert list(Problem(problem.target, sources, "y").sources) == ["old", "older"]


def test_a_target_without_the_response_is_refused():
    with pytest.raises(BadColumns, match=r"No column named 'Y'\. The target has 'a', 'y'"):
        Problem(moments("a", "y"), {}, "Y")


def test_a_target_without_a_feature_is_refused():
    with pytest.raises(BadColumns, match=r"no feature beside the response 'y'"):
        Problem(moments("y"), {}, "y")


def test_an_empty_target_is_refused():
    with pytest.raises(TooFewRows, match=r"no rows, or their weights are all zero \(0 rows\)"):
        Problem(Moments.empty(["a", "y"]), {}, "y")


def test_a_source_without_the_response_is_refused_by_name():
    with pytest.raises(BadSource, match=r"Table 'old' has no column 'y'.*'a'"):
        Problem(moments("a", "y"), {"old": moments("a")}, "y")


def test_a_source_column_that_the_target_lacks_is_refused():
    with pytest.raises(BadColumns, match=r"No column named 'z'\. The target has"):
        Problem(moments("a", "y"), {"old": moments("a", "z", "y")}, "y")


def test_a_source_that_shares_nothing_is_refused_by_name():
    message = r"Table 'old' has no feature of the model: .* the features are 'a', 'b'"
    with pytest.raises(BadSource, match=message):
        Problem(moments("a", "b", "y"), {"old": moments("y")}, "y")
