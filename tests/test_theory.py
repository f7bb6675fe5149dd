"""The paper's theorems, as properties and by simulation."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from poolwise import METHODS, Moments
from poolwise.errors import BadOption, SingularTarget
from poolwise.methods import DataPooling, MeanFill, TargetOnly
from poolwise.problem import Problem
from poolwise.theory import (
    Part,
    empirical_gain,
    expected_gain,
    gain_at,
    mean_empirical_gain,
    optimal_variance_gain,
    pooled_variance,
    recentred,
    transfer_gain_of,
    variance_gain,
)
from tests.laws.problems import Tables, random_tables, tables_of, with_one

NAMES = ("x0", "x1", "x2", "x3")


def part(X, noise, weight=None):
    return Part(Moments.of_rows(NAMES[: X.shape[1]], X), noise, weight)


def problem_of(X_t, y_t, X_s, y_s):
    """Return a problem whose source has the first features."""
    target = Moments.of_rows((*NAMES[: X_t.shape[1]], "y"), np.column_stack((X_t, y_t)))
    source = Moments.of_rows((*NAMES[: X_s.shape[1]], "y"), np.column_stack((X_s, y_s)))
    return Problem(target, {"old": source}, "y")


def zero_filled(X, features, has):
    """Return rows over all features, zero where a source lacks one."""
    filled = np.zeros((len(X), features))
    filled[:, list(has)] = X
    return filled


@st.composite
def designs(draw):
    """Draw a target and sources of all sizes, units, noises and sets of features."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    d = draw(st.integers(1, 4))
    units = 10.0 ** rng.uniform(-6.0, 6.0, d)
    noise = st.floats(-6.0, 6.0).map(lambda exponent: 10.0**exponent)
    X = (rng.normal(size=(draw(st.integers(d + 2, 40)), d)) + rng.normal(size=d)) * units
    target = part(X, draw(noise))
    sources = []
    for _ in range(draw(st.integers(1, 3))):
        has = draw(st.lists(st.integers(0, d - 1), min_size=1, unique=True))
        rows = rng.normal(size=(draw(st.integers(1, 200)), len(has))) + rng.normal(size=len(has))
        sources.append(part(zero_filled(rows * units[has], d, has), draw(noise)))
    return target, sources, NAMES[:d], rng.normal(size=d) * units, draw(st.booleans())


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(design=designs())
def test_with_the_optimal_weights_the_gain_is_never_negative_at_any_point(design):
    target, sources, features, centre, intercept = design
    centre = centre if intercept else np.zeros(len(features))
    H = optimal_variance_gain(target, sources, features, centre, intercept=intercept)
    alone = pooled_variance([target], features, centre, intercept=intercept)
    rng = np.random.default_rng(0)
    X = centre + rng.normal(size=(100, len(features))) / np.sqrt(alone.diagonal()[1:])
    u = with_one(X - centre)
    rounding = 1e-13 * (np.abs(u) @ np.abs(H) * np.abs(u)).sum(axis=1)
    assert (gain_at(H, X, centre) >= -rounding).all()
    root = np.sqrt(np.where(alone.diagonal() > 0.0, alone.diagonal(), 1.0))
    assert np.linalg.eigvalsh(H / np.outer(root, root))[0] >= -1e-13


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(design=designs())
def test_the_form_that_shows_the_sign_is_the_difference_of_variances(design):
    target, sources, features, centre, intercept = design
    centre = centre if intercept else np.zeros(len(features))
    difference = variance_gain(target, sources, features, centre, intercept=intercept)
    square = optimal_variance_gain(target, sources, features, centre, intercept=intercept)
    # In units of the target's standard errors, each inverse is good to eps times its condition.
    first = 0 if intercept else 1
    alone = pooled_variance([target], features, centre, intercept=intercept)[first:, first:]
    unit = np.sqrt(np.outer(alone.diagonal(), alone.diagonal()))
    parts = [target, *sources]
    designs = [p.design(features, centre)[first:, first:] / p.noise * unit for p in parts]
    condition = np.linalg.cond(designs[0]) + np.linalg.cond(sum(designs))
    assume(condition < 1e11)  # where the rank is beyond doubt
    error = np.abs(difference - square)[first:, first:] / unit
    assert error.max() < 100 * np.finfo(float).eps * condition


