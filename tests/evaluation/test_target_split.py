"""TargetSplit: history trains, target rows are tested."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold, ShuffleSplit

from poolwise import TargetSplit
from poolwise.errors import TooFewRows


@pytest.fixture
def rows():
    stacked = np.arange(24.0).reshape(12, 2)
    stacked[::3, 1] = np.nan  # 4 rows of history, 8 of target
    return stacked


def test_every_target_row_is_tested_once_and_no_history_ever(rows):
    folds = list(TargetSplit(4).split(rows))
    tested = np.concatenate([test for _, test in folds])
    assert sorted(tested) == [1, 2, 4, 5, 7, 8, 10, 11]
    for train, test in folds:
        assert set(train) == set(range(12)) - set(test)


def test_a_data_frame_is_split_like_an_array(rows):
    for ours, theirs in zip(
        TargetSplit(4).split(rows), TargetSplit(4).split(pd.DataFrame(rows)), strict=True
    ):
        np.testing.assert_array_equal(ours[1], theirs[1])


def test_what_a_masked_array_hides_is_history(rows):
    masked = np.ma.masked_invalid(rows)
    for ours, theirs in zip(TargetSplit(4).split(rows), TargetSplit(4).split(masked), strict=True):
        np.testing.assert_array_equal(ours[1], theirs[1])


def test_any_splitter_can_split_the_target(rows):
    splitter = TargetSplit(ShuffleSplit(7, test_size=2, random_state=0))
    assert splitter.get_n_splits(rows) == len(list(splitter.split(rows))) == 7


def test_groups_are_those_of_the_target_rows(rows):
    groups = np.arange(12) // 6
    for train, test in TargetSplit(GroupKFold(2)).split(rows, groups=groups):
        target = [r for r in train if r % 3]
        assert not set(groups[target]) & set(groups[test])


def test_rows_that_all_lack_something_cannot_be_split(rows):
    with pytest.raises(TooFewRows):
        list(TargetSplit(2).split(rows[::3]))
