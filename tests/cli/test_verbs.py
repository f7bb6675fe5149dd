"""The verbs, through their real entry point: what they say and write is what the library says."""

import io
import json
import re

import numpy as np
import pandas as pd
import pytest

from poolwise import Moments, PooledRegressor, compare, diagnose, moments_of, plan, report
from tests.cli.entry import OLD, machines, quick, run, run_without

slow = pytest.mark.slow  # starts a process or two
QUIET = pytest.mark.filterwarnings("ignore::poolwise.errors.DroppedColumns")


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
        "  dropped   plant of history: the recent table lacks it",
    ]
    assert lines[-1] == "Written: model.json"
    assert " ".join(diagnose(ours).verdict.split()) in " ".join(told.stdout.split())

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
    headline = next(x for x in told.stdout.splitlines() if x.startswith("History "))
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
    assert library.verdict == data["verdict"]["text"]
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
    assert words.endswith(" ".join(found.verdict().split()))
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
    assert other["verdict"]["text"] == library.verdict


@QUIET
def test_sources_have_names_and_come_in_many_kinds(folder, monkeypatch):
    machines(100, 5, OLD).to_parquet(folder / "a.parquet", index=False)
    machines(100, 6, OLD).to_feather(folder / "b.feather")
    moments_of(folder / "history.csv", response="wear").save(folder / "h.moments.json")
    sources = ["--source", "early=a.parquet", "--source", "early=b.feather"]
    tables = ["h.moments.json", "history*.csv", *sources, "recent.csv", "--label", "wear"]
    told = quick(folder, monkeypatch, "fit", *tables, "-o", "m.json", "--json")
    assert told.exit_code == 0, told.output
    lines = json.loads(told.stdout)["summary"]["tables"]
    rows = {line["name"]: line["rows"] for line in lines}
    assert rows == {"target": 40, "h": 300, "history*.csv": 300, "early": 200}


@QUIET
@pytest.mark.parametrize("order", ["history first", "recent last"])
def test_one_table_may_come_from_standard_input(folder, monkeypatch, order):
    plain = quick(
        folder, monkeypatch, "fit", "history.csv", "recent.csv", "--label", "wear", "--json"
    )
    tables = ["-", "recent.csv"] if order == "history first" else ["history.csv", "-"]
    text = (folder / ("history.csv" if tables[0] == "-" else "recent.csv")).read_text()
    told = quick(folder, monkeypatch, "fit", *tables, "--label", "wear", "--json", stdin=text)
    assert told.exit_code == 0, told.output
    one, other = (json.loads(x.stdout)["summary"]["coefficients"] for x in (plain, told))
    assert one == other


@QUIET
def test_columns_are_chosen_dropped_and_accounted_for(folder, monkeypatch):
    told = quick(
        folder, monkeypatch, "fit", "history.csv", "recent.csv", "--label", "wear",
        "--features", "hours,load,vibration", "--drop", "load,plant", "--json",
    )  # fmt: skip
    assert told.exit_code == 0, told.output
    said = json.loads(told.stdout)
    assert [x["name"] for x in said["summary"]["coefficients"]] == ["hours", "vibration"]
    columns = said["columns"]
    assert (columns["shared"], columns["new"]) == (["hours"], ["vibration"])
    dropped = {(x["name"], x["table"]): x["why"] for x in columns["dropped"]}
    assert dropped == {
        ("load", "recent.csv"): "--drop names it",
        ("site", "recent.csv"): "--features does not name it",
        ("load", "history"): "--drop names it",
        ("site", "history"): "--features does not name it",
        ("plant", "history"): "--drop names it",
    }


@QUIET
def test_a_column_under_another_name_is_told(folder, monkeypatch):
    old = pd.read_csv(folder / "history.csv").rename(columns={"load": "Load"})
    old.to_csv(folder / "history.csv", index=False)
    told = quick(folder, monkeypatch, "fit", "history.csv", "recent.csv", "--label", "wear")
    assert told.exit_code == 0, told.output
    assert "Is it 'load' by another name?" in told.stderr


def test_without_history_one_method_is_measured_and_nothing_is_compared(folder, monkeypatch):
    told = quick(folder, monkeypatch, "compare", "recent.csv", "--label", "wear", "--json")
    assert told.exit_code == 0, told.output
    said = json.loads(told.stdout)
    assert [x["method"] for x in said["methods"]] == ["target_only"]
    assert said["verdict"]["text"].startswith("There is nothing to compare: 0 rows of history")


