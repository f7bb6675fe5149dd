"""Ridge regression with its penalty integrated out, against penalty after penalty."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad

from poolwise.methods.bayes.imputation import (
    Spectrum,
    integrated_ridge,
    shared_ridge,
    unexplained,
    with_spike,
)
from poolwise.methods.bayes.priors import R2_LOG_PRIOR, R2_LOGITS


def rows(n=12, p=3, q=2, seed=0):
    """Draw centred features, and responses of which the last has nothing to do with them."""
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)), rng.normal(size=(n, q))
    Y[:, :-1] += X @ rng.normal(size=(p, q - 1))
    return X - X.mean(axis=0), Y - Y.mean(axis=0)


def solved(how, X, Y):
    return how(Spectrum.of(X.T @ X), X.T @ Y, (Y * Y).sum(axis=0), len(X) - 1.0)


def at_penalty(X, y, penalty):
    """Return mean, covariance, noise and log odds against no relation, by dense formulas."""
    n, p = X.shape
    inverse = np.linalg.inv(X.T @ X + penalty * np.eye(p))
    # y is Gaussian with the covariance s^2 times this; the scale s has the prior 1/s.
    whole = np.eye(n) + X @ X.T / penalty
    left = y @ np.linalg.inv(whole) @ y
    log_odds = -0.5 * (n - 1) * np.log(left / (y @ y)) - 0.5 * np.log(np.linalg.det(whole))
    noise = left / (n - 3)
    return inverse @ X.T @ y, noise * inverse, noise, log_odds


def averaged(weights, answers):
    """Return the mean of answers (mean, covariance, noise), and the log of the sum of weights."""
    w = weights / weights.sum()
    means = np.array([a[0] for a in answers])
    mean = w @ means
    covariance = sum(
        k * (a[1] + np.outer(a[0] - mean, a[0] - mean)) for k, a in zip(w, answers, strict=True)
    )
    return mean, covariance, w @ [a[2] for a in answers], np.log(weights.sum())


def test_it_is_the_average_over_all_penalties():
    X, Y = rows()
    ridge = solved(integrated_ridge, X, Y)
    for j, y in enumerate(Y.T):
        answers = [at_penalty(X, y, X.shape[1] * np.exp(-logit)) for logit in R2_LOGITS]
        weights = np.exp(R2_LOG_PRIOR + [a[3] for a in answers])
        mean, covariance, noise, log_odds = averaged(weights, answers)
        # Penalties of 1e-7 beside products of 100: nine digits of an explicit inverse are lost.
        assert_allclose(ridge.mean[:, j], mean, rtol=1e-6)
        assert_allclose(ridge.covariance[j], covariance, rtol=1e-6)
        assert_allclose(ridge.noise[j], noise, rtol=1e-6)
        assert_allclose(ridge.log_odds[j], log_odds, rtol=0, atol=1e-6)


def test_the_grid_of_penalties_is_as_good_as_an_integral_over_the_explained_share():
    X, Y = rows()
    y, p = Y[:, 0], X.shape[1]

    def integral(of):
        return quad(lambda r: of(at_penalty(X, y, p * (1 - r) / r)), 0, 1, epsabs=0, epsrel=1e-8)[0]

    odds = integral(lambda a: np.exp(a[3]))
    first = integral(lambda a: np.exp(a[3]) * a[0][0]) / odds
    second = integral(lambda a: np.exp(a[3]) * (a[1][0, 0] + a[0][0] ** 2)) / odds
    noise = integral(lambda a: np.exp(a[3]) * a[2]) / odds
    ridge = solved(integrated_ridge, X, Y)
    # Steps of 0.5 in the logit: the error of such a sum is far below its ends, exp(-7).
    assert_allclose(np.exp(ridge.log_odds[0]), odds, rtol=2e-3)
    assert_allclose(ridge.mean[0, 0], first, rtol=1e-3)
    assert_allclose(ridge.covariance[0, 0, 0], second - first**2, rtol=1e-3)
    assert_allclose(ridge.noise[0], noise, rtol=1e-3)


def test_the_evidence_of_a_penalty_is_an_integral_over_coefficient_and_noise():
    rng = np.random.default_rng(1)
    x, e = rng.normal(size=(2, 9))
    x, y = x - x.mean(), x + e - (x + e).mean()
    b, u = np.linspace(-15.0, 15.0, 2001), np.linspace(-9.0, 12.0, 1501)  # u = log s^2
    B, U = np.meshgrid(b, u)
    left = y @ y - 2.0 * B * (x @ y) + B**2 * (x @ x)
    none = np.exp(-0.5 * 8 * u - 0.5 * (y @ y) * np.exp(-u)).sum() * (u[1] - u[0])
    for penalty in (0.3, 5.0):
        prior = np.sqrt(penalty / (2.0 * np.pi)) * np.exp(
            -0.5 * U - 0.5 * penalty * B**2 / np.exp(U)
        )
        density = prior * np.exp(-0.5 * 8 * U - 0.5 * left / np.exp(U))
        total = density.sum() * (b[1] - b[0]) * (u[1] - u[0])
        mean, covariance, noise, log_odds = at_penalty(x[:, None], y, penalty)
        # Sums over a fine grid of a smooth density that is nothing at its ends.
        assert_allclose(np.log(total / none), log_odds, atol=1e-5)
        assert_allclose((density * B).sum() / density.sum(), mean[0], rtol=1e-5)
        assert_allclose((density * np.exp(U)).sum() / density.sum(), noise, rtol=1e-3)
        variance = (density * (B - mean[0]) ** 2).sum() / density.sum()
        assert_allclose(variance, covariance[0, 0], rtol=1e-3)


def test_a_spike_is_one_more_model_of_the_mixture():
    X, Y = rows()
    ridge = solved(integrated_ridge, X, Y)
    squares, free = (Y * Y).sum(axis=0), len(X) - 1.0
    mixed = with_spike(ridge, squares, free, 0.2)
    for j in range(Y.shape[1]):
        weights = np.array([0.8 * np.exp(ridge.log_odds[j]), 0.2])
        nothing = (np.zeros(3), np.zeros((3, 3)), squares[j] / (free - 2.0))
        answers = [(ridge.mean[:, j], ridge.covariance[j], ridge.noise[j]), nothing]
        mean, covariance, noise, log_odds = averaged(weights, answers)
        assert_allclose(mixed.mean[:, j], mean, rtol=1e-12)
        assert_allclose(mixed.covariance[j], covariance, rtol=1e-10)
        assert_allclose(mixed.noise[j], noise, rtol=1e-12)
        assert_allclose(mixed.log_odds[j], log_odds, rtol=1e-12, atol=1e-12)
    # The first response depends on the features, the last does not.
    assert np.abs(mixed.mean[:, 0] / ridge.mean[:, 0]).min() > 0.9
    assert np.abs(mixed.mean[:, 1] / ridge.mean[:, 1]).max() < 0.9


def test_with_one_penalty_for_all_the_evidences_multiply():
    X, Y = rows(q=3)
    mean, covariance, noise, log_odds = solved(shared_ridge, X, Y)
    penalties = X.shape[1] * np.exp(-R2_LOGITS)
    answers = [[at_penalty(X, y, penalty) for y in Y.T] for penalty in penalties]
    weights = np.exp(R2_LOG_PRIOR + [sum(a[3] for a in each) for each in answers])
    by_response = [averaged(weights, [each[j] for each in answers]) for j in range(3)]
    assert_allclose(mean, np.column_stack([a[0] for a in by_response]), rtol=1e-6)
    assert_allclose(covariance, sum(a[1] for a in by_response), rtol=1e-6)
    assert_allclose(noise, sum(a[2] for a in by_response), rtol=1e-6)
    assert_allclose(log_odds, np.log(weights.sum()), rtol=0, atol=1e-6)


def test_for_one_response_one_penalty_for_all_is_its_own():
    X, Y = rows(q=1)
    ridge = solved(integrated_ridge, X, Y)
    mean, covariance, noise, log_odds = solved(shared_ridge, X, Y)
    assert_allclose(mean, ridge.mean, rtol=1e-12)
    assert_allclose(covariance, ridge.covariance[0], rtol=1e-10)
    assert_allclose([noise, log_odds], [ridge.noise[0], ridge.log_odds[0]], rtol=1e-12)


def test_many_rows_leave_least_squares():
    X, Y = rows(n=4000)
    ridge = solved(integrated_ridge, X, Y[:, :1])
    expected = np.linalg.lstsq(X, Y[:, :1], rcond=None)[0]
    # A penalty of about one beside thousands.
    assert_allclose(ridge.mean, expected, rtol=0, atol=3e-3 * np.abs(expected).max())


def test_columns_that_are_the_same_share_a_coefficient():
    X, Y = rows()
    twice = np.column_stack((X, X[:, 0]))
    ridge = solved(integrated_ridge, twice, Y)
    assert_allclose(ridge.mean[3], ridge.mean[0], rtol=1e-8)
    assert np.isfinite(ridge.covariance).all()


@pytest.mark.parametrize(("n", "p"), [(3, 3), (2, 3), (4, 8), (6, 1)])
def test_too_few_rows_leave_something_finite_and_small(n, p):
    X, Y = rows(n=n, p=p)
    for y in (Y, np.zeros_like(Y)):
        ridge = solved(integrated_ridge, X, y)
        for values in (ridge.mean, ridge.covariance, ridge.noise, ridge.log_odds):
            assert np.isfinite(values).all()
        assert (ridge.noise >= 0.0).all()
    assert (ridge.mean == 0.0).all()  # that of a response of zeros


def test_the_log_prior_is_that_of_a_uniform_share():
    share = 1.0 / (1.0 + np.exp(-R2_LOGITS))
    density = share * (1.0 - share)
    assert_allclose(np.exp(R2_LOG_PRIOR), density / density.sum(), rtol=1e-8)


def test_what_nothing_explains_is_the_variance():
    assert_allclose(unexplained(np.array([6.0, 3.0]), 5.0), [2.0, 1.0])
