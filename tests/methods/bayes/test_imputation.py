"""Accounts of the features that a source lacks, against dense likelihoods."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import helmert

from poolwise.methods.bayes.imputation import (
    Spectrum,
    imputations,
    integrated_ridge,
    with_spike,
)
from poolwise.methods.bayes.priors import NO_RELATION, R2_LOG_PRIOR, R2_LOGITS, VERSIONS
from poolwise.methods.bayes.scaling import scaled
from tests.laws.problems import random_tables
from tests.methods.bayes.dense import scaled_rows


def features(intercept, seed=0, rows=10):
    """Return a scaled problem and the target's rows, means taken out where there is an intercept.

    Helmert's matrix takes them out and leaves independent rows, one less.
    """
    tables = random_tables(seed, target_rows=rows, features=5, sources={"old": (40, (0, 1))})
    own = scaled(tables.problem(intercept=intercept))
    X = scaled_rows(own, tables, tables.target)[0][:, own.lead :]
    return own, helmert(len(X)) @ X if intercept else X


def log_likelihood(X, y, penalty):
    """Log density of a response with unknown scale; no penalty at all is no relation."""
    whole = np.eye(len(y)) + (X @ X.T / penalty if penalty else 0.0)
    quadratic = y @ np.linalg.inv(whole) @ y
    return -0.5 * len(y) * np.log(quadratic) - 0.5 * np.log(np.linalg.det(whole))


@pytest.mark.parametrize("intercept", [True, False])
def test_log_weights_are_those_of_the_marginal_likelihood(intercept):
    own, X = features(intercept)
    has, lacks = np.array([0, 1]), np.array([2, 3, 4])
    found = imputations(own.target, has, lacks)
    by_penalty = np.array(
        [[log_likelihood(X[:, has], X[:, j], 2 * np.exp(-v)) for j in lacks] for v in R2_LOGITS]
    )
    nothing = np.array([log_likelihood(X[:, has], X[:, j], None) for j in lacks])
    prior = np.exp(R2_LOG_PRIOR)
    related = (1.0 - NO_RELATION) * prior @ np.exp(by_penalty)
    own_penalty = np.log(related + NO_RELATION * np.exp(nothing)).sum()
    same_penalty = np.log(prior @ np.exp(by_penalty.sum(axis=1)))
    log_weight = {"each": own_penalty, "together": same_penalty, "none": nothing.sum()}
    expected = {kind: np.log(VERSIONS[kind]) + v for kind, v in log_weight.items()}
    assert set(found) == set(expected)
    for kind in expected:
        difference = found[kind].log_weight - found["each"].log_weight
        assert_allclose(difference, expected[kind] - expected["each"], rtol=0, atol=1e-6)


def test_each_feature_has_its_own_regression_with_a_spike():
    own, X = features(True)
    has, lacks = np.array([0, 1]), np.array([2, 3, 4])
    each = imputations(own.target, has, lacks)["each"]
    error, spread = 0.0, 0.0
    for column, j in enumerate(lacks):
        square, free = np.array([X[:, j] @ X[:, j]]), float(len(X))
        cross = (X[:, has].T @ X[:, j])[:, None]
        ridge = integrated_ridge(Spectrum.of(X[:, has].T @ X[:, has]), cross, square, free)
        ridge = with_spike(ridge, square, free, NO_RELATION)
        assert_allclose(each.B[:, column], ridge.mean[:, 0], rtol=1e-9)
        error, spread = error + ridge.covariance[0], spread + ridge.noise[0]
    assert_allclose(each.error, error, rtol=1e-8)
    assert_allclose(each.spread, spread, rtol=1e-9)


def test_no_relation_means_no_coefficients_and_all_of_the_variance():
    own, X = features(True)
    has, lacks = np.array([0, 1]), np.array([2, 3, 4])
    none = imputations(own.target, has, lacks)["none"]
    assert not none.B.any()
    assert not none.error.any()
    assert_allclose(none.spread, (X[:, lacks] ** 2).sum() / (len(X) - 2), rtol=1e-10)


def test_one_feature_has_two_accounts_and_nothing_lacking_has_one():
    own, _ = features(True)
    found = imputations(own.target, np.array([0, 1, 2, 3]), np.array([4]))
    assert set(found) == {"each", "none"}
    assert found["each"].log_weight == pytest.approx(np.log(1.0 - VERSIONS["none"]))
    assert sum(VERSIONS.values()) == pytest.approx(1.0)
    everything = imputations(own.target, np.arange(5), np.array([], dtype=int))
    assert set(everything) == {"each"}
    assert everything["each"].B.shape == (5, 0)


def test_the_accounts_that_are_true_win():
    rng = np.random.default_rng(0)
    own, _ = features(True, rows=60)
    X = rng.normal(size=(60, 5))
    has, lacks = np.array([0, 1]), np.array([2, 3, 4])
    unrelated = imputations(with_gram(own.target, X), has, lacks)
    assert unrelated["none"].log_weight > unrelated["each"].log_weight + 1.0
    X[:, lacks] += X[:, [0]]
    related = imputations(with_gram(own.target, X), has, lacks)
    assert related["each"].log_weight > related["none"].log_weight + 10.0


def test_the_residual_is_what_regression_leaves_with_the_right_trace():
    own, X = features(True)
    has, lacks = np.array([0, 1]), np.array([2, 3, 4])
    for account in imputations(own.target, has, lacks).values():
        left = X[:, lacks] - X[:, has] @ account.B
        expected = left.T @ left
        expected *= account.spread / np.trace(expected)
        assert_allclose(account.residual(own.target, has, lacks), expected, rtol=1e-9, atol=1e-12)


def with_gram(target, X):
    return replace(target, gram=X.T @ X, free=float(len(X)))