@pytest.mark.parametrize("seed", range(10))
def test_the_gain_of_one_source_is_woodburys_form_in_the_paper(seed):
    rng = np.random.default_rng(seed)
    d, d_s = 4, 2
    x_t, x_s = rng.normal(size=(12, d)), rng.normal(size=(30, d_s))
    noise, source_noise = rng.uniform(0.5, 3.0, 2)
    include = np.eye(d + 1, d_s + 1)
    A_inverse = np.linalg.inv(with_one(x_t).T @ with_one(x_t) / noise)
    C_inverse = np.linalg.inv(with_one(x_s).T @ with_one(x_s) / source_noise)
    middle = np.linalg.inv(C_inverse + include.T @ A_inverse @ include)
    expected = A_inverse @ include @ middle @ include.T @ A_inverse

    target, source = part(x_t, noise), part(zero_filled(x_s, d, range(d_s)), source_noise)
    H = optimal_variance_gain(target, [source], NAMES, np.zeros(d))
    assert_allclose(H, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(10))
def test_the_variance_is_that_of_proposition_2_for_any_weights(seed):
    rng = np.random.default_rng(seed)
    x_t, x_s, x_r = (rng.normal(size=shape) for shape in [(12, 4), (30, 2), (20, 3)])
    noises, alphas = rng.uniform(0.5, 3.0, 3), rng.uniform(0.1, 2.0, 3)
    rows = [x_t, zero_filled(x_s, 4, (0, 1)), zero_filled(x_r, 4, (1, 2, 3))]
    Sigmas = [with_one(x).T @ with_one(x) for x in rows]
    M = sum(a * S for a, S in zip(alphas, Sigmas, strict=True))
    middle = sum(a**2 * v * S for a, v, S in zip(alphas, noises, Sigmas, strict=True))
    expected = np.linalg.inv(M) @ middle @ np.linalg.inv(M)
    parts = [part(x, v, a) for x, v, a in zip(rows, noises, alphas, strict=True)]
    variance = pooled_variance(parts, NAMES, np.zeros(4))
    assert_allclose(variance, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(10))
def test_a_feature_in_tiny_units_that_no_source_has_is_not_gained_on_by_rounding(seed):
    rng = np.random.default_rng(seed)
    units = np.array([1.0, 1.0, 1e-9, 1.0])
    target = part(rng.normal(size=(30, 4)) * units, 1.0)
    source = part(zero_filled(rng.normal(size=(50, 3)), 4, (0, 1, 3)), 1.0)
    H = optimal_variance_gain(target, [source], NAMES, np.zeros(4), intercept=False)
    difference = variance_gain(target, [source], NAMES, np.zeros(4), intercept=False)
    scaled = np.array([1.0, *units])
    assert_allclose(H * np.outer(scaled, scaled), difference * np.outer(scaled, scaled), atol=1e-13)


def test_other_weights_can_make_the_gain_negative():
    rng = np.random.default_rng(0)
    target = part(rng.normal(size=(20, 2)), 1.0, 1.0)
    loud = part(zero_filled(rng.normal(size=(20, 1)), 2, (0,)), 100.0, 1.0)  # as if as precise
    H = variance_gain(target, [loud], NAMES[:2], np.zeros(2))
    assert gain_at(H, [[1.0, 0.0]], np.zeros(2))[0] < -1.0
    H = optimal_variance_gain(target, [loud], NAMES[:2], np.zeros(2))
    assert gain_at(H, [[1.0, 0.0]], np.zeros(2))[0] > 0.0


def test_orthogonal_designs_give_the_variances_of_the_paper():
    rng = np.random.default_rng(0)
    d, d_s, noise, source_noise = 4, 2, 1.3, 4.1
    x_t = np.linalg.qr(rng.normal(size=(15, d)))[0]
    x_s = np.linalg.qr(rng.normal(size=(40, d_s)))[0]
    parts = [part(x_t, noise), part(zero_filled(x_s, d, range(d_s)), source_noise)]
    variance = pooled_variance(parts, NAMES, np.zeros(d), intercept=False)
    pooled = noise * source_noise / (noise + source_noise)
    expected = np.diag([0.0, pooled, pooled, noise, noise])
    assert_allclose(variance, expected, rtol=0, atol=1e-13)
    H = optimal_variance_gain(parts[0], parts[1:], NAMES, np.zeros(d), intercept=False)
    assert (gain_at(H, np.eye(d)[:d_s], np.zeros(d)) > 0.0).all()
    assert_allclose(gain_at(H, np.eye(d)[d_s:], np.zeros(d)), 0.0, atol=1e-13)


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


