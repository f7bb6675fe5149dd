"""Scatter: every operation keeps the digits there are, against exact rational arithmetic."""

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from poolwise import Moments
from poolwise.numerics.double_double import Pair, two_sum
from poolwise.numerics.scatter import Scatter
from tests.laws.exact import exact_pair

LAST = Fraction(2) ** -100  # of a pair, after a few operations
DOUBLE = Fraction(2) ** -50
KINDS = ["plain", "pair"]


def scatter(kind, seed=0, columns=4):
    """Return the scatter of a few random rows, whose columns are far apart in size."""
    rng = np.random.default_rng(seed)
    Z = rng.integers(-(10**9), 10**9, (columns + 3, columns)).astype(object)
    scale = 10.0 ** rng.integers(-6, 6, columns)
    high = Z.T.dot(Z).astype(float) * np.outer(scale, scale)
    if kind == "plain":
        return Scatter(high)
    tail = high * 2.0**-53 * np.tril(rng.uniform(-1, 1, high.shape))
    return Scatter(*two_sum(high, np.tril(tail) + np.tril(tail, -1).T))


def exact(held):
    return exact_pair(held.pair.high, held.pair.low)


def assert_within(held, expected, share):
    """Compare with fractions, per what goes into each row and column."""
    size = np.array([max(abs(v), Fraction(1, 10**60)) for v in expected.diagonal()], dtype=object)
    error = exact(held) - expected
    assert (error**2 <= share**2 * np.outer(size, size)).all()


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


def room(kind):
    return DOUBLE if kind == "plain" else LAST


def test_only_a_scatter_without_low_parts_is_plain(kind):
    assert scatter(kind).is_plain == (kind == "plain")
    assert not Scatter.zero(3).is_plain  # nothing that could be rounded


@pytest.mark.parametrize("other", KINDS)
def test_a_sum_has_the_digits_of_the_poorer_one(kind, other):
    a, b = scatter(kind, 1), scatter(other, 2)
    assert (a + b).is_plain == ("plain" in (kind, other))
    share = DOUBLE if "plain" in (kind, other) else LAST
    assert_within(a + b, exact(a) + exact(b), share)


def test_weighing_keeps_the_digits(kind):
    a = scatter(kind)
    assert_within(0.3 * a, exact(a) * Fraction(0.3), room(kind))
    assert (0.3 * a).is_plain == a.is_plain


def test_an_outer_product_is_added_with_all_digits(kind):
    a, rng = scatter(kind), np.random.default_rng(3)
    v = Pair(*two_sum(rng.normal(size=4), 2.0**-55 * rng.normal(size=4)))
    factor = Pair(*two_sum(np.array(7.3), np.array(1e-17)))
    vector = exact_pair(v.high, v.low)
    outer = np.outer(vector, vector) * exact_pair(factor.high, factor.low)
    assert_within(a.plus_outer(v, factor), exact(a) + outer, room(kind))
    assert a.plus_outer(v, factor).is_plain == a.is_plain


def test_many_scatters_are_added_with_all_digits(kind):
    first, *others = (scatter(kind, seed) for seed in range(9))
    before = exact(first)
    total = first.plus(others)
    assert_within(total, sum(map(exact, others), start=before), 8 * room(kind))
    assert total.is_plain == first.is_plain
    assert (exact(first) == before).all()


@pytest.mark.parametrize("seed", range(9))
@pytest.mark.parametrize("rows", [1, 50])  # fifty make a large matrix product
def test_outer_products_of_many_vectors_are_added_with_all_digits(kind, rows, seed):
    a, rng = scatter(kind, columns=7), np.random.default_rng(seed)
    weights = 10.0 ** rng.uniform(-9, 9, rows)
    vectors = rng.normal(size=(rows, 7)) / np.sqrt(weights)[:, None]  # the far ones are light
    v, w = (Pair(*two_sum(x, 2.0**-54 * x)) for x in (vectors, weights))
    V, W = exact_pair(v.high, v.low), exact_pair(w.high, w.low)
    outer = V.T.dot(V * W[:, None])
    assert_within(a.plus_outers(v, w), exact(a) + outer, 8 * room(kind))
    nothing = Scatter(np.zeros((7, 7)), None if kind == "plain" else np.zeros((7, 7)))
    found = nothing.plus_outers(v, w)
    assert_within(found, outer, 8 * room(kind))
    assert found.is_plain == a.plus_outers(v, w).is_plain == a.is_plain


@pytest.mark.parametrize("is_plain", [True, False])
def test_outer_products_of_many_long_vectors_are_symmetric_to_the_bit(is_plain):
    rng = np.random.default_rng(5)
    nothing = Scatter(np.zeros((51, 51)), None if is_plain else np.zeros((51, 51)))
    for _ in range(5):
        v, w = rng.normal(size=(256, 51)), rng.uniform(0.1, 9.0, 256)
        v, w = (Pair(*two_sum(x, 2.0**-54 * rng.normal(size=x.shape))) for x in (v, w))
        pair = nothing.plus_outers(v, w).pair
        assert_array_equal(pair.high, pair.high.T)
        assert_array_equal(pair.low, pair.low.T)


@pytest.mark.parametrize("rows", [1, 3, 30])
def test_a_map_keeps_the_digits(kind, rows):
    a, matrix = scatter(kind), np.random.default_rng(rows).normal(size=(rows, 4))
    M = exact_pair(matrix, np.zeros(matrix.shape))
    mapped = a.mapped(matrix)
    # Columns far apart in size: what goes in is the largest of them.
    error = exact(mapped) - M.dot(exact(a)).dot(M.T)
    most = abs(M).dot(abs(exact(a))).dot(abs(M.T)).max()
    assert (abs(error) <= 32 * room(kind) * most).all()
    assert mapped.is_plain == a.is_plain
    assert_array_equal(mapped.pair.high, mapped.pair.high.T)
    assert_array_equal(mapped.pair.low, mapped.pair.low.T)


def test_picked_columns_are_those_of_the_matrix(kind):
    a, at = scatter(kind), [2, 0, 3]
    part = a.picked(at)
    assert_array_equal(exact(part), exact(a)[at][:, at])
    assert part.is_plain == a.is_plain
    assert_array_equal(part.diagonal(), a.diagonal()[at])
    assert_array_equal(a.between([1], [3, 0]), a.pair.high[[1]][:, [3, 0]])
    assert a.picked([]).pair.high.shape == (0, 0)


def test_placed_columns_stand_among_constant_ones(kind):
    a = scatter(kind)
    wide = a.placed([3, 1], [0, 4], 6)
    assert wide.is_plain == a.is_plain
    assert_array_equal(exact(wide)[[0, 4]][:, [0, 4]], exact(a)[[3, 1]][:, [3, 1]])
    assert np.count_nonzero(wide.pair.high) == np.count_nonzero(a.pair.high[[3, 1]][:, [3, 1]])


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_a_copy_has_the_same_bits(kind, copied):
    a = scatter(kind)
    b = copied(a)
    assert b.is_plain == a.is_plain
    assert_array_equal(b.pair.high, a.pair.high)
    assert_array_equal(b.pair.low, a.pair.low)


@pytest.mark.parametrize("precision", ["fast", "accurate", "exact"])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_that_of_moments_cannot_be_written_to(precision, copied):
    moments = Moments.of_rows(["a", "b"], np.arange(8.0).reshape(4, 2), precision=precision)
    for held in (moments.scatter, copied(moments).scatter):
        for array in [held.high] if held.is_plain else [held.high, held.low]:
            with pytest.raises(ValueError, match="read-only"):
                array[0, 0] = 1.0
