"""Names and types of columns and tables that are read, and those that are refused."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from poolwise.errors import BadColumns, BadTable, NotNumeric
from poolwise.tables.encoding import Column
from poolwise.tables.memory import open_table
from tests.tables.encoded import OnlyAStream, encoded, objects

DAY = datetime.date(2020, 1, 1)
REFUSED = {
    "pandas datetime": (pd.DataFrame({"g": pd.to_datetime([DAY])}), "Datetime"),
    "pandas date objects": (objects([DAY]), "objects of type date"),
    "pandas timedelta": (pd.DataFrame({"g": pd.to_timedelta([1], unit="s")}), "Duration"),
    "pandas period": (pd.DataFrame({"g": pd.period_range("2020", periods=1, freq="D")}), "period"),
    "pandas complex": (pd.DataFrame({"g": [1j]}), "complex128"),
    "pandas mixed": (objects([1, "a", None]), "objects of type int, str"),
    "pandas lists": (objects([[1], [2]]), "objects of type list"),
    "polars date": (pl.DataFrame({"g": [DAY]}), "Date"),
    "polars duration": (pl.DataFrame({"g": [datetime.timedelta(1)]}), "Duration"),
    "polars time": (pl.DataFrame({"g": [datetime.time(1)]}), "Time"),
    "polars list": (pl.DataFrame({"g": [[1, 2]]}), "List"),
    "polars struct": (pl.DataFrame({"g": [{"a": 1}]}), "Struct"),
    "polars binary": (pl.DataFrame({"g": [b"a"]}), "Binary"),
    "polars mixed": (pl.DataFrame({"g": pl.Series([1, "a"], dtype=pl.Object)}), "int, str"),
    "arrow date": (pa.table({"g": [DAY]}), "Date"),
    "arrow timestamp": (pa.table({"g": pa.array([0], pa.timestamp("us", "UTC"))}), "Datetime"),
    "arrow list": (pa.table({"g": [[1]]}), "List"),
}


@pytest.mark.parametrize(("table", "kind"), REFUSED.values(), ids=REFUSED)
def test_types_without_meaning_are_refused_by_name(table, kind):
    with pytest.raises(NotNumeric) as caught:
        encoded(table)
    assert "Column 'g' of X holds" in str(caught.value)
    assert kind in str(caught.value)
    assert "or drop it" in str(caught.value)


def test_a_column_that_held_numbers_at_fit_is_refused_as_text():
    opened = open_table(pd.DataFrame({"g": ["a"]}), "X")
    with pytest.raises(NotNumeric, match="'g' of X holds text, and these are not numbers: 'a'"):
        opened.read([Column("g")], 0, 1)


def test_a_column_that_held_text_at_fit_is_refused_as_numbers():
    opened = open_table(pd.DataFrame({"g": [1.0]}), "X")
    with pytest.raises(NotNumeric, match=r"At fit it held text"):
        opened.read([Column("g", ("a", "b"))], 0, 1)


class TestNames:
    @pytest.mark.parametrize(
        "table",
        [
            pd.DataFrame(np.ones((2, 3)), columns=["a", "b", "a"]),
            pa.Table.from_arrays([pa.array([1.0])] * 3, names=["a", "b", "a"]),
            OnlyAStream(pa.Table.from_arrays([pa.array([1.0])] * 3, names=["a", "b", "a"])),
        ],
        ids=["pandas", "arrow", "stream"],
    )
    def test_two_columns_of_one_name_are_refused(self, table):
        message = r"Table 'old' has more than one column named 'a'\. .*rename or drop"
        with pytest.raises(BadColumns, match=message):
            open_table(table, "table 'old'")

    def test_names_that_are_alike_as_text_are_refused(self):
        with pytest.raises(BadColumns, match=r"named '1'"):
            open_table(pd.DataFrame(np.ones((2, 2)), columns=[1, "1"]), "X")

    def test_integer_names_become_text(self):
        frame = pd.DataFrame(np.eye(2), columns=[2019, 2020])
        opened = open_table(frame, "X")
        assert opened.names == ("2019", "2020")
        assert_array_equal(opened.read([Column("2020")], 0, 2)[:, 0], [0.0, 1.0])
        assert list(frame.columns) == [2019, 2020]

    def test_the_index_of_a_frame_does_not_matter(self):
        frame = pd.DataFrame({"a": [1.0, 2.0, 3.0]}, index=[7, 7, 7])
        opened = open_table(frame, "X")
        taken = opened.take(np.array([2, 1]))
        assert_array_equal(opened.read([Column("a")], 1, 3)[:, 0], [2.0, 3.0])
        assert_array_equal(taken.read([Column("a")], 0, 2)[:, 0], [3.0, 2.0])


class TestOtherTypes:
    @pytest.mark.parametrize(
        "table",
        [
            pa.record_batch({"a": [1.0, 2.0]}),
            pa.table({"a": [1.0, 2.0]}).to_reader(),
            OnlyAStream(pa.table({"a": [1.0, 2.0]})),
            OnlyAStream(pl.DataFrame({"a": [1.0, 2.0]})),
        ],
        ids=["batch", "reader", "stream of arrow", "stream of polars"],
    )
    def test_whatever_speaks_the_arrow_stream_is_read(self, table):
        opened = open_table(table, "X")
        assert (opened.names, opened.rows) == (("a",), 2)
        assert_array_equal(opened.read([Column("a")], 0, 2)[:, 0], [1.0, 2.0])

    @pytest.mark.parametrize(
        "table",
        [
            {"a": [1.0]},
            "table.csv",
            None,
            pl.LazyFrame({"a": [1.0]}),
            pd.Series([1.0], name="a"),
            pl.Series("a", [1.0]),
            pa.chunked_array([[1.0]]),
        ],
        ids=lambda table: type(table).__name__,
    )
    def test_other_types_are_refused_by_name(self, table):
        with pytest.raises(BadTable) as caught:
            open_table(table, "table 'old'")
        kind = type(table)
        assert f"Table 'old' is a {kind.__module__}.{kind.__qualname__}" in str(caught.value)
        assert "Give a NumPy array, a pandas or polars DataFrame" in str(caught.value)

    def test_a_subclass_of_a_frame_is_a_frame(self):
        class Frame(pd.DataFrame):
            pass

        assert open_table(Frame({"a": [1.0]}), "X").names == ("a",)
