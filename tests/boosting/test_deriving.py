"""Deriving: the column that history alone would predict, by its definition."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from poolwise import Files, Moments
from poolwise.boosting import deriving
from poolwise.boosting.booster import grower
from poolwise.boosting.folds import FOLDS, Folds
from poolwise.boosting.learning_rows import marked
from poolwise.intake import gather
from tests.laws.problems import Table, Tables
from tests.stored_moments import assert_same_bits

SEED = 5
ALL_ROWS = 10**9


def derive(problem, *, seed, most_rows):
    grow = grower("sklearn", seed)
    return deriving.derive(problem, grow, seed=seed, most_rows=most_rows)


def drawn(rng, rows, has, weighted=False):
    """Return a table of a truth with a bend, a product and a step in the last column."""
    X = rng.uniform(-2.0, 2.0, size=(rows, 4))
    y = np.sin(2.0 * X[:, 0]) + X[:, 0] * X[:, 1] + X[:, 2] + (X[:, 3] > 0.0)
    y = y + 0.1 * rng.normal(size=rows)
    names = tuple(f"x{j}" for j in has)
    weights = rng.integers(1, 4, rows).astype(float) if weighted else None
    return Table(names, X[:, list(has)], y, weights)


@cache
def tables(kind="one"):
    rng = np.random.default_rng(3)
    target = drawn(rng, 27, (0, 1, 2, 3), weighted=kind == "weights")
    if kind in ("one", "weights"):
        return Tables(target, {"old": drawn(rng, 83, (0, 1, 2), weighted=kind == "weights")})
    return Tables(
        target,
        {
            "old": drawn(rng, 60, (0, 1)),
            "older": drawn(rng, 40, (0, 1)),
            "wide": drawn(rng, 70, (0, 1, 2)),
        },
    )


@cache
def derivation(kind="one"):
    return derive(tables(kind).problem(), seed=SEED, most_rows=ALL_ROWS)


def slow_columns(given):
    """Return the stages of each set's column for all tables, straight from the definition.

    A table is masked by hand, folds are told row by row, and scikit-learn predicts by itself.
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
    with threadpool_limits(1, user_api="openmp"):
        models = [
            HistGradientBoostingRegressor(
                max_iter=200, min_samples_leaf=10, early_stopping=False, random_state=SEED
            ).fit(X[fold != k], y[fold != k], sample_weight=w[fold != k])
            for k in range(FOLDS)
        ]
        for own in sorted(sets, key=lambda s: -sets[s]):
            seen = np.where([n in own for n in names], X, np.nan)
            staged = np.full((3, len(y)), np.nan)
            for k, model in enumerate(models):
                said = list(model.staged_predict(seen))
                for j, stage in enumerate((20, 60, 200)):
                    staged[j, fold == k] = said[stage - 1][fold == k]
            found[own] = np.split(staged, np.cumsum([len(t.y) for t, _ in parts])[:-1], axis=1)
    return found


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
        assert column.trees == (20, 60, 200)[j]
        # The bits are scikit-learn's but for the unit of weights, hence no assert_array_equal.
        assert_allclose(made.derived[:, place], stages[0][j], rtol=1e-9)
        for k, (name, source) in enumerate(given.sources.items()):
            found = made.problem.sources[name]
            assert (column.name in found) == knows[k]
            if knows[k]:
                rows = np.column_stack((source.X, stages[k + 1][j], source.y))
                own = Moments.of_rows((*source.names, column.name, "y"), rows, source.weights)
                assert_same_numbers(found.select(own.names), own)


def assert_same_numbers(a, b):
    assert (a.names, a.rows, a.weight) == (b.names, b.rows, b.weight)
    assert_allclose(a.mean, b.mean, rtol=1e-9)
    names = a.names
    assert_allclose(a.scatter_between(names, names), b.scatter_between(names, names), rtol=1e-7)
    assert_allclose(a.low, b.low, rtol=1e-9)
    assert_allclose(a.high, b.high, rtol=1e-9)


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
        np.array_equal(a.predict(X), b.predict(X))
        for a, b in zip(before.boosters, after.boosters, strict=True)
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
    each = [b.predict(masked, column.trees) for b in made.boosters]
    assert_allclose(column.values(rows, tables().target.names), np.mean(each, axis=0), rtol=1e-14)


def test_each_set_of_features_gets_a_column_the_largest_first():
    made = derivation("several")
    assert [c.name for c in made.columns] == ["boosted", "boosted 2"]
    assert [c.inputs for c in made.columns] == [("x0", "x1"), ("x0", "x1", "x2")]
    assert made.problem.sources["old"].names == ("x0", "x1", "boosted", "y")
    assert made.problem.sources["wide"].names == ("x0", "x1", "x2", "boosted", "boosted 2", "y")
    assert made.problem.features == ("x0", "x1", "x2", "x3", "boosted", "boosted 2")


def test_many_sets_of_features_get_a_column_each():
    rng = np.random.default_rng(0)
    sets = [(0,), (0, 1), (1,), (0, 2), (2,)]
    sources = {str(has): drawn(rng, 12 + k, has) for k, has in enumerate(sets)}
    given = Tables(drawn(rng, 12, (0, 1, 2, 3)), sources)
    made = derive(given.problem(), seed=0, most_rows=ALL_ROWS)
    by_size = [("x2",), ("x0", "x2"), ("x1",), ("x0", "x1"), ("x0",)]
    assert [c.inputs for c in made.columns] == by_size
    assert made.problem.sources["(0,)"].names == ("x0", "boosted 5", "y")


