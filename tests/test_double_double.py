"""Error-free sums and products, against exact rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from poolwise.double_double import two_product, two_sum

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
