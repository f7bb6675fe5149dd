"""Columns: the same encoding for the target and every source."""

import pandas as pd
import pytest

from poolwise.errors import NotNumeric
from poolwise.tables.encoding import Column, encoded, unify
from poolwise.tables.memory import open_table


def unified(target, sources=None, **options):
    ours = levels(target)
    others = {name: levels(source) for name, source in (sources or {}).items()}
    return unify([*target], ours, others, **options)


def levels(table):
    opened = open_table(pd.DataFrame(table), "X")
    return opened.levels(opened.names)


def test_numbers_keep_their_name():
    (column,) = unified({"age": [1, 2]})
    assert column == Column("age")
    assert (column.outputs, column.indicated) == (("age",), ())


def test_levels_come_from_all_tables():
    (column,) = unified(
        {"region": ["north", "south"]}, {"a": {"region": ["west"]}, "b": {"region": ["east"]}}
    )
    assert column.levels == ("north", "east", "south", "west")
    assert column.outputs == ("region=east", "region=south", "region=west")


def test_the_reference_level_is_the_first_that_the_target_has():
    (column,) = unified({"g": ["c", "b", "c"]}, {"old": {"g": ["a", "b"]}})
    assert column.levels == ("b", "a", "c")
    assert column.outputs == ("g=a", "g=c")


def test_levels_do_not_depend_on_the_order_of_rows_or_sources():
    sources = {"a": {"g": ["w", "v"]}, "b": {"g": ["u", "x"]}}
    backwards = dict(reversed(sources.items()))
    assert unified({"g": ["n", "m"]}, sources) == unified({"g": ["m", "n"]}, backwards)


def test_without_an_intercept_the_first_column_of_levels_keeps_all():
    first, number, second = unified(
        {"g": ["a", "b"], "x": [1.0, 2.0], "h": ["u", "v"]}, intercept=False
    )
    assert (first.full, first.outputs) == (True, ("g=a", "g=b"))
    assert number.outputs == ("x",)
    assert (second.full, second.outputs) == (False, ("h=v",))


def test_encoded_names_run_over_all_columns():
    columns = unified({"g": ["a", "b", "c"], "x": [1.0, 2.0, 3.0]})
    assert encoded(columns) == ("g=b", "g=c", "x")


def test_levels_beyond_the_most_frequent_are_other_or_have_the_mean_effect():
    few = {"g": [*"aaaaaabbbbbb", "c", "d"]}
    assert unified(few)[0].levels == ("a", "b", "c", "d")
    (column,) = unified(few, max_levels=2)
    assert (column.levels, column.other, column.means) == (("a", "b"), None, (0.5,))
    assert column.indicators(["a", "b", "c", "new", None])[:4, 0].tolist() == [0.0, 1.0, 0.5, 0.5]
    (column,) = unified(
        few, {"old": {"g": [*"cddd"]}}, max_levels=2
    )  # d is seen four times, c twice
    assert (column.levels, column.other) == (("a", "b", "other"), "other")
    assert column.indicators(["c", "d", "new"])[:, 1].tolist() == [1.0, 1.0, 1.0]
    (column,) = unified({"g": [*few["g"], "Other", "Other", "Other"]}, max_levels=2)
    assert (column.levels, column.other) == (("a", "b", "Other"), "Other")


def test_the_most_frequent_levels_are_kept():
    many = {"g": [*"a" * 9, *"b" * 8, *"c" * 7, *"d" * 6]}
    (column,) = unified(many, max_levels=2)
    assert (column.levels, column.other) == (("a", "b", "other"), "other")


def test_spellings_of_a_level_in_other_tables_are_the_same_level():
    ours, theirs = {"g": ["North", "South"] * 6}, {"g": ["north ", "SOUTH", "east"] * 6}
    (column,) = unified(ours, {"old": theirs})
    assert column.levels == ("North", "South", "east")
    assert dict(column.aliases) == {"north ": "North", "SOUTH": "South"}
    (apart,) = unified({"g": ["a", "A"] * 6}, {"old": {"g": ["a", "A"] * 6}})
    assert apart.levels == ("A", "a")  # a table that distinguishes them means it
    (column,) = unified({"g": ["yes", "No", "no", "YES"] * 6})
    assert len(column.levels) == 2


def test_ordered_categories_keep_their_order():
    sizes = pd.Categorical(["mid", "low", "high"] * 6, ["low", "mid", "high"], ordered=True)
    (column,) = unified({"size": sizes}, {"old": {"size": ["low", "giant"] * 6}})
    assert column.levels == ("low", "mid", "high", "giant")


def test_one_level_needs_no_indicator():
    (column,) = unified({"g": ["a", "a"]})
    assert (column.levels, column.outputs) == (("a",), ())


def test_a_column_that_only_a_source_has_is_left_out():
    assert [c.name for c in unified({"a": [1]}, {"old": {"a": [1], "b": ["x"]}})] == ["a"]


@pytest.mark.parametrize(
    ("ours", "theirs", "words"),
    [
        (["a", "b"], [1.0, 2.0], "text in the target and numbers in table 'old'"),
        ([1.0, 2.0], ["a", "b"], "numbers in the target and text in table 'old'"),
        ([True, False], ["yes", "no"], "numbers in the target and text in table 'old'"),
    ],
)
def test_text_here_and_numbers_there_are_refused(ours, theirs, words):
    with pytest.raises(NotNumeric) as caught:
        unified({"g": ours}, {"old": {"g": theirs}})
    assert f"Column 'g' holds {words}" in str(caught.value)
    assert "Convert it on one side" in str(caught.value)


@pytest.mark.parametrize(
    "nothing",
    [
        pd.Series([float("nan")] * 3),
        pd.Series([None] * 3, dtype=object),
        pd.Series([None] * 3, dtype="string"),
        pd.Series([None] * 3, dtype="Int64"),
        pd.Series([], dtype=float),
        pd.Series([], dtype=object),
    ],
    ids=["nan", "none", "string", "Int64", "no rows", "no rows of objects"],
)
@pytest.mark.parametrize("ours", [["a", "b"], [1.0, 2.0]], ids=["text", "numbers"])
def test_a_column_without_a_value_has_no_type(ours, nothing):
    assert unified({"g": ours}, {"old": {"g": nothing}}) == unified({"g": ours})
