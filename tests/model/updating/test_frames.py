"""Updating by frames: levels of text columns and names of responses are those of the fit."""

import numpy as np
import pandas as pd
import pytest

from poolwise.errors import BadLevels, BadSource, NotNumeric
from tests.model.same_model import assert_same_model
from tests.model.updating.rows import X, Y, model_of
from tests.moments.stored_moments import bits


@pytest.fixture
def frame():
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"age": X[:120, 0], "site": rng.choice(["n", "s", "w"], size=120)})
    return table, pd.Series(Y[:120] + (table["site"] == "s"), name="cost")


class TestFrames:
    def test_text_columns_keep_their_levels(self, frame):
        table, y = frame
        found = model_of().fit(table[:60], y[:60]).update(table[60:], y[60:])
        assert_same_model(found, model_of().fit(table, y))
        assert found.coef_names_.tolist() == ["age", "site=s", "site=w"]

    def test_rows_without_some_level_are_fine(self, frame):
        table, y = frame
        some = table["site"] != "w"
        found = model_of().fit(table[:60], y[:60]).update(table[60:][some[60:]], y[60:][some[60:]])
        at = some | (np.arange(120) < 60)
        assert_same_model(found, model_of().fit(table[at], y[at]))

    def test_a_new_level_is_refused_by_a_strict_model(self, frame):
        table, y = frame
        found = model_of(strict=True).fit(table[:60], y[:60])
        before = found.coef_.copy()
        more = table[60:].replace({"site": {"w": "east"}})
        with pytest.raises(BadLevels, match=r"'site' holds 'east'.*'n', 's', 'w'"):
            found.update(more, y[60:])
        with pytest.raises(BadLevels):
            found.update(sources={"old": (more, y[60:])})
        assert bits(found.coef_) == bits(before)

    def test_a_new_level_is_refused_whatever_the_sources_are_called(self, frame):
        table, y = frame
        old = table.assign(cost=y)
        found = model_of(strict=True).fit(table[:60], y[:60], sources={"X": old[60:90]})
        with pytest.raises(BadLevels):
            found.update(table[90:].assign(site="east"), y[90:], sources={"X": old[90:]})

    @pytest.mark.parametrize("codes", [["n", "s", "w"], ["1", "2", "3"]])
    def test_files_of_text_columns_are_added_with_and_without_rows(self, frame, codes, tmp_path):
        table, y = frame
        table = table.assign(site=table["site"].map(dict(zip("nsw", codes, strict=True))))
        table.assign(cost=y)[90:].to_csv(tmp_path / "old.csv", index=False)
        files = {"old": str(tmp_path / "old.csv")}
        for rows in ((), (table[60:90], y[60:90])):
            found = model_of().fit(table[:60], y[:60]).update(*rows, sources=files)
            first = 90 if rows else 60
            known = model_of().fit(table[:first], y[:first], sources=files)
            assert_same_model(found, known)

    def test_another_kind_of_value_is_refused(self, frame):
        table, y = frame
        found = model_of().fit(table[:60], y[:60])
        with pytest.raises(NotNumeric, match="held text at fit and holds numbers in X"):
            found.update(table[60:].assign(site=1.0), y[60:])
        with pytest.raises(
            NotNumeric, match=r"'age' of table 'old' holds text, and .* not numbers: 'n'"
        ):
            found.update(sources={"old": (table[60:].assign(age="n"), y[60:])})

    def test_another_response_is_refused(self, frame):
        table, y = frame
        found = model_of().fit(table[:60], y[:60])
        with pytest.raises(BadSource, match="'price'"):
            found.update(table[60:], y[60:].rename("price"))
        found.update(table[60:], y[60:].to_numpy())

    def test_another_response_of_a_source_is_refused_as_in_a_fit(self, frame):
        table, y = frame
        found = model_of().fit(table[:60], y[:60])
        with pytest.raises(BadSource, match="table 'old' is named 'price'"):
            found.update(sources={"old": (table[60:], y[60:].rename("price"))})
        known = model_of().fit(table[:60], y[:60].rename("y"))  # the name that is the default
        with pytest.raises(BadSource, match="'price'"):
            known.update(table[60:], y[60:].rename("price"))
        nameless = model_of().fit(table[:60], y[:60].to_numpy())
        assert nameless.update(table[60:], y[60:].rename("price")).problem_.target.rows == 120

    def test_a_table_that_holds_the_response_is_a_source(self, frame):
        table, y = frame
        old = table.drop(columns="site").assign(cost=y)
        found = model_of().fit(table[:60], y[:60]).update(sources={"old": old[60:]})
        assert_same_model(found, model_of().fit(table[:60], y[:60], sources={"old": old[60:]}))
