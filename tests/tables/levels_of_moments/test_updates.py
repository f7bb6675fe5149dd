"""Levels in moments that come after the fit: they join as rows do."""

import pandas as pd
import pytest
from numpy.testing import assert_allclose

from poolwise.errors import BadColumns, BadLevels
from tests.model.same_model import assert_same_model
from tests.tables.levels_of_moments.tables import MORE, OLD, OTHER, TARGET, fitted, in_full, table


class TestUpdates:
    """Moments with levels that come after the fit."""

    @pytest.mark.parametrize("known", [True, False])
    def test_moments_join_a_source_as_rows_do(self, known):
        name = "old" if known else "more"
        model = fitted(TARGET, {"old": OLD}).update(sources={name: in_full(MORE)})
        rows = fitted(TARGET, {"old": OLD}).update(sources={name: MORE})
        assert_same_model(model, rows)
        assert model.cautions_ == rows.cautions_
        model.forget(sources={name: in_full(MORE)})
        assert_same_model(model, fitted(TARGET, {"old": OLD}))

    def test_moments_of_the_target_may_have_every_level(self, tmp_path):
        more = TARGET[TARGET.site != "inland"]  # within its ranges, which forget does not narrow
        path = tmp_path / "more.moments.json"
        in_full(more).save(path)
        known = fitted(pd.concat([TARGET, more]), {"old": OLD})
        for given in (in_full(more), path):
            found = fitted(TARGET, {"old": OLD}).update(given)
            assert_same_model(found, known)
            assert_same_model(found.forget(given), fitted(TARGET, {"old": OLD}))

    def test_a_new_level_is_refused(self):
        model = fitted(TARGET, {"old": OLD}, strict=True)
        with pytest.raises(BadLevels, match=r"'bay'.*'coast', 'inland', 'valley'"):
            model.update(sources={"other": in_full(OTHER)})
        with pytest.raises(BadLevels, match=r"'bay'"):
            model.update(in_full(table(30, ["bay", "coast"])))

    def test_rows_and_moments_with_a_new_level_make_the_same_update(self):
        rows, (by_rows, by_moments) = (
            table(30, ["bay", "coast"]),
            (fitted(TARGET, {"old": OLD}) for _ in "ab"),
        )
        by_rows.update(rows.drop(columns="cost"), rows["cost"])
        by_moments.update(in_full(rows))
        assert_allclose(by_rows.coef_, by_moments.coef_, rtol=1e-9)

    def test_columns_that_the_model_lacks_are_refused_in_the_target(self):
        model = fitted(TARGET, {"old": OLD})
        with pytest.raises(BadColumns, match=r"the target.*what was given has 'height'"):
            model.update(in_full(TARGET.assign(height=1.0)))
        with pytest.raises(BadColumns, match=r"the target.*the model has 'cost'"):
            model.update(in_full(TARGET.drop(columns="cost")))
