"""gather(): from what fit was given to a Problem, and what bad input gets."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from poolwise import Moments, Sources
from poolwise.errors import (
    BadWeights,
    DifferentResponse,
    DroppedColumns,
    DuplicateColumns,
    EmptySource,
    EmptyTarget,
    FragmentsLeftOut,
    LengthsDiffer,
    LevelsApart,
    MissingColumns,
    NoFeatures,
    NoResponse,
    NoSharedColumn,
    NotFinite,
    NotMoments,
    NotNumeric,
    ResponseInFeatures,
    RowsWithoutFeatures,
    SlicedSources,
    TooLarge,
    TooManyColumns,
    UnknownTable,
)
from poolwise.intake import gather
from poolwise.moments_intake import gather_moments


def moments_of(frame):
    return Moments.of_rows(tuple(frame), frame.to_numpy(dtype=float))


def assert_same(a, b):
    """The same numbers, column by column, whatever the order of columns."""
    assert set(a.names) == set(b.names)
    b = b.select(a.names)
    assert (a.rows, a.weight) == (b.rows, b.weight)
    assert_array_equal(a.mean, b.mean)
    S, T = (m.scatter_between(m.names, m.names) for m in (a, b))
    # A matrix product may sum in another order when its columns stand in another order.
    assert_allclose(S, T, rtol=1e-12, atol=1e-12 * np.abs(T).max(initial=0.0))


@pytest.fixture
def target():
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(20, 3)), columns=["age", "bmi", "dose"])


@pytest.fixture
def old():
    rng = np.random.default_rng(1)
    return pd.DataFrame(rng.normal(size=(50, 2)), columns=["bmi", "age"])


@pytest.fixture
def y():
    return np.random.default_rng(2).normal(size=20)


@pytest.fixture
def y_old():
    return np.random.default_rng(3).normal(size=50)


class TestMatching:
    def test_without_sources_the_problem_is_the_target(self, target, y):
        intake = gather(target, y)
        assert intake.problem.sources == {}
        assert intake.problem.response == "y"
        assert intake.cautions == ()
        assert_same(intake.problem.target, moments_of(target.assign(y=y)))

    def test_tables_are_matched_by_name_in_any_order(self, target, y, old, y_old):
        problem = gather(target, y, sources=(old, y_old)).problem
        (source,) = problem.sources.values()
        assert source.names == ("age", "bmi", "y")
        assert_same(source, moments_of(old.assign(y=y_old)))

    def test_arrays_are_matched_by_position(self, target, y, old, y_old):
        problem = gather(target.to_numpy(), y, sources=(old.to_numpy(), y_old)).problem
        assert problem.target.names == ("x0", "x1", "x2", "y")
        assert problem.sources["source"].names == ("x0", "x1", "y")

    def test_an_array_beside_a_frame_takes_the_first_names(self, target, y, old, y_old):
        source = gather(target, y, sources=(old.to_numpy(), y_old)).problem.sources["source"]
        assert source.names == ("age", "bmi", "y")
        assert source.mean_of("age") == moments_of(old).mean_of("bmi")

    def test_lists_of_rows_are_arrays(self, target, y, old, y_old):
        lists = (old.to_numpy().tolist(), y_old.tolist())
        ours = gather(target.to_numpy(), y, sources=lists).problem.sources["source"]
        arrays = gather(target.to_numpy(), y, sources=(old.to_numpy(), y_old)).problem
        assert_same(ours, arrays.sources["source"])

    def test_a_response_brings_its_name(self, target, y, old, y_old):
        problem = gather(target, pd.Series(y, name="cost"), sources=(old, y_old)).problem
        assert problem.response == "cost"
        assert problem.sources["source"].names == ("age", "bmi", "cost")

    def test_a_response_without_a_name_takes_the_one_given(self, target, y):
        assert gather(target, y, response="cost").problem.response == "cost"
        assert gather(target, pd.Series(y, name="own"), response="cost").problem.response == "own"

    @pytest.mark.parametrize(
        "kind",
        [
            list,
            lambda y: y[:, None],
            pd.Series,
            lambda y: pd.Series(y, dtype="Float64"),
            lambda y: pd.Series(y, index=np.arange(len(y))[::-1]),
            pl.Series,
            pa.array,
            lambda y: pa.chunked_array([y[:5], y[5:]]),
            lambda y: y.astype(object),
        ],
        ids=["list", "column", "pd", "pd Float64", "pd index", "pl", "pa", "pa chunks", "objects"],
    )
    def test_a_response_may_come_in_any_kind_of_array(self, target, y, kind):
        assert_same(gather(target, kind(y)).problem.target, gather(target, y).problem.target)

    @pytest.mark.parametrize("kind", [np.array, list, pd.Series, pl.Series, pa.array])
    def test_a_response_of_booleans_is_zero_and_one(self, target, y, kind):
        problem = gather(target, kind((y > 0).tolist())).problem
        assert problem.target.mean_of("y") == pytest.approx((y > 0).mean())

    def test_weights_go_to_their_own_table(self, target, y, old, y_old):
        w, w_old = np.linspace(1, 2, 20), np.linspace(0, 3, 50)
        problem = gather(target, y, weights=w, sources=(old, y_old, w_old)).problem
        assert problem.target.weight == pytest.approx(w.sum())
        assert problem.sources["source"].weight == pytest.approx(w_old.sum())
        assert problem.target.mean_of("age") == pytest.approx(np.average(target["age"], weights=w))

    def test_the_intercept_is_passed_on(self, target, y):
        assert gather(target, y, intercept=False).problem.intercept is False

    def test_rows_can_be_read_again_by_name(self, target, y, old, y_old):
        problem = gather(target, y, sources=(old, y_old)).problem
        ((block, weights),) = problem.source_rows["source"].blocks(["y", "age"])
        assert_array_equal(block, np.column_stack((y_old, old["age"])))
        assert weights is None
        ((block, _),) = problem.target_rows.blocks(["dose"])
        assert_array_equal(block[:, 0], target["dose"])


class TestLevels:
    def test_levels_come_from_all_tables_with_the_targets_first_as_reference(self, y, y_old):
        target = pd.DataFrame({"g": ["n", "s"] * 10, "x": y})
        old = pd.DataFrame({"g": ["e", "n", "w", "s", "e"] * 10})
        intake = gather(target, y, sources=(old, y_old))
        assert intake.columns[0].levels == ("n", "e", "s", "w")
        assert intake.problem.target.names == ("g=e", "g=s", "g=w", "x", "y")
        source = intake.problem.sources["source"]
        assert source.names == ("g=e", "g=s", "g=w", "y")
        assert_allclose(source.mean[:3], [0.4, 0.2, 0.2])
        assert intake.problem.target.is_constant("g=e")

    def test_the_reference_level_is_one_that_complete_rows_have(self, y):
        target = pd.DataFrame({"g": ["b", "c"] * 10, "x": y})
        target.loc[0] = ["a", np.nan]  # a level of the target, but of an incomplete row
        intake = gather(target, y)
        assert intake.columns[0].levels == ("b", "a", "c")
        assert intake.problem.sources["rows without x"].mean_of("g=a") == 1.0

    @pytest.mark.parametrize("name", ["X", "XX", "old"])
    def test_no_name_of_a_source_hides_the_levels_of_incomplete_rows(self, y, name):
        target = pd.DataFrame({"g": ["b", "c"] * 10, "x": y})
        target.loc[0] = ["a", np.nan]
        intake = gather(target, y, sources={name: (target[["x"]][1:], y[1:])})
        assert intake.columns[0].levels == ("b", "a", "c")

    def test_without_an_intercept_every_level_has_an_indicator(self, y):
        target = pd.DataFrame({"g": ["n", "s"] * 10, "h": ["u", "v"] * 10})
        names = gather(target, y, intercept=False).problem.target.names
        assert names == ("g=n", "g=s", "h=v", "y")

    def test_text_in_one_table_and_numbers_in_another_is_refused(self, y, y_old):
        target, old = pd.DataFrame({"g": ["n", "s"] * 10}), pd.DataFrame({"g": np.ones(50)})
        with pytest.raises(NotNumeric, match=r"'g' holds text in the target and numbers in source"):
            gather(target, y, sources=(old, y_old))

    def test_a_text_column_that_history_never_filled_is_unseen(self, y, y_old):
        target = pd.DataFrame({"x": y, "g": ["n", "s"] * 10})
        old = pd.DataFrame({"x": y_old, "g": np.nan})
        assert gather(target, y, sources=(old, y_old)).problem.sources["source"].names == ("x", "y")

    def test_an_indicator_with_the_name_of_a_column_is_refused(self, y):
        with pytest.raises(DuplicateColumns, match=r"\['g=s'\]"):
            gather(pd.DataFrame({"g": ["n", "s"] * 10, "g=s": y}), y)

    def test_text_with_one_level_says_nothing(self, y):
        with pytest.raises(NoFeatures):
            gather(pd.DataFrame({"g": ["n"] * 20}), y)


class TestMissing:
    def test_incomplete_rows_of_x_become_one_source_per_pattern(self, target, y):
        target.loc[:4, "dose"] = np.nan
        target.loc[5:7, ["age", "dose"]] = np.nan
        problem = gather(target, y).problem
        assert problem.target.rows == 12
        assert {n: (s.rows, s.names) for n, s in problem.sources.items()} == {
            "rows without dose": (5, ("age", "bmi", "y")),
            "rows without age, dose": (3, ("bmi", "y")),
        }
        expected = moments_of(target[["age", "bmi"]][:5].assign(y=y[:5]))
        assert_same(problem.sources["rows without dose"], expected)

    def test_patterns_of_too_few_rows_are_left_out_in_one_caution(self, target, y, old, y_old):
        target.loc[0, "bmi"] = np.nan
        target.loc[1:4, "dose"] = np.nan
        old.loc[:1, "age"] = np.nan
        intake = gather(target, y, sources={"clinic": (old, y_old)})
        assert list(intake.problem.sources) == ["rows without dose", "clinic"]
        assert intake.problem.sources["clinic"].rows == len(old) - 2
        assert [type(c) for c in intake.cautions] == [FragmentsLeftOut, FragmentsLeftOut]
        assert "1 rows of X lack values in 1 patterns" in str(intake.cautions[0])
        assert "2 rows of source 'clinic'" in str(intake.cautions[1])
        assert intake.optional == {"age", "bmi", "dose"}

    def test_the_largest_pattern_stays_however_small(self, target, y):
        target.loc[0, "dose"] = np.nan
        assert gather(target, y).problem.sources["rows without dose"].rows == 1

    def test_levels_without_one_in_common_are_pointed_out(self, target, y, old, y_old):
        target["ward"], old["ward"] = "A", "a"
        target.loc[0, "ward"] = "B"
        (caution,) = gather(target, y, sources={"clinic": (old, y_old)}).cautions
        assert isinstance(caution, LevelsApart)
        assert "['a'] in source 'clinic' and ['A', 'B'] in the target" in str(caution)

    def test_an_empty_source_is_pointed_out(self, target, y, old, y_old):
        empty = {"table": (old[:0], y_old[:0]), "moments": Moments.empty(["age", "y"])}
        intake = gather(target, y, sources=empty)
        assert not intake.problem.sources
        assert [type(c) for c in intake.cautions] == [EmptySource, EmptySource]

    def test_a_column_under_another_spelling_is_suggested(self, target, y, old, y_old):
        intake = gather(target, y, sources=(old.assign(Dose=1.0), y_old))
        assert "Is it ['dose'] by another name?" in str(intake.cautions[0])

    def test_nan_stacked_rows_are_the_same_problem_as_a_source(self, target, y, old, y_old):
        stacked = pd.concat((target, old), ignore_index=True)
        one = gather(stacked, np.concatenate((y, y_old))).problem
        other = gather(target, y, sources=(old, y_old)).problem
        assert_same(one.target, other.target)
        assert_same(one.sources["rows without dose"], other.sources["source"])

    def test_a_source_with_holes_becomes_one_source_per_pattern(self, target, y, old, y_old):
        old.loc[:9, "age"] = np.nan
        problem = gather(target, y, sources={"clinic": (old, y_old)}).problem
        assert {n: (s.rows, s.names) for n, s in problem.sources.items()} == {
            "clinic": (40, ("age", "bmi", "y")),
            "clinic without age": (10, ("bmi", "y")),
        }
        expected = moments_of(old[10:].assign(y=y_old[10:]))
        assert_same(problem.sources["clinic"], expected)
        assert list(problem.source_rows) == list(problem.sources)

    def test_a_source_column_of_nothing_is_unseen(self, target, y, old, y_old):
        old["dose"] = np.nan
        problem = gather(target, y, sources={"clinic": (old, y_old)}).problem
        assert {n: s.names for n, s in problem.sources.items()} == {"clinic": ("age", "bmi", "y")}

    def test_an_array_column_of_nothing_is_unseen(self, target, y, y_old):
        old = np.column_stack((y_old, y_old**2, np.full(50, np.nan)))
        (source,) = gather(target.to_numpy(), y, sources=(old, y_old)).problem.sources.values()
        assert (source.rows, source.names) == (50, ("x0", "x1", "y"))

    def test_weights_stay_with_their_rows(self, target, y):
        target.loc[::2, "dose"] = np.nan
        problem = gather(target, y, weights=np.arange(20.0)).problem
        assert problem.target.weight == pytest.approx(np.arange(20.0)[1::2].sum())
        source = problem.sources["rows without dose"]
        assert source.weight == pytest.approx(np.arange(20.0)[::2].sum())

    def test_a_missing_level_is_a_missing_column(self, y):
        target = pd.DataFrame({"x": y, "g": ["n", "s", None, "w"] * 5})
        problem = gather(target, y).problem
        assert problem.target.rows == 15
        assert problem.sources["rows without g"].names == ("x", "y")

    def test_sources_whose_names_clash_are_all_kept(self, target, y, old, y_old):
        target.loc[:4, "dose"] = np.nan
        named = {"rows without dose": (old, y_old), "rows": (target.assign(bmi=1.0), y)}
        problem = gather(target, y, sources=named).problem
        assert sorted(s.rows for s in problem.sources.values()) == [5, 5, 15, 50]
        assert problem.sources["rows without dose"].rows == 50

    def test_rows_without_any_feature_are_refused(self, target, y):
        target.loc[3] = np.nan
        with pytest.raises(RowsWithoutFeatures, match=r"The target has 1 rows"):
            gather(target, y)

    def test_no_complete_row_is_refused_with_the_number_of_rows(self, target, y):
        target["dose"] = np.nan
        with pytest.raises(EmptyTarget, match=r"None of the 20 rows of X has all columns"):
            gather(target, y)


class TestKindsOfSources:
    @pytest.fixture
    def pair(self, old, y_old):
        return old, y_old

    @pytest.fixture
    def expected(self, old, y_old):
        return moments_of(old.assign(y=y_old))

    @pytest.mark.parametrize(
        ("wrap", "name"),
        [
            (lambda old, y: (old, y), "source"),
            (lambda old, y: (old, y, None), "source"),
            (lambda old, y: [(old, y)], "source 1"),
            (lambda old, y: ((old, y),), "source 1"),
            (lambda old, y: {"2019": (old, y)}, "2019"),
            (lambda old, y: {2019: (old, y)}, "2019"),
            (lambda old, y: old.assign(y=y), "source"),
            (lambda old, y: {"2019": pl.from_pandas(old.assign(y=y))}, "2019"),
            (lambda old, y: [pa.Table.from_pandas(old.assign(y=y))], "source 1"),
            (lambda old, y: moments_of(old.assign(y=y)), "source"),
            (lambda old, y: {"2019": moments_of(old.assign(y=y))}, "2019"),
            (lambda old, y: Sources({"2019": (old, y)}), "2019"),
            (lambda old, y: Sources(Sources([(old, y)])), "source 1"),
        ],
        ids=[
            *("pair", "triple", "list", "tuple", "mapping", "number", "table", "polars", "arrow"),
            *("moments", "mapping of moments", "Sources", "Sources of Sources"),
        ],
    )
    def test_every_way_to_give_a_source_is_the_same_source(
        self, target, y, pair, expected, wrap, name
    ):
        intake = gather(target, y, sources=wrap(*pair))
        assert list(intake.problem.sources) == [name]
        assert_same(intake.problem.sources[name], expected)
        assert intake.cautions == ()

    def test_several_sources_keep_their_order_and_names(self, target, y, pair, expected):
        sources = {"b": pair, "m": expected, "a": pair}
        problem = gather(target, y, sources=sources).problem
        assert list(problem.sources) == ["b", "m", "a"]
        assert list(problem.source_rows) == ["b", "a"]

    def test_moments_of_encoded_columns_are_matched_by_name(self, y):
        target = pd.DataFrame({"g": ["n", "s"] * 10, "x": y})
        given = Moments.of_rows(("g=s", "y"), np.eye(2))
        problem = gather(target, y, sources=given).problem
        assert problem.sources["source"].names == ("g=s", "y")

    @pytest.mark.parametrize("empty", ["frame", "array", "untyped", "moments"])
    def test_an_empty_source_changes_nothing(self, target, y, pair, empty):
        nothing = {
            "frame": (target[:0], y[:0]),
            "array": (np.empty((0, 2)), np.empty(0)),
            "untyped": (pd.DataFrame(columns=["age", "bmi"]), []),
            "moments": Moments.empty(["age", "y"]),
        }[empty]
        with_it = gather(target, y, sources={"none": nothing, "old": pair})
        without = gather(target, y, sources={"old": pair})
        assert list(with_it.problem.sources) == ["old"]
        assert_same(with_it.problem.sources["old"], without.problem.sources["old"])
        assert with_it.columns == without.columns
        assert with_it.optional == without.optional

    def test_a_source_whose_weights_are_zero_changes_nothing(self, target, y, old, y_old):
        assert gather(target, y, sources=(old, y_old, np.zeros(50))).problem.sources == {}


class TestExtraColumns:
    @pytest.mark.parametrize("kind", ["pair", "table", "moments"])
    def test_columns_that_the_target_lacks_are_dropped_with_a_caution(
        self, target, y, old, y_old, kind
    ):
        old = old.assign(height=1.0, region=2.0)
        whole = old.assign(y=y_old)
        source = {"pair": (old, y_old), "table": whole, "moments": moments_of(whole)}[kind]
        intake = gather(target, y, sources={"clinic": source})
        assert set(intake.problem.sources["clinic"].names) == {"age", "bmi", "y"}
        (caution,) = intake.cautions
        assert isinstance(caution, DroppedColumns)
        assert "Source 'clinic' has ['height', 'region'], which the target lacks" in str(caution)

    def test_extra_columns_may_hold_anything(self, target, y, old, y_old):
        old["when"] = pd.Timestamp("2020-01-01")
        (caution,) = gather(target, y, sources=(old, y_old)).cautions
        assert "['when']" in str(caution)


class TestBadResponse:
    def test_different_names_of_the_response_are_refused(self, target, y, old, y_old):
        sources = {"clinic": (old, pd.Series(y_old, name="price"))}
        message = r"response of source 'clinic' is named 'price', the target's is 'cost'"
        with pytest.raises(DifferentResponse, match=message):
            gather(target, pd.Series(y, name="cost"), sources=sources)

    def test_a_name_on_one_side_alone_is_no_difference(self, target, y, old, y_old):
        sources = (old, pd.Series(y_old, name="price"))
        assert gather(target, y, sources=sources).problem.response == "y"

    def test_the_response_among_the_features_is_refused(self, target, y):
        with pytest.raises(ResponseInFeatures, match=r"X has a column named 'dose'.*take it out"):
            gather(target, pd.Series(y, name="dose"))

    def test_the_response_among_the_features_of_a_source_is_refused(self, target, y, old, y_old):
        with pytest.raises(ResponseInFeatures, match=r"[Ss]ource 'clinic' has a column named 'y'"):
            gather(target, y, sources={"clinic": (old.assign(y=y_old), y_old)})

    def test_a_table_without_the_response_is_refused_with_a_hint(self, target, y, old, y_old):
        message = r"Source 'clinic' has no column 'cost'.*Did you mean 'costs'"
        with pytest.raises(NoResponse, match=message):
            gather(target, y, sources={"clinic": old.assign(costs=y_old)}, response="cost")

    def test_moments_without_the_response_show_all_they_have(self, target, y):
        given = Moments.of_rows(("age", "cost"), np.eye(2))
        with pytest.raises(NoResponse, match=r"it has \['age', 'cost'\]"):
            gather(target, y, sources=given)

    @pytest.mark.parametrize(
        ("bad", "kind"),
        [
            (lambda y: np.column_stack((y, y)), r"float64, shape \(20, 2\)"),
            (lambda y: y.astype(str), r"<U32, shape \(20,\)"),
            (lambda y: y.astype("datetime64[s]"), r"datetime64\[s\]"),
            (lambda y: y + 1j, "complex128"),
            (lambda y: ["high"] * 20, "<U4"),
            (lambda y: pd.Series(["high"] * 20), "holds text"),
            (lambda y: pd.Series(["1.5"] * 20), "holds text"),
            (lambda y: pl.Series(["1.5"] * 20), "<U3"),
            (lambda y: pd.Series([(1, 2)] * 20), "is not numeric"),
        ],
        ids=["matrix", "str", "dates", "complex", "list", "words", "pandas", "polars", "tuples"],
    )
    def test_a_response_that_is_no_number_per_row_is_refused(self, target, y, bad, kind):
        message = rf"Column 'y' is the response and .*{kind}.*Give one number per row"
        with pytest.raises(NotNumeric, match=message):
            gather(target, bad(y))

    @pytest.mark.parametrize(
        "kind",
        [
            np.array,
            list,
            pd.Series,
            lambda y: pd.Series(y, dtype="Float64"),
            lambda y: pl.Series([None if np.isnan(v) else v for v in y]),
            lambda y: pa.array(y, from_pandas=True),
            lambda y: np.array([None if np.isnan(v) else v for v in y], dtype=object),
        ],
        ids=["array", "list", "pandas", "pandas NA", "polars null", "arrow null", "None"],
    )
    def test_holes_in_the_response_are_counted(self, target, y, kind):
        y[[2, 7]] = np.nan
        message = r"The response of the target contains NaN or infinity: \{'y': 2\} of 20 rows"
        with pytest.raises(NotFinite, match=message):
            gather(target, kind(y))

    def test_holes_in_the_response_of_a_source_name_the_source(self, target, y, old, y_old):
        y_old[4] = np.inf
        message = r"The response of source 'clinic' contains NaN or infinity: \{'y': 1\} of 50 rows"
        for source in ((old, y_old), old.assign(y=y_old)):
            with pytest.raises(NotFinite, match=message):
                gather(target, y, sources={"clinic": source})

    def test_lengths_that_differ_are_both_told(self, target, y, old, y_old):
        with pytest.raises(LengthsDiffer, match=r"[Tt]he target has 20 rows of features and 19 of"):
            gather(target, y[:-1])
        with pytest.raises(LengthsDiffer, match=r"[Ss]ource 'clinic' has 50 rows .* and 20 of"):
            gather(target, y, sources={"clinic": (old, y)})


class TestBadFeatures:
    def test_infinity_in_the_target_is_counted_by_column(self, target, y):
        target.loc[[1, 2], "bmi"] = np.inf
        target.loc[3, "age"] = -np.inf
        message = r"[Tt]he target contains NaN or infinity: \{'age': 1, 'bmi': 2\} of 20 rows"
        with pytest.raises(NotFinite, match=message):
            gather(target, y)

    def test_infinity_in_a_source_names_the_source(self, target, y, old, y_old):
        old.loc[1, "age"] = np.inf
        message = r"[Ss]ource 'clinic' contains NaN or infinity: \{'age': 1\} of 50 rows"
        with pytest.raises(NotFinite, match=message):
            gather(target, y, sources={"clinic": (old, y_old)})

    def test_infinity_beside_holes_is_not_taken_for_a_hole(self, target, y, old, y_old):
        old.loc[1, "age"] = np.inf
        old.loc[2, "age"] = np.nan
        with pytest.raises(
            NotFinite, match=r"[Ss]ource 'clinic' contains NaN or infinity: \{'age': 1"
        ):
            gather(target, y, sources={"clinic": (old, y_old)})

    def test_columns_with_numbers_beyond_1e300_are_named(self, target, y):
        target.loc[3, "bmi"] = -2e300
        with pytest.raises(TooLarge, match=r"\['bmi'\] are beyond 1e\+300 in size"):
            gather(target, y)
        target.loc[3, "bmi"] = 1e300
        assert gather(target, y).problem.units == {"bmi": 997}  # 1e300 is just below 2**997

    def test_an_empty_target_is_refused(self, target, y):
        with pytest.raises(
            EmptyTarget, match=r"The target has no rows.*a minimum of 1 is required"
        ):
            gather(target[:0], y[:0])
        with pytest.raises(EmptyTarget, match="weights are all zero"):
            gather(target, y, weights=np.zeros(20))

    def test_a_target_without_features_is_refused(self, y):
        with pytest.raises(NoFeatures, match=r"beside the response 'y'"):
            gather(np.empty((20, 0)), y)

    def test_a_source_that_shares_no_column_is_refused(self, target, y, old, y_old):
        strange = old.rename(columns={"age": "Alter", "bmi": "BMI"})
        message = (
            r"'clinic' shares no feature .* has \['BMI', 'Alter'\], .* \['age', 'bmi', 'dose'\]"
        )
        with pytest.raises(NoSharedColumn, match=message):
            gather(target, y, sources={"clinic": (strange, y_old)})

    def test_moments_that_share_no_column_show_all_they_have(self, target, y):
        given = Moments.of_rows(("Alter", "y"), np.eye(2))
        with pytest.raises(
            NoSharedColumn, match=r"it has \['Alter', 'y'\], the target has \['age'"
        ):
            gather(target, y, sources={"clinic": given})

    def test_an_array_with_more_columns_than_the_target_is_refused(self, target, y, y_old):
        message = r"'clinic' is an array of 4 columns, the target has 3.*at most 3 columns"
        with pytest.raises(TooManyColumns, match=message):
            gather(target, y, sources={"clinic": (np.ones((50, 4)), y_old)})

    def test_a_source_column_of_dates_names_column_and_source(self, target, y, old, y_old):
        old["age"] = pd.Timestamp("2020-01-01")
        with pytest.raises(NotNumeric, match=r"Column 'age' of source 'clinic' holds Datetime"):
            gather(target, y, sources={"clinic": (old, y_old)})

    def test_two_columns_of_one_name_are_refused_where_they_are(self, target, y, old, y_old):
        old.columns = ["age", "age"]
        with pytest.raises(
            DuplicateColumns, match=r"[Ss]ource 'clinic' has more than one .*\['age'\]"
        ):
            gather(target, y, sources={"clinic": (old, y_old)})

    def test_a_table_of_another_type_is_refused(self, target, y, y_old):
        with pytest.raises(UnknownTable, match=r"[Ss]ource 'clinic' is a builtins\.dict"):
            gather(target, y, sources={"clinic": ({"age": y_old}, y_old)})

    @pytest.mark.parametrize(
        ("weights", "message"),
        [
            (np.ones(19), r"shape \(19,\) for 20 rows"),
            (-np.ones(20), "20 weights are negative, least -1"),
            ([None, *[1.0] * 19], "1 weights are NaN or infinite"),
            ([1e101, *[1.0] * 19], r"The largest weight, 1e\+101, is above 1e\+100"),
            ([1e-101, *[1.0] * 19], "A weight, 1e-101, is below 1e-100 and not zero"),
            (["heavy"] * 20, "Weights are not numbers"),
        ],
    )
    def test_bad_weights_are_refused(self, target, y, weights, message):
        with pytest.raises(BadWeights, match=message):
            gather(target, y, weights=weights)
        with pytest.raises(BadWeights, match=message):
            gather(target, y, sources=(target, y, weights))

    def test_a_bare_list_as_long_as_the_target_is_refused(self, target, y, old, y_old):
        with pytest.raises(SlicedSources, match=r"list of length 20, and X has 20 rows"):
            gather(target, y, sources=[(old, y_old)] * 20)
        wrapped = Sources([(old, y_old)] * 20)
        assert len(gather(target, y, sources=wrapped).problem.sources) == 20


class TestMoments:
    def test_moments_are_matched_by_name(self, target, y, old, y_old):
        whole, history = moments_of(target.assign(y=y)), moments_of(old.assign(z=1.0, y=y_old))
        intake = gather_moments(whole, {"old": history}, "y", intercept=False)
        problem, (caution,) = intake.problem, intake.cautions
        assert problem.target is whole
        assert problem.intercept is False
        assert_same(problem.sources["old"], moments_of(old.assign(y=y_old)))
        assert "Source 'old' has ['z']" in str(caution)

    def test_no_sources_are_no_sources(self, target, y):
        whole = moments_of(target.assign(y=y))
        intake = gather_moments(whole, None, "y", intercept=True)
        assert (intake.problem.sources, intake.cautions) == ({}, ())

    def test_rows_beside_moments_are_refused(self, target, y, old, y_old):
        whole = moments_of(target.assign(y=y))
        with pytest.raises(NotMoments, match=r"Source 'old' is a DataFrame"):
            gather_moments(whole, {"old": (old, y_old)}, "y", intercept=True)

    def test_moments_that_share_no_column_are_refused(self, target, y):
        whole = moments_of(target.assign(y=y))
        given = Moments.of_rows(("Alter", "y"), np.eye(2))
        with pytest.raises(NoSharedColumn, match=r"it has \['Alter', 'y'\]"):
            gather_moments(whole, given, "y", intercept=True)

    def test_a_response_that_is_not_there_is_refused(self, target, y):
        whole = moments_of(target.assign(y=y))
        with pytest.raises(MissingColumns, match=r"No column named \['cost'\]"):
            gather_moments(whole, None, "cost", intercept=True)
