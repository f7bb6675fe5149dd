"""The posterior is that of the joint Gaussian, averaged over points of the grid."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise.methods.bayes.evidence import Points, points, posterior
from poolwise.methods.bayes.missing import short_posterior
from tests.laws.problems import KINDS, random_tables, tables_of
from tests.methods.bayes.dense import gaussians, mixture, model_of, random_cells, random_levels

# Explicit inverses lose up to 11 of 16 digits; a wrong formula shows in the first two.
CLOSE = 1e-5


def some_points(case, intercept):
    """Return a model, its tables, and points of its grid with weights drawn at random."""
    if case == "no sources":
        tables = random_tables(8, sources={})
    elif case == "nothing new":
        tables = random_tables(8, sources={"old": (30, (0, 1, 2, 3))})
    else:
        tables = tables_of(case, seed=9)
    known = random_levels(model_of(tables, intercept=intercept), 5, seed=2)
    cells = random_cells(known, 15, seed=3)
    shapes = known.evidence.log_evidence(cells[:1]).shape[1]
    weight = np.random.default_rng(4).random((len(cells), shapes))
    return known, tables, Points(cells, weight / weight.sum())


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("case", [*KINDS, "no sources", "nothing new"])
def test_mean_and_covariance_are_those_of_a_mixture_of_gaussians(case, intercept):
    known, tables, at = some_points(case, intercept)
    p = known.scaled.lead + len(known.scaled.features)
    weights, means, covariances = [], [], []
    for cell, by_shape in zip(at.cells, at.weight, strict=True):
        for w, g in zip(by_shape, gaussians(known, tables, cell), strict=True):
            mean, covariance = g.posterior
            weights.append(w)
            means.append(mean[:p])
            covariances.append(covariance[:p, :p])
    mean, covariance = mixture(weights, means, covariances)
    found = posterior(known.evidence, at)
    deviation = np.sqrt(covariance.diagonal())
    assert_allclose(found.mean, mean, rtol=0, atol=CLOSE * deviation.max())
    assert_allclose(
        found.covariance / np.outer(deviation, deviation),
        covariance / np.outer(deviation, deviation),
        rtol=0,
        atol=CLOSE,
    )


def test_noise_and_conflict_are_averages():
    known, tables, at = some_points("overlapping sources", True)
    weight = at.weight.sum(axis=1)
    noises = np.array([next(gaussians(known, tables, cell)).noise for cell in at.cells])
    found = posterior(known.evidence, at)
    mean = weight @ noises
    assert_allclose(found.noise, mean, rtol=1e-12)
    assert_allclose(found.noise_variance, weight @ noises**2 - mean**2, rtol=1e-9)
    chosen = known.evidence.frames.conflict[at.cells[:, 0]].argmax(axis=2)
    every = np.arange(found.conflict.shape[1])
    by_level = np.tensordot(weight, chosen[:, :, None] == every, axes=1)
    assert_allclose(found.conflict, by_level, rtol=0, atol=1e-12)
    assert_allclose(found.conflict.sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    ("case", "number"), [("one source", 0), ("overlapping sources", 1), ("nested sources", 1)]
)
def test_short_coefficients_are_those_of_the_joint_gaussian(case, number, intercept):
    known, tables, at = some_points(case, intercept)
    p = known.scaled.lead + len(known.scaled.features)
    weights, means, covariances = [], [], []
    for cell, by_shape in zip(at.cells, at.weight, strict=True):
        for w, g in zip(by_shape, gaussians(known, tables, cell), strict=True):
            # beta = P theta + epsilon, a linear map of all that is unknown.
            P, start = g.maps[number], g.starts[number]
            to_beta = np.zeros((len(P), len(g.root)))
            to_beta[:, :p], to_beta[:, start : start + len(P)] = P, np.eye(len(P))
            mean, covariance = g.posterior
            weights.append(w)
            means.append(to_beta @ mean)
            covariances.append(to_beta @ covariance @ to_beta.T)
    mean, covariance = mixture(weights, means, covariances)
    found, spread = short_posterior(known.evidence, at, known.groups, number)
    deviation = np.sqrt(covariance.diagonal())
    assert_allclose(found, mean, rtol=0, atol=CLOSE * deviation.max())
    scale = np.outer(deviation, deviation)
    assert_allclose(spread / scale, covariance / scale, rtol=0, atol=CLOSE)


def test_weights_of_the_points_that_matter_add_up_to_one_and_follow_the_evidence():
    known = model_of(tables_of("one source", seed=9))
    at = points(known.evidence)
    log_evidence = known.evidence.log_evidence(at.cells)
    assert_allclose(at.weight.sum(), 1.0, rtol=1e-12)
    assert_allclose(
        np.log(at.weight) - np.log(at.weight.max()),
        log_evidence - log_evidence.max(),
        rtol=0,
        atol=1e-8,
    )