def test_the_expected_gain_is_the_mean_of_the_gain_over_rows():
    rng = np.random.default_rng(3)
    X, centre = rng.normal(size=(17, 4)) + 5.0, rng.normal(size=4)
    H = rng.normal(size=(5, 5))
    H = H + H.T
    w = rng.integers(1, 4, 17).astype(float)
    found = expected_gain(H, Moments.of_rows(NAMES, X, w), NAMES, centre)
    assert_allclose(found, np.average(gain_at(H, X, centre), weights=w), rtol=1e-12)


def test_the_gain_at_one_point_is_a_quadratic_form():
    H = np.array([[2.0, 1.0], [1.0, 3.0]])
    assert_allclose(gain_at(H, [[7.0]], np.array([5.0])), [2.0 + 2 * 1.0 * 2.0 + 3.0 * 4.0])


def test_a_recentred_covariance_predicts_the_same_variances():
    rng = np.random.default_rng(4)
    root = rng.normal(size=(5, 5))
    V, old, new = root @ root.T, rng.normal(size=4), rng.normal(size=4)
    X = rng.normal(size=(20, 4))
    assert_allclose(gain_at(recentred(V, old, new), X, new), gain_at(V, X, old), rtol=1e-11)
    assert_allclose(recentred(recentred(V, old, new), new, old), V, atol=1e-12 * V.max())


def test_the_variance_at_another_centre_is_the_recentred_one():
    rng = np.random.default_rng(5)
    parts = [part(rng.normal(size=(9, 4)), 1.0), part(rng.normal(size=(20, 4)), 2.0, 0.7)]
    old, new = rng.normal(size=4), rng.normal(size=4)
    there = recentred(pooled_variance(parts, NAMES, old), old, new)
    assert_allclose(there, pooled_variance(parts, NAMES, new), atol=1e-12)


def test_the_empirical_gain_is_the_mean_difference_of_squared_errors():
    tables = tables_of("one source", seed=6)
    problem = tables.problem()
    alone, pooled = TargetOnly().solve(problem), DataPooling().solve(problem)
    test = random_tables(60, target_rows=50, sources={}).target
    total = 0.0
    for x, y in zip(test.X, test.y, strict=True):
        total += (y - alone.intercept - x @ alone.coef) ** 2
        total -= (y - pooled.intercept - x @ pooled.coef) ** 2
    assert_allclose(empirical_gain(alone, pooled, test.X, test.y), total / 50, rtol=1e-10)
    assert empirical_gain(alone, alone, test.X, test.y) == 0.0


def draw_of_the_paper(rng, rows):
    X = rng.normal(size=(rows, 2))
    return X, 2.0 + X @ [2.0, -2.0] + rng.normal(size=rows)


def sampler(target_rows, method):
    """Return what Algorithm 2 repeats, for the first simulation of the paper."""

    def sample(rng):
        X_s, y_s = draw_of_the_paper(rng, 100)
        X_t, y_t = draw_of_the_paper(rng, target_rows)
        problem = problem_of(X_t, y_t, X_s[:, :1], y_s)
        return TargetOnly().solve(problem), method.solve(problem)

    return sample


@pytest.mark.parametrize(("target_rows", "published"), [(10, 0.26), (30, 0.035)])
@pytest.mark.parametrize("weights", [None, 1.0 / 5.0], ids=["estimated", "real"])
def test_the_first_simulation_of_the_paper_is_reproduced(target_rows, published, weights):
    method = DataPooling(weights=weights, means={"x1": 0.0})
    X, y = draw_of_the_paper(np.random.default_rng(100), 1000)
    gain, error = mean_empirical_gain(sampler(target_rows, method), X, y, iterations=400)
    # The published mean of 200 runs has an error of sqrt(2) times ours, and two digits.
    assert abs(gain - published) < 3.0 * np.sqrt(3.0) * error
    assert gain > 5.0 * error


@pytest.mark.slow
def test_the_empirical_gain_is_on_average_the_one_of_the_theory():
    rng = np.random.default_rng(8)
    X, y = draw_of_the_paper(rng, 1000)
    surprises = []
    for _ in range(400):
        X_s, y_s = draw_of_the_paper(rng, 100)
        problem = problem_of(*draw_of_the_paper(rng, 12), X_s[:, :1], y_s)
        alone = TargetOnly().solve(problem)
        pooled = DataPooling(weights=1.0 / 5.0, means={"x1": 0.0}).solve(problem)
        target = Part(problem.target, 1.0)
        source = Part(problem.filled(problem.sources["old"], {"x1": 0.0}), 5.0)
        H = optimal_variance_gain(target, [source], pooled.names, pooled.centre)
        told = gain_at(H, X, pooled.centre).mean()
        surprises.append(empirical_gain(alone, pooled, X, y) - told)
    error = np.std(surprises, ddof=1) / np.sqrt(len(surprises))
    assert abs(np.mean(surprises)) < 3.0 * error
    assert error < 0.03  # a gain of 0.2 could not be missed


