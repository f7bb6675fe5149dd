"""The tables of a command: every row counts once, and only columns that are asked for are read."""

import csv
import json
import os

import numpy as np
import pandas as pd
import pytest

from poolwise import PooledRegressor, moments_of
from poolwise.tables.file_reader import Reader
from tests.cli.entry import OLD, machines, quick

pytestmark = pytest.mark.filterwarnings("ignore::poolwise.errors.LeftOut")
LABEL = ["--label", "wear"]


@pytest.fixture
def data(folder):
    """Return a folder with a folder `data`, in which history and recent table lie side by side."""
    (folder / "data").mkdir()
    for name in ("history.csv", "recent.csv"):
        (folder / name).rename(folder / "data" / name)
    return folder


@pytest.mark.parametrize(
    "history",
    [
        ["data/*.csv"],
        ["data"],
        ["data/history.csv", "data/recent.csv"],
        ["data/../data/recent.csv"],
        ["--history", "old=data/recent.csv"],
        ["link.csv"],
    ],
    ids=" ".join,
)
def test_a_recent_table_that_is_also_history_is_refused(data, monkeypatch, history):
    os.symlink(data / "data/recent.csv", data / "link.csv")
    told = quick(data, monkeypatch, "fit", *history, "data/recent.csv", *LABEL, "-o", "m.json")
    assert told.exit_code == 2, told.output
    words = " ".join(told.stderr.split())
    assert "is in the recent table and again in history" in words
    assert "would count twice. Give every file once." in words
    assert not (data / "m.json").exists()


@pytest.mark.parametrize(
    "history",
    [
        ["data/history.csv", "data/history.csv"],
        ["data/history.csv", "--history", "old=data/hist*.csv"],
        ["--history", "old=data/history.csv", "--history", "old=./data/history.csv"],
        ["h.moments.json", "--history", "old=h.moments.json"],
    ],
    ids=" ".join,
)
def test_history_that_is_given_twice_is_refused(data, monkeypatch, history):
    moments_of(data / "data/history.csv", response="wear").save(data / "h.moments.json")
    told = quick(data, monkeypatch, "fit", *history, "data/recent.csv", *LABEL)
    assert told.exit_code == 2, told.output
    assert "again in history" in " ".join(told.stderr.split())


def test_history_beside_the_recent_table_counts_once(data, monkeypatch):
    told = quick(data, monkeypatch, "fit", "data/h*.csv", "data/recent.csv", *LABEL, "--json")
    assert told.exit_code == 0, told.output
    rows = [table["rows"] for table in json.loads(told.stdout)["summary"]["tables"]]
    assert rows == [40, 300]


@pytest.mark.parametrize("name", ["target", "recent.csv"])
def test_history_may_not_be_called_like_the_recent_table(folder, monkeypatch, name):
    source = ["--history", f"{name}=history.csv"]
    told = quick(folder, monkeypatch, "fit", *source, "recent.csv", *LABEL)
    assert told.exit_code == 2, told.output
    assert f"'{name}' is the name of the recent table." in " ".join(told.stderr.split())


def test_history_in_a_file_called_target_has_its_path_for_a_name(folder, monkeypatch):
    (folder / "history.csv").rename(folder / "target.csv")
    told = quick(folder, monkeypatch, "fit", "target.csv", "recent.csv", *LABEL, "--json")
    assert told.exit_code == 0, told.output
    tables = json.loads(told.stdout)["summary"]["tables"]
    assert [table["name"] for table in tables] == ["target", "target.csv"]


@pytest.mark.parametrize("option", ["--drop", "--features"])
@pytest.mark.parametrize(("column", "what"), [("wear", "to predict"), ("count", "of row weights")])
def test_a_column_that_is_no_feature_is_neither_chosen_nor_dropped(
    folder, monkeypatch, option, column, what
):
    for name in ("history.csv", "recent.csv"):
        pd.read_csv(folder / name).assign(count=1).to_csv(folder / name, index=False)
    told = quick(
        folder, monkeypatch, "fit", "history.csv", "recent.csv", *LABEL, "--weights", "count",
        option, f"hours,{column}",
    )  # fmt: skip
    assert told.exit_code == 2, told.output
    assert f"'{column}' is the column {what}." in " ".join(told.stderr.split())


