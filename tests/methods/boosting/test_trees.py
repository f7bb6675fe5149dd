"""Trees as plain arrays: the bits of the library that grew them, without the library."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from poolwise.methods.boosting import booster
from poolwise.methods.boosting import trees as module
from poolwise.methods.boosting.booster import Growth, grower
from poolwise.methods.boosting.trees import EVERY_VALUE, Trees

GROWTH = Growth(trees=40, leaves=15, rate=0.2, rows_per_leaf=5)


def grow(X, y, w, growth, seed):
    return grower("sklearn", seed)(X, y, w, growth)


def table(seed=0, rows=300, lacking=0.3):
    """Return rows that lack values here and there, and say by that what the response is."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4))
    y = np.sin(3.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=rows)
    gone = rng.random((rows, 4)) < lacking
    y = y + 3.0 * gone[:, 3]
    X[gone] = np.nan
    X[:, 2] = np.round(X[:, 2], 1)  # the same value in many rows
    return X, y, rng.uniform(0.5, 1.2, rows)  # about one, so that their unit stays


@cache
def theirs(weighted=False):
    """Return the booster of scikit-learn that ours should be."""
    X, y, w = table()
    found = HistGradientBoostingRegressor(
        max_iter=GROWTH.trees,
        max_leaf_nodes=GROWTH.leaves,
        learning_rate=GROWTH.rate,
        min_samples_leaf=GROWTH.rows_per_leaf,
        early_stopping=False,
        random_state=3,
    )
    with threadpool_limits(1, user_api="openmp"):
        return found.fit(X, y, sample_weight=w if weighted else None)


@cache
def ours(weighted=False):
    X, y, w = table()
    return grow(X, y, w if weighted else None, GROWTH, seed=3)


def hard_rows():
    """Return new rows, rows on every threshold and next to it, and rows without any value."""
    X = table(seed=1)[0]
    trees = ours()
    at = np.flatnonzero((trees.threshold != 0.0) & (trees.threshold < EVERY_VALUE))[:200]
    on = np.full((len(at), 4), np.nan)
    on[np.arange(len(at)), trees.feature[at]] = trees.threshold[at]
    others = [np.nextafter(on, np.inf), np.nextafter(on, -np.inf), np.full((1, 4), np.nan)]
    return np.concatenate([X, on, *others, np.full((1, 4), 1e300), np.full((1, 4), -1e300)])


@pytest.mark.parametrize("weighted", [False, True])
def test_every_stage_has_the_bits_of_scikit_learn(weighted):
    rows = hard_rows()
    found = ours(weighted).staged(rows, range(1, GROWTH.trees + 1))
    with threadpool_limits(1, user_api="openmp"):  # threads would wait for each other
        for stage, expected in enumerate(theirs(weighted).staged_predict(rows)):
            assert_array_equal(found[:, stage], expected)
        assert_array_equal(ours(weighted).predict(rows), theirs(weighted).predict(rows))


def test_some_splits_are_on_whether_there_is_a_value_at_all():
    assert (ours().threshold == EVERY_VALUE).any()  # else the tests here would not see them
    assert ours().missing_left.any()


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


def test_powers_of_two_cost_no_bit():
    rows = hard_rows()[:300]
    units = [3, -700, 0, 900]
    for response in (-900, 5, 900):
        moved = ours().times_powers(units, response)
        assert_array_equal(
            moved.predict(np.ldexp(rows, units)), np.ldexp(ours().predict(rows), response)
        )


def test_a_split_on_whether_there_is_a_value_stays_one_in_any_size():
    moved = ours().times_powers([-900] * 4, 0)
    assert_array_equal(moved.threshold == EVERY_VALUE, ours().threshold == EVERY_VALUE)


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


def test_a_response_that_is_constant_grows_leaves_alone():
    X = table()[0]
    trees = grow(X, np.full(len(X), 2.5), None, GROWTH, 0)
    assert_array_equal(trees.predict(X), np.full(len(X), 2.5))
    assert trees.depth == 0


def test_a_single_row_can_be_learnt_from():
    trees = grow(np.array([[1.0, np.nan]]), np.array([4.0]), None, GROWTH, 0)
    assert_array_equal(trees.predict(np.array([[9.0, 9.0], [np.nan, np.nan]])), [4.0, 4.0])


def test_a_column_without_any_value_is_not_looked_at():
    X, y, _ = table()
    empty = np.column_stack((X, np.full(len(X), np.nan)))
    trees = grow(empty, y, None, GROWTH, 3)
    assert_array_equal(trees.predict(np.column_stack((X, X[:, 0]))), ours().predict(X))


@pytest.mark.parametrize("power", [-900, -150, -130, 130, 150, 900])
def test_trees_grow_alike_whatever_the_unit_of_the_response(power):
    X, y, _ = table()
    trees = grow(X, np.ldexp(y, power), None, GROWTH, 3)
    assert_array_equal(trees.predict(X), np.ldexp(ours().predict(X), power))


@pytest.mark.parametrize("power", [-60, -9, 40])
def test_trees_grow_alike_whatever_the_unit_of_weights(power):
    X, y, w = table()
    trees = grow(X, y, np.ldexp(w, power), GROWTH, 3)
    assert_array_equal(trees.predict(X), ours(weighted=True).predict(X))


def test_any_number_of_threads_grows_the_same_trees(monkeypatch):
    monkeypatch.setattr(booster, "THREADS_PAY", 0)  # as if there were very many rows
    X, y, w = table(rows=2000)
    few = Growth(trees=2, leaves=5, rate=0.5, rows_per_leaf=5)
    found = set()
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="openmp"):
            trees = grow(X, y, w, few, 0)
        found.add(trees.predict(X).tobytes())
    assert len(found) == 1


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
