"""Tables as they come out of a database: one command, which names every decision about a column."""

import json

import pytest

from tests.cli.entry import quick
from tests.raw_tables import write

# Columns that are left out, rows of the recent table, and rows without a label, of each pair.
EXPECTED = {
    "flights": ({"tailnum"}, 380, 16),
    "gestation": ({"rownames", "id", "plurality", "outcome", "sex"}, 200, 0),
    "hmda": ({"rownames"}, 300, 0),
    "wage": ({"rownames"}, 340, 0),
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


def test_a_report_of_raw_files_has_the_account(tmp_path, monkeypatch):
    tables = write("hmda", tmp_path)
    files = tables.history.name, tables.recent.name
    told = quick(tmp_path, monkeypatch, "report", *files, "--label", "deny", "-o", "page.html")
    assert told.exit_code == 0, told.stderr
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "read as 1 for yes and 0 for no" in text
    assert "it is named" in text
    assert "300 recent rows" in text
