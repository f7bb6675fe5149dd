"""Categories and texts of pandas, polars and Arrow become levels, or are refused."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from poolwise.errors import BadLevels, NotNumeric
from poolwise.tables.encoding import Column, unify
from poolwise.tables.inspection import inspect
from poolwise.tables.memory import open_table
from tests.tables.encoded import encoded


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
        (column,) = unify(opened.names, opened.levels(opened.names), {}, intercept=True)
        assert column.levels == ("", "Genève", "東京")
        assert column.outputs == ("région=Genève", "région=東京")
        expected = [[1, 0], [0, 1], [0, 0], [1, 0]]
        assert_array_equal(opened.read([column], 0, 4), expected)

    @pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
    def test_too_many_levels_look_like_an_identifier(self, kind):
        table = open_table(kind({"g": [f"id {k}" for k in range(30)], "x": range(30)}), "X")
        found = inspect(replace(table, chosen=frozenset(["x"])), "X")
        assert [*found.kinds] == ["x"]
        assert [(c.kind, c.why) for c in found.left_out] == [
            ("identifier", "30 different texts in 30 rows name rows")
        ]

    def test_the_limit_holds_for_all_tables_together(self):
        frames = [pd.DataFrame({"g": [f"{t} {k}" for k in range(300)]}) for t in "ab"]
        ours, theirs = (open_table(frame, "X").levels(["g"]) for frame in frames)
        (column,) = unify(["g"], ours, {"b": theirs})
        assert (len(column.levels), column.other) == (51, "other")

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
        assert len(encoded(codes)[0]) == 43  # a small table: none is merged
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
    def test_an_unseen_level_is_refused_or_has_the_mean_effect(self, kind):
        opened = open_table(kind({"g": ["b", "w", None]}), "X")
        with pytest.raises(BadLevels, match=r"'g' holds 'w'.*levels are 'a', 'b'"):
            opened.read([Column("g", ("a", "b"), strict=True)], 0, 3)
        lenient = Column("g", ("a", "b"), means=(0.25,))
        assert_array_equal(opened.read([lenient], 0, 3), [[1.0], [0.25], [np.nan]])

    def test_all_levels_get_an_indicator_when_asked(self):
        opened = open_table(pl.DataFrame({"g": ["a", "b"]}), "X")
        assert_array_equal(opened.read([Column("g", ("a", "b"), full=True)], 0, 2), np.eye(2))
