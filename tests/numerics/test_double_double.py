"""Error-free sums and products, and pairs of doubles, against exact rational arithmetic."""

import operator
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from poolwise.numerics.double_double import FEW, Pair, two_product, two_sum
from tests.laws.exact import exact_pair

lawful = settings(deadline=None, max_examples=200)
# Far from where a product, or the tail of one, leaves the range of doubles.
numbers = st.floats(2.0**-400, 2.0**400) | st.floats(-(2.0**400), -(2.0**-400)) | st.just(0.0)


@lawful
@given(numbers, numbers)
def test_a_sum_and_its_tail_are_the_exact_sum(a, b):
    total, tail = two_sum(np.float64(a), np.float64(b))
    assert total == a + b
    assert Fraction(float(total)) + Fraction(float(tail)) == Fraction(a) + Fraction(b)


@lawful
@given(numbers, numbers)
def test_a_product_and_its_tail_are_the_exact_product(a, b):
    product, tail = two_product(np.float64(a), np.float64(b))
    assert product == a * b
    assert Fraction(float(product)) + Fraction(float(tail)) == Fraction(a) * Fraction(b)


@lawful
@given(numbers, numbers)
def test_a_tail_is_at_most_half_a_unit_in_the_last_place(a, b):
    for head, tail in (
        two_sum(np.float64(a), np.float64(b)),
        two_product(np.float64(a), np.float64(b)),
    ):
        assert abs(tail) <= np.spacing(abs(head)) / 2


@pytest.mark.parametrize("operation", [two_sum, two_product])
def test_arrays_are_treated_element_by_element(operation):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 7)) * 10.0 ** rng.uniform(-9, 9, size=(2, 7))
    heads, tails = operation(a, b)
    for j in range(7):
        assert (heads[j], tails[j]) == operation(a[j], b[j])


@lawful
@given(hnp.arrays(np.float64, 5, elements=st.floats(-1e15, 1e15)))
def test_what_is_added_and_taken_away_again_is_kept_in_the_tail(values):
    huge = np.full(5, 2.0**60)
    total, tail = two_sum(values, huge)
    np.testing.assert_array_equal((total - huge) + tail, values)


# A pair has 106 bits; an operation rounds a few times in its last ones.
LAST = Fraction(2) ** -102
quick = settings(deadline=None, max_examples=60)
sizes = st.floats(2.0**-60, 2.0**60) | st.floats(-(2.0**60), -(2.0**-60)) | st.just(0.0)


@st.composite
def pairs(draw, shape=4, *, elements=sizes):
    """Pairs of all sizes, whose low parts are full."""
    high = draw(hnp.arrays(np.float64, shape, elements=elements))
    share = draw(hnp.arrays(np.float64, shape, elements=st.floats(-1, 1, width=32)))
    return Pair(*two_sum(high, high * share * 2.0**-53))


positive = st.floats(2.0**-60, 2.0**60)


def random_pair(rng, *shape, spread=0.0):
    high = rng.normal(size=shape) * 10.0 ** rng.uniform(-spread, spread, shape)
    return Pair(*two_sum(high, high * rng.uniform(-1, 1, shape) * 2.0**-53))


def exact(pair):
    return exact_pair(pair.high, pair.low)


def assert_within(pair, expected, room):
    """Compare with fractions, and see that the low part is below the last bit of the high one."""
    assert (abs(exact(pair) - expected) <= room).all()
    assert (np.abs(pair.low) <= np.spacing(np.abs(pair.high))).all()


def assert_same_bits(a, b):
    assert_array_equal(a.high, b.high)
    assert_array_equal(a.low, b.low)


