"""Rows that lack features: the same posterior, through what is there."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise.methods.bayes.evidence import points, posterior
from poolwise.methods.bayes.imputation import relation
from poolwise.methods.bayes.missing import short_posterior, shortened
from tests.laws.problems import tables_of
from tests.methods.bayes.dense import model_of


@pytest.fixture(params=[True, False], ids=["with intercept", "without intercept"])
def known(request):
    return model_of(tables_of("one source", seed=7), intercept=request.param)


def places(known, lacking):
    features = known.scaled.features
    lacks = np.array([features.index(n) for n in lacking])
    return np.setdiff1d(np.arange(len(features)), lacks), lacks


def test_what_a_source_lacks_is_told_by_the_source(known):
    at = points(known.evidence)
    mean, covariance = short_posterior(known.evidence, at, known.groups, 0)
    found = shortened(
        known.scaled, known.groups, known.evidence, at, posterior(known.evidence, at), ["x2", "x3"]
    )
    assert_allclose(found.mean, mean, rtol=1e-12)
    assert_allclose(found.covariance, covariance, rtol=1e-12)


@pytest.mark.parametrize("lacking", [["x3"], ["x0"], ["x1", "x2"]])
def test_what_no_source_lacks_is_the_mean_over_coefficients_and_relations(known, lacking):
    at = points(known.evidence)
    full, lead = posterior(known.evidence, at), known.scaled.lead
    has, lacks = places(known, lacking)
    found = shortened(known.scaled, known.groups, known.evidence, at, full, lacking)
    rng, draws = np.random.default_rng(0), 40_000
    theta = rng.multivariate_normal(full.mean, full.covariance, draws)
    each = relation(known.scaled.target, has, lacks)
    short = theta[:, : lead + len(has)].copy()
    short[:, lead:] = theta[:, lead + has]
    for j, column in enumerate(lacks):
        B = rng.multivariate_normal(each.mean[:, j], each.covariance[j], draws)
        short[:, lead:] += B * theta[:, [lead + column]]
    covariance = np.cov(short.T)
    size = np.sqrt(covariance.diagonal())
    close = 6.0 / np.sqrt(draws)  # six standard errors
    assert_allclose(found.mean, short.mean(axis=0), rtol=0, atol=close * size.max())
    at_features = np.ix_(range(lead, len(size)), range(lead, len(size)))
    # Products of two Gaussians have heavier tails than either.
    correlation = found.covariance / np.outer(size, size)
    expected = covariance / np.outer(size, size)
    assert_allclose(correlation[at_features], expected[at_features], rtol=0, atol=3.0 * close)
    if lead:  # what the target's means of the lacking features are off by
        G = known.scaled.target.gram
        to_left = np.zeros((len(lacks), len(G)))
        to_left[:, lacks], to_left[:, has] = np.eye(len(lacks)), -each.mean.T
        left = to_left @ G @ to_left.T
        left *= each.noise.sum() / np.trace(left)
        of_new = theta[:, lead + lacks]
        more = np.mean(np.einsum("di,ij,dj->d", of_new, left, of_new)) / known.evidence.rows
        assert_allclose(found.covariance[0, 0], covariance[0, 0] + more, rtol=3.0 * close)


@pytest.mark.parametrize("lacking", [["x2", "x3"], ["x3"], ["x0"]])
def test_the_noise_has_what_the_lacking_features_would_explain(known, lacking):
    at = points(known.evidence)
    full, lead = posterior(known.evidence, at), known.scaled.lead
    has, lacks = places(known, lacking)
    found = shortened(known.scaled, known.groups, known.evidence, at, full, lacking)
    draws = np.random.default_rng(0).multivariate_normal(full.mean, full.covariance, 40_000)
    theta = draws[:, lead + lacks]
    each = relation(known.scaled.target, has, lacks)
    G = known.scaled.target.gram
    to_left = np.zeros((len(lacks), len(G)))
    to_left[:, lacks], to_left[:, has] = np.eye(len(lacks)), -each.mean.T
    left = to_left @ G @ to_left.T
    left *= each.noise.sum() / np.trace(left)
    expected = full.noise + np.mean(np.einsum("di,ij,dj->d", theta, left, theta))
    assert_allclose(found.noise, expected, rtol=0.03)  # of 40,000 draws
    assert found.noise > full.noise
    assert found.noise_variance == full.noise_variance


def test_rows_that_lack_nothing_have_the_whole_posterior(known):
    at = points(known.evidence)
    full = posterior(known.evidence, at)
    found = shortened(known.scaled, known.groups, known.evidence, at, full, [])
    assert_allclose(found.mean, full.mean, rtol=1e-12)
    assert_allclose(found.covariance, full.covariance, rtol=1e-10)
    assert_allclose(found.noise, full.noise, rtol=1e-12)
