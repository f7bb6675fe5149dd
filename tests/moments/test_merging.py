"""Merging: more tables than a group, against exact rational arithmetic on the very doubles."""

import weakref

import numpy as np
import pytest

from poolwise import Moments
from poolwise.moments.merging import GROUP, HELD
from tests.numerics.test_exact_sums import assert_rounded_once, assert_same_bits
from tests.numerics.test_sliced_sums import ACCURATE, FAR_PARTS, assert_exact_within

MANY = 2 * GROUP + 3  # a group, one that begins with its total, and a few more
NAMES = ["a", "b"]
FAST = 1e-14  # of a standard deviation: the errors of many sums are random, and few add up


def spread(rng, k, columns=2):
    return rng.normal(size=(3, columns)), None


def far_from_zero(rng, k, columns=2):
    return 1e8 + rng.normal(size=(3, columns)), None


def drifting(rng, k, columns=2):
    return 1e3 * k + rng.normal(size=(3, columns)), None


def first_far_away(rng, k, columns=2):
    return 1e8 * (k == 0) + rng.normal(size=(3, columns)), None


def first_far_away_and_light(rng, k, columns=2):
    return 1e8 * (k == 0) + rng.normal(size=(3, columns)), np.full(3, 1.0 if k else 1e-40)


def of_any_weight(rng, k, columns=2):
    return rng.normal(size=(3, columns)), np.full(3, 10.0 ** rng.uniform(-20, 20))


def of_any_size(rng, k, columns=2):
    return rng.normal(size=(3, columns)) * 10.0 ** rng.choice([-70, -60, 0, 60, 70], columns), None


def of_one_row(rng, k, columns=2):
    return rng.normal(size=(1, columns)), None


KINDS = [
    spread,
    far_from_zero,
    drifting,
    first_far_away,
    first_far_away_and_light,
    of_any_weight,
    of_any_size,
    of_one_row,
]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def tables(request):
    rng = np.random.default_rng(0)
    return [request.param(rng, k) for k in range(MANY)]


def stacked(tables):
    weights = [np.ones(len(z)) if w is None else w for z, w in tables]
    return np.concatenate([z for z, _ in tables]), np.concatenate(weights)


def total_of(tables, precision):
    return Moments.total(NAMES, (Moments.of_rows(NAMES, *t, precision=precision) for t in tables))


class TestMoreTablesThanAGroup:
    def test_in_doubles_they_lose_the_last_digit_at_most(self, tables):
        assert_exact_within(total_of(tables, "fast"), *stacked(tables), FAST)

    def test_in_pairs_they_have_twice_the_digits(self, tables, request):
        far = "far_from_zero" in request.node.name
        total = total_of(tables, "accurate")
        assert_exact_within(total, *stacked(tables), FAR_PARTS if far else ACCURATE)

    def test_exactly_they_are_rounded_once(self, tables):
        assert_rounded_once(total_of(tables, "exact"), *stacked(tables))


@pytest.mark.parametrize("kind", [spread, drifting, of_any_weight, of_any_size])
@pytest.mark.parametrize(("precision", "share"), [("fast", FAST), ("accurate", ACCURATE)])
def test_wider_tables_lose_no_more(kind, precision, share):
    rng, names = np.random.default_rng(3), [f"c{j}" for j in range(9)]  # large matrix products
    tables = [kind(rng, k, columns=9) for k in range(GROUP)]
    read = (Moments.of_rows(names, *table, precision=precision) for table in tables)
    assert_exact_within(Moments.total(names, read), *stacked(tables), share)


@pytest.mark.parametrize("precision", ["fast", "accurate", "exact"])
def test_a_list_and_a_stream_give_the_same_bits(precision):
    rng = np.random.default_rng(1)
    tables = [Moments.of_rows(NAMES, spread(rng, k)[0], precision=precision) for k in range(MANY)]
    total = Moments.total(NAMES, tables)
    assert_same_bits(Moments.total(NAMES, iter(tables)), total)
    assert_same_bits(Moments.total(NAMES, (2.0 * (0.5 * table) for table in tables)), total)


@pytest.mark.parametrize(
    ("precision", "columns", "most"),
    [("fast", 2, GROUP), ("accurate", 2, GROUP), ("exact", 2, 0), ("fast", 300, HELD // 300**2)],
)
def test_no_more_than_a_group_is_held_at_a_time(precision, columns, most):
    names, rng, seen, held = [f"c{j}" for j in range(columns)], np.random.default_rng(2), [], []

    def stream():
        for _ in range(most + 50):
            table = Moments.of_rows(names, rng.normal(size=(2, columns)), precision=precision)
            seen.append(weakref.ref(table.low))
            held.append(sum(ref() is not None for ref in seen))
            yield table

    Moments.total(names, stream())
    assert most <= max(held) <= most + 4  # the first two, the one at hand, and the one being made
