"""Contents of a report against the calls it sums up, and against slow definitions."""

import hashlib
import json
import math
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.model_selection import KFold

import poolwise
from poolwise import Moments, PooledRegressor, Sources, compare, diagnose, plan, progress
from poolwise.errors import DroppedColumns, FewRows, FilesNotFound
from tests.report.conftest import FEW, WHEN
from tests.report.stories import NEW, diabetes

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
    assert again.html() == helping.html()
    assert again.json() == helping.json()


def test_the_model_is_that_of_fit(helping):
    assert_allclose(helping.model.coef_, fitted().coef_, rtol=0)


def test_what_is_expected_is_the_gain_of_the_diagnosis(helping):
    lines = diagnose(fitted()).gain.lines
    told = [x for x in helping.data["gain"]["lines"] if x["how"] == "expected"]
    assert [x["against"] for x in told] == ["without_history", "target_only"]
    for line, x in zip(lines, told, strict=True):
        without, with_ = math.sqrt(line.error_without), math.sqrt(line.error_with)
        assert x["share"] == pytest.approx(with_ / without - 1.0, rel=RIDGE)
        # The ends: the error with history that goes with each end of the gain.
        high = math.sqrt(line.error_without - line.low) / without - 1.0
        low = math.sqrt(line.error_without - line.high) / without - 1.0
        assert (x["low"], x["high"]) == pytest.approx((low, high), rel=RIDGE)
        assert x["probability"] == line.probability


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
    [("without_history", "bayes_pooling", False), ("target_only", "target_only", True)],
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
        if (x["how"], x["against"]) == ("measured", against)
    ]
    wanted = np.array([step.mean(), step.mean() - half, step.mean() + half]) / theirs.mean()
    assert_allclose([x["share"], x["low"], x["high"]], wanted, rtol=1e-7)


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
    for train, test in KFold(10, shuffle=True, random_state=0).split(X):
        model = PooledRegressor().fit(X.iloc[train], y.iloc[train], sources=sources)
        ends = model.predict_interval(X.iloc[test])
        for k, predicted, (low, high) in zip(test, model.predict(X.iloc[test]), ends, strict=True):
            assert by_row[k + 1]["predicted"] == pytest.approx(predicted)
            assert by_row[k + 1]["residual"] == pytest.approx(y.iloc[k] - predicted)
            inside.append(low <= y.iloc[k] <= high)
    assert told["share_inside"] == pytest.approx(np.mean(inside))
    left = np.array([p["residual"] for p in told["points"]])
    assert told["rmse"] == pytest.approx(np.sqrt(np.mean(left**2)))


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
    assert "1 row lies further off" in made.data["residuals"]["text"]


def test_no_row_of_the_clinic_is_an_outlier(helping):
    assert helping.data["residuals"]["outliers"] == []


def test_the_plan_is_that_of_plan(helping):
    own = plan(fitted())
    assert helping.data["plan"]["gain"] == list(own.gain)
    assert helping.data["plan"]["verdict"] == own.verdict


@pytest.mark.slow
def test_columns_are_new_shared_or_left_out():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(230, 4)), columns=list("abcd"))
    X["site"] = np.where(np.arange(230) % 2 == 0, "north", "south")
    y = pd.Series(X[list("abcd")].sum(axis=1) + rng.normal(size=230), name="y")
    early = X.iloc[:100][["a", "site"]].assign(z=1.0)
    sources = {
        "early": (early, y.iloc[:100]),
        "late": (X.iloc[100:200][["a", "b"]], y.iloc[100:200]),
    }
    with pytest.warns(DroppedColumns):
        made = poolwise.report(X.iloc[200:], y.iloc[200:], sources=sources, **FEW)
    columns = made.data["columns"]
    assert {x["name"]: x["role"] for x in columns["lines"]} == {
        "a": "shared",
        "b": "partly shared",
        "c": "new",
        "d": "new",
        "site": "partly shared",
    }
    assert [(x["name"], x["source"]) for x in columns["dropped"]] == [("z", "early")]
    assert [(x["name"], x["lacking_in"]) for x in columns["notes"]] == [
        ("b", ["early"]),
        ("site", ["late"]),
    ]
    assert {g["role"]: g["names"] for g in columns["groups"]} == {
        "new": ["c", "d"],
        "partly shared": ["b", "site (2 levels)"],
        "shared": ["a"],
    }
    assert columns["text"] == (
        "1 column in all tables; 2 new, which no source has (“c” and “d”); 2 in some sources "
        "(“b” and “site”); 1 left out (“z”)."
    )
    assert len(made.data["cautions"]) == 1


@pytest.mark.slow
def test_a_source_that_can_be_read_only_once_is_enough():
    pa = pytest.importorskip("pyarrow")
    X, y, sources = diabetes()
    (X_old, y_old) = sources["past patients"]
    table = pa.Table.from_pandas(X_old.assign(progression=y_old), preserve_index=False)
    reader = pa.RecordBatchReader.from_batches(table.schema, iter(table.to_batches()))
    made = poolwise.report(X, y, sources={"past patients": reader}, date=WHEN, cv=FEW["cv"])
    assert {"trees_on_nan", "kernel_transfer"} <= {
        x["method"] for x in made.data["methods"]["lines"]
    }


