"""gather(): what bad input gets."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from poolwise import Moments, Sources
from poolwise.errors import (
    BadColumns,
    BadSource,
    BadTable,
    BadWeights,
    NotFinite,
    NotNumeric,
    OutOfRange,
    TooFewRows,
)
from poolwise.tables.intake import gather


class TestBadResponse:
    def test_different_names_of_the_response_are_refused(self, target, y, old, y_old):
        sources = {"clinic": (old, pd.Series(y_old, name="price"))}
        message = r"response of table 'clinic' is named 'price', the target's is 'cost'"
        with pytest.raises(BadSource, match=message):
            gather(target, pd.Series(y, name="cost"), sources=sources)

    def test_a_name_on_one_side_alone_is_no_difference(self, target, y, old, y_old):
        sources = (old, pd.Series(y_old, name="price"))
        assert gather(target, y, sources=sources).problem.response == "y"

    def test_the_response_among_the_features_is_refused(self, target, y):
        with pytest.raises(BadColumns, match=r"The target has a column named 'dose'.*take it out"):
            gather(target, pd.Series(y, name="dose"))

    def test_the_response_among_the_features_of_a_source_is_refused(self, target, y, old, y_old):
        with pytest.raises(BadColumns, match=r"[Tt]able 'clinic' has a column named 'y'"):
            gather(target, y, sources={"clinic": (old.assign(y=y_old), y_old)})

    def test_a_table_without_the_response_is_refused_with_a_hint(self, target, y, old, y_old):
        message = r"Table 'clinic' has no column 'cost'.*Did you mean 'costs'"
        with pytest.raises(BadSource, match=message):
            gather(target, y, sources={"clinic": old.assign(costs=y_old)}, response="cost")

    def test_moments_without_the_response_show_all_they_have(self, target, y):
        given = Moments.of_rows(("age", "cost"), np.eye(2))
        with pytest.raises(BadSource, match=r"it has 'age', 'cost'"):
            gather(target, y, sources=given)

    @pytest.mark.parametrize(
        ("bad", "kind"),
        [
            (lambda y: np.column_stack((y, y)), r"float64, shape \(20, 2\)"),
            (lambda y: y.astype(str), "numbers stored as text"),
            (lambda y: y.astype("datetime64[s]"), r"datetime64\[s\]"),
            (lambda y: y + 1j, "complex128"),
            (lambda y: ["high"] * 20, "holds text, 'high'"),
            (lambda y: pd.Series(["3", "x", *["4"] * 18]), "holds text, 'x' for one"),
            (lambda y: pd.Series(["1.5"] * 20), "numbers stored as text, '1.5'"),
            (lambda y: pl.Series(["1.5"] * 20), "numbers stored as text, '1.5'"),
            (lambda y: pd.Series([(1, 2)] * 20), "is not numeric"),
        ],
        ids=["matrix", "str", "dates", "complex", "list", "words", "pandas", "polars", "tuples"],
    )
    def test_a_response_that_is_no_number_per_row_is_refused(self, target, y, bad, kind):
        message = rf"Column 'y' is the response and .*{kind}.*(Give one number per row|Convert it)"
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
    def test_rows_without_a_response_are_left_out_and_counted(self, target, y, kind):
        y[[2, 7]] = np.nan
        found = gather(target, kind(y))
        assert (found.rows.count, found.account.tables[0].without_response) == (18, 2)
        assert found.positions.tolist() == [k for k in range(20) if k not in (2, 7)]
        with pytest.raises(NotFinite, match=r"lacks the response 'y' in 2 of 20 rows"):
            gather(target, kind(y), strict=True)

    def test_holes_in_the_response_of_a_source_name_the_source(self, target, y, old, y_old):
        y_old[4] = np.inf
        message = r"The response of table 'clinic' contains NaN or infinity: 'y' in 1 of 50 rows"
        for source in ((old, y_old), old.assign(y=y_old)):
            with pytest.raises(NotFinite, match=message):
                gather(target, y, sources={"clinic": source})

    def test_lengths_that_differ_are_both_told(self, target, y, old):
        with pytest.raises(BadTable, match=r"[Tt]he target has 20 rows of features and 19 of"):
            gather(target, y[:-1])
        with pytest.raises(BadTable, match=r"[Tt]able 'clinic' has 50 rows .* and 20 of"):
            gather(target, y, sources={"clinic": (old, y)})


class TestBadFeatures:
    def test_infinity_in_the_target_is_counted_by_column(self, target, y):
        target.loc[[1, 2], "bmi"] = np.inf
        target.loc[3, "age"] = -np.inf
        message = r"[Tt]he target contains NaN or infinity: 'age' in 1, 'bmi' in 2 of 20 rows"
        with pytest.raises(NotFinite, match=message):
            gather(target, y)

    def test_infinity_in_a_source_names_the_source(self, target, y, old, y_old):
        old.loc[1, "age"] = np.inf
        message = r"[Tt]able 'clinic' contains NaN or infinity: 'age' in 1 of 50 rows"
        with pytest.raises(NotFinite, match=message):
            gather(target, y, sources={"clinic": (old, y_old)})

    def test_infinity_beside_holes_is_not_taken_for_a_hole(self, target, y, old, y_old):
        old.loc[1, "age"] = np.inf
        old.loc[2, "age"] = np.nan
        with pytest.raises(
            NotFinite, match=r"[Tt]able 'clinic' contains NaN or infinity: 'age' in 1"
        ):
            gather(target, y, sources={"clinic": (old, y_old)})

    def test_columns_beyond_1e75_are_named(self, target, y):
        target.loc[3, "bmi"] = -2e75
        with pytest.raises(OutOfRange, match=r"'bmi' are above 1e\+75 or below 1e-75"):
            gather(target, y)
        target.loc[3, "bmi"] = 1e75
        assert gather(target, y).problem.target.high.max() == 1e75

    def test_an_empty_target_is_refused(self, target, y):
        with pytest.raises(TooFewRows, match=r"There are no rows.*a minimum of 1 is required"):
            gather(target[:0], y[:0])
        with pytest.raises(TooFewRows, match="weights are all zero"):
            gather(target, y, weights=np.zeros(20))

    def test_a_target_without_features_is_refused(self, y):
        with pytest.raises(BadColumns, match=r"beside the response 'y'"):
            gather(np.empty((20, 0)), y)

    def test_a_source_that_shares_no_column_is_refused(self, target, y, old, y_old):
        strange = old.rename(columns={"age": "Alter", "bmi": "BMI"})
        message = (
            r"'clinic' has no feature of the model: .* 'BMI', 'Alter', .* 'age', 'bmi', 'dose'"
        )
        with pytest.raises(BadSource, match=message):
            gather(target, y, sources={"clinic": (strange, y_old)})

    def test_moments_that_share_no_column_show_all_they_have(self, target, y):
        given = Moments.of_rows(("Alter", "y"), np.eye(2))
        with pytest.raises(BadSource, match=r"it has 'Alter', 'y', and the features are 'age'"):
            gather(target, y, sources={"clinic": given})

    def test_an_array_with_more_columns_than_the_target_is_refused(self, target, y, y_old):
        message = r"'clinic' is an array of 4 columns, the target has 3.*at most 3 columns"
        with pytest.raises(BadSource, match=message):
            gather(target, y, sources={"clinic": (np.ones((50, 4)), y_old)})

    def test_a_source_column_of_dates_names_column_and_source(self, target, y, old, y_old):
        old["age"] = pd.Timestamp("2020-01-01")
        with pytest.raises(NotNumeric, match=r"Column 'age' of table 'clinic' holds Datetime"):
            gather(target, y, sources={"clinic": (old, y_old)})

    def test_two_columns_of_one_name_are_refused_where_they_are(self, target, y, old, y_old):
        old.columns = ["age", "age"]
        with pytest.raises(BadColumns, match=r"[Tt]able 'clinic' has more than one .*'age'"):
            gather(target, y, sources={"clinic": (old, y_old)})

    def test_a_table_of_another_type_is_refused(self, target, y, y_old):
        with pytest.raises(BadTable, match=r"[Tt]able 'clinic' is a builtins\.dict"):
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
        with pytest.raises(BadSource, match=r"list of length 20, and X has 20 rows"):
            gather(target, y, sources=[(old, y_old)] * 20)
        wrapped = Sources([(old, y_old)] * 20)
        assert len(gather(target, y, sources=wrapped).problem.sources) == 20
