"""Text columns in moments beside rows: the model is the one that rows would have given."""

import numpy as np
import pytest

from poolwise import Moments, compare
from poolwise.errors import DataWarning
from tests.linear_methods import LINEAR_METHODS
from tests.model.same_model import assert_same_model
from tests.moments.stored_moments import bits
from tests.tables.levels_of_moments.tables import OLD, OTHER, RNG, TARGET, fitted, in_full

MOMENT_METHODS = [name for name in LINEAR_METHODS if name != "kernel_transfer"]


class TestBesideRows:
    """Moments as sources of a table."""

    @pytest.mark.parametrize("method", MOMENT_METHODS)
    def test_moments_with_every_level_give_the_bits_of_the_rows(self, method):
        found = fitted(TARGET, {"old": in_full(OLD)}, method)
        known = fitted(TARGET, {"old": OLD}, method)
        assert_same_model(found, known)
        assert found.cautions_ == known.cautions_

    @pytest.mark.parametrize("precision", ["auto", "fast", "accurate"])
    def test_rounded_moments_give_the_model_up_to_rounding(self, precision):
        kept = "fast" if precision == "auto" else precision
        found = fitted(TARGET, {"old": in_full(OLD, precision=kept)}, precision=precision)
        known = fitted(TARGET, {"old": OLD}, precision=precision)
        assert_same_model(found, known, exactly=False)
        assert found.cautions_ == known.cautions_

    @pytest.mark.filterwarnings("ignore::poolwise.errors.RankDeficient")  # offset, of rows too
    @pytest.mark.parametrize("method", MOMENT_METHODS)
    def test_levels_of_one_side_alone_are_zero_on_the_other(self, method):
        found = fitted(TARGET, {"old": in_full(OTHER)}, method)
        known = fitted(TARGET, {"old": OTHER}, method)
        assert_same_model(found, known)
        assert found.coef_names_.tolist() == [
            *("age", "site=bay", "site=inland", "site=valley", "dose")
        ]
        assert found.cautions_ == known.cautions_
        assert found.optional_columns_ == ["dose"]

    def test_several_sources_bring_their_levels_whether_rows_or_moments(self):
        both = {"old": OLD, "other": OTHER}
        known = fitted(TARGET, both)
        for moments in (["old"], ["other"], ["old", "other"]):
            given = {n: in_full(t) if n in moments else t for n, t in both.items()}
            assert_same_model(fitted(TARGET, given), known)

    def test_weights_count(self):
        weights, own = RNG.uniform(0.5, 2.0, len(OTHER)), RNG.uniform(0.5, 2.0, len(TARGET))
        found = fitted(TARGET, {"old": in_full(OTHER, weights)}, weights=own)
        rows = OTHER.drop(columns="cost"), OTHER["cost"], weights
        assert_same_model(found, fitted(TARGET, {"old": rows}, weights=own))

    def test_a_file_does_what_the_moments_do(self, tmp_path):
        path = tmp_path / "b.moments.json"
        in_full(OTHER).save(path)
        assert_same_model(fitted(TARGET, {"b": str(path)}), fitted(TARGET, {"b": OTHER}))

    @pytest.mark.parametrize("source", [OLD, OTHER], ids=["same levels", "others"])
    def test_without_an_intercept_every_level_counts(self, source):
        found = fitted(TARGET, {"old": in_full(source)}, fit_intercept=False)
        known = fitted(TARGET, {"old": source}, fit_intercept=False)
        assert_same_model(found, known)
        assert "site=coast" in found.coef_names_

    def test_a_level_without_rows_is_no_level(self):
        empty = in_full(OTHER).fill({"site=moon": 0.0})
        assert_same_model(fitted(TARGET, {"old": empty}), fitted(TARGET, {"old": OTHER}))

    def test_a_source_of_the_reference_level_alone_shares_the_column(self):
        alone = OLD[OLD["site"] == "coast"]
        found = fitted(TARGET, {"old": in_full(alone[["site", "cost"]])}, "data_pooling")
        assert_same_model(found, fitted(TARGET, {"old": alone[["site", "cost"]]}, "data_pooling"))

    def test_moments_without_the_column_lack_it(self):
        numbers = in_full(OLD.drop(columns="site"))
        found = fitted(TARGET, {"old": numbers})
        assert_same_model(found, fitted(TARGET, {"old": OLD.drop(columns="site")}))
        assert found.optional_columns_ == ["site", "dose"]

    def test_two_text_columns_have_levels_of_their_own(self):
        target, old = (t.assign(sex=RNG.choice(["f", "m"], len(t))) for t in (TARGET, OTHER))
        known = fitted(target, {"old": old}, "data_pooling")
        found = fitted(target, {"old": in_full(old, texts=["site", "sex"])}, "data_pooling")
        assert_same_model(found, known)

    def test_target_rows_that_lack_values_change_nothing(self):
        holes = TARGET.copy()
        holes.loc[:20, "dose"] = np.nan
        assert_same_model(fitted(holes, {"b": in_full(OTHER)}), fitted(holes, {"b": OTHER}))

    def test_compare_takes_them_too(self):
        X, y = TARGET.drop(columns="cost"), TARGET["cost"]
        options = {"methods": ["data_pooling"], "cv": 3, "precision": "exact"}
        found = compare(X, y, sources={"b": in_full(OTHER)}, **options)
        known = compare(X, y, sources={"b": OTHER}, **options)
        assert bits(found.scores["data_pooling"]) == bits(known.scores["data_pooling"])

    def test_levels_that_are_all_unknown_are_pointed_out(self):
        loud = OLD.assign(site=OLD["site"] + "!")
        with pytest.warns(DataWarning, match=r"'coast!', 'inland!', 'valley!' in table 'old'"):
            fitted(TARGET, {"old": in_full(loud)})

    def test_no_moments_of_rows_are_an_empty_source(self):
        with pytest.warns(match="has no rows"):
            found = fitted(TARGET, {"old": Moments.empty(in_full(OTHER).names)})
        assert_same_model(found, fitted(TARGET, None))