@pytest.mark.slow
def test_a_source_of_moments_leaves_out_what_reads_rows():
    X, y, sources = diabetes()
    (X_old, y_old) = sources["past patients"]
    rows = np.column_stack([X_old, y_old])
    history = Moments.of_rows((*X_old.columns, "progression"), rows)
    made = poolwise.report(X, y, sources={"past": history}, cv=FEW["cv"])
    left_out = {x["label"] for x in made.data["methods"]["left_out"]}
    assert left_out == {
        "New columns predicted from old ones, by a kernel",
        "Boosted trees on all rows, gaps left empty",
    }
    assert [x["method"] for x in made.data["methods"]["lines"] if x["is_model"]]


@pytest.mark.slow
def test_many_rows_leave_out_what_reads_them_in_every_fold():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_030, 2))
    y = X @ [1.0, 2.0] + rng.normal(size=len(X))
    made = poolwise.report(X[:30], y[:30], sources=(X[30:, :1], y[30:]), cv=FEW["cv"])
    whys = [x["why"] for x in made.data["methods"]["left_out"]]
    assert len(whys) == 2
    assert all("60,000 rows of history" in why for why in whys)


def test_the_provenance_names_files_versions_and_command(tmp_path):
    file = tmp_path / "recent.csv"
    file.write_bytes(b"a,b\n1,2\n")
    X, y, _ = diabetes(12)
    made = poolwise.report(
        X,
        y,
        files={"target": file, "history": [str(file)]},
        command=["poolwise", "report", "my file.csv"],
        date=datetime(2025, 1, 31, tzinfo=UTC),
        **FEW,
    )
    told = made.data["provenance"]
    digest = hashlib.sha256(b"a,b\n1,2\n").hexdigest()
    assert told["files"] == [
        {"role": role, "path": str(file), "bytes": 8, "sha256": digest}
        for role in ("target", "history")
    ]
    assert told["command"] == "poolwise report 'my file.csv'"
    assert told["date"] == "2025-01-31T00:00:00+00:00"
    assert told["versions"]["numpy"] == np.__version__
    with pytest.raises(FilesNotFound, match="nowhere"):
        poolwise.report(X, y, files=[tmp_path / "nowhere.csv"])


def test_unless_told_otherwise_a_report_is_of_now():
    before = datetime.now(UTC).replace(microsecond=0)
    X, y, _ = diabetes(12)
    made = poolwise.report(X, y, **FEW)
    date = datetime.fromisoformat(made.data["provenance"]["date"])
    assert before <= date <= datetime.now(UTC)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 6])
def test_few_rows_are_told_as_few(rows):
    X, y, sources = diabetes(rows)
    with pytest.warns(FewRows):
        made = poolwise.report(X, y, sources=sources, methods=FEW["methods"], cv=3)
    data = made.data
    assert ("unavailable" in data["methods"]) == (rows < 3)
    assert ("unavailable" in data["residuals"]) == (rows < 3)
    assert ("unavailable" in data["plan"]) == (rows < 5)
    if rows < 3:
        assert "could not be measured on target rows" in made.verdict
    assert all(x["without"]["low"] is None for x in data["coefficients"]["lines"])
    json.dumps(data, allow_nan=False)


def test_without_history_there_is_a_model_and_no_gain(alone):
    data = alone.data
    assert data["verdict"]["answer"] == "no_history"
    assert data["gain"]["lines"] == []
    assert {x["method"] for x in data["methods"]["lines"]} == {"target_only", "bayes_pooling"}
    assert data["plan"]["unavailable"]
    assert data["title"] == "A model of progression"


@pytest.mark.slow
def test_many_columns_are_all_listed_and_some_are_drawn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 25))
    y = X @ np.arange(25.0) + rng.normal(size=400)
    made = poolwise.report(X[:100], y[:100], sources=(X[100:, :22], y[100:]), **FEW)
    lines = made.data["coefficients"]["lines"]
    assert len(lines) == 25
    drawn = {x["name"] for x in lines if x["is_drawn"]}
    # Coefficients grow with the number of the column, and all columns spread alike.
    assert drawn == {x["name"] for x in sorted(lines, key=lambda x: -x["with"]["effect"])[:20]}
    assert "20 columns of 25" in made.data["coefficients"]["caption"]


def test_a_response_that_does_not_vary_is_no_reason_to_fail():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    with pytest.warns(poolwise.errors.ConstantResponse):
        made = poolwise.report(X[:20], np.ones(20), sources=(X[20:, :2], np.ones(100)), **FEW)
    assert made.data["verdict"]["answer"] == "unknown"
    assert made.html()


def test_files_and_folds_have_bars_of_their_own(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich then treats the stream as a terminal
    content = b"0123456789" * 200_000  # more than a block
    (tmp_path / "a.csv").write_bytes(content)
    (tmp_path / "empty.csv").write_bytes(b"")
    X, y, sources = diabetes()
    files = {"a": tmp_path / "a.csv", "b": [tmp_path / "empty.csv"]}
    made = poolwise.report(X, y, sources=sources, files=files, progress=True, **FEW)
    assert [x["sha256"] for x in made.data["provenance"]["files"]] == [
        hashlib.sha256(content).hexdigest(),
        hashlib.sha256(b"").hexdigest(),
    ]
    shown = capfd.readouterr().err
    assert "Checksums" in shown
    assert "Residuals" in shown
