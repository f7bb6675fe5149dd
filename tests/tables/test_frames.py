"""pandas, polars and Arrow: what only one of them has, and the stream they all speak."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from poolwise.errors import (
    DuplicateColumns,
    NotNumeric,
    RoundedIntegers,
    UnknownTable,
    UnseenLevel,
)
from poolwise.tables import open_table
from poolwise.tables.columns import MOST_LEVELS, Column, unify


class OnlyAStream:
    """A table that offers nothing but the Arrow C stream."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def encoded(table, unseen="raise"):
    """Return levels, missing and encoded values of the column g."""
    opened = open_table(table, "X")
    (column,) = unify(opened, {}, ["g"], intercept=True, unseen=unseen)
    values = opened.read([column], 0, opened.rows)
    return column.levels, opened.missing(["g"])[:, 0].tolist(), values


ARROW_TEXT = pd.ArrowDtype(pa.string())
ARROW_DICTIONARY = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
TEXTS = {
    "pandas str": pd.DataFrame({"g": ["v", None, "u"]}),
    "pandas object": pd.DataFrame({"g": pd.Series(["v", None, "u"], dtype=object)}),
    "pandas object, NaN": pd.DataFrame({"g": pd.Series(["v", np.nan, "u"], dtype=object)}),
    "pandas object, NA": pd.DataFrame({"g": pd.Series(["v", pd.NA, "u"], dtype=object)}),
    "pandas string": pd.DataFrame({"g": pd.Series(["v", None, "u"], dtype="string")}),
    "pandas arrow": pd.DataFrame({"g": pd.Series(["v", None, "u"], dtype=ARROW_TEXT)}),
    "pandas category": pd.DataFrame(
        {"g": pd.Categorical(["v", None, "u"], categories=["unused", "v", "u"])}
    ),
    "pandas arrow dictionary": pd.DataFrame(
        {"g": pd.Series(["v", None, "u"], dtype=ARROW_DICTIONARY)}
    ),
    "polars str": pl.DataFrame({"g": ["v", None, "u"]}),
    "polars category": pl.DataFrame({"g": pl.Series(["v", None, "u"], dtype=pl.Categorical)}),
    "polars enum": pl.DataFrame(
        {"g": pl.Series(["v", None, "u"], dtype=pl.Enum(["unused", "v", "u"]))}
    ),
    "arrow string": pa.table({"g": ["v", None, "u"]}),
    "arrow large string": pa.table({"g": pa.array(["v", None, "u"], pa.large_string())}),
    "arrow string view": pa.table({"g": pa.array(["v", None, "u"], pa.string_view())}),
    "arrow dictionary": pa.table({"g": pa.array(["v", None, "u"]).dictionary_encode()}),
    "arrow chunks of dictionaries": pa.table(
        {
            "g": pa.chunked_array(
                [pa.array(["v", None]).dictionary_encode(), pa.array(["u"]).dictionary_encode()]
            )
        }
    ),
    "stream of arrow": OnlyAStream(pa.table({"g": ["v", None, "u"]})),
    "stream of polars": OnlyAStream(pl.DataFrame({"g": ["v", None, "u"]})),
    "stream of polars categories": OnlyAStream(
        pl.DataFrame({"g": pl.Series(["v", None, "u"], dtype=pl.Categorical)})
    ),
}


@pytest.mark.parametrize("table", TEXTS.values(), ids=TEXTS)
def test_text_of_every_kind_becomes_indicators(table):
    levels, missing, values = encoded(table)
    assert levels == ("u", "v")
    assert missing == [False, True, False]
    assert_array_equal(values, [[1.0], [np.nan], [0.0]])


@pytest.mark.parametrize("table", TEXTS.values(), ids=TEXTS)
def test_rows_of_text_can_be_taken(table):
    taken = open_table(table, "X").take(np.array([2, 0]))
    column = Column("g", ("u", "v"))
    assert_array_equal(taken.read([column], 0, 2), [[0.0], [1.0]])
    assert not taken.missing(["g"]).any()


def objects(values):
    return pd.DataFrame({"g": pd.Series(values, dtype=object)})


