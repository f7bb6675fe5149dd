"""Stacked estimators: the same numbers as the methods of poolwise, fitted one by one."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose

from paper.estimators import ESTIMATORS, PUBLISHED, SCALED, Sample, scaled_fit
from poolwise import PooledRegressor
from poolwise.linear.regress import regress
from poolwise.methods import METHODS, DataPooling
from poolwise.moments.moments import Moments
from tests.paper.one_by_one import intercepts

SHARED, UNSEEN = 3, 2


@pytest.fixture
def sample():
    """Six targets of 12 rows, six sources of 40 rows without the last two features."""
    rng = np.random.default_rng(4)
    x = rng.normal([0.0, 3.0, -1.0, 1.0, 0.5], size=(6, 52, SHARED + UNSEEN))
    y = x @ [1.0, -2.0, 0.5, 2.0, -1.0] + 4.0 + rng.normal(size=(6, 52))
    return Sample(x[:, 12:, :SHARED], y[:, 12:], x[:, :12], y[:, :12])


def one_by_one(method, sample):
    arrays = (sample.target, sample.target_y, sample.source, sample.source_y)
    for T, T_y, S, S_y in zip(*arrays, strict=True):
        model = PooledRegressor(method).fit(T, T_y, sources=(S, S_y))
        yield model.coef_, model.intercept_


@pytest.mark.parametrize("name", ESTIMATORS)
def test_each_estimator_is_our_method(name, sample):
    fit = ESTIMATORS[name](sample, SCALED)
    coef, intercept = zip(*one_by_one(METHODS[name](), sample), strict=True)
    assert_allclose(fit.coef[:, :-1], coef, rtol=1e-9, atol=1e-9)
    assert_allclose(intercepts(fit), intercept, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_stack_is_its_problems_one_by_one(name, sample):
    for solver in (PUBLISHED, SCALED):
        whole = ESTIMATORS[name](sample, solver)
        for k in range(len(sample.target)):
            part = slice(k, k + 1)
            arrays = (sample.source, sample.source_y, sample.target, sample.target_y)
            single = ESTIMATORS[name](Sample(*(a[part] for a in arrays)), solver)
            assert_allclose(single.coef, whole.coef[part], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    "options", [{"ddof": "mle"}, {"weights": 0.2}, {"means": {"x3": 1.0, "x4": 0.5}}]
)
def test_the_options_of_data_pooling_are_the_same(options, sample):
    coef, _ = zip(*one_by_one(DataPooling(**options), sample), strict=True)
    fit = ESTIMATORS["data_pooling"](sample, SCALED, **options)
    assert_allclose(fit.coef[:, :-1], coef, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("solver", [PUBLISHED, SCALED], ids=["published", "scaled"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_no_matrix_of_source_rows_by_source_rows_is_made(name, solver):
    n = 10_000  # such a matrix has 800 MB
    rng = np.random.default_rng(0)
    source, target = rng.normal(size=(2, n, 2)), rng.normal(size=(2, 8, 3))
    sample = Sample(source[..., :1], source[..., 1], target[..., :2], target[..., 2])
    tracemalloc.start()
    try:
        ESTIMATORS[name](sample, solver)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 8 * n * 100  # a hundred numbers per row, whatever the number of rows


def test_means_are_needed_for_every_unseen_feature(sample):
    with pytest.raises(ValueError, match="shape"):
        ESTIMATORS["data_pooling"](sample, SCALED, means={"x3": 1.0})


def test_dependent_and_constant_columns_get_the_least_norm_as_in_our_fits():
    rng = np.random.default_rng(2)
    a, y = rng.normal(size=(2, 9))
    tables = [
        np.column_stack((a, 3.0 * a, y)),
        np.column_stack((a, np.full(9, 0.1), y)),  # 0.1 is not a sum of nine tenths
    ]
    rows = np.array(tables)
    fits = scaled_fit(rows[..., :-1], rows[..., -1])
    for coef, table in zip(fits.coef, tables, strict=True):
        single = regress(Moments.of_rows(("a", "b", "y"), table), "y")
        assert_allclose(coef[:-1], single.coef, atol=1e-12)


def test_the_squared_error_is_that_of_the_predictions(sample):
    X, y = np.random.default_rng(3).normal(size=(50, 5)) + 2.0, np.arange(50.0)
    fit = ESTIMATORS["data_pooling"](sample, SCALED)
    errors = y - fit.predict(X)
    assert_allclose(fit.squared_error(X, y), (errors**2).mean(axis=1), rtol=1e-12)