def test_sources_as_moments_stay_as_they_are():
    given = tables("several").problem()
    rows = {n: r for n, r in given.source_rows.items() if n != "older"}
    made = derive(replace(given, source_rows=rows), seed=SEED, most_rows=ALL_ROWS)
    assert_same_bits(made.problem.sources["older"], given.sources["older"])
    assert [c.inputs for c in made.columns] == [("x0", "x1", "x2"), ("x0", "x1")]
    assert "boosted 2" in made.problem.sources["old"]


def test_without_any_rows_of_history_there_is_no_column():
    given = replace(tables().problem(), source_rows={})
    made = derive(given, seed=SEED, most_rows=ALL_ROWS)
    assert made.columns == ()
    assert made.derived.shape == (27, 0)
    assert_same_bits(made.problem.target, given.target)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("boosted", "b", "c", "d"), "boosted 2"),
        (("boosted", "boosted 2", "c", "d"), "boosted 3"),
        (("boosted at stage 0", "b", "c", "d"), "boosted 2"),
        (("a at stage 2", "b", "c", "d"), "boosted"),
    ],
)
def test_a_name_that_is_taken_is_not_taken_again(names, expected):
    def renamed(table):
        return replace(table, names=names[: len(table.names)])

    made = derive(tables().each(renamed).problem(), seed=SEED, most_rows=ALL_ROWS)
    assert [c.name for c in made.columns] == [expected]
    plain = derivation().problem.sources["old"]
    found = made.problem.sources["old"]
    assert found.names == (*names[:3], expected, "y")
    assert_array_equal(found.mean, plain.mean)


def test_rows_of_weight_zero_are_as_if_they_were_not_there():
    def with_ghosts(table):
        ghosts = np.full((5, table.X.shape[1]), 9.0)
        return Table(
            table.names,
            np.concatenate((table.X[:7], ghosts, table.X[7:])),
            np.concatenate((table.y[:7], np.full(5, -9.0), table.y[7:])),
            np.concatenate((np.ones(7), np.zeros(5), np.ones(len(table.y) - 7))),
        )

    made = derive(tables().each(with_ghosts).problem(), seed=SEED, most_rows=ALL_ROWS)
    assert_array_equal(made.derived, derivation().derived)
    assert_array_equal(made.problem.sources["old"].mean, derivation().problem.sources["old"].mean)


def test_of_a_long_history_so_many_rows_are_learnt_from_and_all_get_their_value():
    rng = np.random.default_rng(1)
    given = Tables(drawn(rng, 20, (0, 1, 2, 3)), {"old": drawn(rng, 200, (0, 1, 2))})
    made = derive(given.problem(), seed=SEED, most_rows=40)
    again = derive(given.problem(), seed=SEED, most_rows=40)
    assert made.problem.sources["old"].rows == 200
    assert_array_equal(made.derived, again.derived)
    whole = derive(given.problem(), seed=SEED, most_rows=200)
    assert_array_equal(
        whole.derived, derive(given.problem(), seed=SEED, most_rows=ALL_ROWS).derived
    )
    assert (made.derived != whole.derived).any()
    # A row of the history that was not drawn has no say at all; one in five is.
    said = [_changes(given, made, place) for place in (0, 70, 140)]
    assert not all(said)


def _changes(given, before, place):
    """Say whether the trees change with one row of the history."""
    y = given.sources["old"].y.copy()
    y[place] += 3.0
    moved = Tables(given.target, {"old": replace(given.sources["old"], y=y)})
    after = derive(moved.problem(), seed=SEED, most_rows=40)
    return bool((after.boosters[0].value.sum() != before.boosters[0].value.sum()) or (
        after.boosters[1].value.sum() != before.boosters[1].value.sum()
    ))  # fmt: skip


def test_the_mark_of_rows_knows_their_weights_and_no_blocks():
    rng = np.random.default_rng(0)
    rows, weights = rng.normal(size=(7, 3)), rng.uniform(1.0, 2.0, 7)
    whole = marked(rows, weights, 0)
    assert marked(rows[4:], weights[4:], marked(rows[:4], weights[:4], 0)) == whole
    assert marked(rows, weights[::-1], 0) != whole
    assert marked(rows[::-1], weights, 0) != whole
    assert marked(rows, None, 0) == marked(rows[3:], None, marked(rows[:3], None, 0)) != whole


def test_another_seed_gives_other_folds_and_another_column():
    other = derive(tables().problem(), seed=SEED + 1, most_rows=ALL_ROWS)
    assert (other.derived != derivation().derived).any()


def test_files_give_the_same_bits_as_memory(tmp_path):
    old, target = tables().sources["old"], tables().target
    frame = old.frame.assign(y=old.y)
    for k, part in enumerate((frame[:31], frame[31:])):
        pq.write_table(
            pa.Table.from_pandas(part, preserve_index=False),
            tmp_path / f"{k}.parquet",
            row_group_size=9,
        )
    X = pd.DataFrame(target.X, columns=list(target.names))
    given = gather(X, target.y, sources={"old": Files(tmp_path, progress=False)}, response="y")
    made = derive(given.problem, seed=SEED, most_rows=ALL_ROWS)
    assert_array_equal(made.derived, derivation().derived)
    for a, b in zip(made.boosters, derivation().boosters, strict=True):
        assert_array_equal(a.value, b.value)
    assert_same_numbers(made.problem.sources["old"], derivation().problem.sources["old"])