NUMBERS = {
    "pandas float": pd.DataFrame({"g": [1.0, np.nan, 0.0]}),
    "pandas float32": pd.DataFrame({"g": np.array([1, np.nan, 0], dtype=np.float32)}),
    "pandas Float64": pd.DataFrame({"g": pd.Series([1, None, 0], dtype="Float64")}),
    "pandas Int64": pd.DataFrame({"g": pd.Series([1, None, 0], dtype="Int64")}),
    "pandas boolean": pd.DataFrame({"g": pd.Series([True, None, False], dtype="boolean")}),
    "pandas arrow int": pd.DataFrame({"g": pd.Series([1, None, 0], dtype="int64[pyarrow]")}),
    "pandas arrow bool": pd.DataFrame({"g": pd.Series([True, None, False], dtype="bool[pyarrow]")}),
    "pandas objects": objects([1, None, 0.0]),
    "pandas object booleans": objects([True, pd.NA, np.False_]),
    "pandas decimals": objects([Decimal(1), np.nan, Decimal(0)]),
    "polars float": pl.DataFrame({"g": [1.0, None, 0.0]}),
    "polars NaN": pl.DataFrame({"g": [1.0, float("nan"), 0.0]}),
    "polars int": pl.DataFrame({"g": pl.Series([1, None, 0], dtype=pl.UInt8)}),
    "polars int128": pl.DataFrame({"g": pl.Series([1, None, 0], dtype=pl.Int128)}),
    "polars bool": pl.DataFrame({"g": [True, None, False]}),
    "polars decimal": pl.DataFrame({"g": [Decimal(1), None, Decimal(0)]}),
    "polars objects": pl.DataFrame({"g": pl.Series([1.0, None, 0], dtype=pl.Object)}),
    "arrow float": pa.table({"g": [1.0, None, 0.0]}),
    "arrow NaN": pa.table({"g": pa.array([1.0, float("nan"), 0.0], pa.float32())}),
    "arrow int": pa.table({"g": [1, None, 0]}),
    "arrow bool": pa.table({"g": [True, None, False]}),
    "arrow decimal": pa.table({"g": [Decimal(1), None, Decimal(0)]}),
    "arrow chunks": pa.table({"g": pa.chunked_array([[1.0], [None, 0.0]])}),
    "stream": OnlyAStream(pa.table({"g": [1.0, None, 0.0]})),
}


@pytest.mark.parametrize("table", NUMBERS.values(), ids=NUMBERS)
def test_numbers_and_booleans_of_every_kind_become_doubles(table):
    levels, missing, values = encoded(table)
    assert levels is None
    assert missing == [False, True, False]
    assert values.dtype == np.float64
    assert_array_equal(values, [[1.0], [np.nan], [0.0]])


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"g": [None] * 2}),
        pd.DataFrame({"g": [np.nan] * 2}),
        pd.DataFrame({"g": pd.Categorical([None] * 2, categories=["a"])}),
        pl.DataFrame({"g": [None] * 2}),
        pl.DataFrame({"g": pl.Series([None] * 2, dtype=pl.String)}),
        pa.table({"g": pa.nulls(2)}),
        pa.table({"g": pa.nulls(2, pa.string())}),
    ],
)
def test_a_column_of_nothing_is_void(table):
    assert open_table(table, "X").is_void("g")


@pytest.mark.parametrize("table", [TEXTS["polars str"], NUMBERS["pandas float"]])
def test_a_column_with_a_value_is_not_void(table):
    assert not open_table(table, "X").is_void("g")


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_integers_beyond_53_bits_are_refused_unless_a_double_holds_them(kind):
    message = r"Column 'g' of X has 2 integers, up to 4,611,686,018,427,387,905 in size"
    with pytest.raises(RoundedIntegers, match=message):
        encoded(kind({"g": np.array([2**53 + 1, 7, 2**62 + 1])}))
    _, _, values = encoded(kind({"g": np.array([2**53 + 2, 7, -(2**62)])}))
    assert_array_equal(values[:, 0], [2.0**53 + 2.0, 7.0, -(2.0**62)])


