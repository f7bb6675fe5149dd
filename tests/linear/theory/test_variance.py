"""The paper's theorems on variance and its gain, as properties."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from poolwise import Moments
from poolwise.errors import BadOption, TooFewRows
from poolwise.linear.theory import (
    PooledTable,
    expected_gain,
    gain_at,
    optimal_variance_gain,
    pooled_variance,
    recentred,
    variance_gain,
)
from tests.laws.problems import with_one
from tests.linear.theory.parts import NAMES, part, zero_filled


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


def test_a_target_that_does_not_determine_its_coefficients_has_no_gain():
    rng = np.random.default_rng(0)
    names = ("a", "b", "c", "d")
    target = PooledTable(Moments.of_rows(names, rng.normal(size=(3, 4))), 1.0)
    source = PooledTable(Moments.of_rows(names, rng.normal(size=(30, 4))), 2.0)
    for gain in (variance_gain, optimal_variance_gain):
        with pytest.raises(TooFewRows, match="determines 2 of 4 coefficients"):
            gain(target, [source], names, np.zeros(4))


def test_a_noise_of_zero_has_no_optimal_weight():
    moments = Moments.of_rows(("a",), [[1.0], [2.0]])
    with pytest.raises(BadOption, match="noise"):
        PooledTable(moments, 0.0)
    assert PooledTable(moments, 0.0, 1.0).alpha == 1.0
