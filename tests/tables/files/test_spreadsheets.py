"""Files as spreadsheets write them: Excel, semicolons, decimal commas, tabs."""

import gzip
import re

import numpy as np
import pandas as pd
import pytest

from poolwise import Files, PooledRegressor, moments_of
from poolwise.errors import BadFile, DataWarning, NotInstalled


def assert_same(one, other):
    assert one.names == other.names
    assert one.rows == other.rows
    for ours, theirs in zip(
        (one.mean, one.scatter.high), (other.mean, other.scatter.high), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(40, 3)).round(3)
    return pd.DataFrame(values, columns=["a", "b", "y"]).assign(site=["n", "s"] * 20)


@pytest.mark.parametrize(
    ("sep", "decimal", "told"),
    [
        (";", ",", "columns separated by semicolons and decimal commas"),
        (";", ".", "columns separated by semicolons, as"),
        ("\t", ".", "columns separated by tabs, as"),
        ("\t", ",", "columns separated by tabs and decimal commas"),
        ("|", ".", "columns separated by vertical bars, as"),
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_a_csv_file_shows_how_it_is_written(tmp_path, rows, sep, decimal, told, suffix):
    path = tmp_path / f"old{suffix}"
    rows.to_csv(path, index=False, sep=sep, decimal=decimal)
    with pytest.warns(DataWarning, match=rf"old{re.escape(suffix)}' was read as text with {told}"):
        found = moments_of(path)
    assert_same(found, moments_of(rows))
    given = {"delimiter": sep, "decimal_point": decimal}  # these are not questioned
    assert_same(moments_of(Files(path, csv=given)), found)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".csv.bz2"])
def test_long_files_show_it_too(tmp_path, rows, suffix):
    long = pd.concat([rows] * 500, ignore_index=True)
    long.to_csv(tmp_path / f"old{suffix}", index=False, sep=";", decimal=",")
    with pytest.warns(DataWarning, match="semicolons and decimal commas"):
        assert_same(moments_of(tmp_path / f"old{suffix}"), moments_of(long))


def test_usual_files_are_read_as_ever_and_without_a_note(tmp_path, rows):
    path = tmp_path / "old.csv"
    for text in (rows["site"] + "; or 1,5", rows["site"] + '"|', '"a\nb;c"' + rows["site"]):
        rows.assign(site=text).to_csv(path, index=False)
        assert_same(moments_of(path), moments_of(rows.assign(site=text)))
    rows.to_csv(tmp_path / "old.tsv", index=False, sep="\t")
    assert_same(moments_of(tmp_path / "old.tsv"), moments_of(rows))


def test_files_written_alike_have_one_note(tmp_path, rows):
    for k in range(3):
        rows.to_csv(tmp_path / f"{k}.csv", index=False, sep=";")
    with pytest.warns(DataWarning, match="0.csv', with 2 more files, was read") as told:
        moments_of(tmp_path)
    assert len(told) == 1


def test_the_first_sheet_of_an_excel_file_is_a_table(tmp_path, rows):
    path = tmp_path / "old.xlsx"
    rows.assign(whole=range(40)).to_excel(path, index=False)
    kept = rows.assign(whole=range(40))
    assert_same(moments_of(path), moments_of(kept))
    X, y = kept.drop(columns="y"), kept["y"]
    by_file = PooledRegressor().fit(X, y, sources={"old": path})
    assert (by_file.coef_ == PooledRegressor().fit(X, y, sources={"old": kept}).coef_).all()
    with pd.ExcelWriter(path) as book:
        rows.to_excel(book, sheet_name="rows", index=False)
        rows[:3].to_excel(book, sheet_name="notes", index=False)
    with pytest.warns(
        DataWarning, match="several sheets: the first, 'rows', was read, not 'notes'"
    ):
        assert_same(moments_of(path), moments_of(rows))


def test_gaps_and_errors_of_cells_are_missing_values(tmp_path, rows):
    wrong = rows.astype({"a": object}).assign(b=rows["b"].where(rows.index > 3))
    wrong.loc[5, "a"] = "#DIV/0!"
    wrong.to_excel(tmp_path / "old.xlsx", index=False)
    with pytest.warns(match="5 of 40 rows .* dropped"):
        assert moments_of(tmp_path / "old.xlsx", nulls="drop").rows == 35


def test_excel_under_another_name_and_damaged_is_told(tmp_path, rows, monkeypatch):
    rows.to_excel(tmp_path / "old.xlsx", index=False)
    whole = (tmp_path / "old.xlsx").read_bytes()
    (tmp_path / "x.csv").write_bytes(whole)
    with pytest.raises(
        BadFile, match=r"x.csv' is an Excel file, and its name says CSV. Rename it to x.xlsx"
    ):
        moments_of(tmp_path / "x.csv")
    (tmp_path / "cut.xlsx").write_bytes(whole[:2000])
    with pytest.raises(BadFile, match=r"cut.xlsx'"):
        moments_of(tmp_path / "cut.xlsx")
    (tmp_path / "old.xls").write_bytes(b"")
    with pytest.raises(BadFile, match=r"old Excel file.*Save it as .xlsx"):
        moments_of(tmp_path / "old.xls")
    (tmp_path / "x.csv").write_bytes(gzip.compress(b"a,y\n1,2\n"))
    with pytest.raises(
        BadFile, match=r"compressed by gzip, and its name says CSV. Rename it to x.csv.gz"
    ):
        moments_of(tmp_path / "x.csv")
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(NotInstalled, match=r"openpyxl.*poolwise\[excel\]"):
        moments_of(tmp_path / "old.xlsx")
