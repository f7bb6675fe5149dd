"""Stacked solves: the same numbers as our methods, fitted one by one."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise import PooledRegressor
from poolwise.errors import BadOption
from poolwise.experiments.stacked_methods import STACKED, data_pooling, kernel_transfer
from poolwise.experiments.stacked_moments import StackedMoments, stacked_regress
from poolwise.fit import regress
from poolwise.methods import METHODS, DataPooling
from poolwise.moments import Moments

SHARED, UNSEEN = 3, 2


@pytest.fixture
def stacks():
    """Six targets of 12 rows, six sources of 40 rows without the last two features."""
    rng = np.random.default_rng(4)
    x = rng.normal([0.0, 3.0, -1.0, 1.0, 0.5], size=(6, 52, SHARED + UNSEEN))
    y = x @ [1.0, -2.0, 0.5, 2.0, -1.0] + 4.0 + rng.normal(size=(6, 52))
    rows = np.concatenate((x, y[..., None]), axis=2)
    return rows[:, :12], rows[:, 12:][:, :, [0, 1, 2, 5]]


def one_by_one(method, target, source):
    for T, S in zip(target, source, strict=True):
        model = PooledRegressor(method).fit(T[:, :-1], T[:, -1], sources=(S[:, :-1], S[:, -1]))
        yield model.coef_, model.intercept_


@pytest.mark.parametrize("name", STACKED)
def test_each_stacked_method_is_our_method(name, stacks):
    fit = STACKED[name](*stacks)
    coef, intercept = zip(*one_by_one(METHODS[name](), *stacks), strict=True)
    assert_allclose(fit.coef, coef, rtol=1e-9, atol=1e-9)
    assert_allclose(fit.intercept, intercept, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "options", [{"ddof": "mle"}, {"weights": 0.2}, {"means": {"x3": 1.0, "x4": 0.5}}]
)
def test_the_options_of_data_pooling_are_the_same(options, stacks):
    coef, _ = zip(*one_by_one(DataPooling(**options), *stacks), strict=True)
    assert_allclose(data_pooling(*stacks, **options).coef, coef, rtol=1e-9, atol=1e-9)


def test_chunks_of_the_kernel_do_not_matter(stacks, monkeypatch):
    whole = kernel_transfer(*stacks)
    monkeypatch.setattr("poolwise.experiments.stacked_methods.CHUNK_BYTES", 1)
    assert_allclose(kernel_transfer(*stacks).coef, whole.coef, rtol=1e-12)


@pytest.mark.parametrize("name", STACKED)
def test_no_matrix_of_source_rows_by_source_rows_is_made(name):
    n = 10_000  # such a matrix has 800 MB
    rows = np.random.default_rng(0).normal(size=(2, n, 2))
    target = np.random.default_rng(1).normal(size=(2, 8, 3))
    tracemalloc.start()
    try:
        STACKED[name](target, rows)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 8 * n * 100  # a hundred numbers per row, whatever the number of rows


def test_means_are_asked_for_every_unseen_feature(stacks):
    with pytest.raises(BadOption, match="each of 2 unseen features"):
        data_pooling(*stacks, means={"x3": 1.0})


def test_stacked_moments_add_weigh_and_map_like_moments(stacks):
    target, _ = stacks
    names = tuple("abcdef")
    first, second = StackedMoments.of_rows(target[:, :5]), StackedMoments.of_rows(target[:, 5:])
    matrix, shift = np.random.default_rng(1).normal(size=(2, 6)), np.array([3.0, -1.0])
    stacked = (first + second.weighed(0.3)).affine(
        np.tile(matrix, (6, 1, 1)), np.tile(shift, (6, 1))
    )
    for k, rows in enumerate(target):
        single = Moments.of_rows(names, rows[:5]) + 0.3 * Moments.of_rows(names, rows[5:])
        single = single.affine(("u", "v"), matrix, shift)
        assert_allclose(stacked.mean[k], single.mean, rtol=1e-12)
        scatter = single.scatter_between(("u", "v"), ("u", "v"))
        assert_allclose(stacked.scatter[k], scatter, rtol=1e-12)
        assert stacked.weight[k] == pytest.approx(single.weight)


def test_dependent_and_constant_columns_get_the_least_norm_as_in_our_fits():
    rng = np.random.default_rng(2)
    a, y = rng.normal(size=(2, 9))
    tables = [
        np.column_stack((a, 3.0 * a, y)),
        np.column_stack((a, np.full(9, 0.1), y)),  # 0.1 is not a sum of nine tenths
    ]
    stacked = stacked_regress(StackedMoments.of_rows(np.array(tables)))
    for k, rows in enumerate(tables):
        single = regress(Moments.of_rows(("a", "b", "y"), rows), "y")
        assert_allclose(stacked.coef[k], single.coef, atol=1e-12)


def test_the_squared_error_from_moments_is_that_of_the_rows(stacks):
    target, source = stacks
    test = np.random.default_rng(3).normal(size=(50, 6)) + 2.0
    fit = data_pooling(target, source)
    rows = test[:, -1] - (fit.coef @ test[:, :-1].T + fit.intercept[:, None])
    ours = fit.squared_error(StackedMoments.of_rows(test[None]))
    assert_allclose(ours, (rows**2).mean(axis=1), rtol=1e-12)
