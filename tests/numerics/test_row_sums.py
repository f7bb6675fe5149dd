"""Row sums: matrix products of chunks, in tiles or whole, and what is read off them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from poolwise.numerics.row_sums import FEW, TILE, RowSums, gram_of, product

COLUMNS = [1, 2, FEW, FEW + 1]
ROWS = [1, TILE - 1, TILE, 3 * TILE, 3 * TILE + 1]


def integers(columns, rows, seed=0):
    """Return doubles whose products add up without rounding, in any order."""
    return np.random.default_rng(seed).integers(-1000, 1000, (columns, rows)).astype(float)


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("rows", ROWS)
def test_products_are_those_of_all_columns_and_rows(columns, rows):
    left, right = integers(columns, rows), integers(columns + 3, rows, seed=1)
    expected = left.astype(int) @ right.astype(int).T
    assert_array_equal(product(left, right), expected)
    assert_array_equal(gram_of(left), left.astype(int) @ left.astype(int).T)


def test_products_of_part_of_a_buffer_are_those_of_its_rows():
    wide = integers(5, 4 * TILE)
    z = wide[:, : 2 * TILE]
    assert_array_equal(gram_of(z), z.astype(int) @ z.astype(int).T)


def test_halves_that_differ_in_the_last_bit_become_one_symmetric_scatter():
    z = integers(4, TILE)
    z[-1] = 1.0
    low, high = z.min(axis=1), z.max(axis=1)
    run = RowSums(z, None, low, high)
    run.add(z, None, low, high)
    run.gram[0, 1] = np.nextafter(run.gram[0, 1], np.inf)
    scatter = run.parts()[2].high
    assert_array_equal(scatter, scatter.T)
