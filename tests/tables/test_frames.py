"""Values of pandas, polars and Arrow: text, numbers and nothing, of every kind."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from poolwise.errors import NotNumeric
from poolwise.tables.encoding import Column
from poolwise.tables.memory import open_table
from tests.tables.encoded import OnlyAStream, encoded, objects

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
        {"g": pl.Series(["v", None, "u"], dtype=pl.Enum(["unused", "u", "v"]))}
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
    assert open_table(table, "X").levels(["g"]) == {}


@pytest.mark.parametrize("table", [TEXTS["polars str"], NUMBERS["pandas float"]])
def test_a_column_with_a_value_is_not_void(table):
    assert [*open_table(table, "X").levels(["g"])] == ["g"]


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_integers_beyond_53_bits_are_refused_unless_a_double_holds_them(kind):
    message = r"Column 'g' of X has 2 integers, up to 4,611,686,018,427,387,905 in size"
    with pytest.raises(NotNumeric, match=message):
        encoded(kind({"g": np.array([2**53 + 1, 7, 2**62 + 1])}))
    _, _, values = encoded(kind({"g": np.array([2**53 + 2, 7, -(2**62)])}))
    assert_array_equal(values[:, 0], [2.0**53 + 2.0, 7.0, -(2.0**62)])