@QUIET
@pytest.mark.parametrize("verb", [["fit"], ["plan"], ["compare", "--method", "offset"]])
def test_tables_that_look_swapped_are_told(folder, monkeypatch, verb):
    asked = [*verb, "recent.csv", "history.csv", "--label", "wear", "--drop", "plant", "--json"]
    told = quick(folder, monkeypatch, *asked)
    assert told.exit_code == 0
    (said,) = [x for x in json.loads(told.stdout)["warnings"] if x["kind"] == "SwappedTables"]
    assert "History has 'vibration', which the recent table lacks" in said["message"]
    assert "more rows: 300 beside 40. Are they swapped?" in said["message"]


@QUIET
@pytest.mark.parametrize("drop", ["plant", "plant,vibration"])
def test_tables_that_do_not_look_swapped_are_not(folder, monkeypatch, drop):
    names = "history.csv", "recent.csv"
    for order in [names] if drop == "plant" else [names, names[::-1]]:
        told = quick(folder, monkeypatch, "fit", *order, "--label", "wear", "--drop", drop)
        assert told.exit_code == 0
        assert "SwappedTables" not in told.output


def test_weights_count_in_all_tables(folder, monkeypatch):
    for name in ("history.csv", "recent.csv"):
        table = pd.read_csv(folder / name).drop(columns="plant", errors="ignore")
        twice = pd.concat([table, table])
        twice.to_csv(folder / f"twice_{name}", index=False)
        table.assign(count=2).to_csv(folder / f"counted_{name}", index=False)
    options = ["--label", "wear", "--json", "--precision", "exact"]
    twice = quick(folder, monkeypatch, "fit", "twice_history.csv", "twice_recent.csv", *options)
    counted = quick(
        folder, monkeypatch, "fit", "counted_history.csv", "counted_recent.csv", *options,
        "--weights", "count",
    )  # fmt: skip
    one, other = (json.loads(x.stdout)["summary"]["coefficients"] for x in (twice, counted))
    np.testing.assert_allclose([x["coef"] for x in one], [x["coef"] for x in other], rtol=1e-9)


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
    assert f"OtherSpelling: new.csv has {spelled!r} for 'vibration'" in told.stderr
    new.drop(columns=spelled).to_csv(fitted / "new.csv", index=False)
    told = quick(fitted, monkeypatch, "predict", "model.json", "new.csv", "-o", "out2.csv")
    assert (told.exit_code, told.stderr) == (0, "")


def test_a_column_that_standard_input_lacks_is_told(fitted, monkeypatch):
    told = quick(fitted, monkeypatch, "predict", "model.json", "-", stdin="hours,site\n1,coast\n")
    assert (told.exit_code, told.stdout) == (1, "")
    assert told.stderr.startswith("MissingColumns: No column named 'load'. Standard input has")
    assert "may lack columns that some table lacked at fit: 'vibration'." in told.stderr


