"""Bayes pooling: special cases, conflict, what it gains and what it never loses."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from poolwise import Moments, PooledRegressor
from poolwise.errors import LeftOut, PoolwiseWarning, RankDeficient
from poolwise.linear.problem import Problem
from poolwise.methods import TargetOnly
from poolwise.methods.bayes_pooling import BayesPooling
from tests.laws.problems import Table, Tables, least_squares, random_tables, tables_of
from tests.methods.bayes_fits import errors_of, solved


class TestSpecialCases:
    def test_a_source_with_all_features_is_nearly_pooled_least_squares(self):
        tables = random_tables(1, target_rows=200, sources={"old": (400, (0, 1, 2, 3))})
        both = (tables.target, tables.sources["old"])
        expected = least_squares(*(np.concatenate([getattr(t, k) for t in both]) for k in "Xy"))
        fit = solved(tables)
        # What is left of the difference is shrinkage, and a few percent of conflict.
        assert_allclose(fit.coef / errors_of(fit), expected[1:] / errors_of(fit), rtol=0, atol=0.3)
        assert fit.conflict["old"] < 0.2
        alone = solved(Tables(tables.target))
        assert (errors_of(fit) < 0.75 * errors_of(alone)).all()  # three times the rows: 0.58

    def test_many_rows_alone_are_nearly_least_squares(self):
        tables = random_tables(1, target_rows=2000, sources={})
        fit = solved(tables)
        expected = TargetOnly().solve(tables.problem())
        # The prior weighs as much as about one row.
        assert_allclose(fit.coef, expected.coef, rtol=2e-3)
        assert_allclose(errors_of(fit), errors_of(expected), rtol=0.02)
        assert_allclose(fit.noise, expected.noise, rtol=0.02)
        assert fit.conflict == fit.weights == fit.source_noise == {}

    @pytest.mark.parametrize("rows", [2, 3, 4])
    def test_few_rows_alone_shrink(self, rows):
        tables = random_tables(1, target_rows=rows, features=6, sources={})
        fit, shortest = solved(tables), TargetOnly().solve(tables.problem())
        assert np.isfinite(fit.covariance).all()
        assert fit.noise > 0.0
        X = tables.target.X
        ours, theirs = np.ptp(fit.predict(X)), np.ptp(shortest.predict(X))
        assert 0.0 < ours < theirs  # the shortest solution meets every row

    @pytest.mark.parametrize("rows", [1, 2])
    def test_few_rows_beside_history_use_it(self, rows):
        tables = random_tables(1, target_rows=rows, features=3, sources={"old": (200, (0, 1))})
        fit, old = solved(tables), tables.sources["old"]
        expected = least_squares(old.X, old.y)[1:]
        assert np.isfinite(fit.covariance).all()
        assert_allclose(fit.coef[:2], expected, atol=3.0 * errors_of(fit)[:2].max())
        assert (np.abs(fit.coef[:2]) > 0.3 * np.abs(expected)).all()

    def test_one_row_cannot_tell_what_history_lacks(self):
        fit = solved(random_tables(1, target_rows=1, sources={"old": (60, (0, 1))}))
        assert_array_equal(fit.coef[2:], 0.0)
        assert set(fit.dropped) == {"x2", "x3"}

    def test_an_empty_source_is_no_source(self):
        target = random_tables(1, sources={}).target
        nothing = Table(("x0",), np.empty((0, 1)), np.empty(0))
        fit, alone = solved(Tables(target, {"nothing": nothing})), solved(Tables(target))
        assert_array_equal(fit.coef, alone.coef)
        assert_array_equal(fit.covariance, alone.covariance)
        assert fit.cautions == ()

    def test_a_copy_of_the_target_halves_the_variance_and_moves_little(self):
        target = tables_of("one source", seed=1).target
        fit, alone = solved(Tables(target, {"copy": target})), solved(Tables(target))
        assert (np.abs(fit.coef - alone.coef) < 0.2 * errors_of(alone)).all()
        # Twice the rows, and a chance of conflict: between one half and two thirds.
        assert_allclose(errors_of(fit) ** 2 / errors_of(alone) ** 2, 0.55, atol=0.1)

    def test_a_response_that_never_varies_is_predicted(self):
        tables = tables_of("one source", seed=1)
        fit = solved(tables.each(lambda table: replace(table, y=np.full(len(table.y), 3.0))))
        assert_array_equal(fit.coef, 0.0)
        assert_array_equal(fit.predict(tables.target.X), 3.0)
        assert fit.noise == 0.0

    def test_one_row_tells_no_noise(self):
        one = Tables(tables_of("one source", seed=1).target.take([0]))
        fit = solved(one)
        assert fit.noise is None
        assert fit.covariance is None
        assert_allclose(fit.predict(one.target.X), one.target.y)

    def test_a_response_that_varies_in_the_sources_alone_is_their_conflict(self):
        tables = tables_of("one source", seed=1)
        tables.target.y[:] = 3.0
        fit = solved(tables)
        assert_allclose(fit.predict(tables.target.X), 3.0, atol=1e-3)
        assert fit.conflict["old"] > 0.99

    def test_a_source_whose_response_never_varies_does_no_harm(self):
        tables = tables_of("one source", seed=1)
        tables.sources["old"].y[:] = 3.0
        fit, alone = solved(tables), solved(Tables(tables.target))
        assert fit.noise < 1.5 * alone.noise

    def test_a_source_none_of_whose_features_varies_is_left_out(self):
        tables = random_tables(1, sources={"still": (20, (0,)), "old": (40, (0, 1))})
        still = tables.each(lambda table: replace(table, X=table.X.copy()))
        for table in (still.target, *still.sources.values()):
            table.X[:, 0] = 5.0
        fit = solved(still)
        assert fit.weights["still"] == 0.0
        (caution,) = [c for c in fit.cautions if isinstance(c, LeftOut)]
        assert "'still'" in str(caution)
        assert "none of their features varies" in str(caution)

    @pytest.mark.parametrize("noise", [1.0, 0.03, 0.001])
    def test_a_precise_source_may_be_wrong_about_everything(self, noise):
        rng = np.random.default_rng(3)
        names = ("a", "b", "y")
        risks = []
        for _ in range(20):
            X, Z = rng.normal(size=(12, 2)), rng.normal(size=(300, 2))
            y = X @ [1.0, 1.0] + noise * rng.normal(size=12)
            z = Z @ [1.5, 1.0] + noise * rng.normal(size=300)
            target = Moments.of_rows(names, np.column_stack((X, y)))
            source = Moments.of_rows(names, np.column_stack((Z, z)))
            problem = Problem(target, {"wrong": source}, "y")
            fits = [BayesPooling().solve(problem), TargetOnly().solve(problem)]
            risks.append([noise**2 + f.intercept**2 + np.sum((f.coef - 1.0) ** 2) for f in fits])
        ours, alone = np.mean(risks, axis=0)
        assert ours < 1.2 * alone

    @pytest.mark.parametrize("rows", [8, 10, 20])
    @pytest.mark.parametrize("level", [0.0, 5.0])
    def test_a_source_without_noise_says_nothing_about_that_of_the_target(self, rows, level):
        held, errors = [], []
        for seed in range(25):
            rng = np.random.default_rng(seed)
            X, old, X_new = (rng.normal(size=(n, 4)) for n in (rows, 300, 100))
            y, y_new = X.sum(axis=1) + rng.normal(size=rows), X_new.sum(axis=1)
            source = (old[:, :2], old[:, :2].sum(axis=1) + level)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PoolwiseWarning)
                model = PooledRegressor().fit(X, y, sources=source)
                alone = PooledRegressor().fit(X, y)
                predicted = [m.predict(X_new) for m in (model, alone)]
            low, high = model.predict_interval(X_new).T
            seen = y_new + rng.normal(size=100)
            held.append(np.mean((low <= seen) & (seen <= high)))
            errors.append([1.0 + np.mean((p - y_new) ** 2) for p in predicted])
        assert 0.85 <= np.mean(held) <= 0.99  # a standard error of 0.02, of 25 repetitions
        ours, its = np.mean(errors, axis=0)
        assert ours < 1.25 * its  # of 25 repetitions: the ratio varies by a tenth

    def test_a_new_column_that_is_an_old_one_again_is_named(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(30, 3))
        X[:, 2] = X[:, 0]
        y = X.sum(axis=1) + rng.normal(size=30)
        with pytest.warns(RankDeficient, match="'x0', 'x2'"):
            PooledRegressor().fit(X, y, sources=(X[:, :2].copy(), y))

    def test_a_response_far_from_zero_is_still_fitted(self):
        tables = tables_of("one source", seed=1)
        far = tables.each(lambda table: replace(table, y=table.y + 2.0**36))
        assert_allclose(solved(far).coef, solved(tables).coef, rtol=0, atol=1e-3)

    @pytest.mark.parametrize("rows", [1, 2])
    def test_a_source_of_one_or_two_rows_is_left_out(self, rows):
        tables = random_tables(1, sources={"tiny": (rows, (0, 1)), "old": (40, (0, 1))})
        fit = solved(tables)
        expected = solved(Tables(tables.target, {"old": tables.sources["old"]}))
        assert_array_equal(fit.coef, expected.coef)
        assert [type(c) for c in fit.cautions] == [LeftOut]
        assert "bayes_pooling left out 'tiny'" in str(fit.cautions[0])
        assert fit.weights["tiny"] == 0.0
        assert fit.source_noise["tiny"] is None
        assert set(fit.conflict) == {"old"}

    def test_a_source_of_three_rows_is_taken(self):
        fit = solved(random_tables(1, sources={"tiny": (3, (0, 1))}))
        assert fit.cautions == ()
        assert set(fit.conflict) == {"tiny"}

    def test_a_shared_feature_that_is_constant_in_the_target_is_told_by_the_source(self):
        tables = tables_of("one source", seed=1)
        t = tables.target
        t.y[:] -= 1.5 * (t.X[:, 0] - 1.0)
        t.X[:, 0] = 1.0
        fit = solved(tables)
        assert fit.dropped == {}
        assert 0.0 < errors_of(fit)[0] < 5.0
        assert fit.coef[0] > 0.5

    def test_a_new_feature_that_is_constant_in_the_target_is_dropped(self):
        tables = tables_of("one source", seed=1)
        tables.target.X[:, 2] = 1.0
        fit = solved(tables)
        assert fit.dropped == {"x2": "constant in the pooled data"}
        assert fit.coef[2] == 0.0
        narrow = tables.each(lambda t: t.in_order(["x0", "x1", "x3"]))
        expected = solved(narrow)
        assert_allclose(fit.coef[[0, 1, 3]], expected.coef, rtol=1e-10)

    @pytest.mark.parametrize("pair", [(0, 1), (2, 3)], ids=["shared", "new"])
    def test_columns_that_are_the_same_share_a_coefficient_and_are_named(self, pair):
        def doubled(table):
            X, names = table.X.copy(), [f"x{j}" for j in pair]
            if all(n in table.names for n in names):
                X[:, table.names.index(names[1])] = X[:, table.names.index(names[0])]
            return replace(table, X=X)

        tables = tables_of("one source", seed=1).each(doubled)
        fit = solved(tables)
        assert_allclose(fit.coef[pair[0]], fit.coef[pair[1]], rtol=1e-5)
        assert [type(c) for c in fit.cautions] == [RankDeficient]
        assert np.isfinite(fit.covariance).all()
        # Only their sum is known: each alone is as uncertain as the prior.
        both = fit.covariance[1:, 1:][np.ix_(pair, pair)].sum()
        assert both < 0.1 * errors_of(fit)[pair[0]] ** 2

    @pytest.mark.parametrize("has", [(0, 1, 2, 3), (0, 1)], ids=["all", "some"])
    def test_without_noise_the_coefficients_are_met(self, has):
        tables = random_tables(1, noise=0.0, sources={"old": (60, has)})
        fit = solved(tables)
        expected = least_squares(tables.target.X, tables.target.y)
        assert_allclose(fit.coef, expected[1:], rtol=1e-5)  # responses are rounded to 1e-6
        assert fit.noise < 1e-9

    def test_a_row_of_weight_three_is_the_row_three_times_in_all_that_is_said(self):
        tables = tables_of("weighted rows", seed=1)

        def repeated(table):
            return replace(
                table.take(np.repeat(range(len(table.y)), table.w.astype(int))), weights=None
            )

        a, b = solved(tables), solved(tables.each(repeated))
        assert_allclose(a.coef, b.coef, rtol=1e-9)
        assert_allclose(a.covariance, b.covariance, rtol=1e-7, atol=1e-12)
        assert_allclose(a.conflict["old"], b.conflict["old"], rtol=1e-8)
        assert_allclose(a.distribution.freedom, b.distribution.freedom, rtol=1e-8)

    def test_without_intercept_the_line_goes_through_the_origin_with_certainty(self):
        tables = random_tables(1, target_rows=400, sources={"old": (400, (0, 1))})
        fit = solved(tables, intercept=False)
        assert fit.intercept == 0.0
        assert not fit.covariance[0].any()
        assert fit.standard_errors[0] == 0.0
        expected = least_squares(tables.target.X, tables.target.y, intercept=False)[1:]
        assert (np.abs(fit.coef - expected) < 3.0 * errors_of(fit)).all()

    def test_columns_1e9_apart_change_nothing_but_units(self):
        tables = tables_of("overlapping sources", seed=1)
        scale = {"x0": 1e9, "x1": 1e-9, "x2": 1e4, "x3": 1.0}

        def stretched(table):
            return replace(table, X=table.X * [scale[n] for n in table.names])

        a, b = solved(tables), solved(tables.each(stretched))
        by = np.array(list(scale.values()))
        assert_allclose(b.coef * by, a.coef, rtol=1e-8)
        assert_allclose(errors_of(b) * by, errors_of(a), rtol=1e-8)
        for name in a.conflict:
            assert_allclose(b.conflict[name], a.conflict[name], rtol=1e-7)

    @pytest.mark.parametrize("times", [1e3, 1e6, 1e12])
    def test_a_huge_source_is_only_a_source(self, times):
        problem = tables_of("one source", seed=1).problem()
        huge = replace(problem, sources={"old": times * problem.sources["old"]})
        fit, alone = BayesPooling().solve(huge), TargetOnly().solve(problem)
        assert np.isfinite(fit.covariance).all()
        # However sure the source is of its coefficients, the target tells how to translate them.
        assert (np.abs(fit.coef - alone.coef) < 2.5 * errors_of(alone)).all()
        assert (errors_of(fit) > 0.1 * errors_of(alone)).all()
