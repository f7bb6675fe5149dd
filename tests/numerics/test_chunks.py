"""Chunks: every row once, in lines of doubles, and never more at a time than sums can take."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from poolwise.numerics.chunks import CHUNK, LONG, VALUES, chunks

ROWS = 3 * LONG + 17


def table(columns, rows=ROWS):
    return np.random.default_rng(columns).normal(size=(rows, columns))


def read(columns, blocks, **options):
    return [(z.copy(), w) for z, w in chunks(columns, blocks, **options)]


@pytest.mark.parametrize("columns", [1, 20, 200])
def test_chunks_have_no_more_rows_than_the_longest_products_allow(columns):
    rows = table(columns, 2 * CHUNK + 1)
    assert [z.shape[1] for z, _ in chunks(columns, [((rows,), None)])] == [CHUNK, CHUNK, 1]


def test_long_chunks_of_few_columns_have_more_rows():
    assert next(chunks(3, [((table(3),), None)], long=True))[0].shape == (4, LONG)


@pytest.mark.parametrize("columns", [20, 60, 400])
def test_long_chunks_of_many_columns_are_no_larger_than_a_cache(columns):
    z, _ = next(chunks(columns, [((table(columns, LONG),), None)], long=True))
    assert z.shape[1] == CHUNK or z.size <= VALUES


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize(
    "parts",
    [
        lambda rows: [rows],
        lambda rows: [rows[:, :2], rows[:, 2]],
        lambda rows: [*rows.T],
        lambda rows: [rows[:, :1], np.asfortranarray(rows[:, 1:])],
        lambda rows: [np.asfortranarray(rows)[:, j : j + 1] for j in range(3)],
    ],
    ids=["table", "table and column", "strided columns", "column and Fortran", "columns"],
)
def test_every_row_comes_once_and_with_a_one(parts, long):
    rows = table(3)
    found = np.concatenate([z for z, _ in read(3, [(parts(rows), None)], long=long)], axis=1)
    assert_array_equal(found[:-1], rows.T)
    assert_array_equal(found[-1], 1.0)


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.float32, np.bool_])
def test_numbers_of_other_kinds_become_doubles(kind):
    rows = np.random.default_rng(0).integers(0, 2, (CHUNK + 3, 2)).astype(kind)
    for parts in ([rows], [*rows.T]):
        found = np.concatenate([z for z, _ in read(2, [(parts, None)])], axis=1)
        assert found.dtype == np.float64
        assert_array_equal(found[:-1], rows.T.astype(float))


@pytest.mark.parametrize("long", [False, True])
def test_rows_of_weight_zero_are_not_there(long):
    rows = table(2)
    weights = np.random.default_rng(1).integers(0, 3, ROWS).astype(float)
    found = read(2, [(rows.T, weights)], long=long)
    assert_array_equal(np.concatenate([z for z, _ in found], axis=1)[:-1], rows[weights > 0].T)
    assert_array_equal(np.concatenate([w for _, w in found]), weights[weights > 0])
