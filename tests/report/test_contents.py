"""Contents of a report against the calls it sums up, and against slow definitions."""

import json
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.model_selection import KFold

import poolwise
from poolwise import PooledRegressor, Sources, compare, diagnose, plan
from tests.report.conftest import FEW, WHEN
from tests.report.stories import NEW, diabetes
from tests.report.test_html import html_of

RIDGE = 1e-9  # relative: numbers that two routes reach by the same arithmetic


def fitted():
    X, y, sources = diabetes()
    return PooledRegressor().fit(X, y, sources=sources)


def test_json_gives_the_data_back(helping):
    assert json.loads(helping.json()) == helping.data
    assert (helping.data["format"], helping.data["version"]) == ("poolwise report", 1)


def test_the_same_seed_and_date_give_the_same_page(helping):
    X, y, sources = diabetes()
    again = poolwise.report(X, y, sources=sources, date=WHEN, **FEW)
    assert again.html() == html_of(helping)
    assert again.json() == helping.json()


def test_the_model_is_that_of_fit(helping):
    assert_allclose(helping.model.coef_, fitted().coef_, rtol=0)


def test_what_is_expected_is_the_gain_of_the_diagnosis(helping):
    lines = diagnose(fitted()).gain.lines
    told = [x for x in helping.data["gain"]["lines"] if x["basis"] == "expected"]
    assert [x["against"] for x in told] == ["without_history", "target_only"]
    for line, x in zip(lines, told, strict=True):
        without, with_ = math.sqrt(line.error_without), math.sqrt(line.error_with)
        assert x["change"] == pytest.approx(with_ / without - 1.0, rel=RIDGE)
        # The ends: the error with history that goes with each end of the gain.
        high = math.sqrt(line.error_without - line.low) / without - 1.0
        low = math.sqrt(line.error_without - line.high) / without - 1.0
        assert (x["low"], x["high"]) == pytest.approx((low, high), rel=RIDGE)
        assert x["confidence"] == line.probability


def test_methods_are_those_of_compare(helping):
    X, y, sources = diabetes()
    methods = [*FEW["methods"], "bayes_pooling"]
    table = compare(X, y, sources=sources, methods=methods, cv=FEW["cv"]).table()
    told = {x["method"]: x for x in helping.data["methods"]["lines"]}
    assert {x["method"] for x in table} == told.keys() - {"without_history"}
    for x in table:
        for key in ("rmse", "difference", "low", "high", "p"):
            assert told[x["method"]][key] == pytest.approx(x[key], rel=RIDGE), (x["method"], key)
    assert [m for m, x in told.items() if x["is_model"]] == ["bayes_pooling"]


@pytest.mark.parametrize(
    ("against", "method", "kept"),
    [("without_history", "bayes_pooling", False), ("target_ridge", "target_ridge", True)],
)
def test_what_was_measured_is_the_mean_over_folds(helping, against, method, kept):
    X, y, sources = diabetes()
    errors, shares = [], []
    for train, test in FEW["cv"].split(X):
        pair = []
        for name, history in (("bayes_pooling", sources), (method, sources if kept else None)):
            model = PooledRegressor(name)
            model.fit(X.iloc[train], y.iloc[train], sources=history)
            pair.append(np.sqrt(np.mean((y.iloc[test] - model.predict(X.iloc[test])) ** 2)))
        errors.append(pair)
        shares.append(len(test) / len(train))
    ours, theirs = np.array(errors).T
    step = ours - theirs
    error = step.std(ddof=1) * np.sqrt(1.0 / len(step) + np.mean(shares))
    half = stats.t.ppf(0.975, len(step) - 1) * error
    (x,) = [
        x
        for x in helping.data["gain"]["lines"]
        if (x["basis"], x["against"]) == ("measured", against)
    ]
    wanted = np.array([step.mean(), step.mean() - half, step.mean() + half]) / theirs.mean()
    assert_allclose([x["change"], x["low"], x["high"]], wanted, rtol=1e-7)


def test_coefficients_with_history_are_those_of_the_summary(helping):
    summary = fitted().summary()
    for c, x in zip(summary.coefficients, helping.data["coefficients"]["lines"], strict=True):
        own = x["with"]
        assert (x["name"], own["coef"], own["std_error"]) == (c.name, c.coef, c.std_error)
        assert (own["low"], own["high"]) == (c.low, c.high)
    assert [x["name"] for x in helping.data["coefficients"]["lines"] if not x["seen_in"]] == [*NEW]


def test_coefficients_without_history_are_least_squares(helping):
    X, y, _ = diabetes()
    design = np.column_stack([np.ones(len(X)), X])
    coef, rss, _, _ = np.linalg.lstsq(design, y.to_numpy(), rcond=None)
    free = len(X) - design.shape[1]
    errors = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * rss[0] / free)
    half = stats.t.ppf(0.975, free) * errors
    told = helping.data["coefficients"]
    own = [told["intercept"]["without"], *(x["without"] for x in told["lines"])]
    assert_allclose([x["coef"] for x in own], coef, rtol=1e-6)
    assert_allclose([x["low"] for x in own], coef - half, rtol=1e-6)
    effects = [x["without"]["effect"] for x in told["lines"]]
    assert_allclose(effects, coef[1:] * X.to_numpy().std(axis=0), rtol=1e-6)


def test_every_row_is_predicted_without_itself(helping):
    X, y, sources = diabetes()
    told = helping.data["residuals"]
    by_row = {p["row"]: p for p in told["points"]}
    assert sorted(by_row) == list(range(1, len(X) + 1))
    inside = []
    for train, test in KFold(4, shuffle=True, random_state=3).split(X):
        model = PooledRegressor().fit(X.iloc[train], y.iloc[train], sources=sources)
        ends = model.predict_interval(X.iloc[test])
        for k, predicted, (low, high) in zip(test, model.predict(X.iloc[test]), ends, strict=True):
            assert by_row[k + 1]["predicted"] == pytest.approx(predicted)
            assert by_row[k + 1]["residual"] == pytest.approx(y.iloc[k] - predicted)
            inside.append(low <= y.iloc[k] <= high)
    assert told["share_inside"] == pytest.approx(np.mean(inside))


def test_an_outlier_is_named_by_its_row_in_the_table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(330, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=330)
    y[309] += 12.0
    X[301:305, 2] = np.nan  # these rows are history, and move no row's place
    sources = Sources((X[:300, :2], y[:300]))
    made = poolwise.report(X[300:], y[300:], sources=sources, **FEW)
    assert [p["row"] for p in made.data["residuals"]["outliers"]] == [10]
    assert [p["row"] for p in made.data["residuals"]["points"] if p["is_outlier"]] == [10]
    assert "1 row is further off" in made.data["residuals"]["text"]


def test_no_row_of_the_clinic_is_an_outlier(helping):
    assert helping.data["residuals"]["outliers"] == []


def test_the_plan_is_that_of_plan(helping):
    own = plan(fitted())
    assert helping.data["plan"]["gain"] == list(own.gain)
    assert helping.data["plan"]["text"] == own.outlook
