"""Bayes pooling through the regressor: rows that lack features, and what is told of a fit."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from poolwise import PooledRegressor
from poolwise.errors import NoiseNotEstimable, PoolwiseWarning
from poolwise.methods import TargetOnly
from poolwise.methods.bayes.evidence import points
from poolwise.methods.bayes.scaling import scaled
from poolwise.methods.bayes.share_of_history import model
from poolwise.methods.bayes_pooling import BayesPooling
from tests.laws.problems import least_squares, tables_of
from tests.methods.bayes_fits import errors_of


class TestRowsThatLackFeatures:
    def draw(self, seed, shift):
        """Return target, source, and rows to predict; the source's new features are shifted."""
        rng, coef = np.random.default_rng(seed), np.array([1.0, -1.0, 2.0, 1.0, -1.0])

        def rows(n, shift=0.0):
            old = rng.normal(size=(n, 3))
            X = np.column_stack((old, 0.5 * old[:, :2] + rng.normal(size=(n, 2))))
            X[:, 3] += shift
            return X, X @ coef + rng.normal(size=n)

        return rows(40), rows(400, shift), rows(400)

    def compared(self, shift, lacking, repetitions=12):
        """Return the error of ours and of a pooled regression on shared columns, and coverage."""
        found = []
        for seed in range(repetitions):
            (X, y), (X_old, y_old), (X_new, y_new) = self.draw(seed, shift)
            model = PooledRegressor().fit(X, y, sources=(X_old[:, :3], y_old))
            holed = X_new.copy()
            holed[:, lacking] = np.nan
            low, high = model.predict_interval(holed).T
            short = least_squares(
                np.concatenate((X[:, :3], X_old[:, :3])), np.concatenate((y, y_old))
            )
            reduced = short[0] + X_new[:, :3] @ short[1:]
            found.append(
                [
                    np.mean((model.predict(holed) - y_new) ** 2),
                    np.mean((reduced - y_new) ** 2),
                    np.mean((low <= y_new) & (y_new <= high)),
                ]
            )
        return np.mean(found, axis=0)

    def test_those_like_the_history_are_predicted_as_well_as_by_a_pooled_regression(self):
        ours, reduced, coverage = self.compared(0.0, [3, 4])
        assert ours < 1.01 * reduced
        assert 0.92 <= coverage <= 0.975  # of 4,800 rows in twelve repetitions

    def test_under_a_shift_of_three_they_are_predicted_far_better(self):
        ours, reduced, coverage = self.compared(3.0, [3, 4])
        assert ours < 0.5 * reduced
        assert 0.92 <= coverage <= 0.975

    @pytest.mark.parametrize("lacking", [[3], [4]])
    def test_those_that_lack_some_of_it_are_predicted_better_than_those_that_lack_all(
        self, lacking
    ):
        all_of_it, _, _ = self.compared(0.0, [3, 4], 6)
        ours, _, coverage = self.compared(0.0, lacking, 6)
        nothing, _, _ = self.compared(0.0, [], 6)
        # Each feature explains 1 beside a noise of 1.
        assert nothing < 0.7 * ours
        assert ours < 0.85 * all_of_it
        assert 0.92 <= coverage <= 0.975

    def test_the_fit_without_features_has_a_larger_noise_and_the_names_left(self):
        problem = tables_of("one source", seed=1).problem()
        whole = BayesPooling().solve(problem)
        patterns = (["x2", "x3"], ["x3"], ["x0"])
        fits = BayesPooling().solve_without(problem, patterns, whole)
        for lacking, short in zip(patterns, fits, strict=True):
            assert short.names == tuple(n for n in problem.features if n not in lacking)
            assert short.noise > whole.noise
            assert short.bounds == whole.bounds
        # The target alone, on the columns that are there, is a rougher answer to the same question.
        short = fits[0]
        reduced = TargetOnly().solve(problem.without(["x2", "x3"]))
        away = np.abs(short.coef - reduced.coef)
        assert (away < 3.0 * errors_of(reduced)).all()
        assert (errors_of(short) < errors_of(reduced)).all()

    def test_a_constant_response_is_predicted_without_features_too(self):
        tables = tables_of("one source", seed=1)
        still = tables.each(lambda table: replace(table, y=np.full(len(table.y), 3.0)))
        problem = still.problem()
        whole = BayesPooling().solve(problem)
        (short,) = BayesPooling().solve_without(problem, [["x2", "x3"]], whole)
        assert short.names == ("x0", "x1")
        assert_array_equal(short.predict(tables.target.X[:, :2]), 3.0)


class TestThroughTheRegressor:
    def test_it_is_the_default(self):
        assert isinstance(
            PooledRegressor().fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 3.0]).method_, BayesPooling
        )

    def test_conflict_is_told_for_each_source(self):
        tables = tables_of("overlapping sources", seed=1)
        given = {n: (s.frame, s.y) for n, s in tables.sources.items()}
        model = PooledRegressor().fit(tables.target.frame, tables.target.y, sources=given)
        assert set(model.conflict_) == {"a", "b"}
        assert all(0.0 < p < 1.0 for p in model.conflict_.values())
        shown = str(model.summary())
        fit = model.fit_
        for n, p in model.conflict_.items():
            assert f"{fit.level_conflict[n]:.0%}" in shown
            assert f"{p - fit.level_conflict[n]:.0%}" in shown

    def test_standard_deviations_and_intervals_are_those_of_the_posterior(self):
        tables = tables_of("one source", seed=1)
        t, old = tables.target, tables.sources["old"]
        model = PooledRegressor().fit(t.X, t.y, sources=(old.X, old.y))
        predicted, deviation = model.predict(t.X, return_std=True)
        fit = model.fit_
        u = np.column_stack((np.ones(len(t.y)), t.X - fit.centre))
        expected = np.sqrt(np.array([r @ fit.covariance @ r for r in u]) + fit.noise)
        assert_allclose(deviation, expected, rtol=1e-12)
        low, high = model.predict_interval(t.X, coverage=0.5).T
        assert_allclose(0.5 * (low + high), predicted, rtol=1e-10)
        wide = model.predict_interval(t.X, coverage=0.95)
        assert (wide[:, 0] < low).all()
        assert (wide[:, 1] > high).all()

    def test_tails_have_the_kurtosis_of_a_normal_distribution_of_uncertain_variance(self):
        problem = replace(tables_of("one source", seed=1).problem(), sources={})
        known = model(scaled(problem))
        at = points(known.evidence)
        frame, share, ratio, _ = at.cells.T
        noise, _ = known.evidence.scales(share, ratio, known.evidence.frames.account[frame])
        weight = at.weight.sum(axis=1)
        excess = 3.0 * (weight @ noise**2 / (weight @ noise) ** 2 - 1.0)
        found = BayesPooling().solve(problem).distribution
        assert found.deviation == "averaged"
        assert_allclose(stats.t.stats(found.freedom, moments="k"), excess, rtol=1e-6)

    def test_few_rows_are_said_to_be_few_and_nothing_more(self):
        rng = np.random.default_rng(5)
        X = rng.normal(size=(104, 6))
        y = X @ np.arange(1.0, 7.0) + rng.normal(size=104)
        with pytest.warns(PoolwiseWarning) as caught:
            model = PooledRegressor().fit(X[100:], y[100:], sources=(X[:100, :4], y[:100]))
        assert [type(w.message) for w in caught] == [NoiseNotEstimable]
        assert np.isfinite(model.standard_errors_).all()
