"""The paper's theorems on variance, by simulation of fixed designs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise.linear.theory import pooled_variance
from poolwise.methods import DataPooling
from tests.laws.problems import with_one
from tests.linear.theory.parts import NAMES, part, problem_of, zero_filled


class Simulation:
    """The paper's model with fixed designs and 4000 draws of the responses and of x''."""

    draws = 4000
    theta = np.array([2.0, 1.0, -1.0, 0.5, 1.5])  # the intercept first; x2 and x3 are unseen
    noise = 0.8
    source_noise = noise + 0.5**2 + 1.5**2  # eq. 1 of the paper

    def __init__(self):
        rng = np.random.default_rng(11)
        self.x_t = rng.normal(size=(14, 4))
        self.x_s = rng.normal(size=(25, 2))
        self.rows = np.concatenate((self.x_t, zero_filled(self.x_s, 4, (0, 1))))
        w_t = np.sqrt(self.noise) * rng.normal(size=(14, self.draws))
        w_s = np.sqrt(self.noise) * rng.normal(size=(25, self.draws))
        new = rng.normal(size=(25, 2, self.draws)) * np.array([0.5, 1.5])[:, None]
        self.y_t = (with_one(self.x_t) @ self.theta)[:, None] + w_t
        self.y_s = (with_one(self.x_s) @ self.theta[:3])[:, None] + new.sum(axis=1) + w_s

    def estimates(self, alpha):
        """Return (draws, 5) estimates with weight alpha of a source row."""
        root = np.sqrt(np.concatenate((np.ones(14), np.full(25, alpha))))[:, None]
        y = np.concatenate((self.y_t, self.y_s))
        return np.linalg.lstsq(root * with_one(self.rows), root * y, rcond=None)[0].T

    def variance(self, alpha):
        parts = [part(self.x_t, self.noise, 1.0)]
        parts += [part(zero_filled(self.x_s, 4, (0, 1)), self.source_noise, alpha)]
        return pooled_variance(parts, NAMES, np.zeros(4))


@pytest.fixture(scope="module")
def simulation():
    return Simulation()


ALPHAS = [Simulation.noise / Simulation.source_noise, 1.0, 0.02]  # optimal, and two others


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_simulated_estimator_is_data_pooling(simulation, alpha):
    problem = problem_of(simulation.x_t, simulation.y_t[:, 0], simulation.x_s, simulation.y_s[:, 0])
    fit = DataPooling(weights=alpha, means={"x2": 0.0, "x3": 0.0}).solve(problem)
    expected = simulation.estimates(alpha)[0]
    assert_allclose([fit.intercept, *fit.coef], expected, rtol=1e-10)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_estimator_is_unbiased(simulation, alpha):
    found = simulation.estimates(alpha).mean(axis=0)
    error = np.sqrt(simulation.variance(alpha).diagonal() / simulation.draws)
    assert (np.abs(found - simulation.theta) < 4.0 * error).all()


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_simulated_variance_is_that_of_the_formula(simulation, alpha):
    V = simulation.variance(alpha)
    found = np.cov(simulation.estimates(alpha).T)
    # Wishart: the variance of an entry is (V_ii V_jj + V_ij^2) / draws.
    error = np.sqrt((np.outer(V.diagonal(), V.diagonal()) + V**2) / simulation.draws)
    assert (np.abs(found - V) < 4.0 * error).all()


def test_the_optimal_weights_have_the_least_variance(simulation):
    best = simulation.variance(ALPHAS[0])
    for alpha in (0.02, 0.1, 0.5, 1.0, 5.0):
        values = np.linalg.eigvalsh(simulation.variance(alpha) - best)
        assert values[0] > -1e-12
        assert values[-1] > 1e-6
