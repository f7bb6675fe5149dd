"""Bounds of Bayes pooling: where they are, and what is told when they act."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from poolwise import PooledRegressor
from poolwise.errors import BadOption, PredictionsBounded
from poolwise.methods.bayes_pooling import BayesPooling
from tests.laws.problems import tables_of
from tests.methods.bayes_fits import quietly, solved


class TestBounds:
    @pytest.fixture
    def tables(self):
        return tables_of("one source", seed=1)

    def test_they_are_the_range_of_responses_wider_for_exact_relations(self, tables):
        y, old = tables.target.y, tables.sources["old"].y
        fit = solved(tables)
        agrees = 1.0 - fit.conflict["old"]
        moved = y.mean() + y.std(ddof=1) / old.std(ddof=1) * (old - old.mean())
        reach = np.sqrt(np.log(400.0) / np.log(len(y)))
        ends = y.mean() + reach * (np.array([y.min(), y.max()]) - y.mean())
        low = min(ends[0], moved.min() - agrees * max(moved.min() - old.min(), 0.0))
        high = max(ends[1], moved.max() + agrees * max(old.max() - moved.max(), 0.0))
        further = 0.05 * (1.0 + 0.06 * (y.var(ddof=1) / fit.noise - 1.0)) * (high - low)
        assert_allclose(fit.bounds, (low - further, high + further), rtol=1e-10)
        assert_allclose(BayesPooling(bounds=0.0).solve(tables.problem()).bounds, (low, high))

    def test_without_sources_they_are_the_range_of_the_target(self, tables):
        problem = replace(tables.problem(), sources={})
        fit, y = BayesPooling(bounds=0.0).solve(problem), tables.target.y
        reach = np.sqrt(np.log(400.0) / np.log(len(y)))
        ends = y.mean() + reach * (np.array([y.min(), y.max()]) - y.mean())
        assert_allclose(fit.bounds, ends)

    def test_a_source_of_another_level_and_spread_shows_how_far_responses_reach(self):
        rng = np.random.default_rng(0)
        X, X_old = rng.normal(size=(40, 2)), rng.normal(size=(400, 2))
        y, y_old = X @ [1.0, 1.0] + rng.normal(size=40), -20.0 * X_old[:, 0] + 500.0
        model = PooledRegressor(BayesPooling(bounds=0.0))
        fit = quietly(model, X, y, sources={"old": (X_old, y_old)}).fit_
        reach = (y_old.max() - y_old.mean()) / y_old.std(ddof=1)
        assert fit.conflict["old"] > 0.999
        own = np.sqrt(np.log(400.0) / np.log(len(y))) * (y.max() - y.mean())
        assert_allclose(fit.bounds[1], y.mean() + max(own, reach * y.std(ddof=1)), rtol=1e-3)

    def test_one_event_in_the_response_leaves_predictions_unbounded(self):
        X = np.random.default_rng(0).normal(size=(40, 2))
        y = np.zeros(40)
        y[3] = 1.0
        for share in (0.0, 0.05):
            model = quietly(PooledRegressor(BayesPooling(bounds=share)), X, y)
            assert model.fit_.bounds == (-np.inf, np.inf)
            assert np.isfinite(model.predict(X)).all()

    def test_an_exact_relation_has_bounds_that_do_not_matter(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(40, 2))
        low, high = PooledRegressor().fit(X, X @ [1.0, 2.0]).fit_.bounds
        assert low < -1e6
        assert high > 1e6

    @pytest.mark.parametrize("pair", [(-1.0, 2.5), [-1.0, 2.5], np.array([-1.0, 2.5])])
    def test_a_pair_is_taken_as_it_is(self, tables, pair):
        fit = BayesPooling(bounds=pair).solve(tables.problem())
        assert fit.bounds == (-1.0, 2.5)
        far = np.array([100.0, -100.0])[:, None] * np.sign(fit.coef)
        assert_array_equal(fit.predict(far), [2.5, -1.0])
        assert abs(fit.line(far)).min() > 100.0

    def test_one_end_may_be_open(self, tables):
        fit = BayesPooling(bounds=(0.0, np.inf)).solve(tables.problem())
        far = np.array([100.0, -100.0])[:, None] * np.sign(fit.coef)
        assert_allclose(fit.predict(far), [fit.line(far)[0], 0.0])

    def test_none_means_none(self, tables):
        fit = BayesPooling(bounds=None).solve(tables.problem())
        assert fit.bounds is None
        far = np.full((1, 4), 1e6)
        assert_array_equal(fit.predict(far), fit.line(far))

    @pytest.mark.parametrize(
        "bad",
        [
            -0.1,
            np.nan,
            np.inf,
            (2.0, 1.0),
            (1.0, 1.0),
            (0.0, np.nan),
            (1.0,),
            (0, 1, 2),
            "no",
            ("a", "b"),
        ],
    )
    def test_what_is_no_range_is_refused(self, tables, bad):
        with pytest.raises(
            BadOption, match=r"a number up to 1e\+09, a pair \(low, high\), or None"
        ):
            BayesPooling(bounds=bad).solve(tables.problem())

    def test_they_change_no_coefficient(self, tables):
        bounded = BayesPooling(bounds=0.0).solve(tables.problem())
        assert_array_equal(bounded.coef, BayesPooling(bounds=None).solve(tables.problem()).coef)

    @pytest.mark.parametrize("unit", [1.0, 1e-60, 1e60])
    def test_the_model_warns_when_they_act_and_only_then(self, tables, unit):
        t, old = tables.target, tables.sources["old"]
        model = quietly(PooledRegressor(), t.X, t.y * unit, sources=(old.X, old.y * unit))
        y = unit * np.concatenate([t.y, old.y])
        inside = model.predict(t.X)  # warnings are errors here
        assert y.min() <= inside.min()
        far = np.concatenate([t.X, 100.0 * np.sign(model.coef_)[None]])
        message = (
            r"1 of 25 predictions \(row 24, counted from zero\) fell outside of .* mostly due to .*"
            r"method=BayesPooling\(bounds=None\)"
        )
        with pytest.warns(PredictionsBounded, match=message) as told:
            predicted = model.predict(far)
        about = told[0].message.about
        assert about["positions"] == [24]
        moved = np.abs(model.coef_ * (far[24] - model.fit_.centre))
        assert about["columns"][0] == f"x{moved.argmax()}"
        assert_array_equal(predicted[:-1], inside)
        assert str(told[0].message) in model.summary(far).cautions
        assert model.summary(t.X).cautions == model.summary().cautions
        # The same to the rounding of a change of units.
        assert_allclose(predicted[-1], model.fit_.bounds[1], rtol=1e-14)
        assert_allclose(predicted[-1] / unit, solved(tables).bounds[1], rtol=1e-9)

    def test_a_pair_is_in_the_units_of_the_user(self, tables):
        t, unit = tables.target, 1e60
        model = quietly(PooledRegressor(BayesPooling(bounds=(-unit, unit))), t.X, t.y * unit)
        with pytest.warns(PredictionsBounded):
            predicted = model.predict(100.0 * np.sign(model.coef_)[None])
        assert_allclose(predicted, unit, rtol=1e-14)

    def test_rows_that_lack_features_have_them_too(self, tables):
        t, old = tables.target, tables.sources["old"]
        model = PooledRegressor().fit(t.X, t.y, sources=(old.X, old.y))
        far = np.array([[1e3, 1e3, np.nan, np.nan]])
        with pytest.warns(PredictionsBounded):
            assert model.predict(far)[0] == model.fit_.bounds[1]
