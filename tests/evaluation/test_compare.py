"""compare(): honest scores on target rows, and a verdict that follows from them."""

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, RepeatedKFold, cross_val_score
from threadpoolctl import threadpool_limits

from poolwise import Comparison, Moments, PooledRegressor, Problem, Sources, compare, plan, report
from poolwise.errors import BadOption, BadWeights, DataWarning, TooFewRows
from poolwise.evaluation.compare import repeats_of
from poolwise.evaluation.target_folds import contenders_of
from poolwise.methods import DerivedPooling
from poolwise.methods.data_pooling import DataPooling
from tests.linear_methods import LINEAR_METHODS
from tests.methods.boosting.few_trees import grow_few
from tests.methods.nonlinear import world


@pytest.fixture
def data():
    rng = np.random.default_rng(11)
    X = rng.normal(size=(330, 3))
    y = X @ [2.0, -1.0, 1.0] + rng.normal(size=330)
    return X[300:], y[300:], X[:300, :2], y[:300]


def test_scores_are_those_of_scikit_learn_on_the_same_folds(data):
    X, y, X_old, y_old = data
    cv = KFold(5)
    result = compare(X, y, sources=(X_old, y_old), methods=["data_pooling"], cv=cv)
    for method in ("data_pooling", "target_only"):
        expected = -cross_val_score(
            PooledRegressor(method),
            X,
            y,
            cv=cv,
            scoring="neg_root_mean_squared_error",
            params={"sources": Sources((X_old, y_old))},
        )
        np.testing.assert_allclose(result.scores[method], expected, rtol=1e-12)


def test_everything_is_compared_by_default(data):
    X, y, X_old, y_old = data
    result = compare(X, y, sources=(X_old, y_old), cv=KFold(2))
    assert set(result.scores) == {*LINEAR_METHODS, "trees_on_nan"}


def test_without_history_gaps_or_none_only_ridge_and_least_squares_are_compared(data):
    *_, X, y = data
    gaps = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    for table in (X, gaps):
        found = compare(table, y, cv=KFold(3))
        assert set(found.scores) == {"target_ridge", "target_only"}
        assert found.verdict.level == "no_history"


def test_an_own_estimator_sees_all_rows_stacked_with_nan(data):
    X, y, X_old, y_old = data
    trees = HistGradientBoostingRegressor(max_iter=20, random_state=0)
    cv = KFold(3)
    result = compare(X, y, sources=(X_old, y_old), methods={"trees": trees}, cv=cv)
    old = np.column_stack((X_old, np.full(300, np.nan)))
    for k, (train, test) in enumerate(cv.split(X)):
        model = HistGradientBoostingRegressor(max_iter=20, random_state=0)
        with threadpool_limits(1, user_api="openmp"):  # threads would wait for each other
            model.fit(np.concatenate((X[train], old)), np.concatenate((y[train], y_old)))
        rmse = np.sqrt(np.mean((y[test] - model.predict(X[test])) ** 2))
        assert result.scores["trees"][k] == pytest.approx(rmse, rel=1e-12)


def test_labels_are_kept_apart(data):
    X, y, X_old, y_old = data
    methods = [DataPooling(), DataPooling(ddof="mle"), PooledRegressor("offset"), "offset"]
    result = compare(X, y, sources=(X_old, y_old), methods=methods, cv=KFold(2))
    assert set(result.scores) == {
        "DataPooling",
        "DataPooling 2",
        "offset",
        "offset 2",
        "target_only",
        "target_ridge",
    }
    np.testing.assert_array_equal(result.scores["offset"], result.scores["offset 2"])


def test_the_test_is_the_corrected_resampled_t_test(data):
    X, y, X_old, y_old = data
    cv = RepeatedKFold(n_splits=5, n_repeats=4, random_state=0)
    result = compare(X, y, sources=(X_old, y_old), methods=["data_pooling"], cv=cv)
    d = result.scores["data_pooling"] - result.scores["target_ridge"]
    t = d.mean() / np.sqrt((1 / 20 + 6 / 24) * d.var(ddof=1))  # Nadeau and Bengio 2003
    line = next(r for r in result.table() if r["method"] == "data_pooling")
    assert line["difference"] == pytest.approx(d.mean())
    assert line["p"] == pytest.approx(2 * scipy.stats.t.sf(abs(t), 19))
    assert line["low"] < line["difference"] < line["high"]


def test_holm_never_lowers_a_p_value_and_keeps_their_order():
    rng = np.random.default_rng(0)
    scores = {f"m{k}": 1.0 + rng.normal(0.03 * k, 0.05, 20) for k in range(5)}
    lines = Comparison(scores | {"target_only": np.ones(20)}, "target_only", 0.25).table()
    others = sorted((r for r in lines if r["method"] != "target_only"), key=lambda r: r["p"])
    assert all(r["p_holm"] >= r["p"] for r in others)
    holm = [r["p_holm"] for r in others]
    assert holm == sorted(holm)
    assert others[0]["p_holm"] == pytest.approx(5 * others[0]["p"])


