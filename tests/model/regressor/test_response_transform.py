"""response_transform: the response is linear on another scale, and predicted on its own."""

import sqlite3

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from poolwise import Files, Moments, PooledRegressor, compare, diagnose, plan, report
from poolwise.errors import (
    BadOption,
    BadSource,
    DataWarning,
    NotFinite,
    NotWritten,
    PoolwiseError,
    PredictionsBounded,
)
from tests.model.exports.databases import in_duckdb

COEF = np.array([0.3, 0.2, 0.4])
SHIFTED = (np.log1p, np.expm1)


def rows(count, seed, noise=0.5):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(count, 3)), columns=["a", "b", "c"])
    X["site"] = rng.choice(["coast", "inland"], count)
    t = 3.0 + X[["a", "b", "c"]].to_numpy() @ COEF + noise * rng.normal(size=count)
    return X, pd.Series(np.exp(t), name="price")


@pytest.fixture(scope="module")
def tables():
    (X, y), (X_old, y_old) = rows(60, 1), rows(300, 2)
    return X, y, X_old.drop(columns="c"), y_old


@pytest.fixture(scope="module")
def model(tables):
    X, y, X_old, y_old = tables
    return PooledRegressor(response_transform="log").fit(X, y, sources={"old": (X_old, y_old)})


@pytest.mark.parametrize("method", ["bayes_pooling", "data_pooling", "feature_transfer"])
def test_a_fit_of_the_logarithm_is_the_fit_of_a_transformed_column(tables, method):
    X, y, X_old, y_old = tables
    ours = PooledRegressor(method, response_transform="log")
    ours.fit(X, y, sources=(X_old, y_old))
    plain = PooledRegressor(method).fit(X, np.log(y), sources=(X_old, np.log(y_old)))
    assert_allclose(ours.predict(X, statistic="median"), np.exp(plain.predict(X)))
    if method != "feature_transfer":  # which has no intervals
        assert_allclose(ours.predict_interval(X, 0.8), np.exp(plain.predict_interval(X, 0.8)))
    assert ours.summary().response == "log(price)"


def test_rows_are_transformed_wherever_they_are_read(tables, model, tmp_path):
    X, y, X_old, y_old = tables
    table = X_old.assign(price=y_old)
    table.to_csv(tmp_path / "old.csv", index=False, float_format="%.17g")
    stream = table.to_parquet(tmp_path / "old.parquet") or tmp_path / "old.parquet"
    import dask.dataframe as dd
    import pyarrow.dataset as ds

    clients = [tmp_path / "old.csv", Files(stream), table, ds.dataset(stream)]
    clients.append(dd.from_pandas(table, npartitions=3))
    for given in clients:
        found = PooledRegressor(response_transform="log").fit(X, y, sources={"old": given})
        assert_allclose(found.coef_, model.coef_, rtol=1e-9)


def test_means_are_unbiased_and_medians_are_not():
    X, y = rows(2000, 3, noise=1.0)
    X_test, y_test = rows(20_000, 4, noise=1.0)
    model = PooledRegressor(response_transform="log").fit(X, y)
    mean, deviation = model.predict(X_test, return_std=True)
    assert abs(mean.mean() / y_test.mean() - 1.0) < 0.05
    assert model.predict(X_test, statistic="median").mean() < 0.7 * y_test.mean()
    assert abs(np.mean(y_test < model.predict(X_test, statistic="median")) - 0.5) < 0.02
    low, high = model.predict_interval(X_test, 0.9).T
    assert abs(np.mean((low < y_test) & (y_test < high)) - 0.9) < 0.01
    spread = np.sqrt(np.mean((y_test - mean) ** 2) / np.mean(deviation**2))
    assert abs(spread - 1.0) < 0.25  # the fourth moment of a lognormal response is large