class TestCategories:
    def test_only_levels_that_occur_count(self):
        frame = pd.DataFrame({"g": pd.Categorical(["b", "c"], categories=["a", "b", "c"])})
        assert encoded(frame)[0] == ("b", "c")

    @pytest.mark.parametrize("values", [[10, 2], [10, None, 2]])
    def test_categories_that_are_numbers_are_named_alike_with_and_without_holes(self, values):
        assert encoded(pd.DataFrame({"g": pd.Categorical(values)}))[0] == ("10", "2")

    def test_intervals_are_levels(self):
        cut = pd.cut([1.0, 5.0, 9.0], bins=[0, 4, 10])
        levels, _, values = encoded(pd.DataFrame({"g": cut}))
        assert levels == ("(0, 4]", "(4, 10]")
        assert_array_equal(values[:, 0], [0.0, 1.0, 1.0])

    @pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
    def test_names_and_levels_may_be_in_any_script(self, kind):
        table = kind({"région": ["Genève", "東京", "", "Genève"]})
        opened = open_table(table, "X")
        (column,) = unify(opened, {}, opened.names, intercept=True)
        assert column.levels == ("", "Genève", "東京")
        assert column.outputs == ("région=Genève", "région=東京")
        expected = [[1, 0], [0, 1], [0, 0], [1, 0]]
        assert_array_equal(opened.read([column], 0, 4), expected)

    @pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
    def test_too_many_levels_look_like_an_identifier(self, kind):
        texts = [f"id {k}" for k in range(MOST_LEVELS + 1)]
        assert len(encoded(kind({"g": texts[:-1]}))[0]) == MOST_LEVELS
        with pytest.raises(NotNumeric) as caught:
            encoded(kind({"g": texts}))
        assert "Column 'g' has 501 different texts" in str(caught.value)
        assert "Drop it, or group it into at most 500 levels." in str(caught.value)

    def test_the_limit_holds_for_all_tables_together(self):
        tables = [
            open_table(pd.DataFrame({"g": [f"{t} {k}" for k in range(300)]}), t) for t in "ab"
        ]
        with pytest.raises(NotNumeric, match="has 600 different texts"):
            unify(tables[0], {"b": tables[1]}, ["g"])

    @pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
    def test_numbers_stored_as_text_are_refused(self, kind):
        with pytest.raises(NotNumeric, match=r"numbers stored as text, '0\.5' for one"):
            encoded(kind({"g": [f"{k}.5" for k in range(30)]}))
        assert encoded(kind({"g": [f"{k}" for k in range(5)]}))[0]  # few: codes

    @pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
    def test_a_word_among_numbers_stored_as_text_is_named(self, kind):
        ages = [*map(str, range(18, 60)), "fifty"]
        message = "42 of its 43 different values are numbers, and these are not: 'fifty'"
        with pytest.raises(NotNumeric, match=message):
            encoded(kind({"g": ages}))
        codes = pd.DataFrame({"g": pd.Categorical(ages)})  # meant as they are
        assert len(encoded(codes)[0]) == 43
        wards = [*map(str, range(10)), *(f"ward {k}" for k in range(12))]  # most are no numbers
        assert len(encoded(kind({"g": wards}))[0]) == 22

    @pytest.mark.parametrize("written", ["{} umol/l", "{},5", "{}%", "-{}.5mg"])
    def test_numbers_with_a_unit_or_a_decimal_comma_are_no_levels(self, written):
        with pytest.raises(NotNumeric, match="numbers stored as text"):
            encoded(pd.DataFrame({"g": [written.format(k) for k in range(30)]}))

    @pytest.mark.parametrize("written", ["{}A", "2024-05-{}", "{}-9", "room {}"])
    def test_codes_with_numbers_in_them_are_levels(self, written):
        codes = [written.format(k) for k in range(30)]
        assert len(encoded(pd.DataFrame({"g": codes}))[0]) == 30

    @pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
    def test_an_unseen_level_is_refused_or_counts_as_the_reference(self, kind):
        opened = open_table(kind({"g": ["b", "w", None]}), "X")
        with pytest.raises(UnseenLevel, match=r"'g' holds 'w'.*levels are 'a', 'b'"):
            opened.read([Column("g", ("a", "b"))], 0, 3)
        ignoring = Column("g", ("a", "b"), unseen="ignore")
        assert_array_equal(opened.read([ignoring], 0, 3), [[1.0], [0.0], [np.nan]])

    def test_all_levels_get_an_indicator_when_asked(self):
        opened = open_table(pl.DataFrame({"g": ["a", "b"]}), "X")
        assert_array_equal(opened.read([Column("g", ("a", "b"), full=True)], 0, 2), np.eye(2))


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
    with pytest.raises(NotNumeric, match=r"Column 'g' of X holds String\. Convert it to numbers"):
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
        message = r"[Ss]ource 'old' has more than one column named 'a'\. .*rename or drop"
        with pytest.raises(DuplicateColumns, match=message):
            open_table(table, "source 'old'")

    def test_names_that_are_alike_as_text_are_refused(self):
        with pytest.raises(DuplicateColumns, match=r"named '1'"):
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
        with pytest.raises(UnknownTable) as caught:
            open_table(table, "source 'old'")
        kind = type(table)
        assert f"Source 'old' is a {kind.__module__}.{kind.__qualname__}" in str(caught.value)
        assert "Give a NumPy array, a pandas or polars DataFrame" in str(caught.value)

    def test_a_subclass_of_a_frame_is_a_frame(self):
        class Frame(pd.DataFrame):
            pass

        assert open_table(Frame({"a": [1.0]}), "X").names == ("a",)