def test_the_verdict_follows_the_numbers():
    rng = np.random.default_rng(0)
    base = 10.0 + rng.normal(size=50)
    noise = 0.1 * rng.normal(size=50)

    def said(difference, rows=100):
        scores = {"data_pooling": base + difference + noise, "target_only": base}
        result = Comparison(scores, "target_only", 0.25, history_rows=rows, target_rows=30)
        return result.verdict

    assert said(-1.0).headline.startswith("Measured with data_pooling: history helps; on 30 recent")
    assert "9.8% lower than without history" in said(-1.0).headline
    assert said(0.0).level == "no_clear_difference"
    assert said(+1.0).level == "hurts"
    assert "Worse than target_only, after correction: data_pooling" in said(+1.0).text
    assert said(0.0, rows=0).level == "no_history"


def test_the_verdict_is_about_a_method_with_and_without_history(data):
    X, y, X_old, y_old = data
    history = {"sources": (X_old, y_old)}
    cv = KFold(5)
    result = compare(X, y, **history, methods=["bayes_pooling", "data_pooling"], cv=cv)
    assert result.judged_method == "bayes_pooling"  # whichever has the lower error
    alone = -cross_val_score(PooledRegressor(), X, y, cv=cv, scoring="neg_root_mean_squared_error")
    np.testing.assert_allclose(result.without, alone, rtol=1e-12)
    change = result.scores["bayes_pooling"].mean() / alone.mean() - 1.0
    assert result.effect.change == pytest.approx(change)
    for method in LINEAR_METHODS:  # without history, every other method is least squares
        if method not in ("bayes_pooling", "target_only", "target_ridge"):
            result = compare(X, y, **history, methods=[method], cv=KFold(2))
            np.testing.assert_allclose(result.without, result.scores["target_only"], rtol=1e-9)


def test_least_squares_that_explodes_is_no_rival_and_the_errors_of_both_rivals_are_named():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(440, 30))
    y = 0.5 * X.sum(axis=1) + rng.normal(size=440)
    history = {"sources": (X[40:, :24], y[40:])}
    found = compare(X[:40], y[:40], **history, methods=["data_pooling"])
    ridge, plain = (found.scores[n].mean() for n in ("target_ridge", "target_only"))
    assert plain > 2.0 * ridge
    assert found.without.mean() == pytest.approx(plain)
    assert found.effect.change == pytest.approx(found.scores["data_pooling"].mean() / ridge - 1.0)
    assert "than with target_ridge, on the recent rows alone" in found.verdict.headline
    rivals = f"{ridge:.4g} by ridge regression (target_ridge) and {plain:.4g} by least squares"
    assert rivals in found.verdict.text
    made = report(X[:40], y[:40], **history, method="data_pooling", methods=[])
    told = [x for x in made.data["gain"]["lines"] if x["basis"] == "measured"]
    assert [x["against"] for x in told] == ["target_ridge"]


def test_a_method_chosen_for_its_error_is_corrected_for_that():
    rng = np.random.default_rng(0)
    base = 10.0 + rng.normal(size=50)
    scores = {f"m{k}": base - 0.5 + rng.normal(0.0, 0.4, 50) for k in range(4)}
    found = Comparison(
        {**scores, "target_only": base}, "target_only", 0.25, history_rows=9, target_rows=30
    )
    named = Comparison(
        found.scores,
        "target_only",
        0.25,
        history_rows=9,
        target_rows=30,
        judged=found.judged_method,
    )
    assert found.effect.change == named.effect.change
    assert 1.0 - found.effect.confidence == pytest.approx(4.0 * (1.0 - named.effect.confidence))
    assert found.effect.low < named.effect.low < named.effect.high < found.effect.high


def test_the_result_is_tidy_and_prints(data):
    X, y, X_old, y_old = data
    result = compare(X, y, sources=(X_old, y_old), methods=["mean_fill"], cv=KFold(4))
    records = pd.DataFrame(result.records())
    assert list(records.columns) == ["method", "fold", "rmse"]
    assert len(records) == 12
    means = records.groupby("method")["rmse"].mean()
    assert means["mean_fill"] == pytest.approx(result.scores["mean_fill"].mean())
    assert "mean_fill" in str(result)
    assert result.verdict.text in " ".join(str(result).split())
    assert f"Means over {len(result.scores['mean_fill'])} folds, the same" in str(result)
    assert "<table>" in result._repr_html_()


