"""Tables as they come out of a database: one command, which names every decision about a column."""

import json

import pandas as pd
import pytest

from tests.cli.entry import quick
from tests.raw_tables import write

# Columns that are left out, rows of the recent table, and rows without a label, of each pair.
EXPECTED = {
    "flights": ({"tailnum"}, 380, 16),
    "gestation": ({"rownames", "id", "plurality", "outcome", "sex"}, 200, 0),
    "hmda": ({"rownames"}, 300, 0),
    "wage": ({"rownames", "nr"}, 340, 0),
    "ames": ({"rownames"}, 341, 0),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_pair_of_raw_files_is_fitted_by_one_command(name, tmp_path, monkeypatch):
    tables = write(name, tmp_path)
    dropped, rows, without_label = EXPECTED[name]
    files = tables.history.name, tables.recent.name
    told = quick(tmp_path, monkeypatch, "fit", *files, "--label", tables.label, "--json")
    assert told.exit_code == 0, told.stderr
    account = json.loads(told.stdout)["columns"]
    assert {c["name"] for c in account["dropped"]} == dropped
    recent = account["tables"][0]
    assert (recent["rows"], recent["without_response"]) == (rows, without_label)
    used = {c["name"] for c in account["columns"] if c["use"]}
    with tables.recent.open() as file:
        header = file.readline().strip().split(",")
    assert used | dropped == {n.strip('"') for n in header} - {tables.label}
    assert all(c["use"] or c["why"] for c in account["columns"])


@pytest.mark.slow
def test_a_report_counts_all_recent_rows_and_those_it_cannot_use_as_they_are(tmp_path, monkeypatch):
    tables = write("flights", tmp_path)
    small = pd.read_csv(tables.history).sample(2000, random_state=0)
    small.to_csv(tables.history, index=False)
    files = tables.history.name, tables.recent.name
    told = quick(tmp_path, monkeypatch, "report", *files, "--label", "arr_delay", "-o", "page.json")
    assert told.exit_code == 0, told.stderr
    data = json.loads((tmp_path / "page.json").read_text())
    recent = pd.read_csv(tables.recent)
    has_delay = recent["arr_delay"].notna()
    account = data["columns"]["account"]
    used = [c["name"] for c in account["columns"] if c["use"]]
    gaps = int(recent.loc[has_delay, used].isna().any(axis=1).sum())
    lost = int(small["arr_delay"].isna().sum())
    assert data["rows"] == {
        "recent": 396,
        "without_response": 16,
        "with_gaps": gaps,
        "history": 2000,
        "history_without_response": lost,
        "text": f"396 recent rows (16 without “arr_delay”, left out; {gaps} with missing values, "
        f"filled in) and 2,000 rows of history ({lost} without “arr_delay”, left out).",
    }
    assert "part of the 380 recent rows with a value to predict" in data["methods"]["text"]


def test_a_report_of_raw_files_has_the_account(tmp_path, monkeypatch):
    tables = write("hmda", tmp_path)
    files = tables.history.name, tables.recent.name
    told = quick(tmp_path, monkeypatch, "report", *files, "--label", "deny", "-o", "page.html")
    assert told.exit_code == 0, told.stderr
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "read as 1 for yes and 0 for no" in text
    assert "it is named" in text
    assert "300 recent rows" in text
