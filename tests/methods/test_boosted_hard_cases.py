"""Boosted pooling where it is hard: units, few rows, odd columns, sources of every kind."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from poolwise import Moments, PooledRegressor
from poolwise.errors import DataWarning, PoolwiseWarning
from tests.methods.boosting.few_trees import grow_few
from tests.methods.nonlinear import error, fit, lacking, quietly, world


@pytest.fixture(autouse=True)
def _few_trees(monkeypatch):
    grow_few(monkeypatch)


class TestUnits:
    @pytest.mark.parametrize("power", [-190, -140, 11, 190])
    def test_a_response_times_a_power_of_two_gives_predictions_times_it(self, power):
        given = world("smooth", rows=20, history=60)
        base = fit("boosted_pooling", given)
        old_X, old_y = given.source
        scaled = given._replace(y=np.ldexp(given.y, power), source=(old_X, np.ldexp(old_y, power)))
        model = fit("boosted_pooling", scaled)
        assert_array_equal(model.predict(given.tried), np.ldexp(base.predict(given.tried), power))
        assert_array_equal(
            model.predict_interval(given.tried), np.ldexp(base.predict_interval(given.tried), power)
        )
        assert model.summary().trees.text == base.summary().trees.text

    def test_columns_may_be_far_apart_in_size(self):
        given = world("smooth", rows=20, history=60)
        units = np.array([1e60, 1.0, 1e-60, 1e-30])
        old_X, old_y = given.source
        model = fit("boosted_pooling", given._replace(X=given.X * units,
            source=(old_X * units[:3], old_y)))  # fmt: skip
        expected = fit("boosted_pooling", given).predict(given.tried)
        found = model.predict(given.tried * units)
        # A threshold may fall to the other side of a row by rounding; of very few rows.
        assert np.mean(np.abs(found - expected) > 1e-6) < 0.01

    def test_a_response_far_from_zero_keeps_its_digits(self):
        given = world("smooth", rows=20, history=60)
        far = given._replace(y=given.y + 1e6, source=(given.source[0], given.source[1] + 1e6))
        found = fit("boosted_pooling", far).predict(given.tried) - 1e6
        assert np.abs(found - fit("boosted_pooling", given).predict(given.tried)).mean() < 1e-3


class TestFewRows:
    @pytest.mark.parametrize("rows", [1, 3, 5, 6, 9])
    @pytest.mark.parametrize("has_source", [True, False])
    def test_it_predicts_from_as_few_rows_as_there_are(self, rows, has_source):
        given = world("smooth", rows=rows, history=40)
        if not has_source:
            given = given._replace(source=None)
        model = fit("boosted_pooling", given)
        assert np.isfinite(quietly(model.predict, given.tried)).all()
        if has_source:
            assert np.isfinite(quietly(model.predict, lacking(given.tried[:9]))).all()
            ends = model.predict_interval(given.tried)
            assert (ends[:, 0] < ends[:, 1]).all()

    @pytest.mark.parametrize("rows", [1, 4])
    def test_fewer_than_five_rows_are_bayes_pooling_and_it_says_so(self, rows):
        given = world("smooth", rows=rows, history=40)
        model = fit("boosted_pooling", given)
        expected = fit("bayes_pooling", given)
        assert_array_equal(model.predict(given.tried), expected.predict(given.tried))
        assert_array_equal(
            model.predict(lacking(given.tried)), expected.predict(lacking(given.tried))
        )
        assert "Fewer than 5 recent rows" in model.reason_
        assert "this is bayes_pooling" in " ".join(str(model.summary()).split())
        assert_array_equal(model.coef_, expected.coef_)

    def test_rows_of_weight_zero_do_not_count(self):
        given = world("smooth", rows=30, history=40)
        few = given._replace(X=given.X[:12], y=given.y[:12])
        found = fit("boosted_pooling", given, sample_weight=np.r_[np.ones(12), np.zeros(18)])
        expected = fit("boosted_pooling", few)
        assert_array_equal(found.predict(given.tried), expected.predict(given.tried))
        some = fit("boosted_pooling", given, sample_weight=np.r_[np.ones(4), np.zeros(26)])
        assert "Fewer than 5 recent rows" in some.reason_

    def test_a_constant_response_is_predicted(self):
        given = world("smooth", rows=12, history=40)
        with pytest.warns(DataWarning):
            model = PooledRegressor("boosted_pooling").fit(
                given.X, np.full(12, 2.5), sources=(given.source[0], np.full(40, 2.5))
            )
        assert_allclose(model.predict(given.tried), 2.5, rtol=1e-12)

    def test_a_source_with_a_constant_response_does_no_harm(self):
        given = world("smooth", rows=30, history=40)
        flat = given._replace(source=(given.source[0], np.zeros(40)))
        best = error(fit("target_only", given), given)
        assert error(fit("boosted_pooling", flat), given) < 1.3 * best


class TestColumns:
    def test_constant_and_duplicated_columns_change_little(self):
        given = world("smooth", rows=30, history=80)
        old_X, old_y = given.source

        def more(X):
            return np.column_stack((X[:, :3], X[:, 0], np.ones(len(X)), X[:, 3:], X[:, 3:]))

        model = fit("boosted_pooling", given._replace(X=more(given.X),
            source=(more(old_X), old_y)))  # fmt: skip
        own = np.sqrt(np.mean((model.predict(more(given.tried)) - given.answers) ** 2))
        assert own < 1.1 * error(fit("boosted_pooling", given), given)
        assert [e.feature for e in model.summary().trees.effects] == ["x5", "x6"]

    def test_rows_that_lack_new_columns_are_predicted_by_the_line_with_the_derived_one(self):
        given = world("smooth", history=100)
        model, rows = fit("boosted_pooling", given), given.tried
        expected = fit("derived_pooling", given).predict(lacking(rows))
        assert_allclose(model.predict(lacking(rows)), expected, rtol=1e-9)
        mixed = rows.copy()
        mixed[::2, 3] = np.nan
        found = model.predict(mixed)
        assert_array_equal(found[1::2], model.predict(rows[1::2]))
        assert_allclose(found[::2], expected[::2], rtol=1e-9)

    def test_the_derived_column_helps_those_rows(self):
        given = world("smooth")
        off = fit("boosted_pooling", given).predict(lacking(given.tried)) - given.answers
        plain = fit("bayes_pooling", given).predict(lacking(given.tried)) - given.answers
        assert np.mean(off**2) < 0.8 * np.mean(plain**2)

    def test_rows_that_lack_every_column_of_the_history_are_predicted(self):
        rng = np.random.default_rng(0)
        given = world("smooth", rows=40, history=60)
        names = ["a", "b", "c", "d"]
        X = pd.DataFrame(given.X, columns=names)
        early = pd.DataFrame(rng.normal(size=(20, 1)), columns=["d"])
        sources = {
            "old": (pd.DataFrame(given.source[0], columns=names[:3]), given.source[1]),
            "other": (early, np.abs(early["d"])),
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PoolwiseWarning)
            model = PooledRegressor("boosted_pooling").fit(X, given.y, sources=sources)
        assert len(model.fit_.columns) == 2
        found = model.predict(pd.DataFrame(given.tried[:50], columns=names)[["d"]])
        assert np.isfinite(found).all()
        assert len(set(found)) > 10

    def test_target_rows_that_lack_columns_count_as_history(self):
        given = world("smooth", rows=30, history=60)
        old_X, old_y = given.source
        stacked = np.concatenate((given.X, np.column_stack((old_X, np.full(60, np.nan)))))
        model = PooledRegressor("boosted_pooling").fit(stacked, np.concatenate((given.y, old_y)))
        expected = fit("boosted_pooling", given)
        assert_array_equal(model.predict(given.tried), expected.predict(given.tried))

    def test_texts_are_columns_like_others(self):
        rng = np.random.default_rng(0)
        X = pd.DataFrame({"a": rng.uniform(-2, 2, 160), "shop": rng.choice(["n", "s", "w"], 160)})
        X["new"] = rng.choice(["yes", "no"], 160)
        sign = X["shop"].map({"n": 1.0, "s": -1.0, "w": 0.0})
        y = np.abs(X["a"]) * sign + 2.0 * (X["new"] == "yes") + 0.1 * rng.normal(size=160)
        model = PooledRegressor("boosted_pooling").fit(
            X[120:], y[120:], sources=(X[:120][["a", "shop"]], y[:120])
        )
        (effect,) = model.summary().trees.effects
        assert effect.feature == "new=yes"
        assert effect.values == (0.0, 1.0)
        assert abs(effect.change - 2.0) < 0.5
        assert np.isfinite(model.predict(X[["a", "shop"]])).all()

    @pytest.mark.parametrize("name", ["boosted", "boosted at stage 0"])
    def test_a_column_may_have_the_name_of_the_derived_one(self, name):
        given = world("smooth", rows=20, history=60)
        names = ["a", name, "c", "d"]
        X = pd.DataFrame(given.X, columns=names)
        model = PooledRegressor("boosted_pooling").fit(
            X, given.y, sources=(pd.DataFrame(given.source[0], columns=names[:3]), given.source[1])
        )
        assert [c.name for c in model.fit_.columns] == ["boosted 2"]
        new = pd.DataFrame(given.tried, columns=names)
        expected = fit("boosted_pooling", given).predict(given.tried)
        assert_array_equal(model.predict(new), expected)

    def test_the_response_may_have_it_too(self):
        given = world("smooth", rows=20, history=60)
        model = PooledRegressor("derived_pooling", response="boosted")
        model.fit(given.X, given.y, sources=given.source)
        assert model.coef_names_[-1] == "boosted 2"


class TestSources:
    def test_without_any_source_it_is_lines_and_trees_on_the_target(self):
        given = world("smooth", rows=60)
        model = PooledRegressor("boosted_pooling").fit(given.X, given.y)
        assert model.fit_.columns == ()
        names = model.fit_.stack.candidates.names
        assert names == ("linear", "all_pooled_trees", "target_trees", "deep_target_trees")
        assert np.isfinite(quietly(model.predict, given.tried)).all()
        assert model.summary().trees.effects == ()

    def test_a_source_as_moments_counts_in_the_linear_candidates(self):
        given = world("linear", rows=20, history=60)
        old = Moments.of_rows(["x0", "x1", "x2", "y"], np.column_stack(given.source))
        X = pd.DataFrame(given.X, columns=["x0", "x1", "x2", "x3"])
        model = PooledRegressor("boosted_pooling").fit(X, given.y, sources=old)
        assert model.fit_.columns == ()
        expected = fit("bayes_pooling", given)
        assert_allclose(model.fit_.stack.candidates.linear.coef, expected.coef_, rtol=1e-9)
        assert np.isfinite(model.predict(X[["x0", "x1", "x2"]])).all()

    def test_weights_of_all_rows_count(self):
        given = world("smooth", rows=30, history=80)
        old_X, old_y = given.source
        broken = old_y.copy()
        broken[:40] += 50.0
        light = np.r_[np.full(40, 1e-9), np.ones(40)]
        weighted = fit("boosted_pooling", given._replace(source=(old_X, broken, light)))
        half = fit("boosted_pooling", given._replace(source=(old_X[40:], old_y[40:])))
        plain = fit("boosted_pooling", given._replace(source=(old_X, broken)))
        assert error(weighted, given) < error(plain, given)
        assert error(weighted, given) < 1.25 * error(half, given)