def test_algorithm_2_averages_over_samples_and_tells_its_error():
    X, y = draw_of_the_paper(np.random.default_rng(100), 50)
    sample = sampler(10, MeanFill())
    gain, error = mean_empirical_gain(sample, X, y, iterations=30, random_state=3)
    rng = np.random.default_rng(3)
    gains = [empirical_gain(*sample(rng), X, y) for _ in range(30)]
    assert_allclose(gain, np.mean(gains), rtol=1e-12)
    assert_allclose(error, np.std(gains, ddof=1) / np.sqrt(30), rtol=1e-12)
    assert (gain, error) == mean_empirical_gain(sample, X, y, iterations=30, random_state=3)
    assert gain != mean_empirical_gain(sample, X, y, iterations=30, random_state=4)[0]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("ddof", ["unbiased", "mle"])
def test_the_gain_of_a_fit_is_the_expected_gain_with_its_own_noise(ddof, intercept):
    problem = tables_of("overlapping sources", seed=7).problem(intercept=intercept)
    fit = DataPooling(ddof=ddof).solve(problem)
    target = Part(problem.target, fit.noise)
    sources = [
        Part(problem.filled(s), fit.source_noise[name]) for name, s in problem.sources.items()
    ]
    H = optimal_variance_gain(target, sources, fit.names, fit.centre, intercept=intercept)
    expected = expected_gain(H, problem.target, fit.names, fit.centre)
    assert_allclose(transfer_gain_of(problem, fit), expected, rtol=1e-8)
    assert expected > 0.0


@pytest.mark.parametrize("ddof", ["unbiased", "mle"])
def test_without_sources_nothing_is_gained(ddof):
    problem = Tables(tables_of("one source", seed=7).target).problem()
    gain = transfer_gain_of(problem, DataPooling(ddof=ddof).solve(problem))
    assert_allclose(gain, 0.0, atol=1e-14)
    assert_allclose(transfer_gain_of(problem, TargetOnly().solve(problem)), 0.0, atol=1e-14)


def test_the_gain_is_unknown_where_the_method_gives_no_covariance():
    problem = tables_of("one source", seed=7).problem()
    gains = {n: transfer_gain_of(problem, kind().solve(problem)) for n, kind in METHODS.items()}
    known = {name for name, gain in gains.items() if gain is not None}
    assert known == {"target_only", "data_pooling", "mean_fill", "bayes_pooling"}
    assert transfer_gain_of(problem, DataPooling(ridge=1.0).solve(problem)) is None


def test_the_gain_is_unknown_where_the_target_alone_determines_nothing():
    few = random_tables(7, target_rows=4, sources={"old": (30, (0, 1))}).problem()
    assert transfer_gain_of(few, DataPooling().solve(few)) is None

    tables = tables_of("one source", seed=7)
    X = tables.target.X.copy()
    X[:, 1] = 2.0 * X[:, 0]
    same = Tables(replace(tables.target, X=X), tables.sources).problem()
    fit = DataPooling().solve(same)
    assert fit.covariance is not None
    assert transfer_gain_of(same, fit) is None


def test_a_target_that_does_not_determine_its_coefficients_has_no_gain():
    rng = np.random.default_rng(0)
    names = ("a", "b", "c", "d")
    target = Part(Moments.of_rows(names, rng.normal(size=(3, 4))), 1.0)
    source = Part(Moments.of_rows(names, rng.normal(size=(30, 4))), 2.0)
    for gain in (variance_gain, optimal_variance_gain):
        with pytest.raises(SingularTarget, match="determines 2 of 4 coefficients"):
            gain(target, [source], names, np.zeros(4))


def test_a_noise_of_zero_has_no_optimal_weight():
    moments = Moments.of_rows(("a",), [[1.0], [2.0]])
    with pytest.raises(BadOption, match="noise"):
        Part(moments, 0.0)
    assert Part(moments, 0.0, 1.0).alpha == 1.0
