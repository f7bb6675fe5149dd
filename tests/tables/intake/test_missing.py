"""gather(): values that are missing in the target and in sources."""

import numpy as np
import pandas as pd
import pytest

from poolwise import Moments
from poolwise.errors import BadSource, DataWarning, LeftOut, TooFewRows
from poolwise.tables.intake import gather
from tests.tables.intake.same import assert_same, moments_of


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

    def test_with_sources_rows_with_gaps_stay_in_their_table(self, target, y, old, y_old):
        target.loc[0, "bmi"] = np.nan
        target.loc[1:14, "dose"] = np.nan
        target.loc[15] = np.nan  # which has only its response
        old.loc[:9, "age"] = np.nan
        intake = gather(target, y, sources={"clinic": (old, y_old)})
        problem = intake.problem
        assert list(problem.sources) == list(problem.source_rows) == ["clinic"]
        assert (problem.target.rows, problem.sources["clinic"].rows) == (20, 50)
        assert problem.target.weight < 20.0
        assert intake.filled == {
            "the target": {"dose": 15, "bmi": 2, "age": 1},
            "clinic": {"age": 10},
        }
        assert intake.cautions == ()
        assert intake.optional == {"dose"}
        assert intake.positions.tolist() == list(range(20))

    def test_rows_of_small_patterns_have_gaps_of_the_nearest_table(self, target, y):
        target.loc[:5, "dose"] = np.nan
        target.loc[5, "age"] = np.nan
        target.loc[6, "bmi"] = np.nan
        intake = gather(target, y)
        assert intake.blocks == {"rows without dose": ("dose",)}
        assert intake.problem.sources["rows without dose"].rows == 6
        assert intake.problem.target.rows == 14
        assert intake.filled == {"the target": {"bmi": 1}, "rows without dose": {"age": 1}}

    def test_a_row_is_enough_for_a_target_if_every_column_has_a_value(self, target, y, old, y_old):
        target.loc[:9, "dose"], target.loc[10:, "bmi"] = np.nan, np.nan
        intake = gather(target, y, sources=(old, y_old))
        assert intake.problem.target.rows == 20

    def test_levels_without_one_in_common_are_pointed_out(self, target, y, old, y_old):
        target["ward"], old["ward"] = "A", "w"
        target.loc[:9, "ward"] = "B"
        (caution,) = gather(target, y, sources={"clinic": (old, y_old)}).cautions
        assert isinstance(caution, DataWarning)
        assert "'w' in table 'clinic' and 'A', 'B' in the target" in str(caution)

    def test_an_empty_source_is_pointed_out(self, target, y, old, y_old):
        empty = {"table": (old[:0], y_old[:0]), "moments": Moments.empty(["age", "y"])}
        intake = gather(target, y, sources=empty)
        assert not intake.problem.sources
        assert [type(c) for c in intake.cautions] == [LeftOut, LeftOut]

    def test_a_column_under_another_spelling_is_suggested(self, target, y, old, y_old):
        intake = gather(target, y, sources=(old.assign(Dose=1.0), y_old))
        assert "Is it 'dose' by another name?" in str(intake.cautions[0])

    def test_nan_stacked_rows_are_the_same_problem_as_a_source(self, target, y, old, y_old):
        stacked = pd.concat((target, old), ignore_index=True)
        one = gather(stacked, np.concatenate((y, y_old))).problem
        other = gather(target, y, sources=(old, y_old)).problem
        assert_same(one.target, other.target)
        assert_same(one.sources["rows without dose"], other.sources["source"])

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

    def test_a_source_without_any_feature_is_refused(self, target, y, old, y_old):
        with pytest.raises(BadSource, match=r"Table 'source' has no feature of the model"):
            gather(target, y, sources=(old * np.nan, y_old))

    def test_a_target_without_any_row_of_its_own_is_refused(self, target, y):
        target.loc[:9, "dose"], target.loc[10:, "age"] = np.nan, np.nan
        with pytest.raises(TooFewRows, match=r"no value in the target"):
            gather(target, y)