class TestPairs:
    @quick
    @given(pairs(), pairs())
    def test_a_sum_loses_the_last_bits_of_its_terms_only(self, a, b):
        room = LAST * (abs(exact(a)) + abs(exact(b)))
        assert_within(a + b, exact(a) + exact(b), room)
        assert_within(a - b, exact(a) - exact(b), room)
        assert_within(-a, -exact(a), 0)

    @quick
    @given(pairs())
    def test_a_number_less_itself_is_nothing(self, a):
        assert_same_bits(a - a, Pair.of(np.zeros(4)))

    @quick
    @given(pairs(), pairs())
    def test_a_product_has_all_digits_of_a_pair(self, a, b):
        product = exact(a) * exact(b)
        assert_within(a * b, product, LAST * abs(product))

    @quick
    @given(pairs(), pairs(elements=positive), st.sampled_from([1.0, -1.0]))
    def test_a_quotient_has_all_digits_of_a_pair(self, a, b, sign):
        b = b.scaled(sign)
        quotient = exact(a) / exact(b)
        assert_within(a / b, quotient, LAST * abs(quotient))

    @quick
    @given(pairs(elements=positive))
    def test_the_square_of_a_root_is_the_number(self, a):
        root = exact(a.sqrt())
        assert (abs(root**2 - exact(a)) <= 4 * LAST * exact(a)).all()
        assert (a.sqrt().high > 0.0).all()

    @quick
    @given(pairs(), st.integers(-200, 200))
    def test_powers_of_two_lose_nothing(self, a, exponent):
        assert_within(a.scaled(2.0**exponent), exact(a) * Fraction(2) ** exponent, 0)

    @pytest.mark.parametrize(
        "operation", [operator.add, operator.sub, operator.mul, operator.truediv]
    )
    def test_shapes_are_broadcast_as_those_of_arrays(self, operation):
        rng = np.random.default_rng(1)
        a, b = random_pair(rng, 3), random_pair(rng, 4)
        table = operation(a[:, None], b[None, :])
        assert table.high.shape == table.low.shape == (3, 4)
        for i in range(3):
            for j in range(4):
                assert_same_bits(table[i, j], operation(a[i], b[j]))
        assert_same_bits(operation(table, Pair.of(0.3)), operation(table, Pair.of([[0.3] * 4] * 3)))

    def test_a_column_of_doubles_on_the_left_is_not_taken_apart(self):
        with pytest.raises(TypeError):
            np.ones(3) * Pair.of(np.ones(3))  # not three products of a double and a pair

    def test_a_pair_survives_pickling(self):
        pair = random_pair(np.random.default_rng(2), 3, 2)
        assert_same_bits(pickle.loads(pickle.dumps(pair)), pair)
        assert len(pair) == 3
        assert_same_bits(pair.T[1], pair[:, 1])


class TestTotals:
    @quick
    @given(st.integers(1, 9).flatmap(lambda rows: pairs((rows, 2))))
    def test_a_total_is_the_sum_along_the_first_axis(self, pair):
        terms = exact(pair)
        assert_within(pair.total(), terms.sum(axis=0), 4 * LAST * abs(terms).sum(axis=0))

    @pytest.mark.parametrize("rows", [1000, 4095, 4096, 4097])
    def test_a_long_total_rounds_as_often_as_it_can_be_halved(self, rows):
        pair = random_pair(np.random.default_rng(rows), rows, 1, spread=6)
        terms = exact(pair)
        assert_within(pair.total(), terms.sum(axis=0), LAST * 13 * abs(terms).sum(axis=0))

    def test_what_cancels_leaves_the_rest(self):
        pair = Pair.of(np.array([1e18, 1.0, -1e18, 2.0**-40, 1e14, -1e14]))
        assert exact(pair.total()) == 1 + Fraction(2) ** -40

    def test_nothing_adds_up_to_zero(self):
        for shape in [(0,), (0, 3), (0, 2, 2)]:
            assert_same_bits(Pair.of(np.zeros(shape)).total(), Pair.of(np.zeros(shape[1:])))

    @quick
    @given(st.integers(1, 9).flatmap(lambda rows: pairs((rows, 2))))
    def test_one_after_the_other_they_add_up_to_the_sum(self, pair):
        terms, others = exact(pair), [pair[k] for k in range(1, len(pair))]
        total = pair[0].plus(others)
        assert_within(total, terms.sum(axis=0), 10 * LAST * abs(terms).sum(axis=0))

    @pytest.mark.parametrize("rows", [1000, 4097])
    def test_many_one_after_the_other_lose_no_more_than_their_number_squared(self, rows):
        pair = random_pair(np.random.default_rng(rows), rows, 3, spread=6)
        terms, before = exact(pair), (pair.high.copy(), pair.low.copy())
        total = pair[0].plus(pair[k] for k in range(1, rows))
        room = Fraction(2) ** -106 * rows**2 * abs(terms).sum(axis=0)
        assert_within(total, terms.sum(axis=0), room)
        assert_same_bits(pair, Pair(*before))

    def test_no_columns_have_no_total(self):
        assert Pair.of(np.zeros((5, 0))).total().high.shape == (0,)


