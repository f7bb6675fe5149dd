"""The paper's methods in linear time, against their definition with matrices of all rows."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from paper.estimators import ESTIMATORS, PUBLISHED, SCALED, Sample
from paper.protocol import predictions
from poolwise import PooledRegressor
from poolwise.methods.data_pooling import DataPooling


@pytest.fixture(params=[False, True], ids=["plain", "product"])
def sample(request):
    rng = np.random.default_rng(4)
    X = rng.normal(loc=[0.0, 1.0, 0.0, 2.0, -1.0], size=(70, 5))
    X[:, 3:] += 0.5 * X[:, :2]
    y = X @ [1.0, -1.0, 2.0, 1.0, 1.0] + 3.0 + rng.normal(size=70)
    if request.param:
        X = np.column_stack((X, X[:, 2] * X[:, 4]))
        y = y + X[:, 5]
    return SimpleNamespace(
        source=X[:50, :3], source_y=y[:50], target=X[50:], target_y=y[50:], product=request.param
    )


@pytest.fixture(params=[PUBLISHED, SCALED], ids=["published", "scaled"])
def solver(request):
    return request.param


def stacked(sample):
    """Return the one problem as a stack."""
    arrays = (sample.source, sample.source_y, sample.target, sample.target_y)
    return Sample(*(a[None] for a in arrays), product=sample.product)


def fitted(method, sample, solver, **options):
    """Return a function that predicts."""
    lines = ESTIMATORS[method](stacked(sample), solver, **options)
    return lambda X: lines.predict(X)[0]


@pytest.fixture
def rows_to_test(sample):
    return np.random.default_rng(5).normal(size=(9, sample.target.shape[1]))


def test_target_only_is_least_squares(sample, rows_to_test, solver):
    coef = np.linalg.lstsq(one(sample.target), sample.target_y, rcond=None)[0]
    predict = fitted("target_only", sample, solver)
    assert_allclose(predict(rows_to_test), one(rows_to_test) @ coef)


def test_data_pooling_is_its_definition_with_a_weight_matrix(sample, rows_to_test, solver):
    mean = sample.target.mean(axis=0)
    mean[:3] = 0.0
    target, source = one(sample.target - mean), one(sample.source)
    filled = one(np.column_stack((sample.source, np.zeros((50, len(mean) - 3)))))
    precision = np.repeat(
        [1 / mean_rss(target, sample.target_y), 1 / mean_rss(source, sample.source_y)], [20, 50]
    )
    X, W = np.vstack((target, filled)), np.diag(precision)
    y = np.concatenate((sample.target_y, sample.source_y))
    coef = np.linalg.solve(X.T @ W @ X, X.T @ W @ y)
    expected = one(rows_to_test - mean) @ coef
    predict = fitted("data_pooling", sample, solver, ddof="mle")
    assert_allclose(predict(rows_to_test), expected)


@pytest.mark.parametrize("method", ["feature_transfer", "kernel_transfer"])
def test_transfer_is_its_definition_with_an_averaging_matrix(sample, rows_to_test, method, solver):
    target, source = one(sample.target[:, :3]), one(sample.source)
    if method == "kernel_transfer":
        target, source = radial(target, target), radial(source, target)
    new = sample.target[:, 3:5]
    averaging = np.full((50, 50), 1 / 50**2)  # rows by rows: s' A s is the square of the mean
    across = np.full((50, 20), 1 / (50 * 20))
    left = target.T @ target + 1e5 * source.T @ averaging @ source + np.eye(target.shape[1])
    right = target.T @ new + 1e5 * source.T @ across @ new
    filled = np.column_stack((sample.source, source @ np.linalg.solve(left, right)))
    if sample.product:
        filled = np.column_stack((filled, filled[:, 2] * filled[:, 4]))
    X = one(np.vstack((sample.target, filled)))
    y = np.concatenate((sample.target_y, sample.source_y))
    expected = one(rows_to_test) @ np.linalg.lstsq(X, y, rcond=None)[0]
    assert_allclose(fitted(method, sample, solver)(rows_to_test), expected, rtol=1e-7)


@pytest.mark.parametrize("method", ["target_only", "feature_transfer", "kernel_transfer"])
def test_where_columns_are_tame_our_methods_agree_with_the_published(sample, rows_to_test, method):
    ours, published = (
        predictions(stacked(sample), method, protocol, rows_to_test)
        for protocol in ("corrected", "published")
    )
    assert_allclose(ours, published, rtol=1e-7)


@pytest.mark.parametrize("ddof", ["unbiased", "mle"])
def test_data_pooling_differs_in_the_divisor_of_the_variances(sample, rows_to_test, ddof):
    model = PooledRegressor(DataPooling(ddof=ddof))
    model.fit(sample.target, sample.target_y, sources=(sample.source, sample.source_y))
    protocol = {"unbiased": "corrected", "mle": "published"}[ddof]
    found = predictions(stacked(sample), "data_pooling", protocol, rows_to_test)
    assert_allclose(found, model.predict(rows_to_test), rtol=1e-7)


def one(X):
    return np.column_stack((X, np.ones(len(X))))


def mean_rss(X, y):
    return np.mean((y - X @ np.linalg.lstsq(X, y, rcond=None)[0]) ** 2)


def radial(A, B):
    return np.exp(-((A[:, None] - B) ** 2).sum(axis=2) / A.shape[1])
