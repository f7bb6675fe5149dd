"""What every engine promises: the same rows are the same moments, whatever holds them."""

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from poolwise import Moments
from poolwise.errors import BadTable
from poolwise.tables.encoding import Column, unify
from poolwise.tables.engines import ENGINES
from poolwise.tables.intake import gather
from poolwise.tables.memory import open_table
from poolwise.tables.rows import BLOCK, TableRows

NAMES = ("x0", "x1", "x2")


class Stream:
    """A table that offers nothing but the Arrow C stream."""

    def __init__(self, columns):
        self._table = pa.table(columns)

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


# A new engine is one line here. Each makes a table of named columns.
MAKERS = {
    "numpy": lambda columns: np.column_stack([*columns.values()]),
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "stream": Stream,
}
lawful = settings(
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture],  # a maker has no state
)


@pytest.fixture(params=MAKERS.values(), ids=MAKERS)
def make(request):
    """Return a function that makes a table of one engine."""
    return request.param


@pytest.fixture(params=["pandas", "polars", "pyarrow", "stream"])
def make_frame(request):
    """Return a function that makes a table with names and text."""
    return MAKERS[request.param]


@pytest.fixture
def values():
    return np.random.default_rng(0).normal(size=(40, 3)) * [1e-6, 1.0, 1e6] + 1e8


def columns_of(values):
    return dict(zip(NAMES, values.T, strict=True))


def identical(a: Moments, b: Moments) -> bool:
    S, T = (m.scatter_between(m.names, m.names) for m in (a, b))
    pairs = [(a.mean, b.mean), (a.mean_tail, b.mean_tail), (S, T), (a.low, b.low)]
    same = (a.names, a.rows, a.weight) == (b.names, b.rows, b.weight)
    return same and all(np.array_equal(one, other) for one, other in pairs)


def test_every_engine_is_tested_here():
    assert {"numpy", *ENGINES} <= set(MAKERS)


def test_the_same_rows_have_the_same_moments(make, values):
    y = values @ [1.0, 2.0, 3.0]
    expected = Moments.of_rows((*NAMES, "y"), np.column_stack((values, y)))
    assert identical(gather(make(columns_of(values)), y).problem.target, expected)


def test_the_same_weighted_rows_have_the_same_moments(make, values):
    y, w = values[:, 0], np.linspace(0.0, 3.0, len(values))
    expected = Moments.of_rows((*NAMES, "y"), np.column_stack((values, y)), w)
    assert identical(gather(make(columns_of(values)), y, weights=w).problem.target, expected)


@lawful
@given(data=st.data())
def test_missing_values_split_rows_into_the_same_sources(make, data):
    shape = data.draw(st.tuples(st.integers(1, 12), st.just(3)))
    X = data.draw(hnp.arrays(np.float64, shape, elements=st.integers(-9, 9).map(float)))
    holes = data.draw(hnp.arrays(bool, shape))
    holes[0] = False  # one row is complete
    holes[holes.all(axis=1), 0] = False  # and none is empty
    X[holes] = np.nan
    y = np.arange(len(X), dtype=float)
    ours = gather(make(columns_of(X)), y).problem
    expected = gather(X, y).problem
    assert list(ours.sources) == list(expected.sources)
    assert identical(ours.target, expected.target)
    for name, source in ours.sources.items():
        assert identical(source, expected.sources[name])


def test_names_rows_and_slices_are_those_of_the_table(make, values):
    opened = open_table(make(columns_of(values)), "X")
    assert (opened.names, opened.rows) == (NAMES, 40)
    assert_array_equal(opened.read([Column("x2"), Column("x0")], 5, 9), values[5:9][:, [2, 0]])
    assert opened.read([], 5, 9).shape == (4, 0)
    assert opened.read([Column("x0")], 7, 7).shape == (0, 1)


def test_taken_rows_are_in_the_order_asked_for(make, values):
    opened = open_table(make(columns_of(values)), "X")
    index = np.array([3, 0, 3])
    columns = [Column(n) for n in NAMES]
    assert_array_equal(opened.take(index).read(columns, 0, 3), values[index])
    assert opened.take(np.array([], dtype=np.intp)).rows == 0


def test_missing_is_told_by_row_and_column(make, values):
    values[[1, 2], [0, 2]] = np.nan
    opened = open_table(make(columns_of(values)), "X")
    assert_array_equal(opened.missing(["x2", "x0"]), np.isnan(values[:, [2, 0]]))
    assert opened.missing([]).shape == (40, 0)


