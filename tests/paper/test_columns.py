"""Features are ordered by correlation, with and without the published slip."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from paper.protocol import ordered, with_product


@pytest.fixture
def rows():
    """Four features; the second is constant, the others matter less and less."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    X[:, 1] = 7.0
    y = X @ [9.0, 0.0, -3.0, 1.0] + 0.1 * rng.normal(size=200)
    return np.column_stack((X, y))


def test_features_come_by_absolute_correlation_and_constant_ones_go(rows):
    assert_array_equal(ordered(rows, "corrected"), rows[:, [3, 2, 0, 4]])


def test_the_published_slip_looks_places_up_in_the_wrong_matrix(rows):
    # Without the constant column the order is 2, 1, 0: as places in the whole matrix.
    assert_array_equal(ordered(rows, "published"), rows[:, [2, 1, 0, 4]])


def test_without_constant_columns_both_protocols_agree(rows):
    varying = np.delete(rows, 1, axis=1)
    assert_array_equal(ordered(varying, "published"), ordered(varying, "corrected"))


def test_the_product_is_a_feature_and_part_of_the_response(rows):
    plain = ordered(rows, "corrected")
    more = with_product(plain, new_features=1)
    assert_array_equal(more[:, :3], plain[:, :3])
    assert_allclose(more[:, 3], plain[:, 1] * plain[:, 2])
    assert_allclose(more[:, 4], plain[:, 3] + more[:, 3])
