"""Trees as plain arrays, independent of the library that grew them."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from poolwise.methods.boosting import trees as module
from poolwise.methods.boosting.trees import EVERY_VALUE, Trees
from tests.methods.boosting import grown_trees
from tests.methods.boosting.grown_trees import GROWTH


@cache
def ours():
    return grown_trees.grow(*grown_trees.table()).trees


def hard_rows():
    return grown_trees.hard_rows(ours())


def test_no_tree_at_all_is_the_baseline():
    rows = hard_rows()
    assert_array_equal(ours().staged(rows, [0])[:, 0], np.full(len(rows), ours().baseline))


def test_stages_come_in_any_order_and_as_often_as_asked():
    rows = hard_rows()
    found = ours().staged(rows, [7, 40, 7, 1])
    for column, stage in enumerate([7, 40, 7, 1]):
        assert_array_equal(found[:, column], ours().predict(rows, stage))


@pytest.mark.parametrize("size", [1, 7, 100])
def test_a_row_has_the_same_bits_whatever_comes_with_it(size, monkeypatch):
    rows = hard_rows()
    whole = ours().predict(rows)
    parts = [ours().predict(rows[k : k + size]) for k in range(0, len(rows), size)]
    assert_array_equal(np.concatenate(parts), whole)
    monkeypatch.setattr(module, "AT_ONCE", size * GROWTH.trees)
    assert_array_equal(ours().predict(rows), whole)


def test_rows_may_be_laid_out_in_any_way():
    rows = hard_rows()
    wide = np.full((len(rows), 8), 7.0)
    wide[:, ::2] = rows
    for same in (np.asfortranarray(rows), wide[:, ::2], rows[::-1][::-1]):
        assert_array_equal(ours().predict(same), ours().predict(rows))
    assert ours().predict(rows[:0]).shape == (0,)


def test_the_first_trees_alone_predict_what_that_stage_did():
    rows = hard_rows()
    for count in (1, 17, GROWTH.trees):
        first = ours().first(count)
        assert len(first.roots) == count
        assert_array_equal(first.predict(rows), ours().predict(rows, count))
        assert first.left.max() < len(first.feature) <= len(ours().feature)


def test_nothing_of_them_can_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        ours().value[0] = 1.0


def test_children_come_after_their_parent_and_a_leaf_is_its_own():
    trees, own = ours(), np.arange(len(ours().feature))
    is_leaf = trees.left == own
    assert_array_equal(is_leaf, trees.right == own)
    assert (trees.left[~is_leaf] > own[~is_leaf]).all()
    assert (trees.right[~is_leaf] > own[~is_leaf]).all()
    assert not trees.value[~is_leaf].any()


def test_depth_is_the_longest_way_from_a_root():
    def below(node):
        children = {trees.left[node], trees.right[node]} - {node}
        return 1 + max(map(below, children)) if children else 0

    trees = ours()
    assert trees.depth == max(map(below, trees.roots))


def test_trees_by_hand():
    trees = Trees(
        baseline=10.0,
        roots=np.array([0, 3]),
        feature=np.array([0, 0, 0, 1, 0, 0]),
        threshold=np.array([1.5, 0.0, 0.0, EVERY_VALUE, 0.0, 0.0]),
        missing_left=np.array([True, False, False, False, False, False]),
        left=np.array([1, 1, 2, 4, 4, 5]),
        right=np.array([2, 1, 2, 5, 4, 5]),
        value=np.array([0.0, 1.0, 2.0, 0.0, 4.0, 8.0]),
    )
    nothing = np.nan
    rows = np.array([[1.5, 0.0], [1.6, 0.0], [nothing, 0.0], [2.0, nothing], [nothing, nothing]])
    assert_array_equal(trees.predict(rows), [15.0, 16.0, 15.0, 20.0, 19.0])
    assert_array_equal(trees.predict(rows, 1), [11.0, 12.0, 11.0, 12.0, 11.0])