@pytest.mark.parametrize("choice", [["--drop", "id"], ["--features", "hours,load,vibration"]])
def test_a_column_that_is_left_out_is_not_read(folder, monkeypatch, choice):
    for name in ("history.csv", "recent.csv"):
        table = pd.read_csv(folder / name)
        table.assign(id=2**60 + table.index).to_csv(folder / name, index=False)
    told = quick(folder, monkeypatch, "fit", "history.csv", "recent.csv", *LABEL)
    assert told.exit_code == 1  # no double holds them
    assert told.stderr.startswith("NotNumeric: Column 'id' of recent.csv has 40 integers")
    told = quick(folder, monkeypatch, "fit", "history.csv", "recent.csv", *LABEL, *choice)
    assert told.exit_code == 0, told.output


def test_a_pattern_of_rows_to_predict_is_refused_in_words_about_them(fitted, monkeypatch):
    told = quick(fitted, monkeypatch, "predict", "model.json", "*.csv")
    assert told.exit_code == 2, told.output
    words = " ".join(told.stderr.split())
    assert words.endswith(
        "Invalid value for ROWS: *.csv stands for 3 files, and the table to predict is one file."
    )


TEXTS = ["NA", "null", "N/A", "nan", "#N/A", "-", "", "007"]


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_texts_that_the_model_does_not_use_stay_as_they_are_written(fitted, monkeypatch, ending):
    new = machines(len(TEXTS), 3).drop(columns="wear").assign(note=TEXTS)
    new.to_csv(fitted / "new.csv", index=False)
    told = quick(fitted, monkeypatch, "predict", "model.json", "new.csv", "-o", f"out.{ending}")
    assert told.exit_code == 0, told.output
    with (fitted / f"out.{ending}").open(newline="") as file:
        found = list(csv.DictReader(file) if ending == "csv" else map(json.loads, file))
    wanted = TEXTS if ending == "csv" else [text or None for text in TEXTS]
    safe = {"-": "'-"} if ending == "csv" else {}
    assert [row["note"] for row in found] == [safe.get(text, text) for text in wanted]
    assert '""' not in (fitted / f"out.{ending}").read_text()


def test_a_missing_text_of_the_model_is_missing(folder, monkeypatch):
    history, recent = machines(300, 0, OLD), machines(40, 1)
    history.drop(columns="site").to_csv(folder / "history.csv", index=False)
    recent.to_csv(folder / "recent.csv", index=False)
    told = quick(folder, monkeypatch, "fit", "history.csv", "recent.csv", *LABEL, "-o", "m.json")
    assert told.exit_code == 0, told.output
    new = machines(3, 2).drop(columns="wear")
    new["site"] = ["coast", "NA", "inland"]
    new.to_csv(folder / "new.csv", index=False)
    told = quick(folder, monkeypatch, "predict", "m.json", "new.csv", "-o", "out.csv")
    assert told.exit_code == 0, told.output
    model = PooledRegressor.load(folder / "m.json")
    alone = model.predict(new[1:2].drop(columns="site"))
    found = pd.read_csv(folder / "out.csv")["prediction"]
    assert found[1] == pytest.approx(alone[0], rel=1e-12)


def test_numbers_that_are_codes_are_read_as_text(folder, monkeypatch):
    for name in ("history.csv", "recent.csv"):
        table = pd.read_csv(folder / name)
        codes = table["site"].map({"coast": "007", "inland": "12"})
        table.assign(site=codes).to_csv(folder / name, index=False)
    told = quick(
        folder, monkeypatch, "fit", "history.csv", "recent.csv", *LABEL, "--text", "site",
        "-o", "m.json", "--json",
    )  # fmt: skip
    assert told.exit_code == 0, told.output
    names = [x["name"] for x in json.loads(told.stdout)["summary"]["coefficients"]]
    assert names == ["hours", "load", "site=12", "vibration"]
    new = machines(2, 2).drop(columns="wear").assign(site=["007", "12"])
    new.to_csv(folder / "new.csv", index=False)
    told = quick(folder, monkeypatch, "predict", "m.json", "new.csv", "-o", "out.csv")
    assert told.exit_code == 0, told.output
    assert pd.read_csv(folder / "out.csv", dtype=str)["site"].tolist() == ["007", "12"]


