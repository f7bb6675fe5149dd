"""Growing trees: LightGBM's own bits, whatever the units, weights and number of threads."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from poolwise.methods.boosting import booster
from poolwise.methods.boosting.booster import BinnedRows
from poolwise.methods.boosting.trees import EVERY_VALUE
from tests.methods.boosting.grown_trees import BINS, GROWTH, grow, hard_rows, table, theirs

STAGES = (1, 7, 25, GROWTH.trees)


def some_rows():
    """Return rows of which the mean response is zero, too."""
    half = np.random.default_rng(5).random(150) < 0.7
    return np.concatenate((half, half[::-1]))


@pytest.mark.parametrize("rows", [None, some_rows()], ids=["all", "some"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("lacking", [0.0, 0.3])
def test_every_stage_has_the_bits_of_lightgbm(lacking, weighted, rows):
    X, y, w = table(lacking)
    own = (X, y, w if weighted else None)
    grown, lightgbm = grow(*own, rows=rows), theirs(*own, rows=rows)
    assert (grown.middle, grown.power) == (0.0, 0)
    hard = hard_rows(grown.trees)
    found = grown.trees.staged(hard, range(1, GROWTH.trees + 1))
    for stage, sums in enumerate(found.T, start=1):
        assert_array_equal(sums, lightgbm.predict(hard, num_iteration=stage, num_threads=1))
    for stage in STAGES:
        assert_array_equal(grown.staged(hard, [stage])[:, 0], found[:, stage - 1])


def test_what_lightgbm_holds_predicts_the_same_as_plain_arrays():
    X, y, w = table()
    grown = grow(1000.0 * X, 50.0 * y + 9.0, w)
    rows = 1000.0 * hard_rows(grow(X, y, w).trees)[:-3]
    found = grown.staged(rows, STAGES)
    assert_allclose(found, grown.trees.staged(rows, STAGES), rtol=1e-13, atol=1e-13)
    assert grown.staged(rows[:0], STAGES).shape == (0, 4)


@pytest.mark.parametrize("count", [300, 2, 1])
def test_trees_on_some_rows_do_not_depend_on_the_responses_of_others(count):
    X, y, w = table()
    rows = some_rows() & (np.arange(300) < count) if count == 300 else np.arange(300) < count
    other = np.where(rows, y, 7.0)
    expected = grow(X, y, w, rows=rows).trees.predict(X)
    assert_array_equal(grow(X, other, w, rows=rows).trees.predict(X), expected)


def test_rows_are_binned_once_for_all_trees_and_their_order_has_no_effect():
    X, y, w = table()
    binned, rows = BinnedRows(X, w, 3, BINS), [some_rows(), ~some_rows()]
    for response in (y, -y):
        for some in (*rows, *rows[::-1]):
            found = binned.grow(response, some, GROWTH).trees
            expected = grow(X, response, w, rows=some).trees
            assert_array_equal(found.predict(X), expected.predict(X))


def test_some_splits_are_on_whether_there_is_a_value_at_all():
    X, y, _ = table()
    trees = grow(X, y).trees
    assert (trees.threshold == EVERY_VALUE).any()  # else the tests here would not see them
    assert trees.missing_left.any()
    moved = grow(np.ldexp(X, 900), y).trees
    assert_array_equal(moved.threshold == EVERY_VALUE, trees.threshold == EVERY_VALUE)
    assert np.isfinite(moved.threshold).all()


def test_a_rare_level_has_a_bin_of_its_own():
    rare = np.arange(300.0) % 100 == 7
    trees = grow(rare[:, None].astype(float), rare * 5.0, None, GROWTH._replace(rows_per_leaf=3))
    assert_allclose(trees.trees.predict(np.array([[0.0], [1.0]])), [0.0, 5.0], atol=0.01)


def test_a_response_far_from_zero_keeps_its_digits():
    X, y, _ = table()
    far = grow(X, y + 2.0**30).trees.predict(X) - 2.0**30
    rounding = 2.0**30 * 2.0**-53  # of each sum
    assert_allclose(far, grow(X, y).trees.predict(X), rtol=0.0, atol=GROWTH.trees * rounding)


@pytest.mark.parametrize("power", [-900, -150, -130, 40, 130, 900])
def test_units_of_columns_and_response_do_not_matter(power):
    X, y, w = table()
    units = power * np.array([1, 0, -1, 1])
    grown = grow(np.ldexp(X, units), np.ldexp(y, -power), w)
    expected = np.ldexp(grow(X, y, w).trees.predict(X), -power)
    assert_array_equal(grown.trees.predict(np.ldexp(X, units)), expected)
    found = grown.staged(np.ldexp(X, units), [GROWTH.trees])[:, 0]
    assert_array_equal(found, expected)


@pytest.mark.parametrize("power", [-60, -9, 40])
def test_the_unit_of_weights_does_not_matter(power):
    X, y, w = table()
    expected = grow(X, y, w).trees.predict(X)
    assert_array_equal(grow(X, y, np.ldexp(w, power)).trees.predict(X), expected)
    assert (grow(X, y).trees.predict(X) != expected).any()


def test_any_number_of_threads_grows_the_same_trees(monkeypatch):
    X, y, w = table()
    few = GROWTH._replace(trees=2, leaves=4)  # threads that wait for each other are slow
    found = {grow(X, y, w, few).trees.predict(X).tobytes()}
    monkeypatch.setattr(booster, "THREADS_PAY", 0)  # as if there were very many rows
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="openmp"):
            found.add(grow(X, y, w, few).trees.predict(X).tobytes())
    assert len(found) == 1


@pytest.mark.parametrize("value", [2.5, 0.0, -1e75])
def test_a_constant_response_grows_leaves_alone(value):
    X = table()[0]
    grown = grow(X, np.full(300, value))
    assert_array_equal(grown.trees.staged(X, STAGES), np.full((300, 4), value))
    assert_array_equal(grown.staged(X, STAGES), np.full((300, 4), value))
    assert (grown.trees.depth, len(grown.trees.roots)) == (0, GROWTH.trees)


def test_too_few_rows_for_a_split_are_their_mean():
    X, y, _ = table()
    assert_allclose(grow(X[:3], y[:3]).trees.predict(X), y[:3].mean(), atol=1e-7)


def test_a_single_row_can_be_learnt_from():
    trees = grow(np.array([[1.0, np.nan]]), np.array([4.0])).trees
    assert_array_equal(trees.predict(np.array([[9.0, 9.0], [np.nan, np.nan]])), [4.0, 4.0])


def test_a_column_without_any_value_is_not_looked_at():
    X, y, _ = table()
    trees = grow(np.column_stack((X, np.full(len(X), np.nan))), y).trees
    assert_array_equal(trees.predict(np.column_stack((X, X[:, 0]))), grow(X, y).trees.predict(X))


def test_a_column_may_lack_all_values_in_the_rows_that_trees_grow_on():
    X, y, _ = table()
    rows, X = some_rows(), X.copy()
    X[rows, 0] = np.nan
    grown = grow(X, y, rows=rows)
    found = grown.staged(X, [GROWTH.trees])[:, 0]
    assert_allclose(found, grown.trees.predict(X), rtol=1e-13, atol=1e-13)