class TestMatrixProducts:
    def assert_product(self, a, b):
        """Compare with fractions, in units of the largest numbers of each row and column."""
        A, B, product = exact(a), exact(b), a @ b
        rows, columns = np.abs(A).max(axis=1), np.abs(B).max(axis=0)
        assert_within(product, A.dot(B), len(b) * LAST * np.outer(rows, columns))

    @pytest.mark.parametrize("shape", [(1, 1, 1), (2, 5, 3), (12, 12, 12), (1, FEW, 1)])
    def test_small_ones_have_all_digits_of_a_pair(self, shape):
        m, k, n = shape
        assert m * k * n <= FEW
        rng = np.random.default_rng(shape)
        self.assert_product(random_pair(rng, m, k), random_pair(rng, k, n))

    @pytest.mark.parametrize("shape", [(13, 13, 13), (30, 4, 20), (1, FEW + 1, 1), (2, 3000, 3)])
    def test_large_ones_have_all_digits_of_a_pair(self, shape):
        m, k, n = shape
        assert m * k * n > FEW
        rng = np.random.default_rng(shape)
        self.assert_product(random_pair(rng, m, k), random_pair(rng, k, n))

    @pytest.mark.parametrize("size", [5, 14])
    def test_rows_and_columns_may_be_far_apart_in_size(self, size):
        rng = np.random.default_rng(size)
        up, across = 10.0 ** rng.uniform(-40, 40, (2, size))
        a = random_pair(rng, size, size) * Pair.of(up[:, None])
        self.assert_product(a, random_pair(rng, size, size) * Pair.of(across))

    @pytest.mark.parametrize("size", [5, 14])
    def test_numbers_within_a_row_may_be_far_apart_in_size(self, size):
        rng = np.random.default_rng(size)
        self.assert_product(
            random_pair(rng, size, size, spread=12), random_pair(rng, size, size, spread=12)
        )

    @pytest.mark.parametrize("size", [6, 13, 40])
    def test_a_product_that_cancels_keeps_the_digits_of_its_terms(self, size):
        rng = np.random.default_rng(size)
        a, x = random_pair(rng, size, size), random_pair(rng, size, 1)
        both = Pair(np.hstack((a.high, -a.high)), np.hstack((a.low, -a.low)))
        twice = Pair(np.vstack((x.high, x.high)), np.vstack((x.low, x.low)))
        self.assert_product(both, twice)
        assert np.abs((both @ twice).high).max() <= 2 * size * float(LAST) * 16

    @pytest.mark.parametrize("size", [3, 20])
    def test_the_unit_matrix_changes_nothing(self, size):
        a = random_pair(np.random.default_rng(size), size, size, spread=3)
        for same in (a @ Pair.eye(size), Pair.eye(size) @ a):
            assert (abs(exact(same) - exact(a)) <= LAST * abs(exact(a)).max()).all()

    @pytest.mark.parametrize("size", [3, 20])
    def test_rows_of_zeros_give_zeros(self, size):
        a = random_pair(np.random.default_rng(size), size, size)
        nothing = Pair.of(np.zeros((size, size)))
        assert_same_bits(a @ nothing, nothing)
        assert_same_bits(nothing @ a, nothing)

    @pytest.mark.parametrize("shape", [(0, 3, 4), (3, 0, 4), (3, 4, 0), (0, 0, 0), (100, 0, 100)])
    def test_empty_ones_have_the_shape_of_a_product_and_no_number_but_zero(self, shape):
        m, k, n = shape
        product = Pair.of(np.ones((m, k))) @ Pair.of(np.ones((k, n)))
        assert_same_bits(product, Pair.of(np.zeros((m, n))))

    @pytest.mark.parametrize("size", [4, 12, 13, 60])
    def test_the_layout_in_memory_does_not_change_a_bit(self, size):
        rng = np.random.default_rng(size)
        a, b = random_pair(rng, size, size + 1), random_pair(rng, size + 1, size)

        def turned(pair):
            return Pair(np.asfortranarray(pair.high), np.asfortranarray(pair.low))

        assert_same_bits(turned(a) @ turned(b), a @ b)
        assert_same_bits(turned(a) @ b, a @ b)
        assert_same_bits(turned(a) * turned(a), a * a)
        assert_same_bits(turned(a).total(), a.total())
