"""Text columns in moments: the model is the one that the rows would have given."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from poolwise import METHODS, Moments, PooledRegressor, compare, published_model
from poolwise.errors import (
    ColumnMismatch,
    DroppedColumns,
    DuplicateColumns,
    LevelAssumed,
    LevelsApart,
    NewLevels,
    NoSharedColumn,
    NotNumeric,
    RankDeficient,
    UnclearLevels,
)
from poolwise.fit import recentred, regress
from tests.same_model import assert_same_model
from tests.stored_moments import bits

MOMENT_METHODS = [name for name in METHODS if name != "kernel_transfer"]
RNG = np.random.default_rng(11)


def table(rows, sites, *, site="site"):
    """Return made-up rows: two numbers, a text column and the response."""
    frame = pd.DataFrame(
        {
            "age": RNG.normal(60.0, 8.0, rows),
            site: RNG.choice(list(sites), rows),
            "dose": RNG.normal(size=rows),
        }
    )
    effect = frame[site].map({level: 0.7 * k for k, level in enumerate(sorted(sites))})
    frame["cost"] = 0.1 * frame["age"] + 2.0 * frame["dose"] + effect + RNG.normal(size=rows)
    return frame


def in_full(frame, weights=None, precision="exact", texts=("site",)):
    """Return moments with an indicator for every level, as a hospital writes them."""
    parts = {}
    for name in frame:
        if name in texts:
            for level in sorted(set(frame[name])):
                parts[f"{name}={level}"] = (frame[name] == level).to_numpy(dtype=float)
        else:
            parts[name] = frame[name].to_numpy()
    return Moments.of_rows(
        list(parts), np.column_stack([*parts.values()]), weights, precision=precision
    )


def leaving_out(moments, *names):
    return moments.select([n for n in moments.names if n not in names])


def fitted(target, sources, method="bayes_pooling", *, precision="exact", weights=None, **options):
    model = PooledRegressor(method, precision=precision, **options)
    return model.fit(
        target.drop(columns="cost"), target["cost"], sources=sources, sample_weight=weights
    )


TARGET = table(60, ["coast", "inland", "valley"])
OLD = table(300, ["coast", "inland", "valley"]).drop(columns="dose")
OTHER = table(200, ["bay", "inland"]).drop(columns="dose")  # not the reference, and a level more


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
        loud = OLD.assign(site=OLD["site"].str.upper())
        with pytest.warns(LevelsApart, match=r"'COAST', 'INLAND', 'VALLEY' in source 'old'"):
            fitted(TARGET, {"old": in_full(loud)})

    def test_no_moments_of_rows_are_an_empty_source(self):
        with pytest.warns(match="has no rows"):
            found = fitted(TARGET, {"old": Moments.empty(in_full(OTHER).names)})
        assert_same_model(found, fitted(TARGET, None))


class TestWithoutTheReference:
    """Moments that leave a level out."""

    @pytest.mark.parametrize("intercept", [True, False])
    def test_rows_without_a_named_level_have_the_reference_level(self, intercept):
        part = leaving_out(in_full(OLD), "site=coast")
        found = fitted(TARGET, {"old": part}, fit_intercept=intercept)
        known = fitted(TARGET, {"old": OLD}, fit_intercept=intercept)
        assert_same_model(found, known)
        assert found.cautions_ == known.cautions_

    @pytest.mark.parametrize("precision", ["fast", "accurate"])
    def test_the_indicator_that_is_left_out_is_found_up_to_rounding(self, precision):
        part = leaving_out(in_full(OLD, precision=precision), "site=coast")
        options = {"precision": precision, "fit_intercept": False}
        assert_same_model(
            fitted(TARGET, {"old": part}, **options),
            fitted(TARGET, {"old": OLD}, **options),
            exactly=False,
        )

    def test_the_moments_of_a_fitted_model_do(self):
        known = fitted(TARGET, {"old": OLD, "other": OTHER})
        again = fitted(TARGET, dict(known.problem_.sources))
        assert_same_model(again, known)
        assert again.cautions_ == known.cautions_

    def test_another_level_than_the_targets_reference_is_refused(self):
        part = leaving_out(in_full(OLD), "site=inland")
        share = f"{(OLD['site'] == 'inland').mean():.2%}"
        with pytest.raises(UnclearLevels, match=r"'site' in the moments of source 'old'") as error:
            fitted(TARGET, {"old": part})
        for said in (share, "'coast', 'valley'", "'coast'", "indicator for every level"):
            assert said in str(error.value)

    def test_the_remedy_that_the_error_names_works(self):
        part = leaving_out(in_full(OLD), "site=inland")
        p = len(part.names)
        matrix, shift = np.eye(p + 1, p), np.zeros(p + 1)
        matrix[p, part.index(["site=coast", "site=valley"])], shift[p] = -1.0, 1.0
        mended = part.affine((*part.names, "site=inland"), matrix, shift)
        assert_same_model(fitted(TARGET, {"old": mended}), fitted(TARGET, {"old": OLD}))

    def test_a_level_with_no_rows_left_for_it_is_zero(self):
        some = OLD[OLD["site"] != "valley"]  # all that is not named has no rows
        assert_same_model(fitted(TARGET, {"old": in_full(some)}), fitted(TARGET, {"old": some}))

    def test_what_might_be_another_level_is_told(self):
        some = leaving_out(in_full(OLD), "site=coast", "site=inland")
        with pytest.warns(LevelAssumed, match=r"reference level, 'coast', and not one of 'inland'"):
            fitted(TARGET, {"old": some})

    def test_a_published_model_leaves_its_reference_out(self):
        moments = leaving_out(in_full(OLD), "site=coast")
        fit = regress(moments, "cost")
        printed = published_model(
            fit.names,
            fit.coef,
            recentred(fit.covariance, fit.centre, np.zeros(len(fit.coef))),
            len(OLD),
            intercept=fit.intercept,
            response="cost",
        )
        found, known = fitted(TARGET, {"paper": printed}), fitted(TARGET, {"paper": moments})
        assert_allclose(found.coef_, known.coef_, rtol=1e-7)
        assert found.cautions_ == known.cautions_


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
        with pytest.raises(UnclearLevels, match=r"'site=b=moon' may be a level of any of"):
            fitted(target, {"old": more})

    def test_numbers_of_the_name_of_a_text_column_are_refused(self):
        with pytest.raises(NotNumeric, match="text in the target and numbers in source 'old'"):
            fitted(TARGET, {"old": in_full(OLD.assign(site=1.0), texts=[])})

    def test_levels_of_a_column_that_holds_numbers_are_left_out(self):
        with pytest.warns(DroppedColumns, match=r"'dose=high', which the target lacks"):
            fitted(TARGET, {"old": in_full(OLD.assign(**{"dose=high": 1.0 * (OLD["age"] > 60)}))})

    def test_a_column_that_is_no_indicator_is_refused(self):
        wrong = OLD.assign(**{"site=coast": OLD["age"]}).drop(columns="site")
        with pytest.raises(UnclearLevels, match="'site=coast' does not hold zeros and ones"):
            fitted(TARGET, {"old": in_full(wrong)})

    def test_levels_that_rows_have_at_once_are_refused(self):
        wrong = OLD.assign(**{"site=a": 1.0 * (OLD["age"] > 60), "site=b": 1.0 * (OLD["age"] > 65)})
        with pytest.raises(UnclearLevels, match="'site=a' and 'site=b' are both one in some rows"):
            fitted(TARGET, {"old": in_full(wrong.drop(columns="site"))})

    def test_moments_that_share_nothing_are_refused(self):
        with pytest.raises(NoSharedColumn, match=r"'ort=coast', 'cost'"):
            fitted(TARGET, {"old": Moments.of_rows(["ort=coast", "cost"], np.eye(2))})

    def test_columns_of_extreme_size_stand_beside_levels(self):
        target, old = (t.assign(age=t["age"] * 1e100) for t in (TARGET, OTHER))
        assert_same_model(fitted(target, {"old": in_full(old)}), fitted(target, {"old": old}))
        for options in ({}, {"fit_intercept": False}):
            target, old = (t.assign(age=t["age"] * 1e100) for t in (TARGET, OLD))
            part = leaving_out(in_full(old), "site=coast")
            known = fitted(target, {"old": old}, **options)
            assert_same_model(fitted(target, {"old": part}, **options), known)


class TestUpdates:
    """Moments with levels that come after the fit."""

    MORE = table(80, ["inland", "valley"]).drop(columns="dose")

    @pytest.mark.parametrize("known", [True, False])
    def test_moments_join_a_source_as_rows_do(self, known):
        name = "old" if known else "more"
        model = fitted(TARGET, {"old": OLD}).update(sources={name: in_full(self.MORE)})
        rows = fitted(TARGET, {"old": OLD}).update(sources={name: self.MORE})
        assert_same_model(model, rows)
        assert model.cautions_ == rows.cautions_
        model.forget(sources={name: in_full(self.MORE)})
        assert_same_model(model, fitted(TARGET, {"old": OLD}))

    def test_moments_of_the_target_may_have_every_level(self, tmp_path):
        more = table(30, ["coast", "valley"])
        path = tmp_path / "more.moments.json"
        in_full(more).save(path)
        known = fitted(pd.concat([TARGET, more]), {"old": OLD})
        for given in (in_full(more), path):
            found = fitted(TARGET, {"old": OLD}).update(given)
            assert_same_model(found, known)
            assert_same_model(found.forget(given), fitted(TARGET, {"old": OLD}))

    def test_a_new_level_is_refused(self):
        model = fitted(TARGET, {"old": OLD})
        with pytest.raises(NewLevels, match=r"'bay'.*'coast', 'inland', 'valley'"):
            model.update(sources={"other": in_full(OTHER)})
        with pytest.raises(NewLevels, match=r"'bay'"):
            model.update(in_full(table(30, ["bay", "coast"])))

    def test_columns_that_the_model_lacks_are_refused_in_the_target(self):
        model = fitted(TARGET, {"old": OLD})
        with pytest.raises(ColumnMismatch, match=r"the target.*what was given has 'height'"):
            model.update(in_full(TARGET.assign(height=1.0)))
        with pytest.raises(ColumnMismatch, match=r"the target.*the model has 'cost'"):
            model.update(in_full(TARGET.drop(columns="cost")))


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
        found = PooledRegressor(response="cost", unseen_level="ignore").fit_moments(in_full(TARGET))
        odd = TARGET[:3].assign(site="moon").drop(columns="cost")
        assert bits(found.predict(odd)) == bits(found.predict(odd.assign(site="coast")))

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
        with pytest.warns(LevelAssumed, match=r"'coast', which a source has, is taken for the one"):
            found.fit_moments(target, {"old": in_full(OLD)})
        assert_same_model(found, fitted(TARGET, {"old": OLD}))
        found.update(sources={"more": in_full(TestUpdates.MORE)})
        assert_same_model(found, fitted(TARGET, {"old": OLD, "more": TestUpdates.MORE}))
        with pytest.raises(NewLevels, match=r"'bay'.*'coast', 'inland', 'valley'"):
            found.update(sources={"other": in_full(OTHER)})

    def test_levels_that_a_source_lacks_are_zero_there(self):
        target = leaving_out(in_full(TARGET), "site=coast")
        some = OLD[OLD["site"] != "valley"]
        with pytest.warns(LevelAssumed):
            found = PooledRegressor(response="cost").fit_moments(target, {"old": in_full(some)})
        assert_same_model(found, fitted(TARGET, {"old": some}))

    def test_rows_of_no_named_level_are_told_of(self):
        target = leaving_out(in_full(TARGET), "site=coast")
        some = leaving_out(in_full(OLD), "site=coast", "site=valley")
        with pytest.warns(LevelAssumed, match=r"the reference level, and not one of 'valley'"):
            PooledRegressor(response="cost").fit_moments(target, {"old": some})

    def test_two_levels_beyond_those_of_the_target_are_refused(self):
        target = leaving_out(in_full(TARGET), "site=coast")
        with pytest.raises(UnclearLevels, match=r"further levels 'bay', 'coast'"):
            PooledRegressor(response="cost").fit_moments(
                target, {"old": in_full(OLD), "other": in_full(OTHER)}
            )

    def test_a_source_that_leaves_out_another_level_is_refused(self):
        target = leaving_out(in_full(TARGET), "site=coast")
        with pytest.raises(UnclearLevels, match="the target's reference level, which is 'coast'"):
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
        target = TARGET.assign(**{"site=bay": 1.0 * np.arange(len(TARGET))})
        with pytest.raises(DuplicateColumns, match="site=bay"):
            fitted(target, {"other": OTHER})