TABLES = ["history.csv", "recent.csv", "--label", "wear"]
WRONG = [
    (["fit", "recent.csv"], 2, "Missing option '--label'"),
    (["fit", "history.csv", "recent.csv", "--label", "ware"], 1, "Did you mean 'wear'?"),
    (["fit", "nothing.csv", "recent.csv", "--label", "wear"], 1, "FilesNotFound: No file to read"),
    (["fit", "history.csv", "recent.csv", "--label", "wear", "--drop", "lod"], 1, "'load'?"),
    (
        ["fit", "history.csv", "recent.csv", "--label", "wear", "-o", "m.pkl"],
        2,
        "must end in .json",
    ),
    (["fit", "history.csv", "recent.csv", "--label", "wear", "-o", "no/m.json"], 2, "no folder no"),
    (["fit", "history.csv", "recent.csv", "--label", "wear", "-o", "model.json"], 2, "--force"),
    (["fit", "history.csv", "recent.csv", "--label", "wear", "--report", "old.html"], 2, "--force"),
    (["fit", "history.csv", "x.moments.json", "--label", "wear"], 2, "needs rows"),
    (["fit", "-", "-", "--label", "wear"], 2, "given twice"),
    (["fit", "history.csv", "*.csv", "--label", "wear"], 2, "stands for 3 files"),
    (["fit", "--source", "history.csv", "recent.csv", "--label", "wear"], 2, "not NAME=PATH"),
    (["fit", "history.csv", "recent.csv", "--label", "wear", "--method", "ridge"], 2, "ridge"),
    (["fit", "history.csv", "recent.csv", "--label", "site"], 1, "holds text"),
    (["compare", "history.csv", "recent.csv", "--label", "wear", "--method", "x"], 2, "No method"),
    (["report", *TABLES, "-o", "r.html", "--method", "boosted"], 2, "mean 'boosted_pooling'?"),
    (["compare", *TABLES, "--method", "offset,boosted"], 2, "Did you mean 'boosted_pooling'?"),
    (["plan", *TABLES, "--seed", "2147483648"], 2, "2147483647"),
    (["plan", "history.csv", "recent.csv"], 2, "need --label"),
    (["plan", "model.json", "--drop", "load"], 2, "already"),
    (["predict", "history.csv", "new.csv"], 1, "UnreadableModel"),
    (["predict", "model.json", "sub/wrong.csv"], 1, "No column named 'load'"),
    (["fit", "history.csv", "recent.csv", "--label", "wear", "--drop", "x"], 1, "One table or an"),
    (["predict", "model.json", "new.csv", "-o", "out.xls"], 2, "must end in .csv,"),
    (["predict", "model.json", "new.csv", "-o", "new.csv"], 2, "is there already"),
    (["predict", "model.json", "new.csv", "--interval", "1"], 2, "between 0 and 1"),
    (["predict", "model.json", "new.csv", "--column", "hours"], 2, "another name"),
    (["report", "history.csv", "recent.csv", "--label", "wear", "-o", "old.html"], 2, "--force"),
    (["report", "history.csv", "recent.csv", "--label", "wear"], 2, "Missing option"),
]


@pytest.mark.parametrize(("arguments", "code", "says"), WRONG, ids=[" ".join(w[0]) for w in WRONG])
def test_what_is_wrong_is_told_without_a_traceback_and_changes_nothing(
    fitted, monkeypatch, arguments, code, says
):
    (fitted / "old.html").write_text("old")
    (fitted / "sub").mkdir()  # aside, where *.csv does not find it
    machines(3, 7, ("hours", "site")).to_csv(fitted / "sub" / "wrong.csv", index=False)
    before = {p: p.read_bytes() for p in fitted.rglob("*") if p.is_file()}
    told = quick(fitted, monkeypatch, *arguments)
    assert told.exit_code == code, told.output
    assert says in " ".join(told.stderr.split())
    assert "Traceback" not in told.output
    assert told.stdout == "" or told.stdout.startswith("Columns, matched")
    assert {p: p.read_bytes() for p in fitted.rglob("*") if p.is_file()} == before


@QUIET
def test_force_replaces_what_is_there(fitted, monkeypatch):
    (fitted / "model.json").write_text("old")
    tables = ["history.csv", "recent.csv", "--label", "wear"]
    told = quick(fitted, monkeypatch, "fit", *tables, "-o", "model.json", "--force")
    assert told.exit_code == 0, told.output
    assert PooledRegressor.load(fitted / "model.json").response_ == "wear"


def test_a_column_of_integers_may_have_fractions_further_down(folder, monkeypatch):
    recent = machines(40, 1)
    recent["load"] = [str(v) for v in recent["load"][:-1]] + ["55.5"]
    recent.to_csv(folder / "recent.csv", index=False)
    machines(100, 0, OLD).to_csv(folder / "history.csv", index=False)
    told = quick(folder, monkeypatch, "fit", "history.csv", "recent.csv", "--label", "wear")
    assert told.exit_code == 0, told.output


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


def test_moments_come_from_standard_input_and_of_features(folder, monkeypatch):
    of_file = moments_of(
        pd.read_csv(folder / "history.csv")[["hours", "load", "wear"]], response="wear"
    )
    text = (folder / "history.csv").read_text()
    chosen = ["--features", "hours,load", "--label", "wear", "-o", "h.moments.json"]
    told = quick(folder, monkeypatch, "moments", "-", *chosen, stdin=text)
    assert told.exit_code == 0, told.output
    found = Moments.load(folder / "h.moments.json")
    assert (found.names, found.rows) == (("hours", "load", "wear"), 300)
    np.testing.assert_allclose(found.mean, of_file.select(found.names).mean, rtol=1e-12)
    assert not list(folder.glob("*.part"))
    told = quick(folder, monkeypatch, "moments", "-", "-", *chosen, "--force", stdin=text)
    assert told.exit_code == 2
    assert "given twice" in told.stderr


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
