"""Folds: each row is in one of five, whatever else is known of it."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from poolwise.methods.boosting.learning_rows import FOLDS, RUN, Folds

MANY = 2 * RUN * FOLDS + 13


@pytest.mark.parametrize("sizes", [[1] * 40, [7] * 9, [MANY - 5, 5], [0, 3, 0, 40_000, 1]])
def test_folds_do_not_depend_on_how_many_rows_come_at_a_time(sizes):
    folds = Folds(4)
    parts = np.concatenate([folds.next(size) for size in sizes])
    assert_array_equal(parts, Folds(4).next(sum(sizes)))


def test_of_five_rows_that_follow_one_is_in_each_fold():
    found = Folds(0).next(MANY)
    sets = found[: MANY // FOLDS * FOLDS].reshape(-1, FOLDS)
    assert_array_equal(np.sort(sets, axis=1), np.tile(np.arange(FOLDS), (len(sets), 1)))


def test_every_order_of_five_comes_equally_often():
    sets = Folds(1).next(RUN * FOLDS * 4).reshape(-1, FOLDS)
    _, counts = np.unique(sets, axis=0, return_counts=True)
    expected = len(sets) / 120
    assert len(counts) == 120
    assert ((counts - expected) ** 2 / expected).sum() < 119 + 5 * np.sqrt(2 * 119)  # chi squared


def test_another_seed_gives_other_folds():
    assert (Folds(0).next(100) != Folds(1).next(100)).any()
