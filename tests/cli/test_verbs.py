"""The verbs, through their real entry point: what they say and write is what the library says."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from poolwise import PooledRegressor, compare, diagnose, plan, report
from tests.cli.entry import QUIET, quick, run, run_without

slow = pytest.mark.slow  # starts a process or two


def tables_of(folder):
    recent = pd.read_csv(folder / "recent.csv")
    return recent.drop(columns="wear"), recent["wear"], {"history": str(folder / "history.csv")}


@slow
@QUIET
def test_fit_writes_the_model_of_the_library_and_predict_its_predictions(folder):
    told = run(folder, "fit", "history.csv", "recent.csv", "--label", "wear", "-o", "model.json")
    assert (told.returncode, told.stderr) == (0, "")
    X, y, sources = tables_of(folder)
    ours = PooledRegressor().fit(X, y, sources=sources)
    written = PooledRegressor.load(folder / "model.json")
    np.testing.assert_allclose(written.coef_, ours.coef_, rtol=1e-12)
    lines = told.stdout.splitlines()
    assert lines[:4] == [
        "Columns, matched by name",
        "  shared    3: hours, load, site",
        "  new       1: vibration",
        "  dropped   plant of history: it is not in recent.csv",
    ]
    assert lines[-1] == "Written: model.json"
    expected = diagnose(ours).verdict.headline.partition(";")[0]
    assert expected in " ".join(told.stdout.split())
    assert "\nMeasured and expected with bayes_pooling: " in told.stdout

    told = run(
        folder, "predict", "model.json", "new.csv", "--interval", "0.9", "--std", "-o", "out.csv"
    )
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout == "Written: out.csv, 6 rows predicted.\n"
    out, new = pd.read_csv(folder / "out.csv", dtype={"id": str}), pd.read_csv(folder / "new.csv")
    predicted, deviation = ours.predict(new.drop(columns="id"), return_std=True)
    np.testing.assert_allclose(out["prediction"], predicted, rtol=1e-12)
    np.testing.assert_allclose(out["prediction_std"], deviation, rtol=1e-12)
    ends = ours.predict_interval(new.drop(columns="id"), coverage=0.9)
    np.testing.assert_allclose(out[["prediction_low", "prediction_high"]], ends, rtol=1e-12)
    assert out["id"].tolist() == ["007"] * 6  # what the model does not use stays as it was written


@slow
def test_from_two_tables_to_a_report_by_the_help_alone(folder):
    """Three commands at most: the help, and what it shows."""
    shown = run(folder, "--help")
    (line,) = re.findall(r"poolwise (report .*)", shown.stdout)
    command = line.replace("--label y", "--label wear").split()
    told = run(folder, *command)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.splitlines()[-1] == "Written: report.html"
    page = (folder / "report.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert f"poolwise {' '.join(command)}" in page  # the command, quoted
    assert "recent.csv" in page
    headline = next(x for x in told.stdout.splitlines() if x.startswith("Measured "))
    assert headline.split("(")[0].strip() in page


@QUIET
def test_fit_with_a_report_writes_both_of_the_same_model(folder, monkeypatch):
    options = ["--label", "wear", "-o", "model.json", "--report", "r.json", "--json"]
    told = quick(folder, monkeypatch, "fit", "history.csv", "recent.csv", *options)
    assert told.exit_code == 0, told.output
    said = json.loads(told.stdout)
    data = json.loads((folder / "r.json").read_text())
    assert said["verdict"]["text"] == data["verdict"]["text"]
    X, y, sources = tables_of(folder)
    library = report(X, y, sources=sources, date="", files=None)
    assert library.verdict.to_dict() == data["verdict"]
    model = PooledRegressor.load(folder / "model.json")
    shown = [x["coef"] for x in said["summary"]["coefficients"]]
    np.testing.assert_allclose(shown, model.coef_, rtol=1e-12)
    assert [x["role"] for x in data["provenance"]["files"]] == ["recent.csv", "history"]


@QUIET
def test_compare_says_what_the_library_says(folder, monkeypatch):
    options = ["--label", "wear", "--method", "offset,mean_fill", "--folds", "3", "--seed", "4"]
    told = quick(folder, monkeypatch, "compare", "history.csv", "recent.csv", *options)
    assert told.exit_code == 0, told.output
    X, y, sources = tables_of(folder)
    found = compare(X, y, sources=sources, methods=["offset", "mean_fill"], cv=3, random_state=4)
    words = " ".join(told.stdout.split())
    assert words.endswith(" ".join(found.verdict.text.split()))
    said = quick(folder, monkeypatch, "compare", "history.csv", "recent.csv", *options, "--json")
    methods = json.loads(said.stdout)["methods"]
    assert [x["method"] for x in methods] == [x["method"] for x in found.table()]
    np.testing.assert_allclose(
        [x["rmse"] for x in methods], [x["rmse"] for x in found.table()], rtol=1e-9
    )


@QUIET
def test_plan_of_tables_is_that_of_their_model(fitted, monkeypatch):
    few = ["--rows", "40", "--rows", "80", "--draws", "2", "--json"]
    told = quick(fitted, monkeypatch, "plan", "history.csv", "recent.csv", "--label", "wear", *few)
    of_model = quick(fitted, monkeypatch, "plan", "model.json", *few)
    assert (told.exit_code, of_model.exit_code) == (0, 0), told.output + of_model.output
    one, other = json.loads(told.stdout), json.loads(of_model.stdout)
    library = plan(PooledRegressor.load(fitted / "model.json"), [40, 80], draws=2)
    np.testing.assert_allclose(one["plan"]["gain"], library.gain, rtol=1e-6)
    assert other["plan"]["gain"] == list(library.gain)
    assert other["columns"] is None
    assert other["verdict"]["text"] == library.verdict.text


def test_without_history_two_rivals_are_measured_and_nothing_is_compared(folder, monkeypatch):
    told = quick(folder, monkeypatch, "compare", "recent.csv", "--label", "wear", "--json")
    assert told.exit_code == 0, told.output
    said = json.loads(told.stdout)
    assert {x["method"] for x in said["methods"]} == {"target_only", "target_ridge"}
    assert said["verdict"]["text"].startswith("There is no history to compare with")


@QUIET
def test_force_replaces_what_is_there(fitted, monkeypatch):
    (fitted / "model.json").write_text("old")
    tables = ["history.csv", "recent.csv", "--label", "wear"]
    told = quick(fitted, monkeypatch, "fit", *tables, "-o", "model.json", "--force")
    assert told.exit_code == 0, told.output
    assert PooledRegressor.load(fitted / "model.json").response_ == "wear"


@slow
def test_a_model_of_arrays_predicts_columns_by_their_numbers_without_pandas(folder):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    model = PooledRegressor("target_only").fit(X, X @ [1.0, 2.0] + rng.normal(size=60))
    model.save(folder / "m.json")
    (folder / "new.csv").write_text("x1,other,x0\n2,NA,1\n5,b,4\n")
    told = run_without("pandas", folder, "predict", "m.json", "new.csv", "-o", "out.csv")
    assert (told.returncode, told.stderr) == (0, "")
    found = pd.read_csv(folder / "out.csv", keep_default_na=False)
    np.testing.assert_allclose(found["prediction"], model.predict([[1, 2], [4, 5]]), rtol=1e-12)
    assert found["other"].tolist() == ["NA", "b"]


@slow
@pytest.mark.parametrize("verb", ["report", "compare", "plan"])
def test_verbs_need_no_pandas(folder, verb):
    few = {
        "report": ["--folds", "2", "-o", "r.html"],
        "compare": ["--folds", "2", "--method", "offset"],
        "plan": ["--draws", "1"],
    }
    tables = ["history.csv", "recent.csv", "--label", "wear"]
    told = run_without("pandas", folder, verb, *tables, *few[verb])
    assert (told.returncode, told.stderr) == (0, "")
