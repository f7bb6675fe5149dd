"""TargetSplit: history trains, target rows are tested."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut, LeaveOneOut, ShuffleSplit

from poolwise import TargetSplit
from poolwise.errors import TooFewRows
from poolwise.tables.intake import gather


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


def test_a_column_that_no_row_of_the_target_has_is_named(rows):
    with pytest.raises(TooFewRows, match=r"no value in the target \(missing: 'x1' in 4\)"):
        list(TargetSplit(2).split(rows[::3]))
    apart = np.arange(24.0).reshape(12, 2)
    apart[:6, 0] = apart[6:, 1] = np.nan
    with pytest.raises(TooFewRows, match="'x0' in 6, 'x1' in 6"):
        list(TargetSplit(2).split(apart))


@pytest.mark.parametrize("frame", [np.asarray, pd.DataFrame, pl.DataFrame])
def test_a_row_with_a_gap_is_a_target_row_as_in_a_fit(frame):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    X[:100, 3] = np.nan  # history
    X[100:][rng.random((100, 4)) < 0.2] = np.nan
    tested = np.concatenate([test for _, test in TargetSplit(5).split(frame(X))])
    assert tested.tolist() == gather(frame(X), np.arange(200.0)).positions.tolist()
    assert tested.tolist() == np.flatnonzero(~np.isnan(X[:, 3])).tolist()


def test_as_many_folds_are_told_as_are_made(rows):
    for cv, groups in ((LeaveOneOut(), None), (LeaveOneGroupOut(), np.arange(12) // 4)):
        folds = list(TargetSplit(cv).split(rows, groups=groups))
        assert TargetSplit(cv).get_n_splits(rows, groups=groups) == len(folds)
