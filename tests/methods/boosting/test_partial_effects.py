"""Partial effects: what predictions do on average as one feature moves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from poolwise.methods.boosting.learning_rows import LearningRows
from poolwise.methods.boosting.stack import MOST_ROWS, EffectRows
from tests.methods.boosting.derivations import tables


def effects_of(predict, X, places, weights=None, without=()):
    w = np.ones(len(X)) if weights is None else weights
    parts = list(without) or [predict] * 5
    names = tuple(f"x{j}" for j in places)
    return EffectRows(tuple(places), names, X, w, ()).effects(predict, parts)


def rows(count=40):
    return np.random.default_rng(0).normal(size=(count, 3))


def test_of_a_line_it_is_the_coefficient():
    X, coef = rows(), np.array([1.5, -2.0, 0.25])
    for place in range(3):
        (effect,) = effects_of(lambda r: r @ coef + 7.0, X, [place])
        values = np.array(effect.values)
        assert_allclose(effect.means, coef[place] * (values - values.mean()), atol=1e-13)
        assert_allclose(effect.change, coef[place] * (values[-1] - values[0]), rtol=1e-12)
        assert_allclose(effect.deviations, 0.0, atol=1e-13)
        assert effect.feature == f"x{place}"


def test_it_is_the_mean_over_rows_with_the_feature_held_one_by_one():
    X, w = rows(), np.random.default_rng(1).uniform(0.5, 2.0, 40)

    def predict(r):
        return np.sin(r[:, 0]) * r[:, 1] + r[:, 2] ** 2

    (effect,) = effects_of(predict, X, [1], w)
    slow = []
    for value in effect.values:
        said = [predict(np.array([[x0, value, x2]]))[0] for x0, _, x2 in X]
        slow.append(sum(a * b for a, b in zip(said, w, strict=True)) / w.sum())
    assert_allclose(effect.means, np.array(slow) - np.mean(slow), rtol=1e-12, atol=1e-14)
    assert_allclose(effect.change, slow[-1] - slow[0], rtol=1e-12)


def test_values_are_quantiles_that_the_target_has():
    X = rows(41)
    (effect,) = effects_of(lambda r: r[:, 0], X, [0])
    assert set(effect.values) <= set(X[:, 0])
    assert_array_equal(effect.values, np.sort(X[:, 0])[[4, 12, 20, 28, 36]])


def test_standard_errors_are_those_of_the_jackknife():
    X, slopes = rows(), [0.5, 0.75, 1.0, 1.5, 2.0]
    without = [lambda r, b=b: b * r[:, 0] for b in slopes]
    (effect,) = effects_of(lambda r: r[:, 0], X, [0], without=without)
    spread = np.sqrt(4.0 / 5.0 * sum((b - np.mean(slopes)) ** 2 for b in slopes))
    values = np.array(effect.values)
    assert_allclose(effect.change_deviation, spread * (values[-1] - values[0]), rtol=1e-12)
    assert_allclose(effect.deviations, spread * abs(values - values.mean()), rtol=1e-12)


def test_units_are_those_of_feature_and_response():
    slopes = [0.5, 0.75, 1.0, 1.5, 2.0]

    def effect(unit, response):
        def predict(r, b=1.0):
            return np.ldexp(b * np.ldexp(r[:, 0], -unit) ** 2, response)

        X = rows() * [2.0**unit, 1.0, 1.0]
        without = [lambda r, b=b: predict(r, b) for b in slopes]
        return effects_of(predict, X, [0], without=without)[0]

    plain, moved = effect(0, 0), effect(9, -190)
    assert_array_equal(moved.values, np.ldexp(plain.values, 9))
    assert_array_equal(moved.means, np.ldexp(plain.means, -190))
    assert_array_equal(moved.deviations, np.ldexp(plain.deviations, -190))
    assert moved.change == np.ldexp(plain.change, -190)
    assert moved.change_deviation == np.ldexp(plain.change_deviation, -190)


@pytest.mark.parametrize("constant", [0.0, -3.0])
def test_a_feature_that_does_not_move_has_no_effect_to_tell(constant):
    X = rows()
    X[:, 1] = constant
    found = effects_of(lambda r: r.sum(axis=1), X, [0, 1, 2])
    assert [e.feature for e in found] == ["x0", "x2"]


def test_a_feature_of_two_values_is_held_at_both():
    X = rows()
    X[:, 1] = np.arange(40) % 2
    (effect,) = effects_of(lambda r: 3.0 * r[:, 1], X, [1])
    assert effect.values == (0.0, 1.0)
    assert effect.change == 3.0


@pytest.mark.parametrize("count", [1, MOST_ROWS, 5 * MOST_ROWS + 7])
def test_of_many_rows_some_are_taken_from_first_to_last(count):
    w = np.arange(1.0, count + 1.0)
    target = LearningRows(np.column_stack([w] * 4), w, w, np.zeros(count, dtype=np.intp))
    found = EffectRows.of(tables().problem(), target, [])
    assert len(found.X) == min(count, MOST_ROWS)
    assert (found.weights[0], found.weights[-1]) == (1.0, count)
    assert_array_equal(found.X[:, 0], found.weights)


def test_effects_are_of_the_features_that_some_source_lacks():
    target = LearningRows(rows(), np.zeros(40), np.ones(40), np.zeros(40, dtype=np.intp))
    found = EffectRows.of(tables("several").problem(), target, [])
    assert (found.names, found.places) == (("x2", "x3"), (2, 3))
