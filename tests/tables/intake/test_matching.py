"""gather(): from what fit was given to a Problem."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from poolwise import Moments, Sources
from poolwise.errors import BadColumns, LeftOut, NotNumeric
from poolwise.tables.intake import gather
from tests.tables.intake.same import assert_same, moments_of


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

    def test_the_reference_level_is_one_that_the_target_has(self, y):
        target = pd.DataFrame({"g": ["b", "c"] * 10, "x": y})
        target.loc[:4] = ["a", np.nan]  # a level of the rows of X, but not of the target
        intake = gather(target, y)
        assert intake.columns[0].levels == ("b", "a", "c")
        assert intake.problem.sources["rows without x"].mean_of("g=a") == 1.0

    @pytest.mark.parametrize("name", ["X", "XX", "old"])
    def test_no_name_of_a_source_hides_the_levels_of_rows_with_gaps(self, y, name):
        target = pd.DataFrame({"g": ["b", "c"] * 10, "x": y})
        target.loc[0] = ["a", np.nan]
        intake = gather(target, y, sources={name: (target[["x"]][1:], y[1:])})
        assert intake.columns[0].levels == ("a", "b", "c")

    def test_without_an_intercept_every_level_has_an_indicator(self, y):
        target = pd.DataFrame({"g": ["n", "s"] * 10, "h": ["u", "v"] * 10})
        names = gather(target, y, intercept=False).problem.target.names
        assert names == ("g=n", "g=s", "h=v", "y")

    def test_text_in_one_table_and_numbers_in_another_is_refused(self, y, y_old):
        target, old = pd.DataFrame({"g": ["n", "s"] * 10}), pd.DataFrame({"g": np.ones(50)})
        with pytest.raises(NotNumeric, match=r"'g' holds text in the target and numbers in table"):
            gather(target, y, sources=(old, y_old))

    def test_a_text_column_that_history_never_filled_is_unseen(self, y, y_old):
        target = pd.DataFrame({"x": y, "g": ["n", "s"] * 10})
        old = pd.DataFrame({"x": y_old, "g": np.nan})
        assert gather(target, y, sources=(old, y_old)).problem.sources["source"].names == ("x", "y")

    def test_an_indicator_with_the_name_of_a_column_is_refused(self, y):
        with pytest.raises(BadColumns, match=r"named 'g=s'"):
            gather(pd.DataFrame({"g": ["n", "s"] * 10, "g=s": y}), y)

    def test_text_with_one_level_says_nothing(self, y):
        with pytest.raises(BadColumns):
            gather(pd.DataFrame({"g": ["n"] * 20}), y)


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
        assert isinstance(caution, LeftOut)
        assert "Table 'clinic' has 'height', 'region', not among the features" in str(caution)

    def test_extra_columns_may_hold_anything(self, target, y, old, y_old):
        old["when"] = pd.Timestamp("2020-01-01")
        (caution,) = gather(target, y, sources=(old, y_old)).cautions
        assert "'when'" in str(caution)