def test_what_needs_rows_is_left_out_with_its_reason(data):
    X, y, X_old, y_old = data
    source = Moments.of_rows(["x0", "x1", "y"], np.column_stack((X_old, y_old)))
    result = compare(X, y, sources={"old": source}, cv=KFold(2))
    assert set(result.skipped) == {"kernel_transfer", "trees_on_nan"}
    assert "only moments are available" in str(result)
    assert "data_pooling" in result.scores


def test_weights_count_in_fitting_and_scoring(data):
    X, y, X_old, y_old = data
    w = np.where(np.arange(30) % 2, 2.0, 1.0)
    trees = {"trees": HistGradientBoostingRegressor(max_iter=5)}
    cv = [(np.arange(20), np.arange(20, 30))]
    result = compare(X, y, sources=(X_old, y_old), sample_weight=w, cv=cv, methods=trees)
    model = PooledRegressor("target_only").fit(X[:20], y[:20], sample_weight=w[:20])
    squared = (y[20:] - model.predict(X[20:])) ** 2
    expected = np.sqrt(np.average(squared, weights=w[20:]))
    assert result.scores["target_only"][0] == pytest.approx(expected)
    assert result.own == ("trees",)
    alone = compare(X, y, sources=(X_old, y_old), methods=["mean_fill"], cv=cv)
    assert "no test" in alone.verdict.text
    with pytest.raises(BadWeights, match="test fold"):
        compare(X, y, sources=(X_old, y_old), sample_weight=np.r_[w[:20], np.zeros(10)], cv=cv)

    class Plain(LinearRegression):
        def fit(self, X, y):
            return super().fit(X, y)

    with pytest.raises(BadOption, match="weights"):
        compare(X, y, sample_weight=w, methods=[Plain()], cv=KFold(2))


@pytest.mark.parametrize("cv", [3, KFold(3)], ids=["repeated", "once"])
def test_nine_rows_prove_nothing_however_often_they_are_split(cv):
    rng = np.random.default_rng(0)
    X, X_old = rng.normal(size=(10, 3)), rng.normal(size=(2000, 3))
    y, y_old = X.sum(axis=1), X_old.sum(axis=1) + 0.01 * rng.normal(size=2000)
    y = y + rng.normal(size=10)
    methods = {"old": PooledRegressor("source_columns_only")}
    found = compare(X[:9], y[:9], sources=(X_old, y_old), methods=methods, cv=cv)
    line = found.table()[0]
    assert line["method"] == "old"  # much better, and it may be chance
    assert {line[key] for key in ("low", "high", "p", "p_holm")} == {None}
    assert found.effect.confidence is None
    assert found.verdict.headline.startswith("Expected with old: ")
    more = compare(X, y, sources=(X_old, y_old), methods=methods, cv=cv)
    assert more.table()[0]["p"] is not None


def test_too_few_rows_and_unknown_methods_are_refused(data):
    X, y, X_old, y_old = data
    with (
        pytest.raises(TooFewRows, match="at least 3"),
        pytest.warns(match="2 rows for 4 coefficients"),
    ):
        compare(X[:2], y[:2], sources=(X_old, y_old))
    with pytest.raises(BadOption, match="Did you mean 'offset'"):
        compare(X, y, sources=(X_old, y_old), methods=["ofset"])


def test_suspicions_are_voiced_once(data):
    X, y, X_old, y_old = data
    with pytest.warns(DataWarning) as caught:
        compare(X, y, sources=(X_old * [1000.0, 1.0], y_old), methods=["mean_fill"], cv=KFold(2))
    assert len(caught) == 1


def test_an_own_estimator_decides_nothing_about_history():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(140, 2))
    y = np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=140)  # not linear, and the history is noise
    result = compare(
        X[:100],
        y[:100],
        sources=(X[100:, :1], rng.normal(size=40)),
        methods={"pool": "data_pooling", "trees": HistGradientBoostingRegressor(random_state=0)},
        cv=KFold(5),
    )
    assert result.table()[0]["method"] == "trees"
    assert "history helps" not in result.verdict.headline
    assert (
        "Another kind of model has a lower error, for other reasons: trees" in result.verdict.text
    )


def test_small_folds_come_with_a_note(data):
    X, y, X_old, y_old = data
    result = compare(X, y, sources=(X_old, y_old), methods=["mean_fill"], cv=KFold(30))
    assert "Folds of 1 test rows" in str(result)


def test_a_constant_response_and_plain_lists_are_taken(data):
    X, _, X_old, y_old = data
    with pytest.warns(match="The response is 1 in every row"):
        result = compare(
            X.tolist(), [1.0] * 30, sources=(X_old, y_old), methods=["mean_fill"], cv=KFold(2)
        )
    assert np.isfinite(result.scores["mean_fill"]).all()
    assert result.verdict.level == "unknown"


