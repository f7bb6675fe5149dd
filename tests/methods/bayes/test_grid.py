"""The grid of scales, and the priors on it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise.methods.bayes.priors import (
    ENOUGH_FREE,
    RATIO_SCALE,
    RATIOS,
    SHAPE_PRIOR,
    SHARES,
    SIZE_PRIOR,
    SIZES,
    STEP,
    grid,
)


def test_shares_and_ratios_are_those_of_the_definition():
    known = grid(has_new=True)
    share = known.signal / (1.0 + known.signal)
    assert_allclose(np.log(share / (1.0 - share))[:8], SHARES[:8], atol=1e-6)  # 1 - 3e-4
    ratio = known.noise * (1.0 + known.signal[:, None])
    assert_allclose(np.log(ratio), np.tile(RATIOS, (len(SHARES), 1)), atol=1e-9)
    assert_allclose(ratio[:, known.middle], 1.0)
    # Uniform in the share, Cauchy in the log of the ratio.
    density = share * np.exp(-np.logaddexp(0.0, np.log(known.signal)))
    expected = np.log(density[:, None] / (1.0 + (np.log(ratio) / RATIO_SCALE) ** 2))
    assert_allclose(known.log_prior, expected, atol=1e-8)
    assert known.shape == (len(SHARES), len(RATIOS), len(SIZES))


def test_a_target_of_many_rows_has_a_finer_grid_about_its_own_noise():
    known = grid(has_new=True, residual=0.5, free=800.0)
    assert_allclose(known.noise[:, known.middle], 0.5)
    steps = np.diff(np.log(known.noise), axis=1)
    assert_allclose(steps, STEP * np.sqrt(2.0 / 800.0))
    ratio = known.noise * (1.0 + known.signal[:, None])
    same = grid(has_new=True)
    prior = same.log_prior[:, same.middle][:, None] - np.log1p((np.log(ratio) / RATIO_SCALE) ** 2)
    assert_allclose(known.log_prior, prior)


@pytest.mark.parametrize(
    ("residual", "free"), [(0.5, ENOUGH_FREE - 1.0), (None, 800.0), (0.0, 800.0)]
)
def test_a_target_that_tells_little_of_its_noise_keeps_the_coarse_grid(residual, free):
    assert_allclose(
        grid(has_new=True, residual=residual, free=free).noise, grid(has_new=True).noise
    )


def test_without_new_features_they_explain_nothing():
    known = grid(has_new=False)
    assert known.signal.tolist() == [0.0]
    assert known.shape == (1, len(RATIOS), len(SIZES))
    assert_allclose(np.log(known.noise[0]), RATIOS, atol=1e-9)


def test_priors_are_probabilities():
    assert SIZE_PRIOR.sum() == pytest.approx(1.0)
    assert SHAPE_PRIOR.sum() == pytest.approx(1.0)
    assert_allclose(np.exp(grid(has_new=True).log_size_prior), SIZE_PRIOR)
