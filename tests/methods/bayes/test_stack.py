"""The mean of the fits with and without history, and what the one tells the other."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise.methods.bayes.evidence import Points, posterior, stacked
from poolwise.methods.bayes.imputation import rarity
from poolwise.methods.bayes.priors import ALIKE, SHAPES
from poolwise.methods.bayes.scaling import scaled
from poolwise.methods.bayes.share_of_history import Alone, Stack, model
from poolwise.methods.bayes_pooling import BayesPooling
from tests.laws.problems import tables_of
from tests.methods.bayes.dense import model_of, random_cells, scaled_rows

CASES = ("one source", "overlapping sources", "nested sources")


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_the_share_is_the_mean_of_its_posterior_over_the_rows(case, intercept):
    tables = tables_of(case, seed=3)
    problem = tables.problem(intercept=intercept)
    own = scaled(problem)
    stack = Stack.of(problem, own)
    Z, y = scaled_rows(own, tables, tables.target)
    one = stack.history.full
    # The fit without history, in the units of the problem with it.
    alone = replace(stack, share=0.0).posterior()
    freedom = [np.trace(Z.T @ Z @ p.covariance) / p.noise for p in (one, alone)]
    shares = np.arange(1, 201) / 200.0
    log = []
    for a in shares:
        left = y - Z @ (a * one.mean + (1.0 - a) * alone.mean)
        penalty = 2.0 * (a * freedom[0] + (1.0 - a) * freedom[1])
        log.append(-0.5 * (left @ left / one.noise + penalty) + (3.0 + 60.0 / len(y)) * np.log(a))
    weight = np.exp(np.array(log) - max(log))
    rows = sum(t.w.sum() for t in tables.sources.values())
    expected = weight @ shares / weight.sum() * rows / (rows + 5.0)
    # The last two degrees of conflict, at which a source says little about slopes.
    expected *= 1.0 - np.prod(stack.history.full.conflict[:, -2:].sum(axis=1))
    assert_allclose(stack.share, expected, rtol=1e-8)


def test_the_mean_of_two_fits_is_weighed_by_the_share():
    problem = tables_of("one source", seed=3).problem()
    stack = Stack.of(problem, scaled(problem))
    ends = [replace(stack, share=a).posterior() for a in (0.0, 1.0)]
    found = stack.posterior()
    assert_allclose(found.mean, ends[0].mean + stack.share * (ends[1].mean - ends[0].mean))
    alone = BayesPooling().solve(replace(problem, sources={}))
    none = BayesPooling()._fit(problem, replace(stack, share=0.0))
    assert_allclose(none.coef, alone.coef, rtol=1e-9)
    assert_allclose(none.covariance, alone.covariance, rtol=1e-9)
    assert_allclose(none.noise, alone.noise, rtol=1e-9)


def test_the_covariance_of_a_mean_is_hausmans_and_a_doubt():
    problem = tables_of("one source", seed=3).problem()
    stack = Stack.of(problem, scaled(problem))
    alone, history = (replace(stack, share=a).posterior() for a in (0.0, 1.0))
    found, a = stacked(0.7, history, alone), 0.7
    apart = history.mean - alone.mean
    # Var(a e1 + (1 - a) e0) with Cov(e1, e0) = C1, the covariance of the efficient fit.
    both = a**2 * history.covariance + (1 - a) ** 2 * alone.covariance
    both += 2 * a * (1 - a) * history.covariance + a * (1 - a) * np.outer(apart, apart)
    assert_allclose(found.covariance, both, rtol=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_new_coefficients_are_about_as_large_as_without_history(case):
    known = model_of(tables_of(case, seed=3)).evidence
    cells = random_cells(model_of(tables_of(case, seed=3)), 12, seed=1)
    tied = replace(known, alone=0.3)
    frame, share, ratio, _ = cells.T
    _, signal = known.scales(share, ratio, known.frames.account[frame])
    shapes = known.log_evidence(cells).shape[1]
    size = np.append(SHAPES, 1.0)[:shapes] * signal[:, None]
    expected = -0.5 * (np.log(size / 0.3) / ALIKE) ** 2
    assert_allclose(tied.log_evidence(cells) - known.log_evidence(cells), expected, rtol=1e-6)


def test_a_column_with_rare_values_has_a_precision_of_its_own():
    tables = tables_of("one source", seed=3)
    tables.target.X[:, 2] = 0.0
    tables.target.X[3, 2] = 5.0
    own = scaled(tables.problem())
    known = model(own, Alone(size=0.5, noise=1.0))
    lacks = np.arange(own.common, len(own.features))
    expected = (1.0 - 1.0 / rarity(own.target, lacks)) / 0.5
    assert_allclose(known.evidence.rare, expected)
    # One of 24 values is not zero: its variance is a 24th of its square, its unit a third of it.
    at = own.features.index("x2") - own.common
    assert_allclose(expected[at], (1.0 - 9.0 / 24.0) / 0.5, rtol=0.1)
    cells = random_cells(known, 1, seed=2)
    weight = np.zeros((1, known.evidence.log_evidence(cells).shape[1]))
    weight[0, 0] = 1.0
    point = Points(cells, weight)
    free, held = (posterior(replace(known.evidence, rare=r), point) for r in (0.0, expected))
    # At one point of the grid it is one more observation, zero, of each new coefficient.
    more = np.zeros(len(free.mean))
    more[own.lead + lacks] = expected
    precision = np.linalg.inv(free.covariance)
    assert_allclose(held.covariance, np.linalg.inv(precision + np.diag(more)), rtol=1e-6, atol=1e-9)
    assert_allclose(held.mean, held.covariance @ precision @ free.mean, rtol=1e-6, atol=1e-9)
