"""Pseudo-rows hold what a source's rows hold."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise.methods.bayes.imputation import Spectrum, integrated_ridge
from poolwise.methods.bayes.pseudo_rows import LEAST_NOISE, compressed
from poolwise.methods.bayes.scaling import scaled
from tests.laws.problems import KINDS, random_tables, tables_of
from tests.methods.bayes.dense import scaled_rows


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_pseudo_rows_have_the_products_of_the_rows(kind, intercept):
    tables = tables_of(kind, seed=1)
    own = scaled(tables.problem(intercept=intercept))
    for source in own.sources:
        Z, y = scaled_rows(own, tables, tables.sources[source.name])
        found = compressed(source, own.target, intercept=intercept)
        assert found.J.shape == (Z.shape[1], Z.shape[1])
        # Not one number of the source is lost: its Gram matrix, its products with the response,
        # and the row of its means; only rounding, 1e-16 times a condition number near 100.
        size = np.abs(Z.T @ Z).max()
        assert_allclose(found.noise * found.J.T @ found.J, Z.T @ Z, rtol=0, atol=1e-12 * size)
        expected = Z.T @ y
        assert_allclose(
            found.noise * found.J.T @ found.k, expected, rtol=0, atol=1e-12 * np.abs(expected).max()
        )


@pytest.mark.parametrize("intercept", [True, False])
def test_noise_and_size_are_those_of_a_ridge_regression(intercept):
    tables = tables_of("one source", seed=1)
    own = scaled(tables.problem(intercept=intercept))
    Z, y = scaled_rows(own, tables, tables.sources["old"])
    X = Z[:, own.lead :]
    if intercept:
        X, y = X - X.mean(axis=0), y - y.mean()
    free = len(y) - float(intercept)
    ridge = integrated_ridge(Spectrum.of(X.T @ X), (X.T @ y)[:, None], np.array([y @ y]), free)
    found = compressed(own.sources[0], own.target, intercept=intercept)
    assert_allclose(found.noise, ridge.noise[0], rtol=1e-10)
    size = np.mean(ridge.mean[:, 0] ** 2 + ridge.covariance[0].diagonal())
    assert_allclose(found.coefficient_size, size, rtol=1e-10)


def test_features_that_depend_on_each_other_make_rows_of_zeros():
    tables = tables_of("one source", seed=1)
    old = tables.sources["old"]
    old.X[:, 1] = 3.0 * old.X[:, 0]
    own = scaled(tables.problem())
    found = compressed(own.sources[0], own.target, intercept=True)
    Z, y = scaled_rows(own, tables, old)
    assert np.isfinite(found.k).all()
    assert (np.abs(found.J).max(axis=1) == 0.0).sum() == 1
    assert_allclose(found.noise * found.J.T @ found.J, Z.T @ Z, rtol=1e-9)
    assert_allclose(found.noise * found.J.T @ found.k, Z.T @ y, rtol=1e-9)


def test_a_source_without_noise_gets_a_little():
    tables = random_tables(1, sources={"old": (30, (0, 1, 2, 3))})
    old = tables.sources["old"]
    old.y[:] = old.X @ [1.0, 2.0, 3.0, 4.0]
    own = scaled(tables.problem())
    found = compressed(own.sources[0], own.target, intercept=True)
    assert_allclose(found.noise, LEAST_NOISE * own.target.square / own.target.free, rtol=1e-12)
