"""Bayes pooling of sources that contradict the target, and what history brings."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise import Moments, PooledRegressor
from poolwise.linear.problem import Problem
from poolwise.methods import TargetOnly
from poolwise.methods.bayes.priors import AGREES
from poolwise.methods.bayes_pooling import BayesPooling
from tests.laws.problems import Tables, tables_of
from tests.methods.bayes_fits import errors_of, solved


def draw(rng, rows, coef, mix, level=0.0):
    X = rng.normal(size=(rows, len(coef))) @ mix
    return X, level + X @ coef + rng.normal(size=rows)


class TestConflict:
    def test_a_hostile_source_is_found_and_costs_little(self):
        tables = tables_of("one source", seed=1)
        old = tables.sources["old"]
        hostile = replace(old, y=5.0 - 3.0 * old.y)
        fit, alone = solved(Tables(tables.target, {"old": hostile})), solved(Tables(tables.target))
        assert fit.conflict["old"] > 0.99
        assert fit.weights["old"] < 0.01
        assert (np.abs(fit.coef - alone.coef) < errors_of(alone)).all()

    def test_of_four_sources_the_bad_one_is_known_and_costs_little(self):
        coef, features, shared = np.array([1.0, -1.0, 2.0, 0.5, 1.0, -1.5]), 6, 4
        mix = np.eye(features)
        mix[:shared, shared:] = 0.3
        with_it, without_it, alone, suspected = [], [], [], []
        for seed in range(10):
            rng = np.random.default_rng(seed)
            X, y = draw(rng, 30, coef, mix)
            truth_at, _ = draw(rng, 400, coef, mix)
            good = {}
            for k in range(3):
                X_old, y_old = draw(rng, 100, coef, mix)
                good[f"good {k}"] = (X_old[:, :shared], y_old)
            X_bad, y_bad = draw(rng, 100, coef + rng.normal(size=features), mix, level=2.0)
            every = {**good, "bad": (X_bad[:, :shared], y_bad)}
            for method, sources, errors in (
                ("bayes_pooling", every, with_it),
                ("bayes_pooling", good, without_it),
                ("target_only", {}, alone),
            ):
                model = PooledRegressor(method).fit(X, y, sources=sources)
                errors.append(np.mean((model.predict(truth_at) - truth_at @ coef) ** 2))
                assert model.conflict_.get("bad", 1.0) > 0.95
                suspected += [p for name, p in model.conflict_.items() if name != "bad"]
        assert np.mean(suspected) < 0.7 * (1.0 - AGREES)  # which it was before any data
        assert np.mean(without_it) < 0.9 * np.mean(alone)  # there was something to lose
        assert np.mean(with_it) < 1.05 * np.mean(without_it)

    def test_the_order_of_sources_does_not_matter(self):
        tables = tables_of("no feature in all", seed=3)
        backwards = Tables(tables.target, dict(reversed(tables.sources.items())))
        a, b = solved(tables), solved(backwards)
        assert_allclose(a.coef, b.coef, rtol=1e-9)
        assert list(a.conflict) == list(reversed(b.conflict))
        for name in a.conflict:
            assert_allclose(a.conflict[name], b.conflict[name], rtol=1e-8)


class TestGains:
    @pytest.mark.parametrize("correlation", [0.9, 0.99])
    def test_where_data_pooling_loses_badly_it_is_as_good_as_the_better_one(self, correlation):
        # New features nearly determined by old ones: those held at their mean are far off.
        coef, totals = np.array([1.0, -1.0, 2.0, 3.0, -3.0]), np.zeros(3)
        for seed in range(30):
            rng = np.random.default_rng(seed)

            def rows(n, rng=rng):
                old = rng.normal(size=(n, 3))
                near = np.column_stack((old[:, 0] + old[:, 1], old[:, 1] - old[:, 2])) / np.sqrt(2)
                own = np.sqrt(1.0 - correlation**2) * rng.normal(size=(n, 2))
                X = np.column_stack((old, correlation * near + own))
                return X, X @ coef + rng.normal(size=n)

            (X, y), (X_old, y_old), (X_new, y_new) = rows(40), rows(500), rows(400)
            for k, method in enumerate(("target_only", "data_pooling", "bayes_pooling")):
                model = PooledRegressor(method).fit(X, y, sources=(X_old[:, :3], y_old))
                totals[k] += np.mean((model.predict(X_new) - y_new) ** 2)
        alone, pooled, ours = totals
        assert pooled > 1.15 * alone
        assert ours < 1.03 * min(alone, pooled)

    @pytest.mark.parametrize(("strength", "close"), [(1.5, 0.13), (3.0, 0.04)])
    def test_with_endless_history_variance_falls_by_the_ratio_of_noises(self, strength, close):
        # With x'' = B'x' + v, independent x' of variance one and v of variance one, least squares
        # has the variance (1 + b^2) / n of a shared coefficient. History that is known exactly
        # takes the share sigma^2 / sigma_S^2 from the one, which is the error of B, and nothing
        # from the b^2, which is that of theta''.
        rng, b = np.random.default_rng(5), 0.6

        def moments(n, names):
            X = rng.normal(size=(n, 3))
            X[:, 2] += b * (X[:, 0] + X[:, 1])
            y = X @ [1.0, 2.0, strength] + rng.normal(size=n)
            every = Moments.of_rows(["x0", "x1", "x2", "y"], np.column_stack((X, y)))
            return every.select(names)

        ratios = []
        for _ in range(4):
            target = moments(4000, ["x0", "x1", "x2", "y"])
            problem = Problem(target, {"old": moments(50_000, ["x0", "x1", "y"])}, "y")
            ours, alone = (errors_of(m.solve(problem)) ** 2 for m in (BayesPooling(), TargetOnly()))
            ratios.append(ours / alone)
        share = 1.0 / (1.0 + strength**2)
        expected = (1.0 - share + b**2) / (1.0 + b**2)
        # The grid has steps of two in the logit of what new features explain. Where the truth lies
        # between two points, the variance is off by a tenth.
        assert_allclose(np.mean(ratios, axis=0), [expected, expected, 1.0], rtol=close)
