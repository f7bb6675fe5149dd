from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise.evaluation import gain, influence
from poolwise.methods import BayesPooling
from tests.evaluation.worlds import in_other_units, nested, turned_round, world


@pytest.mark.parametrize("change", [in_other_units, turned_round])
def test_neither_units_nor_order_matter(change):
    was = {x.source: x for x in influence(nested().problem()).lines}
    now = {x.source: x for x in influence(change(nested()).problem()).lines}
    for name, line in was.items():
        assert_allclose(now[name].moved, line.moved, rtol=1e-5, atol=1e-8)
        assert_allclose(now[name].relative, line.relative, rtol=1e-5, atol=1e-8)
        for key, value in line.changes.items():
            assert_allclose(now[name].changes[key], value, rtol=1e-5, atol=1e-7)


def test_it_is_the_difference_of_two_fits():
    problem, X, _ = world(2, sources=3)
    line = influence(problem).lines[1]
    left = {n: s for n, s in problem.sources.items() if n != "s1"}
    fits = [BayesPooling(bounds=None).solve(p) for p in (problem, replace(problem, sources=left))]
    change = (fits[1].coef - fits[0].coef) / fits[0].standard_errors[1:]
    assert_allclose(list(line.changes.values()), change, rtol=1e-8)
    moved = np.sqrt(np.mean((fits[1].line(X) - fits[0].line(X)) ** 2) / fits[0].noise)
    assert_allclose(line.moved, moved, rtol=1e-8)
    assert line.low <= line.relative <= line.high


def test_the_only_source_has_all_of_the_gain():
    problem = world(3).problem
    assert_allclose(influence(problem).lines[0].relative, gain(problem).lines[0].relative)


def test_of_many_sources_the_strongest_are_printed():
    problem = world(4, sources=22, source_rows=20).problem
    result = influence(problem)
    assert len(result.lines) == 22
    assert "... and 2 more" in str(result)