@pytest.mark.parametrize("pair", [SHIFTED, (np.log, np.exp), (np.cbrt, lambda t: t**3)])
def test_a_pair_of_functions_agrees_with_draws_of_the_noise(tables, pair):
    X, y, *_ = tables
    model = PooledRegressor(response_transform=pair).fit(X, 10.0 + y)
    t = PooledRegressor().fit(X, pair[0](10.0 + y)).predict(X)
    noise = np.sqrt(model.fit_.noise) * np.random.default_rng(0).normal(size=(200_000, 1))
    assert_allclose(model.predict(X[:5]), pair[1](t[:5] + noise).mean(axis=0), rtol=0.01)
    low, high = model.predict_interval(X).T
    median = model.predict(X, statistic="median")
    assert (low < median).all()
    assert (median < high).all()


def test_a_square_root_takes_zero_and_predicts_no_less():
    X, y = rows(60, 5)
    y = y.where(y > y.median(), 0.0)
    model = PooledRegressor(response_transform="sqrt").fit(X, y)
    found, deviation = model.predict(X, return_std=True)
    assert (found > 0.0).all()
    assert (deviation > 0.0).all()
    assert (model.predict_interval(X) >= 0.0).all()


def test_rows_that_lack_a_column_are_predicted_with_their_own_noise(model, tables):
    X, _, X_old, y_old = tables
    whole, short = (
        np.log(model.predict(rows) / model.predict(rows, statistic="median")) for rows in (X, X_old)
    )
    assert_allclose(whole, 0.5 * model.fit_.noise)
    assert short.min() > whole.max()
    assert abs(model.predict(X_old).mean() / y_old.mean() - 1.0) < 0.2


def test_a_filled_gap_adds_its_variance_to_the_mean(model, tables):
    X = tables[0].copy()
    X.loc[3, "a"] = np.nan
    with pytest.warns(DataWarning, match="'a' in 1"):
        mean = model.predict(X)
    with pytest.warns(DataWarning, match="'a' in 1"):
        median = model.predict(X, statistic="median")
    factor = np.log(mean / median)
    others = np.arange(len(X)) != 3
    assert_allclose(factor[others], 0.5 * model.fit_.noise)
    spread = X["a"].var() * model.coef_[0] ** 2  # "a" is unrelated to the other columns
    assert_allclose(factor[3] - factor[0], 0.5 * spread, rtol=0.3)


@pytest.mark.parametrize("option", ["log", "sqrt"])
def test_means_are_within_the_bounds_of_the_fit_and_so_are_those_of_exports(tables, option):
    X, y = rows(80, 6, noise=2.0)
    model = PooledRegressor(response_transform=option).fit(X, y)
    most = model._fitted.transform.brought_back(model.fit_.bounds)[1]
    extreme = pd.concat([X.assign(a=X["a"] + 1e3), X])
    with pytest.warns(PredictionsBounded, match=r"of 160 predictions.* to \d") as caught:
        mean = model.predict(extreme)
    assert mean.max() == most
    (said,) = (warning.message.about for warning in caught)
    assert said["count"] == np.count_nonzero(mean == most)
    assert_allclose(model.to_sklearn().predict(extreme), mean, rtol=1e-12)
    assert_allclose(in_duckdb(model.to_sql(), extreme), mean, rtol=1e-12)


def test_expected_and_measured_changes_name_their_scale(tables, model):
    X, y, X_old, y_old = tables
    how = {"sources": {"old": (X_old, y_old)}, "response_transform": "log"}
    methods = ["bayes_pooling"]
    said = compare(X, y, **how, methods=methods, cv=4).verdict.text
    assert "the error (RMSE) of the response itself was" in said
    assert "(error of log(price) " in said
    assert "the error (RMSE) of log(price) is" in diagnose(model).verdict.headline
    assert "expected reduction of the squared error of log(price)" in str(diagnose(model))
    assert plan(model, draws=2).note.endswith("Gains and widths are of log(price).")
    made = report(X, y, **how, methods=methods, cv=4)
    assert "(error of log(price) " in made.verdict.text
    assert "Expected changes are of the error of log(price)" in made.data["gain"]["explained"]
    lines = made.data["gain"]["lines"]
    scales = {"expected": "log(price)", "measured": "the response itself"}
    assert all(x["scale"] == scales[x["basis"]] for x in lines)


