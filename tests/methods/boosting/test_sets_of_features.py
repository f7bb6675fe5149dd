"""Deriving: each set of features that a source has gets a column, under a name of its own."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.laws.problems import Tables
from tests.methods.boosting.derivations import ALL_ROWS, SEED, derivation, derive, drawn, tables
from tests.moments.stored_moments import assert_same_bits


def test_each_set_of_features_gets_a_column_the_largest_first():
    made = derivation("several")
    assert [c.name for c in made.columns] == ["boosted", "boosted 2"]
    assert [c.inputs for c in made.columns] == [("x0", "x1"), ("x0", "x1", "x2")]
    assert made.problem.sources["old"].names == ("x0", "x1", "boosted", "y")
    assert made.problem.sources["wide"].names == ("x0", "x1", "x2", "boosted", "boosted 2", "y")
    assert made.problem.features == ("x0", "x1", "x2", "x3", "boosted", "boosted 2")


def test_many_sets_of_features_get_a_column_each():
    rng = np.random.default_rng(0)
    sets = [(0,), (0, 1), (1,), (0, 2), (2,)]
    sources = {str(has): drawn(rng, 12 + k, has) for k, has in enumerate(sets)}
    given = Tables(drawn(rng, 12, (0, 1, 2, 3)), sources)
    made = derive(given.problem(), seed=0, most_rows=ALL_ROWS)
    by_size = [("x2",), ("x0", "x2"), ("x1",), ("x0", "x1"), ("x0",)]
    assert [c.inputs for c in made.columns] == by_size
    assert made.problem.sources["(0,)"].names == ("x0", "boosted 5", "y")


def test_sources_as_moments_stay_as_they_are():
    given = tables("several").problem()
    rows = {n: r for n, r in given.source_rows.items() if n != "older"}
    made = derive(replace(given, source_rows=rows), seed=SEED, most_rows=ALL_ROWS)
    assert_same_bits(made.problem.sources["older"], given.sources["older"])
    assert [c.inputs for c in made.columns] == [("x0", "x1", "x2"), ("x0", "x1")]
    assert "boosted 2" in made.problem.sources["old"]


def test_without_any_rows_of_history_there_is_no_column():
    given = replace(tables().problem(), source_rows={})
    made = derive(given, seed=SEED, most_rows=ALL_ROWS)
    assert made.columns == ()
    assert made.derived.shape == (27, 0)
    assert_same_bits(made.problem.target, given.target)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("boosted", "b", "c", "d"), "boosted 2"),
        (("boosted", "boosted 2", "c", "d"), "boosted 3"),
        (("boosted at stage 0", "b", "c", "d"), "boosted 2"),
        (("a at stage 2", "b", "c", "d"), "boosted"),
    ],
)
def test_a_name_that_is_taken_is_not_taken_again(names, expected):
    def renamed(table):
        return replace(table, names=names[: len(table.names)])

    made = derive(tables().each(renamed).problem(), seed=SEED, most_rows=ALL_ROWS)
    assert [c.name for c in made.columns] == [expected]
    plain = derivation().problem.sources["old"]
    found = made.problem.sources["old"]
    assert found.names == (*names[:3], expected, "y")
    assert_array_equal(found.mean, plain.mean)