@pytest.mark.parametrize("history", ["csv", "parquet", "xlsx"])
@pytest.mark.parametrize("recent", ["csv", "parquet"])
def test_whole_numbers_that_are_codes_are_a_category_in_all_tables(
    folder, monkeypatch, history, recent
):
    rng = np.random.default_rng(0)
    for name, form in (("history", history), ("recent", recent)):
        table = pd.read_csv(folder / f"{name}.csv")
        table = table.assign(plot=rng.permutation(np.arange(len(table)) % 24) + 1)
        own = table.drop(columns="site").replace({"plot": {7: np.nan if name == "history" else 7}})
        (folder / f"{name}.csv").unlink()
        write = {"csv": own.to_csv, "parquet": own.to_parquet, "xlsx": own.to_excel}[form]
        write(folder / f"{name}.{form}", index=False)
    files = f"history.{history}", f"recent.{recent}"
    command = ["fit", *files, *LABEL, "--text", "plot"]
    told = quick(folder, monkeypatch, *command, "-o", "m.json")
    assert told.exit_code == 0, told.output
    assert "  category  plot: 24 levels; its numbers are codes\n" in told.stdout
    told = json.loads(quick(folder, monkeypatch, *command, "--json").stdout)
    seen_in = {
        x["name"]: x["seen_in"] for x in told["summary"]["coefficients"] if x["column"] == "plot"
    }
    assert len(seen_in) == 23
    assert set(seen_in) <= {f"plot={k}" for k in range(1, 25)}
    assert set(seen_in.values()) == {1}  # history writes 3.0 for 3, because one value is missing
    assert quick(folder, monkeypatch, *command, "--strict", "--drop", "plant").exit_code == 0
    told = quick(folder, monkeypatch, "predict", "m.json", f"recent.{recent}", "-o", "out.csv")
    assert (told.exit_code, told.stderr) == (0, ""), told.output


@pytest.mark.parametrize(
    "verb",
    [
        ["fit"],
        ["plan", "--draws", "1"],
        ["compare", "--method", "offset", "--folds", "2"],
        ["report", "--folds", "2", "-o", "r.html"],
    ],
    ids=lambda verb: verb[0],
)
def test_every_file_is_opened_once(folder, monkeypatch, verb):
    opened, initialise = [], Reader.__init__

    def counting(reader, file, csv=None):
        opened.append(file.path.name)
        initialise(reader, file, csv)

    monkeypatch.setattr(Reader, "__init__", counting)
    machines(50, 3, OLD).to_parquet(folder / "more.parquet")
    tables = ["history.csv", "more.parquet", "recent.csv"]
    told = quick(folder, monkeypatch, *verb, *tables, *LABEL)
    assert told.exit_code == 0, told.output
    assert sorted(opened) == sorted(tables)


def test_missing_responses_of_history_are_left_out_or_refused(folder, monkeypatch):
    old = machines(300, 0, OLD)
    old.loc[:4, "wear"] = np.nan
    old.to_csv(folder / "history.csv", index=False)
    command = ["fit", "history.csv", "recent.csv", *LABEL]
    told = quick(folder, monkeypatch, *command)
    assert "300 rows of history; 5 without wear left out" in told.stdout
    assert quick(folder, monkeypatch, *command, "--strict").exit_code == 1
    assert quick(folder, monkeypatch, *command, "--nulls", "raise").exit_code == 1
    told = quick(folder, monkeypatch, *command, "--nulls", "drop", "-o", "m.json")
    assert told.exit_code == 0, told.output
    assert "5 of 300 rows of table 'history' were dropped" in told.stderr
    found = PooledRegressor.load(folder / "m.json").problem_.sources["history"]
    kept = old[5:].assign(**{"site=inland": 1.0 * (old["site"][5:] == "inland")})
    assert found.text() == moments_of(kept[list(found.names)], precision=found.precision).text()


@pytest.mark.parametrize(
    ("given", "code", "says"),
    [
        ("sep=;", 2, "named like an option of pyarrow.csv: delimiter, decimal_point"),
        ("delimiter=ab", 2, "values that pyarrow.csv's options can have"),
        ("block_size=x", 2, "values that pyarrow.csv's options can have"),
        ("encoding=klingon", 2, "unknown encoding: klingon"),
        ("decimal_point=,", 1, "numbers stored as text"),
        ("delimiter=n", 1, "--csv"),
    ],
)
def test_how_csv_is_written_is_checked(folder, monkeypatch, given, code, says):
    told = quick(folder, monkeypatch, "fit", "history.csv", "recent.csv", *LABEL, "--csv", given)
    assert told.exit_code == code, told.output
    assert isinstance(told.exception, SystemExit)
    assert says in " ".join(told.stderr.split())


def test_words_about_csv_have_the_types_that_they_need(folder, monkeypatch):
    for name in ("history.csv", "recent.csv"):
        text = (folder / name).read_text().replace("coast", "?")
        (folder / name).write_text(f"exported today\n{text}")
    command = ["fit", "history.csv", "recent.csv", *LABEL, "--csv", "skip_rows=1"]
    told = quick(folder, monkeypatch, *command, "--csv", "null_values=?,none", "--nulls", "raise")
    assert "site of recent.csv: one value in all tables" in told.stdout  # ? is a missing value
    told = quick(folder, monkeypatch, *command, "--drop", "plant")
    assert told.exit_code == 0, told.output