def test_a_decreasing_function_has_its_interval_in_order(tables):
    X, y, *_ = tables
    model = PooledRegressor(response_transform=(np.reciprocal, np.reciprocal)).fit(X, 100.0 + y)
    low, high = model.predict_interval(X).T
    assert (low < high).all()


@pytest.mark.parametrize("option", ["log", "sqrt"])
def test_exports_and_files_predict_the_same_means(tables, tmp_path, option):
    X, y, X_old, y_old = tables
    model = PooledRegressor(response_transform=option).fit(X, y, sources=(X_old, y_old))
    rows = X_old.assign(c=0.1)[X.columns]
    model.save(tmp_path / "model.json")
    loaded = PooledRegressor.load(tmp_path / "model.json")
    assert_array_equal(loaded.predict(rows), model.predict(rows))
    assert_array_equal(loaded.update(X, y).coef_, model.update(X, y).coef_)
    expected, near = model.predict(rows), {"rtol": 1e-12}
    assert_allclose(model.to_sklearn().predict(rows), expected, **near)
    assert_allclose(in_duckdb(model.to_sql(), rows), expected, **near)
    with sqlite3.connect(":memory:") as base:
        rows.to_sql("t", base)
        found = base.execute(f"SELECT {model.to_sql('sqlite')} FROM t").fetchall()
    assert_allclose(np.ravel(found), expected, **near)
    session = onnxruntime.InferenceSession(model.to_onnx().SerializeToString())
    texts = rows[["site"]].to_numpy(dtype=object)
    given = {"numbers": rows[["a", "b", "c"]].to_numpy(), "texts": texts}
    assert_allclose(session.run(None, given)[0], expected, **near)
    short = X_old[:5]
    assert_allclose(model.to_sklearn(without=["c"]).predict(short), model.predict(short), **near)


def test_functions_cannot_be_saved_or_exported(tables, tmp_path):
    X, y, *_ = tables
    model = PooledRegressor(response_transform=SHIFTED).fit(X, y)
    with pytest.raises(NotWritten, match="transformed by functions, log1p"):
        model.save(tmp_path / "model.json")
    with pytest.raises(NotWritten, match='"log" and "sqrt" can be exported'):
        model.to_sql()


def test_an_update_equals_a_fit_on_all_rows(tables, model):
    X, y, X_old, y_old = tables
    found = PooledRegressor(response_transform="log", precision="exact")
    found.fit(X[:40], y[:40], sources={"old": (X_old[:200], y_old[:200])})
    found.update(X[40:], y[40:], sources={"old": (X_old[200:], y_old[200:])})
    assert_allclose(found.coef_, model.coef_, rtol=1e-9)
    found.forget(X[40:], y[40:])
    assert_allclose(found.problem_.target.rows, 40)


def test_moments_have_the_transformed_response(tables, model):
    X, y, X_old, y_old = tables
    whole = X_old.assign(price=y_old).drop(columns="site")
    raw = Moments.of_rows([*whole.columns], whole.to_numpy())
    with pytest.raises(BadSource, match=r"has moments of 'price', and the model is of 'log\(price"):
        PooledRegressor(response_transform="log").fit(X, y, sources=raw)
    logs = whole.assign(**{"log(price)": np.log(y_old)}).drop(columns="price")
    given = Moments.of_rows([*logs.columns], logs.to_numpy())
    PooledRegressor(response_transform="log").fit(X, y, sources=given)
    again = PooledRegressor(response_transform="log", response="price")
    again.fit_moments(model.problem_.target, model.problem_.sources)
    assert_array_equal(again.coef_, model.coef_)


