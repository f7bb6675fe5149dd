"""A scaled problem, against rows divided and centred one by one."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise.methods import BayesPooling
from poolwise.methods.bayes.scaling import scaled
from tests.laws.problems import KINDS, Table, Tables, random_tables, tables_of
from tests.methods.bayes.dense import scaled_rows


def deviation(tables, name, intercept):
    """Return the root mean square of a column over all tables, each about its own mean.

    A feature that reaches further than three times that has a third of its reach instead.
    """
    squares, rows, reach = 0.0, 0.0, 0.0
    for table in (tables.target, *tables.sources.values()):
        if name == "y" or name in table.names:
            column = table.y if name == "y" else table.column(name)
            centre = np.average(column, weights=table.w) if intercept else 0.0
            squares += table.w @ (column - centre) ** 2
            rows += table.w.sum() - intercept
            furthest = np.abs(column - centre).max()
            # The largest distance that this deviation allows is a bound, or one row.
            most = np.sqrt(table.w @ (column - centre) ** 2 * (1.0 - intercept / table.w.sum()))
            if table is tables.target or furthest < 0.98**0.5 * most:
                reach = max(reach, furthest)
    pooled = np.sqrt(squares / rows)
    return pooled if name == "y" else max(pooled, reach / 3.0)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_every_table_is_in_the_units_of_its_columns(kind, intercept):
    tables = tables_of(kind, seed=2)
    own = scaled(tables.problem(intercept=intercept))
    for name, unit in zip(own.features, own.unit, strict=True):
        assert_allclose(unit, deviation(tables, name, intercept), rtol=1e-12)
    assert_allclose(own.response_unit, deviation(tables, "y", intercept), rtol=1e-12)
    for found in (own.target, *own.sources):
        table = tables.sources.get(found.name, tables.target)
        Z, y = scaled_rows(own, tables, table)
        assert [own.features[j] for j in found.at] == [n for n in own.features if n in table.names]
        X = Z[:, own.lead :]
        offset, step = (X.mean(axis=0), y.mean()) if intercept else (0.0 * X[0], 0.0)
        size = 1e-12 * len(y)
        assert found.weight == len(y)
        assert found.free == len(y) - intercept
        assert_allclose(found.offset, offset, atol=size)
        assert_allclose(found.step, step, atol=size)
        assert_allclose(found.gram, (X - offset).T @ (X - offset), atol=size)
        assert_allclose(found.cross, (X - offset).T @ (y - step), atol=size)
        assert_allclose(found.square, (y - step) @ (y - step), rtol=1e-12)


def test_features_of_every_source_come_first():
    own = scaled(tables_of("history in the last columns", seed=2).problem())
    assert set(own.features[: own.common]) == {"x2", "x3"}
    assert own.new == 2
    own = scaled(tables_of("no feature in all", seed=2).problem())
    assert own.common == 0
    assert own.new == 4
    own = scaled(tables_of("overlapping sources", seed=2).problem())
    assert set(own.features[: own.common]) == {"x0", "x2"}


def test_the_largest_source_comes_first_whatever_their_order():
    tables = tables_of("nested sources", seed=2)
    backwards = Tables(tables.target, dict(reversed(tables.sources.items())))
    for given in (tables, backwards):
        own = scaled(given.problem())
        assert [s.name for s in own.sources] == ["older", "old", "full"]
        sets = [{own.features[j] for j in key} for key in own.feature_sets]
        assert sets == [{"x0", "x1"}, {"x0", "x1", "x2"}, {"x0", "x1", "x2", "x3", "x4"}]


def test_a_set_of_features_that_lacks_something_comes_before_a_larger_source_with_all():
    sources = {"all": (90, (0, 1, 2, 3)), "some": (20, (0, 1))}
    own = scaled(random_tables(2, sources=sources).problem())
    assert [s.name for s in own.sources] == ["all", "some"]
    assert [len(key) for key in own.feature_sets] == [2, 4]


def test_a_source_of_two_rows_is_left_out():
    own = scaled(random_tables(2, sources={"tiny": (2, (0, 1)), "old": (30, (0, 1))}).problem())
    assert list(own.left_out) == ["tiny"]
    assert [s.name for s in own.sources] == ["old"]
    kept = scaled(random_tables(2, sources={"tiny": (3, (0, 1))}).problem())
    assert kept.left_out == {}


def test_a_feature_without_spread_is_left_out_however_large():
    def stilled(table):
        X = table.X.copy()
        X[:, 0] = 1e9
        return replace(table, X=X)

    own = scaled(tables_of("one source", seed=2).each(stilled).problem())
    assert own.features == ("x1", "x2", "x3")
    assert own.dropped == {"x0": "constant in the pooled data"}


def test_a_feature_that_varies_in_a_source_alone_is_kept():
    tables = tables_of("one source", seed=2)
    tables.target.X[:, 0] = 1.0
    own = scaled(tables.problem())
    assert own.dropped == {}
    j = own.features.index("x0")
    assert own.target.gram[j, j] == 0.0
    assert own.sources[0].gram[j, j] > 0.0


def test_a_source_whose_features_never_vary_says_nothing():
    target = random_tables(2, sources={}).target
    target.X[:, 0] = 3.0
    still = Table(("x0",), np.full((9, 1), 3.0), np.arange(9.0))
    assert scaled(Tables(target, {"still": still}).problem()).sources == ()


def test_a_column_in_other_units_in_history_has_the_unit_of_the_target():
    tables = tables_of("one source", seed=2)
    honest = scaled(tables.problem())
    tables.sources["old"].X[:, 0] *= 1000.0
    own = scaled(tables.problem())
    alone = np.std(tables.target.column("x0"), ddof=1)
    assert_allclose(own.unit[own.features.index("x0")], alone)
    others = [j for j, name in enumerate(own.features) if name != "x0"]
    assert_allclose(own.unit[others], honest.unit[others])


@pytest.mark.parametrize("factor", [1e2, 1e4, 1e6, 1e8, 1e10, 1e12, 1e14])
def test_history_in_any_units_gives_a_fit(factor):
    tables = tables_of("one source", seed=2)
    tables.sources["old"].X[:, 0] *= factor
    assert np.isfinite(BayesPooling().solve(tables.problem()).coef).all()
