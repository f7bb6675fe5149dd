"""Simplex: weights that are not negative, sum to one, and follow the errors."""

import math
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from poolwise.methods.boosting.stack import FEW, STEPS, simplex_weights


def slowly(errors, prior, weights=None):
    """Return the posterior mean by its definition, one point of the grid after the other."""
    n, count = errors.shape
    w = np.ones(n) if weights is None else weights
    steps = STEPS.get(count, FEW)
    points, logs = [], []
    for whole in product(range(steps + 1), repeat=count):
        if sum(whole) != steps:
            continue
        a = [k / steps for k in whole]
        square = sum(w[i] * sum(a[j] * errors[i, j] for j in range(count)) ** 2 for i in range(n))
        log = -0.5 * sum(w) * math.log(square)
        log += sum((prior[j] - 1.0) * math.log(a[j] + 0.5 / steps) for j in range(count))
        points.append(a)
        logs.append(log)
    chance = np.exp(np.array(logs) - max(logs))
    return chance @ np.array(points) / chance.sum()


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_posterior_mean(count, weighted):
    rng = np.random.default_rng(count)
    errors = rng.normal(size=(9, count)) * rng.uniform(0.5, 2.0, count)
    prior = rng.uniform(0.5, 2.0, count)
    weights = rng.uniform(0.2, 2.0, 9) if weighted else None
    found = simplex_weights(errors, prior, weights)
    assert_allclose(found, slowly(errors, prior, weights), rtol=1e-10)


@pytest.mark.parametrize("count", [1, 2, 5, 7, 8])
def test_weights_are_not_negative_and_sum_to_one(count):
    errors = np.random.default_rng(0).normal(size=(30, count))
    found = simplex_weights(errors, np.full(count, 0.5))
    assert found.shape == (count,)
    assert (found >= 0.0).all()
    assert_allclose(found.sum(), 1.0, rtol=1e-14)


@pytest.mark.parametrize("power", [-900, -3, 1, 900])
def test_units_do_not_matter_to_the_last_bit(power):
    errors = np.random.default_rng(0).normal(size=(30, 6))
    prior = np.array([2.0, 2.0, 2.0, 0.5, 0.5, 0.5])
    expected = simplex_weights(errors, prior)
    assert_array_equal(simplex_weights(np.ldexp(errors, power), prior), expected)
    assert_allclose(simplex_weights(1e77 * errors, prior), expected, rtol=1e-11)


def test_the_sign_of_all_errors_does_not_matter():
    errors = np.random.default_rng(0).normal(size=(30, 4))
    assert_array_equal(simplex_weights(-errors, np.ones(4)), simplex_weights(errors, np.ones(4)))


def test_the_order_of_candidates_and_of_rows_does_not_matter():
    rng = np.random.default_rng(0)
    errors, prior = rng.normal(size=(30, 5)), rng.uniform(0.5, 2.0, 5)
    order = rng.permutation(5)
    found = simplex_weights(errors[::-1][:, order], prior[order])
    assert_allclose(found, simplex_weights(errors, prior)[order], rtol=1e-10)


def test_equal_candidates_share_as_the_prior_says():
    errors = np.repeat(np.random.default_rng(0).normal(size=(50, 1)), 4, axis=1)
    assert_allclose(simplex_weights(errors, np.ones(4)), np.full(4, 0.25), rtol=1e-10)
    found = simplex_weights(errors, np.array([2.0, 2.0, 0.5, 0.5]))
    assert_allclose(found[0], found[1], rtol=1e-10)
    assert_allclose(found[2], found[3], rtol=1e-10)
    assert found[0] > 2.0 * found[2]


@pytest.mark.parametrize("place", [0, 5])
def test_a_perfect_candidate_takes_all(place):
    errors = np.random.default_rng(0).normal(size=(30, 6))
    errors[:, place] = 0.0
    found = simplex_weights(errors, np.array([2.0, 2.0, 2.0, 0.5, 0.5, 0.5]))
    assert_allclose(found, np.eye(6)[place], atol=1e-12)


def test_without_any_error_the_prior_decides():
    prior = np.array([2.0, 1.0, 0.5])
    found = simplex_weights(np.zeros((10, 3)), prior)
    assert_allclose(found.sum(), 1.0)
    assert (np.diff(found) < 0.0).all()
    assert_allclose(simplex_weights(np.zeros((400, 3)), prior), found, rtol=1e-10)


def test_errors_that_cancel_each_other_are_mixed():
    one = np.random.default_rng(0).normal(size=200)
    errors = np.column_stack((one, -one, 3.0 * one))
    found = simplex_weights(errors, np.ones(3))
    assert_allclose(found @ [1.0, -1.0, 3.0], 0.0, atol=0.05)  # the grid is that fine


def test_more_rows_make_the_better_one_surer():
    rng = np.random.default_rng(0)
    errors = rng.normal(size=(400, 2)) * [1.0, 1.5]
    shares = [simplex_weights(errors[:n], np.ones(2))[0] for n in (5, 40, 400)]
    best = 1.5**2 / (1.0 + 1.5**2)  # of independent errors
    assert abs(shares[2] - best) < 0.05
    assert abs(shares[0] - 0.5) < abs(best - 0.5)


def test_a_weight_counts_as_repetitions_of_the_row():
    rng = np.random.default_rng(0)
    errors, times = rng.normal(size=(12, 3)), rng.integers(1, 4, 12)
    found = simplex_weights(errors, np.ones(3), times.astype(float))
    assert_allclose(found, simplex_weights(np.repeat(errors, times, axis=0), np.ones(3)), rtol=1e-9)
