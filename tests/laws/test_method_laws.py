"""What every method promises about rows, sources and their order, whatever its idea."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise import Moments
from poolwise.errors import NeedsRows
from poolwise.methods import TargetOnly
from tests.laws.methods import (
    CLOSE,
    NEEDS_ROWS,
    SHRINKS,
    USES_ROWS,
    assert_same_fit,
    assert_same_line,
    methods_but,
    size,
)
from tests.laws.problems import KINDS, Table, Tables, random_tables, tables_of
from tests.linear_methods import LINEAR_METHODS

DEPENDS_ON_SPLITS = {
    "bayes_pooling": "each source has a noise and a conflict of its own",
    "data_pooling": "each source has a noise of its own, so two halves get two weights",
    "feature_transfer": "each source has a map of its own, drawn to the mean of its rows",
    "kernel_transfer": "each source has a map of its own, drawn to the mean of its rows",
}


@pytest.mark.parametrize(("method", "kind"), methods_but(SHRINKS, KINDS))
def test_a_copy_of_the_target_changes_nothing(method, kind):
    tables = tables_of(kind, seed=2)
    copied = Tables(tables.target, {"copy": tables.target}).problem()
    assert_same_line(method.solve(copied), TargetOnly().solve(copied), tables.target)


@pytest.mark.parametrize(("method", "_"), methods_but(SHRINKS))
def test_copies_of_a_target_that_determines_nothing_change_nothing(method, _):
    few = random_tables(0, target_rows=3, sources={}).target
    twice = Tables(few, {"a copy": few, "another": few}).problem()
    assert_same_line(method.solve(twice), TargetOnly().solve(twice), few)


@pytest.mark.parametrize(("method", "kind"), methods_but(SHRINKS, KINDS))
def test_no_sources_means_target_only(method, kind):
    tables = tables_of(kind, seed=2)
    alone = Tables(tables.target).problem()
    fit, expected = method.solve(alone), TargetOnly().solve(alone)
    assert_same_line(fit, expected, tables.target)
    assert_allclose(fit.noise, expected.noise, rtol=CLOSE)
    assert fit.weights == {}
    assert fit.cautions == ()


def test_data_frames_and_moments_of_rows_make_the_same_problem(method, tables):
    assert_same_fit(method.solve(tables.gathered()), method.solve(tables.problem()), tables.target)


def test_an_empty_source_changes_nothing(method, tables):
    nothing = Table(("x0", "x1"), np.empty((0, 2)), np.empty(0))
    beside = Tables(tables.target, {"empty": nothing, **tables.sources})
    assert_same_fit(
        method.solve(beside.problem()), method.solve(tables.problem()), tables.target, exactly=True
    )


def test_empty_moments_change_nothing(method, tables):
    problem = tables.problem()
    empty = {"empty": Moments.empty(("x0", "y")), **problem.sources}
    beside = replace(problem, sources=empty)
    assert_same_fit(method.solve(beside), method.solve(problem), tables.target, exactly=True)


def test_the_order_of_sources_does_not_matter(method, tables):
    reordered = Tables(tables.target, dict(reversed(tables.sources.items())))
    assert_same_fit(
        method.solve(reordered.problem()), method.solve(tables.problem()), tables.target
    )


def test_the_order_of_columns_does_not_matter(method, tables):
    order = np.random.default_rng(0).permutation(tables.target.names)
    reordered = tables.each(lambda table: table.in_order(order))
    a, b = method.solve(reordered.problem()), method.solve(tables.problem())
    assert a.names == tuple(order)
    at = [a.names.index(n) for n in b.names]
    assert_allclose(a.coef[at], b.coef, rtol=0, atol=CLOSE * size(b.coef))
    assert_allclose(a.predict(reordered.target.X), b.predict(tables.target.X), rtol=CLOSE)


def test_the_order_of_rows_does_not_matter(method, tables):
    rng = np.random.default_rng(0)
    shuffled = tables.each(lambda table: table.take(rng.permutation(len(table.y))))
    assert_same_fit(method.solve(shuffled.problem()), method.solve(tables.problem()), tables.target)


@pytest.mark.parametrize("where", ["the target", "the sources"])
def test_a_row_of_weight_two_is_the_row_twice(method, tables, where):
    def weighed(table):
        return replace(table, weights=2.0 * np.arange(1, len(table.y) + 1) % 5)  # zeros too

    def repeated(table):
        times = weighed(table).weights.astype(int)
        return replace(table.take(np.repeat(np.arange(len(table.y)), times)), weights=None)

    def changed(change):
        if where == "the target":
            return replace(tables, target=change(tables.target))
        return replace(tables, sources={n: change(s) for n, s in tables.sources.items()})

    assert_same_fit(
        method.solve(changed(weighed).problem()),
        method.solve(changed(repeated).problem()),
        tables.target,
    )


@pytest.mark.parametrize(("method", "kind"), methods_but(DEPENDS_ON_SPLITS))
def test_a_source_cut_in_two_is_the_same_source(method, kind):
    tables = tables_of(kind, seed=2)
    old = tables.sources["old"]
    halves = {"first": old.take(range(20)), "second": old.take(range(20, len(old.y)))}
    cut = Tables(tables.target, halves)
    assert_same_line(
        method.solve(cut.problem()), method.solve(tables.problem()), tables.target, rtol=CLOSE
    )


def test_moments_are_enough_for_all_methods_but_the_kernel_one(method, tables):
    problem = tables.problem()
    if name_of(method) in NEEDS_ROWS:
        with pytest.raises(NeedsRows, match="only moments are available"):
            method.solve(problem.without_rows())
    elif name_of(method) not in USES_ROWS:
        assert_same_fit(
            method.solve(problem.without_rows()),
            method.solve(problem),
            tables.target,
            exactly=True,
        )


def test_solving_again_gives_the_same_bits(method, tables):
    first, second = (method.solve(tables.problem()) for _ in range(2))
    assert_same_fit(first, second, tables.target, exactly=True)


def name_of(method):
    return next(name for name, kind in LINEAR_METHODS.items() if type(method) is kind)
