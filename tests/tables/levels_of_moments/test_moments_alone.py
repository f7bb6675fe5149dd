"""Text columns where moments are all there is: levels are found by their names."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from poolwise import PooledRegressor
from poolwise.errors import BadColumns, BadLevels, DataWarning, RankDeficient
from tests.model.same_model import assert_same_model
from tests.moments.stored_moments import bits
from tests.tables.levels_of_moments.tables import (
    MORE,
    OLD,
    OTHER,
    TARGET,
    fitted,
    in_full,
    leaving_out,
    table,
)


class TestMomentsAlone:
    """fit_moments, where names are all there is."""

    @pytest.mark.parametrize("intercept", [True, False])
    @pytest.mark.parametrize("source", [OLD, OTHER], ids=["same levels", "others"])
    def test_a_target_with_every_level_gives_the_model_of_the_rows(self, source, intercept):
        known = fitted(TARGET, {"old": source}, fit_intercept=intercept)
        found = PooledRegressor(response="cost", fit_intercept=intercept)
        found.fit_moments(in_full(TARGET), {"old": in_full(source)})
        assert_same_model(found, known)
        assert found.cautions_ == known.cautions_
        assert found.feature_names_in_.tolist() == ["age", "site", "dose"]
        assert bits(found.predict(TARGET[["age", "site", "dose"]])) == bits(
            known.predict(TARGET[["age", "site", "dose"]])
        )

    def test_such_a_model_is_updated_by_rows(self):
        more = table(30, ["coast", "valley"])
        found = PooledRegressor(response="cost").fit_moments(in_full(TARGET), {"old": in_full(OLD)})
        found.update(more.drop(columns="cost"), more["cost"])
        assert_same_model(found, fitted(pd.concat([TARGET, more]), {"old": OLD}))

    def test_unseen_levels_are_treated_as_asked(self):
        found = PooledRegressor(response="cost").fit_moments(in_full(TARGET))
        odd = TARGET[:3].assign(site="moon").drop(columns="cost")
        shares = TARGET["site"].value_counts(normalize=True)
        mean = sum(share * found.predict(odd.assign(site=v)) for v, share in shares.items())
        with pytest.warns(
            DataWarning, match=r"'site' in 3 of 3 rows \('moon'\), which get the mean"
        ):
            predicted = found.predict(odd)
        assert_allclose(predicted, mean, rtol=1e-9)
        strict = PooledRegressor(response="cost", strict=True).fit_moments(in_full(TARGET))
        with pytest.raises(BadLevels, match="moon"):
            strict.predict(odd)

    def test_a_target_that_leaves_a_level_out_keeps_its_columns(self):
        known = fitted(TARGET, {"old": OLD})
        target = leaving_out(in_full(TARGET), "site=coast")
        found = PooledRegressor(response="cost")
        found.fit_moments(target, {"old": leaving_out(in_full(OLD), "site=coast")})
        assert_same_model(found, known)
        assert found.cautions_ == known.cautions_
        assert found.feature_names_in_.tolist() == ["age", "site=inland", "site=valley", "dose"]

    def test_the_one_level_that_sources_have_beyond_it_is_the_one_it_leaves_out(self):
        target = leaving_out(in_full(TARGET), "site=coast")
        found = PooledRegressor(response="cost")
        with pytest.warns(DataWarning, match=r"'coast', which a source has, is taken for the one"):
            found.fit_moments(target, {"old": in_full(OLD)})
        assert_same_model(found, fitted(TARGET, {"old": OLD}))
        found.update(sources={"more": in_full(MORE)})
        assert_same_model(found, fitted(TARGET, {"old": OLD, "more": MORE}))
        with pytest.raises(BadLevels, match=r"'bay'.*'coast', 'inland', 'valley'"):
            found.update(sources={"other": in_full(OTHER)})

    def test_levels_that_a_source_lacks_are_zero_there(self):
        target = leaving_out(in_full(TARGET), "site=coast")
        some = OLD[OLD["site"] != "valley"]
        with pytest.warns(DataWarning):
            found = PooledRegressor(response="cost").fit_moments(target, {"old": in_full(some)})
        assert_same_model(found, fitted(TARGET, {"old": some}))

    def test_rows_of_no_named_level_are_told_of(self):
        target = leaving_out(in_full(TARGET), "site=coast")
        some = leaving_out(in_full(OLD), "site=coast", "site=valley")
        with pytest.warns(DataWarning, match=r"the reference level, and not one of 'valley'"):
            PooledRegressor(response="cost").fit_moments(target, {"old": some})

    def test_two_levels_beyond_those_of_the_target_are_refused(self):
        target = leaving_out(in_full(TARGET), "site=coast")
        with pytest.raises(BadLevels, match=r"further levels 'bay', 'coast'"):
            PooledRegressor(response="cost").fit_moments(
                target, {"old": in_full(OLD), "other": in_full(OTHER)}
            )

    def test_a_source_that_leaves_out_another_level_is_refused(self):
        target = leaving_out(in_full(TARGET), "site=coast")
        with pytest.raises(BadLevels, match="the reference level, which is 'coast'"):
            PooledRegressor(response="cost").fit_moments(
                target, {"old": leaving_out(in_full(OLD), "site=inland")}
            )

    def test_what_looks_like_a_level_but_is_a_number_is_one(self):
        target, old = (
            t.rename(columns={"age": "when=age"}).drop(columns="site") for t in (TARGET, OLD)
        )
        found = PooledRegressor(response="cost").fit_moments(in_full(target), {"old": in_full(old)})
        assert_same_model(found, fitted(target, {"old": old}))

    def test_flags_that_rows_have_at_once_are_numbers(self):
        flags = {
            "has=dog": lambda t: 1.0 * (t["age"] > 55),
            "has=cat": lambda t: 1.0 * (t["age"] > 60),
        }
        target, old = (t.assign(**flags).drop(columns="site") for t in (TARGET, OLD))
        moments = leaving_out(in_full(old), "has=cat")
        found = PooledRegressor(response="cost").fit_moments(in_full(target), {"old": moments})
        assert_same_model(found, fitted(target, {"old": old.drop(columns="has=cat")}))
        assert found.optional_columns_ == ["dose", "has=cat"]

    def test_every_level_beside_an_intercept_is_not_rank_deficient(self, recwarn):
        PooledRegressor("target_only", response="cost").fit_moments(in_full(TARGET))
        assert not [w for w in recwarn if issubclass(w.category, RankDeficient)]

    def test_a_text_column_and_a_number_of_one_encoded_name_are_refused(self):
        target = TARGET.assign(**{"site=bay": np.sqrt(np.arange(len(TARGET)))})
        with pytest.raises(BadColumns, match="site=bay"):
            fitted(target, {"other": OTHER})
