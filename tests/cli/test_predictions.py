"""poolwise predict: what it writes by name, prints, and says of columns it does not find."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from poolwise import PooledRegressor
from poolwise.errors import DataWarning
from tests.cli.entry import machines, quick


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "feather", "json", "jsonl"])
def test_predictions_are_written_by_the_ending_of_the_name(fitted, monkeypatch, ending):
    told = quick(fitted, monkeypatch, "predict", "model.json", "new.csv", "-o", f"out.{ending}")
    assert told.exit_code == 0, told.output
    read = {
        "csv": lambda p: pd.read_csv(p, dtype={"id": str}),
        "tsv": lambda p: pd.read_csv(p, sep="\t", dtype={"id": str}),
        "parquet": pd.read_parquet,
        "feather": pd.read_feather,
        "json": lambda p: pd.DataFrame(json.loads(p.read_text())),
        "jsonl": lambda p: pd.DataFrame(map(json.loads, p.read_text().splitlines())),
    }
    out, new = read[ending](fitted / f"out.{ending}"), pd.read_csv(fitted / "new.csv")
    model = PooledRegressor.load(fitted / "model.json")
    np.testing.assert_allclose(out["prediction"], model.predict(new.drop(columns="id")), rtol=1e-12)
    assert out["id"].tolist() == ["007"] * 6
    assert list(out.columns) == [*new.columns, "prediction"]


def test_predictions_are_printed_where_no_file_is_named(fitted, monkeypatch):
    new = pd.read_csv(fitted / "new.csv").drop(columns=["id", "vibration"])
    told = quick(fitted, monkeypatch, "predict", "model.json", "-", stdin=new.to_csv(index=False))
    assert told.exit_code == 0, told.output
    out = pd.read_csv(io.StringIO(told.stdout))
    model = PooledRegressor.load(fitted / "model.json")
    np.testing.assert_allclose(out["prediction"], model.predict(new), rtol=1e-12)


@pytest.mark.parametrize("spelled", ["Vibration", " vibration", "VIBRA_TION"])
def test_a_column_to_predict_from_that_is_spelled_otherwise_is_told(fitted, monkeypatch, spelled):
    new = pd.read_csv(fitted / "new.csv").rename(columns={"vibration": spelled})
    new[:1].to_csv(fitted / "new.csv", index=False)
    told = quick(fitted, monkeypatch, "predict", "model.json", "new.csv", "-o", "out.csv")
    assert told.stdout == "Written: out.csv, 1 row predicted, without vibration.\n"
    assert (
        f"DataWarning: new.csv has {spelled!r} for 'vibration': the spelling differs" in told.stderr
    )
    new.drop(columns=spelled).to_csv(fitted / "new.csv", index=False)
    told = quick(fitted, monkeypatch, "predict", "model.json", "new.csv", "-o", "out2.csv")
    assert (told.exit_code, told.stderr) == (0, "")


def test_a_column_that_standard_input_lacks_is_told(fitted, monkeypatch):
    told = quick(fitted, monkeypatch, "predict", "model.json", "-", stdin="hours,site\n1,coast\n")
    assert (told.exit_code, told.stdout) == (1, "")
    assert told.stderr.startswith("BadColumns: No column named 'load'. Standard input has")
    assert "may lack columns that some table lacked at fit: 'vibration'." in told.stderr


def test_a_new_category_is_refused_or_has_the_mean_effect(fitted, monkeypatch):
    new = machines(2, 3).drop(columns="wear").assign(site=["coast", "moon"])
    new.to_csv(fitted / "new.csv", index=False)
    told = quick(fitted, monkeypatch, "predict", "model.json", "new.csv", "--strict")
    assert (told.exit_code, told.stdout) == (1, "")
    told = quick(fitted, monkeypatch, "predict", "model.json", "new.csv", "-o", "out.csv")
    assert told.exit_code == 0, told.output
    line = "'site' in 1 of 2 rows ('moon'), which get the mean effect."
    said = "DataWarning: new.csv has levels that were absent or too rare at fit:"
    assert told.stderr == f"{said} {line}\n"
    with pytest.warns(DataWarning, match="'moon'"):
        expected = PooledRegressor.load(fitted / "model.json").predict(new)
    out = pd.read_csv(fitted / "out.csv")
    np.testing.assert_allclose(out["prediction"], expected, rtol=1e-12)
    assert out["site"].tolist() == ["coast", "moon"]


def test_gaps_and_new_levels_are_counted_on_the_screen_and_in_json(fitted, monkeypatch):
    new = pd.read_csv(fitted / "new.csv").assign(vibration=np.nan)
    new.loc[:1, "hours"] = np.nan
    new.loc[4:, "site"] = ["moon", "mars"]
    new.to_csv(fitted / "new.csv", index=False)
    command = ["predict", "model.json", "new.csv", "--interval", "0.9"]
    told = quick(fitted, monkeypatch, *command)
    assert told.exit_code == 0, told.output
    gaps, levels = told.stderr.splitlines()  # once, although intervals are predicted too
    assert "new.csv has missing values in 6 of 6 rows: 'hours' in 2, 'vibration' in all 6" in gaps
    assert "'site' in 2 of 6 rows ('mars', 'moon'), which" in levels
    told = json.loads(quick(fitted, monkeypatch, *command, "--json").stdout)
    assert told["gaps"] == {"rows": 6, "columns": {"hours": 2, "vibration": 6}}
    assert told["new_levels"] == {"site": {"mars": 1, "moon": 1}}
    assert len(told["warnings"]) == 2


def test_logarithms_are_fitted_and_means_or_medians_predicted(folder, monkeypatch):
    for name in ("history.csv", "recent.csv"):
        table = pd.read_csv(folder / name)
        table.assign(wear=np.exp(table["wear"] / 10.0)).to_csv(folder / name, index=False)
    fit = ["history.csv", "recent.csv", "--label", "wear", "--log"]
    told = quick(folder, monkeypatch, "fit", *fit, "-o", "model.json", "--report", "report.html")
    assert told.exit_code == 0, told.output
    assert "bayes_pooling: log(wear)" in told.stdout
    assert "log(wear)" in (folder / "report.html").read_text()
    told = quick(folder, monkeypatch, "compare", *fit, "--method", "bayes_pooling")
    assert "Methods of poolwise were fitted to log(wear)" in told.stdout
    predict = ["predict", "model.json", "recent.csv", "--interval", "0.9", "--std"]
    mean, median = (
        pd.read_csv(io.StringIO(quick(folder, monkeypatch, *predict, *more).stdout))
        for more in ([], ["--median"])
    )
    assert (mean["prediction"] > median["prediction"]).all()
    assert (median["prediction"] > median["prediction_low"]).all()
    model = PooledRegressor.load(folder / "model.json")
    np.testing.assert_allclose(mean["prediction"], model.predict(mean[model.feature_names_in_]))
    assert quick(folder, monkeypatch, "plan", *fit).exit_code == 0
    assert quick(folder, monkeypatch, "fit", *fit, "--sqrt").exit_code == 2


def test_excel_files_are_history_recent_rows_and_rows_to_predict(fitted, monkeypatch):
    for name in ("history", "recent", "new"):
        pd.read_csv(fitted / f"{name}.csv").to_excel(fitted / f"{name}.xlsx", index=False)
    fit = ["fit", "history.xlsx", "recent.xlsx", "--label", "wear", "--json"]
    by_excel = json.loads(quick(fitted, monkeypatch, *fit).stdout)["summary"]
    fit[1:3] = ["history.csv", "recent.csv"]
    assert by_excel == json.loads(quick(fitted, monkeypatch, *fit).stdout)["summary"]
    told = [
        quick(fitted, monkeypatch, "predict", "model.json", f"new.{form}", "--json").stdout
        for form in ("xlsx", "csv")
    ]
    np.testing.assert_allclose(
        *([row["prediction"] for row in json.loads(text)["predictions"]] for text in told)
    )