def test_an_error_of_an_own_estimator_says_whose_it_is(data):
    X, y, X_old, y_old = data
    with pytest.raises(ValueError, match="NaN") as caught:
        compare(X, y, sources=(X_old, y_old), methods={"plain": LinearRegression()}, cv=KFold(2))
    assert caught.value.__notes__ == ["This happened in compare, with the method 'plain'."]
    with pytest.raises(BadOption, match=r"write LinearRegression\(\)"):
        compare(X, y, sources=(X_old, y_old), methods=[LinearRegression])


def test_the_seed_reaches_the_trees_of_methods_given_by_name(monkeypatch):
    grow_few(monkeypatch, stages=(1, 2, 4), own=3)
    given, cv = world("smooth", rows=40, history=80), KFold(2)
    names = {"by name": "derived_pooling", **{str(k): DerivedPooling(k) for k in (0, 7)}}
    result = compare(given.X, given.y, sources=given.source, methods=names, cv=cv, random_state=7)
    assert (result.scores["by name"] == result.scores["7"]).all()
    assert (result.scores["by name"] != result.scores["0"]).all()


@pytest.mark.parametrize("seed", [-1, 2**31, 1.5, True, None])
def test_one_rule_for_seeds_whoever_draws(data, seed):
    X, y, X_old, y_old = data
    given, history = (X, y), {"sources": (X_old, y_old)}
    model = PooledRegressor().fit(*given, **history)
    for asked in (
        lambda: compare(*given, **history, random_state=seed),
        lambda: report(*given, **history, random_state=seed),
        lambda: plan(model, random_state=seed),
        lambda: PooledRegressor(DerivedPooling(seed)).fit(*given, **history),
    ):
        with pytest.raises(BadOption, match=r"random_state=.*a whole number from 0 to 2147483647"):
            asked()


@pytest.mark.parametrize("method", ["derived_pooling", "auto"])
def test_compare_and_report_say_the_same_of_a_method_with_trees(monkeypatch, method):
    grow_few(monkeypatch, stages=(1, 2, 4), own=3)
    given = world("smooth", rows=40, history=80)
    own = {"sources": given.source, "methods": [method], "cv": 3}
    found = compare(given.X, given.y, **own)
    assert found.nonlinear == (method,)
    made = report(given.X, given.y, **own, method=method)
    assert found.verdict.headline == made.verdict.headline
    assert found.verdict.headline.startswith(f"Measured with {method}: ")
    assert "Expected with bayes_pooling" in str(found.verdict)


def test_compare_and_report_expect_the_same_where_nothing_was_measured_without_history(data):
    X, y, X_old, y_old = data
    found = compare(X, y, sources=(X_old, y_old), methods=["target_only"])
    made = report(X, y, sources=(X_old, y_old), method="target_only", methods=[])
    assert found.verdict.headline == made.verdict.headline
    assert found.verdict.basis == "expected"
    assert "No method of poolwise was measured" in str(found.verdict)


@pytest.mark.parametrize(("features", "sources"), [(3, 1), (50, 5), (90, 10)])
def test_folds_are_repeated_by_the_size_of_the_problem_and_by_nothing_else(features, sources):
    names = tuple(f"x{j}" for j in range(features))
    table = Moments.of_rows((*names, "y"), np.eye(features + 1))
    problem = Problem(table, {str(k): table for k in range(sources)}, "y")
    lines, trees = contenders_of(None, 0), contenders_of(["boosted_pooling"], 0)
    often = repeats_of(problem, lines, None)
    assert often == {3: 4, 50: 2, 90: 1}[features]
    assert repeats_of(problem, {**lines, **trees}, "bayes_pooling") == often
    assert repeats_of(problem, trees, None) == 1
    assert repeats_of(problem, {**lines, **trees}, "boosted_pooling") == 1


def test_a_method_with_trees_says_what_it_is_made_of_and_computes_no_effects(monkeypatch):
    grow_few(monkeypatch, stages=(1, 2, 4), own=3)
    monkeypatch.setattr("poolwise.methods.boosting.stack.EffectRows.effects", None)
    given = world("smooth", rows=40, history=80)
    methods = ["boosted_pooling", "bayes_pooling"]
    result = compare(given.X, given.y, sources=given.source, methods=methods, cv=KFold(2))
    made = result.trees["boosted_pooling"]
    own, line = (np.mean(result.scores[m] ** 2) for m in methods)
    (note,) = [n for n in result.notes() if n.startswith("boosted_pooling is, on average")]
    assert all(f"{name} {weight:.0%}" in note for name, weight in made.weights.items())
    how = "lower" if own < line else "higher"
    assert f"{abs(1.0 - own / line):.0%} {how} than with bayes_pooling." in note
    alone = compare(given.X, given.y, sources=given.source, methods=methods[:1], cv=KFold(2))
    assert f"{abs(made.fall):.0%} " in alone.notes()[1]
    assert "than with its linear candidate on rows that neither was fitted on." in alone.notes()[1]
