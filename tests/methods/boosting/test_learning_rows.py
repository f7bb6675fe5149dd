"""Deriving: which rows are learnt from, whatever their weights, number, folds and files."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.testing import assert_array_equal

from poolwise import Files
from poolwise.methods.boosting.learning_rows import marked
from poolwise.tables.intake import gather
from tests.laws.problems import Table, Tables
from tests.methods.boosting.derivations import (
    ALL_ROWS,
    SEED,
    assert_same_numbers,
    derivation,
    derive,
    drawn,
    tables,
)


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
    return any(
        a.trees.value.sum() != b.trees.value.sum()
        for a, b in zip(after.grown[:2], before.grown[:2], strict=True)
    )


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
    for a, b in zip(made.grown, derivation().grown, strict=True):
        assert_array_equal(a.trees.value, b.trees.value)
    assert_same_numbers(made.problem.sources["old"], derivation().problem.sources["old"])