@pytest.mark.parametrize("table", ["target", "old"])
def test_a_response_without_logarithm_is_an_error_that_counts_rows(tables, table, tmp_path):
    X, y, X_old, y_old = tables
    wrong = (y if table == "target" else y_old).copy()
    wrong[3:10] = 0.0
    given = {"target": (wrong, y_old), "old": (y, wrong)}[table]
    old = X_old.assign(price=given[1])
    old.to_parquet(tmp_path / "old.parquet")
    for source in (old, tmp_path / "old.parquet"):
        with pytest.raises(NotFinite, match="zero or negative in 7 of") as told:
            PooledRegressor(response_transform="log").fit(X, given[0], sources={"old": source})
        assert "log1p" in told.value.hint


def test_all_tables_with_responses_without_logarithm_are_told_at_once(tables, tmp_path):
    X, y, X_old, y_old = tables
    target, old = y.copy(), y_old.copy()
    target[:2], old[5:10] = 0.0, -1.0
    table = X_old.assign(price=old, weight=np.where(np.arange(len(old)) == 5, 0.0, 1.0))
    for k in range(2):
        table[k::2].to_csv(tmp_path / f"old{k}.csv", index=False)
    sources = {
        "files": Files(tmp_path / "old*.csv", weights="weight"),
        "good": (X_old, y_old),
        "pairs": (X_old, old),
    }
    with pytest.raises(NotFinite) as told:
        PooledRegressor(response_transform="log").fit(X, target, sources=sources)
    assert told.value.message == (
        "The response 'price' is zero or negative in 2 of 60 rows of the target, 4 of 300 rows of "
        "table 'files', 5 of 300 rows of table 'pairs', so 'log(price)' is not finite there."
    )
    assert told.value.about["rows"] == 11


def test_rows_of_weight_zero_need_no_logarithm(tables):
    X, y, *_ = tables
    weights = np.repeat([0.0, 1.0], [10, len(y) - 10])
    wrong = y.where(weights > 0.0, -1.0)
    found = PooledRegressor(response_transform="log").fit(X, wrong, sample_weight=weights)
    assert_allclose(
        found.coef_, PooledRegressor(response_transform="log").fit(X[10:], y[10:]).coef_
    )


@pytest.mark.parametrize("option", ["ln", np.log, (np.log,), ("log", "exp"), (np.abs, np.abs)])
def test_an_option_that_is_no_transform_is_an_error(tables, option):
    X, y, *_ = tables
    with pytest.raises(BadOption, match="response_transform"):
        PooledRegressor(response_transform=option).fit(X, y - 20.0)
    with pytest.raises(PoolwiseError, match="statistic"):
        PooledRegressor().fit(X, y).predict(X, statistic="mode")


def test_errors_are_compared_in_the_units_of_the_response(tables):
    X, y, X_old, y_old = tables
    given = {"sources": {"old": (X_old, y_old)}, "methods": ["bayes_pooling"]}
    found = compare(X, y, response_transform="log", **given)
    plain = compare(X, y, **given)
    ratio = found.scores["bayes_pooling"].mean() / plain.scores["bayes_pooling"].mean()
    assert 0.5 < ratio < 1.0  # the response is linear in logarithms
    assert "fitted to log(price)" in str(found)
    page = report(X, y, response_transform="log", cv=2, **given)
    assert "log(price)" in page.html()
    assert ("log(price)",) in [line.columns for line in diagnose(page.model).shift.lines]
    other = {"own": PooledRegressor(response_transform="sqrt")}
    with pytest.raises(BadOption, match="that of the comparison"):
        compare(X, y, response_transform="log", methods=other)


def test_files_with_gaps_are_transformed_as_in_memory(tables, tmp_path):
    X, y, X_old, y_old = tables
    holes = X_old.copy()
    holes.loc[::7, "a"] = np.nan
    holes.assign(price=y_old).to_csv(tmp_path / "old.csv", index=False)
    found, expected = (
        PooledRegressor(response_transform="log").fit(X, y, sources={"old": source})
        for source in (tmp_path / "old.csv", (holes, y_old))
    )
    assert_allclose(found.coef_, expected.coef_, rtol=1e-9)
