"""Exact fits have the same bits, in whatever order rows and sources come."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from poolwise import Moments, PooledRegressor
from poolwise.errors import DataWarning
from tests.laws.methods import NEEDS_ROWS, USES_ROWS
from tests.laws.problems import KINDS, tables_of
from tests.linear_methods import LINEAR_METHODS

ROUNDED_ERRORS = {"mean_fill"}  # its variance adds up sources in doubles, in their order


@pytest.fixture(params=sorted(LINEAR_METHODS.keys() - NEEDS_ROWS))
def method(request):
    return request.param


@pytest.mark.filterwarnings("ignore::poolwise.errors.PoolwiseWarning")
@pytest.mark.parametrize(
    ("kind", "intercept"), [*((kind, True) for kind in KINDS), ("nested sources", False)]
)
class TestExactFitsHaveTheSameBits:
    def fitted(self, method, intercept, tables, names=None):
        t = tables.target
        names = names or list(tables.sources)
        sources = {n: (s.frame, s.y, s.weights) for n in names for s in [tables.sources[n]]}
        model = PooledRegressor(method, precision="exact", fit_intercept=intercept)
        return model.fit(t.frame, t.y, sources=sources, sample_weight=t.weights)

    def test_for_any_order_of_rows_and_sources(self, method, kind, intercept):
        tables, rng = tables_of(kind, seed=5), np.random.default_rng(0)
        first = self.fitted(method, intercept, tables)
        shuffled = tables.each(lambda table: table.take(rng.permutation(len(table.y))))
        order = list(tables.sources)[::-1]
        assert_same_model(self.fitted(method, intercept, shuffled, order), first)

    def test_for_moments_cut_and_merged_in_any_order(self, method, kind, intercept):
        if method in USES_ROWS:
            pytest.skip("its penalty is another one without rows")
        tables, rng = tables_of(kind, seed=6), np.random.default_rng(1)

        def cut(table):
            index = np.array_split(rng.permutation(len(table.y)), 5)
            parts = [
                Moments.of_rows(
                    (*table.names, "y"),
                    np.column_stack((table.X, table.y))[i],
                    None if table.weights is None else table.weights[i],
                    precision="exact",
                )
                for i in index
            ]
            return (parts[3] + (parts[0] + parts[4])) + (parts[2] + parts[1])

        sources = {n: cut(tables.sources[n]) for n in rng.permutation(list(tables.sources))}
        model = PooledRegressor(method, precision="exact", fit_intercept=intercept)
        model.fit_moments(cut(tables.target), sources)
        assert_same_model(model, self.fitted(method, intercept, tables))


def assert_same_model(a, b):
    """Compare coefficients, intercept, noise and, but for an exception, standard errors."""
    assert_array_equal(a.coef_, b.coef_)
    assert a.intercept_ == b.intercept_
    assert a.fit_.noise == b.fit_.noise
    assert (a.standard_errors_ is None) == (b.standard_errors_ is None)
    if b.standard_errors_ is not None and b.method not in ROUNDED_ERRORS:
        assert_array_equal(a.standard_errors_, b.standard_errors_)


def test_constant_columns_beside_exact_ones_cost_no_digit():
    rng = np.random.default_rng(0)
    a = rng.integers(1, 10, 60) * 10.0**11
    rows = np.column_stack((a, a + rng.integers(-3, 4, 60), rng.integers(-9, 10, 60)))
    moments = Moments.of_rows(["a", "b", "y"], rows, precision="exact")
    alone = PooledRegressor("target_only").fit_moments(moments)
    with pytest.warns(DataWarning, match="'c'"):
        beside = PooledRegressor("target_only").fit_moments(moments.fill({"c": 1.0}))
    assert beside.coef_[:2].tobytes() == alone.coef_.tobytes()