def test_a_table_without_rows_can_be_opened_and_read(make, values):
    opened = open_table(make(columns_of(values[:0])), "X")
    assert opened.rows == 0
    assert opened.read([Column("x1")], 0, 0).shape == (0, 1)
    assert not opened.missing(["x1"]).any()


def test_numbers_have_no_levels(make, values):
    assert open_table(make(columns_of(values)), "X").levels(["x0"]) == {"x0": None}


def test_integers_and_booleans_are_numbers(make):
    table = make({"x0": np.array([1, 2, 3]), "x1": np.array([True, False, True])})
    opened = open_table(table, "X")
    assert opened.levels(opened.names) == {"x0": None, "x1": None}
    expected = [[1.0, 1.0], [2.0, 0.0], [3.0, 1.0]]
    assert_array_equal(opened.read([Column("x0"), Column("x1")], 0, 3), expected)


def test_reading_changes_nothing(make, values):
    before, table = values.copy(), make(columns_of(values))
    once, twice = (gather(table, before[:, 0]).problem.target for _ in range(2))
    assert identical(once, twice)
    assert_array_equal(values, before)


def test_tables_longer_than_a_block_are_read_whole(make):
    rng = np.random.default_rng(1)
    values = rng.integers(-50, 50, size=(BLOCK + 100, 3)).astype(float)
    target = gather(make(columns_of(values)), values[:, 1]).problem.target
    assert target.rows == BLOCK + 100
    assert_array_equal(target.low, values.min(axis=0)[[0, 1, 2, 1]])
    np.testing.assert_allclose(target.mean[:3], values.mean(axis=0), rtol=1e-12)


def test_rows_can_be_read_again(make, values):
    rows = gather(make(columns_of(values)), values[:, 0]).rows
    for _ in range(2):
        blocks = list(rows.blocks(["y", "x2"]))
        assert_array_equal(np.concatenate([b for b, _ in blocks]), values[:, [0, 2]])


def test_text_becomes_the_same_indicators(make_frame):
    texts = ["south", "north", None, "west", "north"]
    opened = open_table(make_frame({"region": texts, "x": [1.0, 2.0, 3.0, 4.0, 5.0]}), "X")
    columns = unify(opened.names, opened.levels(opened.names), {}, intercept=True)
    assert columns[0].levels == ("north", "south", "west")
    values = opened.read(columns, 0, 5)
    expected = [[1, 0, 1], [0, 0, 2], [np.nan, np.nan, 3], [0, 1, 4], [0, 0, 5]]
    assert_array_equal(values, expected)


@lawful
@given(texts=st.lists(st.sampled_from(["a", "b", "ß", "", None]), max_size=9))
def test_levels_are_those_that_occur(make_frame, texts):
    texts = [*texts, "a"]  # a column of nothing has no type to speak of
    opened = open_table(make_frame({"g": texts}), "X")
    assert opened.levels(["g"]) == {"g": Counter(t for t in texts if t is not None)}
    assert opened.missing(["g"])[:, 0].tolist() == [t is None for t in texts]


def test_columns_are_matched_by_name_in_any_order(make_frame, values):
    y = values[:, 1]
    source = make_frame({"x2": values[:, 2], "x0": values[:, 0]})
    problem = gather(make_frame(columns_of(values)), y, sources=(source, y)).problem
    expected = Moments.of_rows(("x0", "x2", "y"), np.column_stack((values[:, [0, 2]], y)))
    assert identical(problem.sources["source"], expected)


def test_target_and_sources_may_come_from_different_engines(make_frame, values):
    y = values[:, 1]
    source = make_frame({"x0": values[:, 0], "y": y})
    for target in (pd.DataFrame(columns_of(values)), pl.DataFrame(columns_of(values))):
        problem = gather(target, y, sources={"old": source}).problem
        expected = Moments.of_rows(("x0", "y"), np.column_stack((values[:, 0], y)))
        assert identical(problem.sources["old"], expected)


def test_a_response_that_does_not_fit_is_refused_alike(make, values):
    opened = open_table(make(columns_of(values)), "X")
    with pytest.raises(BadTable, match=r"[Tt]he target has 40 rows of features and 3 of the"):
        TableRows(opened, (), "y", np.ones(3), None, "the target")
