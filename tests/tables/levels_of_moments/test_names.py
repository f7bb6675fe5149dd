"""Names that look like levels, and levels that look like names."""

import numpy as np
import pytest

from poolwise import Moments
from poolwise.errors import BadLevels, BadSource, LeftOut, NotNumeric
from tests.model.same_model import assert_same_model
from tests.tables.levels_of_moments.tables import (
    OLD,
    OTHER,
    RNG,
    TARGET,
    fitted,
    in_full,
    leaving_out,
)


class TestNames:
    """Equals signs wherever names may have them."""

    def test_a_level_may_hold_an_equals_sign(self):
        new = {"coast": "a=1", "inland": "b=2=", "valley": "=c"}
        target, old = (t.assign(site=t["site"].map(new)) for t in (TARGET, OLD))
        assert_same_model(fitted(target, {"old": in_full(old)}), fitted(target, {"old": old}))

    def test_a_text_column_may_hold_an_equals_sign(self):
        target, old = (t.rename(columns={"site": "at=site"}) for t in (TARGET, OTHER))
        found = fitted(target, {"old": in_full(old, texts=["at=site"])})
        assert_same_model(found, fitted(target, {"old": old}))
        assert "at=site=bay" in found.coef_names_

    def test_numbers_may_be_named_like_a_level(self):
        target, old = (t.rename(columns={"age": "dose=age"}) for t in (TARGET, OLD))
        assert_same_model(fitted(target, {"old": in_full(old)}), fitted(target, {"old": old}))
        target, old = (t.rename(columns={"age": "site=age"}) for t in (TARGET, OLD))
        assert_same_model(fitted(target, {"old": in_full(old)}), fitted(target, {"old": old}))

    def test_of_two_text_columns_the_one_that_has_the_level_gets_it(self):
        target, old = (
            t.assign(**{"site=b": RNG.choice(["x", "y"], len(t))}).replace({"coast": "b=coast"})
            for t in (TARGET, OLD)
        )
        moments = in_full(old, texts=["site", "site=b"])
        known = fitted(target, {"old": old}, "data_pooling")
        assert_same_model(fitted(target, {"old": moments}, "data_pooling"), known)
        more = moments.fill({"site=b=moon": 0.0})
        with pytest.raises(BadLevels, match=r"'site=b=moon' may be a level of any of"):
            fitted(target, {"old": more})

    def test_numbers_of_the_name_of_a_text_column_are_refused(self):
        with pytest.raises(NotNumeric, match="text in the target and numbers in table 'old'"):
            fitted(TARGET, {"old": in_full(OLD.assign(site=1.0), texts=[])})

    def test_levels_of_a_column_that_holds_numbers_are_left_out(self):
        with pytest.warns(LeftOut, match=r"'dose=high', not among the features"):
            fitted(TARGET, {"old": in_full(OLD.assign(**{"dose=high": 1.0 * (OLD["age"] > 60)}))})

    def test_a_column_that_is_no_indicator_is_refused(self):
        wrong = OLD.assign(**{"site=coast": OLD["age"]}).drop(columns="site")
        with pytest.raises(BadLevels, match="'site=coast' does not hold zeros and ones"):
            fitted(TARGET, {"old": in_full(wrong)})

    def test_levels_that_rows_have_at_once_are_refused(self):
        wrong = OLD.assign(**{"site=a": 1.0 * (OLD["age"] > 60), "site=b": 1.0 * (OLD["age"] > 65)})
        with pytest.raises(BadLevels, match="'site=a' and 'site=b' are both one in some rows"):
            fitted(TARGET, {"old": in_full(wrong.drop(columns="site"))})

    def test_moments_that_share_nothing_are_refused(self):
        with pytest.raises(BadSource, match=r"'ort=coast', 'cost'"):
            fitted(TARGET, {"old": Moments.of_rows(["ort=coast", "cost"], np.eye(2))})

    def test_large_columns_stand_beside_levels(self):
        target, old = (t.assign(age=t["age"] * 1e60) for t in (TARGET, OTHER))
        assert_same_model(fitted(target, {"old": in_full(old)}), fitted(target, {"old": old}))
        for options in ({}, {"fit_intercept": False}):
            target, old = (t.assign(age=t["age"] * 1e60) for t in (TARGET, OLD))
            part = leaving_out(in_full(old), "site=coast")
            known = fitted(target, {"old": old}, **options)
            assert_same_model(fitted(target, {"old": part}, **options), known)
