"""Deriving: the column that history alone would predict, by its definition."""

from dataclasses import replace

import lightgbm
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from poolwise import Moments
from poolwise.methods.boosting.derivation import BINS, POOLED, STAGES
from poolwise.methods.boosting.learning_rows import FOLDS, Folds
from tests.laws.problems import Tables
from tests.methods.boosting.derivations import (
    ALL_ROWS,
    SEED,
    assert_same_numbers,
    derivation,
    derive,
    tables,
)
from tests.moments.stored_moments import assert_same_bits


def slow_columns(given):
    """Return the stages of each set's column for all tables, straight from the definition.

    A table is masked by hand, folds are told row by row, and LightGBM predicts by itself.
    """
    names = given.target.names
    parts = [(given.target, SEED)]
    parts += [(s, SEED + 1 + k) for k, s in enumerate(given.sources.values())]
    folds = [np.array([f.next(1)[0] for _ in t.y]) for t, f in ((t, Folds(s)) for t, s in parts)]
    wide = [
        np.column_stack([t.column(n) if n in t.names else np.full(len(t.y), np.nan) for n in names])
        for t, _ in parts
    ]
    fold, X = np.concatenate(folds), np.concatenate(wide)
    y, w = (np.concatenate([getattr(t, key) for t, _ in parts]) for key in ("y", "w"))
    sets = {}
    for source in given.sources.values():
        sets[source.names] = sets.get(source.names, 0) + source.w.sum()
    found = {}
    if (w != 1.0).any():  # to LightGBM their unit matters, where a leaf is almost too small
        w = w / 2.0 ** np.frexp(w.mean())[1]
    models = [lightgbm_without(fold == k, X, y, w) for k in range(FOLDS)]
    for own in sorted(sets, key=lambda s: -sets[s]):
        seen = np.where([n in own for n in names], X, np.nan)
        staged = np.full((3, len(y)), np.nan)
        for k, (model, mean) in enumerate(models):
            for j, stage in enumerate(STAGES):
                said = mean + model.predict(seen, num_iteration=stage, num_threads=1)
                staged[j, fold == k] = said[fold == k]
        found[own] = np.split(staged, np.cumsum([len(t.y) for t, _ in parts])[:-1], axis=1)
    return found


def lightgbm_without(inside, X, y, w):
    """Return LightGBM's trees on the rows outside a fold, in bins of all rows, and their mean."""
    options = {
        "num_leaves": POOLED.leaves,
        "learning_rate": POOLED.rate,
        "min_data_in_leaf": POOLED.rows_per_leaf,
        "max_bin": BINS,
        "min_data_in_bin": 1,
        "feature_pre_filter": False,
        "num_threads": 1,
        "verbose": -1,
    }
    out, whole = ~inside, lightgbm.Dataset(X, params=options)
    mean = np.average(y[out], weights=w[out])
    rows = lightgbm.Dataset(X[out], y[out] - mean, weight=w[out], reference=whole, params=options)
    return lightgbm.train(options, rows, POOLED.trees), mean


@pytest.mark.parametrize("kind", ["one", "weights", "several"])
def test_the_column_is_what_trees_without_the_row_say_of_it(kind):
    given, made = tables(kind), derivation(kind)
    expected = slow_columns(given)
    assert [c.inputs for c in made.columns] == list(expected)
    sources = list(given.sources.values())
    for place, column in enumerate(made.columns):
        stages = expected[column.inputs]
        knows = [set(column.inputs) <= set(s.names) for s in sources]
        errors = [
            sum(
                (s.w * (stages[k + 1][j] - s.y) ** 2).sum()
                for k, s in enumerate(sources)
                if knows[k]
            )
            for j in range(3)
        ]
        j = int(np.argmin(errors))
        assert column.trees == STAGES[j]
        # The bits are LightGBM's but for units and the order of sums, hence no assert_array_equal.
        assert_allclose(made.derived[:, place], stages[0][j], rtol=1e-9)
        for k, (name, source) in enumerate(given.sources.items()):
            found = made.problem.sources[name]
            assert (column.name in found) == knows[k]
            if knows[k]:
                rows = np.column_stack((source.X, stages[k + 1][j], source.y))
                own = Moments.of_rows((*source.names, column.name, "y"), rows, source.weights)
                assert_same_numbers(found.select(own.names), own)


def test_the_moments_of_the_target_are_those_of_its_rows_with_the_column():
    target, made = tables().target, derivation()
    rows = np.column_stack((target.X, made.derived, target.y))
    expected = Moments.of_rows((*target.names, "boosted", "y"), rows)
    assert_same_bits(made.problem.target, expected)


@pytest.mark.parametrize("table", ["target", "old"])
def test_no_row_has_had_a_say_in_its_own_value(table):
    given, before = tables(), derivation()
    own, seed = (given.target, SEED) if table == "target" else (given.sources["old"], SEED + 1)
    place = 4
    y = own.y.copy()
    y[place] += 1.0
    changed = replace(own, y=y)
    moved = Tables(changed, given.sources) if table == "target" else replace(given, sources={
        "old": changed
    })  # fmt: skip
    after = derive(moved.problem(), seed=SEED, most_rows=ALL_ROWS)
    fold = Folds(seed).next(len(y))[place]
    X = tables().target.X
    same = [
        np.array_equal(a.trees.predict(X), b.trees.predict(X))
        for a, b in zip(before.grown, after.grown, strict=True)
    ]
    assert same == [k == fold for k in range(FOLDS)]
    if table == "target":
        assert after.columns[0].trees == before.columns[0].trees
        inside = Folds(SEED).next(len(y)) == fold
        assert_array_equal(after.derived[inside], before.derived[inside])
        assert (after.derived[~inside] != before.derived[~inside]).any()


def test_a_new_column_has_no_say_in_the_value():
    column = derivation().columns[0]
    rows, names = tables().target.X.copy(), tables().target.names
    before = column.values(rows, names)
    rows[:, names.index("x3")] = 1e6
    assert_array_equal(column.values(rows, names), before)
    backwards = rows[:, ::-1]
    assert_array_equal(column.values(backwards, names[::-1]), before)
    shared = [names.index(n) for n in column.inputs]
    assert_array_equal(column.values(rows[:, shared], column.inputs), before)


def test_new_rows_get_the_mean_over_the_folds():
    column, made = derivation().columns[0], derivation()
    rows = np.random.default_rng(0).uniform(-2.0, 2.0, size=(9, 4))
    masked = rows.copy()
    masked[:, 3] = np.nan
    each = [g.trees.predict(masked, column.trees) for g in made.grown]
    assert_allclose(column.values(rows, tables().target.names), np.mean(each, axis=0), rtol=1e-14)
