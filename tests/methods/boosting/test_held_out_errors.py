"""What errors on left-out rows say of trees against the line."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise.methods.boosting.stack import held_out_errors


def errors(seed=0, rows=40):
    rng = np.random.default_rng(seed)
    return {"linear": rng.normal(size=rows), "target_trees": 2.0 * rng.normal(size=rows)}


def test_errors_are_roots_of_mean_squares():
    own = np.random.default_rng(1).normal(size=40)
    found = held_out_errors(errors(), own, np.ones(40))
    assert_allclose(found.error, np.sqrt(np.mean(own**2)))
    for name, one in errors().items():
        assert_allclose(found.errors[name], np.sqrt(np.mean(one**2)))


def test_the_fall_is_a_share_and_its_error_that_of_a_mean():
    linear, own = errors()["linear"], np.random.default_rng(1).normal(size=40)
    found = held_out_errors(errors(), own, np.ones(40))
    falls = linear**2 - own**2
    assert_allclose(found.fall, falls.mean() / np.mean(linear**2))
    expected = falls.std(ddof=1) / np.sqrt(40) / np.mean(linear**2)
    assert_allclose(found.fall_error, expected)
    assert_allclose(found.sureness, falls.mean() / (falls.std(ddof=1) / np.sqrt(40)))


@pytest.mark.parametrize("power", [-190, -3, 190])
def test_units_change_errors_and_no_share(power):
    own = np.random.default_rng(1).normal(size=40)
    found = held_out_errors(errors(), own, np.ones(40))
    scaled = {name: np.ldexp(one, power) for name, one in errors().items()}
    moved = held_out_errors(scaled, np.ldexp(own, power), np.ones(40))
    assert moved.error == np.ldexp(found.error, power)
    assert moved.errors["linear"] == np.ldexp(found.errors["linear"], power)
    assert (moved.fall, moved.fall_error) == (found.fall, found.fall_error)
    assert moved.in_words() == found.in_words()


def test_a_weight_of_zero_is_a_row_less():
    own, weights = np.random.default_rng(1).normal(size=40), np.r_[np.ones(30), np.zeros(10)]
    found = held_out_errors(errors(), own, weights)
    kept = held_out_errors({n: e[:30] for n, e in errors().items()}, own[:30], np.ones(30))
    assert_allclose(
        [found.error, found.fall, found.fall_error, *found.errors.values()],
        [kept.error, kept.fall, kept.fall_error, *kept.errors.values()],
    )


def test_words_say_how_much_lower_and_how_sure():
    linear = np.tile([1.0, -1.0, 2.0, -2.0], 10)
    found = held_out_errors({"linear": linear}, 0.5 * linear, np.ones(40))
    assert "On the 40 recent rows" in found.in_words()
    assert "75% lower than with the linear model" in found.in_words()
    worse = held_out_errors({"linear": linear}, 2.0 * linear, np.ones(40))
    assert "300% higher than with" in worse.in_words()
    assert worse.sureness < 0.0


def test_the_same_errors_are_called_the_same():
    linear = errors()["linear"]
    found = held_out_errors({"linear": linear}, linear, np.ones(40))
    assert found.sureness == 0.0
    assert "is the same as with the linear model (0.0 standard errors)" in found.in_words()


@pytest.mark.parametrize(("linear", "own"), [(1.0, 0.5), (1.0, 2.0), (0.0, 0.0), (0.0, 1.0)])
def test_errors_of_one_size_do_not_divide_by_zero(linear, own):
    found = held_out_errors({"linear": np.full(9, linear)}, np.full(9, own), np.ones(9))
    assert np.sign(found.sureness) == np.sign(linear - own)
    assert "nan" not in found.in_words()
