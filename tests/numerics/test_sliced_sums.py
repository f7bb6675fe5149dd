"""Accurate moments: some 28 digits, against exact rational arithmetic on the very doubles."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from poolwise import Moments
from poolwise.numerics.chunks import CHUNK
from poolwise.numerics.row_sums import (
    FIRST,
    LATER,
    MOST,
    SPARE,
    cut,
    has_few_bits,
    products,
    rounded,
    times_power,
)
from tests.laws.exact import exact_moments_of_many, exact_pair
from tests.numbered_columns import names_of, read

lawful = settings(deadline=None, max_examples=40)
accurate = partial(read, precision="accurate")
ACCURATE = 1e-26  # of a standard deviation
DOUBLE = 1e-15
# The slices after the first are multiplied in doubles. They are at most 2**-21 of the largest
# number, and with one far row among n the others weigh n times as much as they vary.
WITH_ONE_FAR_ROW = 1e-25
OF_THE_HEAVIEST = 1e-27  # of its square: with few rows it may be far above the scatter
FAR_PARTS = 1e-25  # means 1e8 deviations away, whose last digits are in the steps between parts
LAST = Fraction(2) ** -104  # of a mean that is held in a pair


def assert_exact_within(moments, rows, weights=None, share=ACCURATE):
    """Compare weight, means and scatter with fractions, in units of standard deviations."""
    exact, share = exact_moments_of_many(rows, weights), Fraction(share)
    weight = exact_pair(np.array(moments.weight), np.array(moments.weight_tail)).item()
    assert abs(weight - exact.weight) <= share * exact.weight
    S, mean = moments.scatter.pair, exact_pair(moments.mean, moments.mean_tail)
    held = exact_pair(S.high, S.low)
    for j in range(len(mean)):
        error = mean[j] - exact.mean[j]
        spread = exact.scatter[j][j] / exact.weight
        last = LAST * abs(exact.mean[j])
        if moments.precision == "fast":  # a step between parts has the digits of a double
            last = Fraction(DOUBLE) * Fraction(np.abs(rows).max())
        assert max(abs(error) - last, 0) ** 2 <= share**2 * spread
        for k in range(len(mean)):
            error = held[j, k] - exact.scatter[j][k]
            assert error**2 <= share**2 * exact.scatter[j][j] * exact.scatter[k][k]


def random_rows(seed=0, rows=2 * CHUNK + 17, columns=2):
    return np.random.default_rng(seed).normal(size=(rows, columns))


WEIGHTS = {
    "none": lambda rng, n: None,
    "zeros and ones": lambda rng, n: rng.integers(0, 2, n).astype(float),
    "integers": lambda rng, n: rng.integers(1, 9, n).astype(float),
    "from 1e-20 to 1e20": lambda rng, n: 10.0 ** rng.uniform(-20, 20, n),
    "the heaviest last": lambda rng, n: np.sort(10.0 ** rng.uniform(-20, 20, n)),
    "the heaviest first": lambda rng, n: np.sort(10.0 ** rng.uniform(-20, 20, n))[::-1],
}


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("mean", [0.0, 3.0, -50.0, 1e8, -1e8])
@pytest.mark.parametrize("rows", [20, 2 * CHUNK + 17])
def test_sums_have_twice_the_digits(rows, mean, kind):
    z = mean + random_rows(1, rows)
    w = WEIGHTS[kind](np.random.default_rng(2), rows)
    moments, most = accurate(z, w), 1.0 if w is None else w.max()
    heaviest = most * (np.ptp(z, axis=0) ** 2 / moments.scatter.diagonal()).max()
    assert_exact_within(moments, z, w, max(ACCURATE, OF_THE_HEAVIEST * heaviest))


@lawful
@given(
    st.integers(2, 12).flatmap(
        lambda n: hnp.arrays(np.float64, (n, 2), elements=st.floats(-1, 1, width=32))
    ),
    st.sampled_from([0.0, 1.0, -3.5, 1e8, 123456789.0]),
    st.integers(-9, 9),
)
def test_any_few_rows_have_twice_the_digits(units, mean, exponent):
    z = mean + units * [1.0, 10.0**exponent]
    assert_exact_within(accurate(z), z)


@pytest.mark.parametrize("mean", [0.0, 1e3, 1e14])
def test_columns_a_billion_times_apart_have_all_digits(mean):
    z = (mean + random_rows(3, columns=3)) * [1e-9, 1.0, 1e9]
    assert_exact_within(accurate(z), z)


@pytest.mark.parametrize("where", [CHUNK + 5, 2 * CHUNK + 16])
@pytest.mark.parametrize("value", [0.0, -1e9, 3e8])
def test_a_far_row_in_a_later_chunk_costs_nothing(where, value):
    z = 1e8 + random_rows(4)
    z[where, 0] = value
    assert_exact_within(accurate(z), z)


@pytest.mark.parametrize("where", [0, 5, CHUNK - 1])
@pytest.mark.parametrize("value", [0.0, -1e9, 3e8])
def test_a_far_row_in_the_first_chunk_costs_a_digit_at_most(where, value):
    z = 1e8 + random_rows(4)
    z[where, 0] = value
    assert_exact_within(accurate(z), z, share=WITH_ONE_FAR_ROW)


@pytest.mark.parametrize("factor", [2.0, 1e3, 1e9, 1e-9])
@pytest.mark.parametrize("mean", [0.0, 3.0])
def test_rows_that_grow_or_shrink_between_chunks_cost_nothing(mean, factor):
    z = mean + random_rows(5)
    z[CHUNK:] *= factor
    z[2 * CHUNK :] *= factor
    assert_exact_within(accurate(z), z)


@pytest.mark.parametrize("step", [30.0, 1e8])
def test_a_drift_between_chunks_costs_nothing(step):
    z = random_rows(6, 3 * CHUNK)
    z += step * (np.arange(len(z)) // CHUNK)[:, None]
    assert_exact_within(accurate(z), z)
    assert_exact_within(accurate(z[::-1]), z[::-1])


@pytest.mark.parametrize("light", [1e-4, 1e-20, 1e-100])
def test_a_far_row_of_tiny_weight_is_no_worse_than_in_doubles(light):
    z, w = 1e8 + random_rows(7, 300), np.ones(300)
    z[7, 0], w[7] = 0.0, light
    assert_exact_within(accurate(z, w), z, w, share=DOUBLE)


@pytest.mark.parametrize("precision", ["fast", "accurate"])
@pytest.mark.parametrize("heavy", [1e12, 1e20, 1e100])
@pytest.mark.parametrize("value", [1e3, 1.0, 0.1])
@pytest.mark.parametrize("where", [0, CHUNK + 3])
def test_a_row_that_weighs_more_than_all_others_keeps_their_scatter(where, value, heavy, precision):
    z, w = random_rows(13, where + 50), np.ones(where + 50)
    z[where], w[where] = value, heavy
    assert_exact_within(read(z, w, precision), z, w, share=4 * DOUBLE)


@pytest.mark.parametrize("count", [3, 50])
def test_blocks_of_any_size_have_twice_the_digits(count):
    z = 1e8 + random_rows(8)
    w = np.random.default_rng(8).uniform(0.5, 2.0, len(z))
    at = np.array_split(np.arange(len(z)), count)
    blocks = [((z[i],), w[i]) for i in at]
    assert_exact_within(Moments.of_blocks(names_of(z), blocks, precision="accurate"), z, w)
    parts = [accurate(z[i], w[i]) for i in at]
    assert_exact_within(sum(parts, start=Moments.empty(names_of(z))), z, w, FAR_PARTS)


@pytest.mark.parametrize("scale", [1e70, 1e60, 1e-60, 1e-70])
@pytest.mark.parametrize("weighted", [False, True])
def test_large_and_small_numbers_have_all_digits(scale, weighted):
    z = np.clip(random_rows(9, 50), -9, 9) * [scale, 1.0]
    w = np.random.default_rng(9).uniform(1e-9, 1e9, 50) if weighted else None
    moments = accurate(z, w)
    assert_exact_within(moments, z, w)


@pytest.mark.parametrize("precision", ["fast", "accurate", "exact"])
@pytest.mark.parametrize("scale", [1e70, 1.0, 1e-70])
def test_means_and_deviations_are_those_of_fractions(precision, scale):
    z = (np.round(64 * np.clip(random_rows(11, 40), -5, 5)) / 64 + [0.0, 3.0]) * scale
    moments, exact = read(z, precision=precision), exact_moments_of_many(z)
    for j, name in enumerate(names_of(z)):
        assert moments.mean_of(name) == pytest.approx(float(exact.mean[j]), rel=1e-15)
        variance = exact.scatter[j][j] / exact.weight / Fraction(scale) ** 2
        expected = float(variance) ** 0.5 * scale
        assert moments.deviation_of(name) == pytest.approx(expected, rel=1e-15)
        assert moments.deviations()[j] == moments.deviation_of(name)


def test_a_constant_column_has_exactly_no_scatter_beside_any_other():
    z = random_rows(12, CHUNK + 3, 3)
    z[:, 1] = 0.1
    z[CHUNK:, 0] += 1e8
    for w in (None, np.random.default_rng(12).uniform(1e-9, 1e9, len(z))):
        moments = accurate(z, w)
        assert not moments.scatter.pair.high[1].any()
        assert not moments.scatter.pair.low[1].any()
        assert (moments.mean[1], moments.mean_tail[1]) == (0.1, 0.0)


def test_no_chunk_has_more_rows_than_are_added_without_rounding():
    longest = 1.0 - np.arange(8 * CHUNK) % 5 * 2.0**-FIRST
    z = np.stack((longest, -longest), axis=1)
    z[0] = -z[0]
    assert_exact_within(accurate(z), z)


class TestShift:
    @lawful
    @given(st.floats(-1e6, 1e6), st.integers(-30, 30))
    def test_a_rounded_shift_is_near_and_has_few_bits(self, shift, exponent):
        short = rounded(np.array([shift]), np.array([exponent])).item()
        if abs(shift) >= MOST * 2.0 ** (exponent - FIRST):
            assert short == shift
            return
        assert abs(short - shift) <= 2.0 ** (exponent - FIRST + SPARE - 1)
        for grown in range(SPARE):
            assert has_few_bits(np.array([short]), np.array([exponent + grown])).all()

    @lawful
    @given(st.floats(-1e9, 1e9, width=32) | st.floats(1e-75, 1e75), st.integers(-40, 40))
    def test_few_bits_are_whole_units_of_a_first_slice(self, shift, exponent):
        units = Fraction(shift) / Fraction(2) ** (exponent - FIRST)
        expected = units.denominator == 1 and abs(units) < MOST
        assert has_few_bits(np.array([shift]), np.array([exponent])).item() == expected


class TestSlices:
    @lawful
    @given(hnp.arrays(np.float64, 5, elements=st.floats(-1, 1)))
    def test_slices_add_up_to_the_number_and_are_short(self, values):
        slices = np.stack((np.zeros(5), np.zeros(5), values))
        cut(slices)
        whole = [sum(map(Fraction, column)) for column in slices.T.tolist()]
        assert whole == [Fraction(v) for v in values.tolist()]
        first, second, rest = slices
        assert (np.mod(first, 2.0**-FIRST) == 0.0).all()
        assert (np.mod(second, 2.0 ** -(FIRST + LATER)) == 0.0).all()
        assert (np.abs(second) <= 2.0 ** -(FIRST + 1)).all()
        assert (np.abs(rest) <= 2.0 ** -(FIRST + LATER + 1)).all()

    def test_a_chunk_of_the_longest_products_is_added_without_rounding(self):
        ones = np.ones((2, 1, CHUNK))
        ones[0] -= 2.0**-FIRST
        gram = products(ones, ones)
        expected = CHUNK * (1 - Fraction(2) ** -FIRST) ** 2
        assert Fraction(gram[0, 0, 0, 0].item()) == expected
        assert gram[1, 0, 1, 0] == CHUNK

    @pytest.mark.parametrize("exponent", [-1070, -900, 0, 3, 1000, 1074])
    def test_powers_of_two_may_be_beyond_the_range_of_doubles(self, exponent):
        z = np.array([[1.5, -1.0]]) * 2.0 ** np.clip(-exponent, -1000, 1000)
        out = np.empty(z.shape)
        times_power(z, np.array([[exponent]]), out=out)
        np.testing.assert_array_equal(out, np.ldexp(z, exponent))
