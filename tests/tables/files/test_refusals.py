"""Files that cannot be read are refused by name, with the reason."""

import gzip

import pandas as pd
import pytest

from poolwise import Files, PooledRegressor, moments_of
from poolwise.errors import BadColumns, BadFile, BadOption, BadSource, NotNumeric, PoolwiseError
from poolwise.tables.files import find_files
from poolwise.tables.intake import gather
from tests.tables.files.writing import agree, read, write, y_of


def test_a_file_without_the_response_is_named(tmp_path, form, target, rows):
    write(rows, tmp_path / "h" / f"a.{form}")
    path = write(rows.rename(columns={"y": "Y"}), tmp_path / "h" / f"b.{form}")
    with pytest.raises(BadColumns, match=r"b\..*no column 'y'"):
        read(target, tmp_path / "h")
    with pytest.raises(BadSource, match="'y'"):
        read(target, path)


def test_text_here_and_numbers_there_names_both_files(tmp_path, target, rows):
    write(rows, tmp_path / "h" / "a.parquet")
    write(rows.assign(a="high"), tmp_path / "h" / "b.parquet")
    with pytest.raises(NotNumeric, match=r"'a' holds numbers in .*a\.parquet and text in .*b\."):
        read(target, tmp_path / "h")
    with pytest.raises(NotNumeric, match="holds text, and these are not numbers: 'high'"):
        read(target, tmp_path / "h" / "b.parquet")


def test_dates_are_refused_with_their_file(tmp_path, target, rows):
    path = write(rows.assign(a=pd.Timestamp("2020-01-01")), tmp_path / "old.parquet")
    with pytest.raises(NotNumeric, match=r"'a' of .*old\.parquet holds timestamp"):
        read(target, path)
    path = write(rows.assign(a=[f"{k} May" for k in range(len(rows))]), tmp_path / "odd.csv")
    dated = target.assign(a=pd.date_range("2024-01-01", periods=len(target)).astype(str))
    with pytest.raises(NotNumeric, match=r"these are not dates: '0 May', '1 May'"):
        gather(dated, y_of(target), sources=path)


def test_text_as_the_response_is_refused(tmp_path, form, target, rows):
    path = write(rows.assign(y="high"), tmp_path / f"old.{form}")
    with pytest.raises((NotNumeric, BadFile), match=r"'y'"):
        read(target, path)


def test_files_that_share_nothing_are_refused(tmp_path, form, target, rows):
    path = write(rows[["y"]].assign(z=1.0), tmp_path / f"old.{form}")
    with pytest.raises(BadSource, match="'z'"):
        read(target, path)


def test_two_columns_of_one_name_are_refused_with_their_file(tmp_path, target):
    (tmp_path / "old.csv").write_text("a,a,y\n1,2,3\n")
    with pytest.raises(BadColumns, match=r"old\.csv"):
        read(target, tmp_path / "old.csv")


@pytest.mark.parametrize("share", [0.02, 0.5, 0.98])
def test_a_truncated_file_is_named(tmp_path, target, rows, share):
    for suffix in ("parquet", "feather", "csv.gz", "csv.bz2", "csv.zst"):
        path = write(pd.concat([rows] * 50), tmp_path / f"old.{suffix}")
        whole = path.read_bytes()
        path.write_bytes(whole[: int(len(whole) * share)])
        with pytest.raises(BadFile, match=r"old\."):
            read(target, path)


def test_a_file_that_is_cut_in_the_middle_of_its_rows_is_named(tmp_path, target, rows):
    path = tmp_path / "old.parquet"
    write(pd.concat([rows] * 50), path)
    content = bytearray(path.read_bytes())
    content[100:3000] = bytes(2900)
    path.write_bytes(content)
    with pytest.raises(BadFile, match=r"old\.parquet"):
        read(target, path)


@pytest.mark.parametrize(
    ("is_really", "named"),
    [
        ("csv", "parquet"),
        ("csv", "feather"),
        ("csv", "csv.gz"),
        ("csv.gz", "csv"),
        ("parquet", "csv"),
        ("parquet", "feather"),
        ("feather", "parquet"),
    ],
)
def test_a_mislabelled_file_is_named(tmp_path, target, rows, is_really, named):
    path = write(rows, tmp_path / f"old.{is_really}").rename(tmp_path / f"x.{named}")
    with pytest.raises(BadFile, match=rf"x\.{named}' is .*, and its name says .*[Rr]ename it"):
        read(target, path)


@pytest.mark.parametrize(
    ("beginning", "told"),
    [
        (b"PK\x03\x04\x14\0\6\0", "a zip archive, and its name says CSV. Unpack it"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", r"an old Excel file \(.xls\), .* Save it as CSV"),
        (b"SQLite format 3\0", "an SQLite database"),
    ],
)
def test_what_a_file_called_csv_really_is_is_told(tmp_path, beginning, told):
    (tmp_path / "old.csv").write_bytes(beginning + bytes(500))
    with pytest.raises(BadFile, match=rf"old\.csv' is {told}"):
        moments_of(tmp_path / "old.csv")


def test_the_format_can_be_said(tmp_path, target, rows):
    path = write(rows, tmp_path / "old.parquet").rename(tmp_path / "part-0000")
    with pytest.raises(BadFile, match="part-0000"):
        read(target, path)
    assert agree(target, Files(path, format="parquet"), rows)
    assert agree(target, Files(tmp_path, format="parquet"), rows)


def test_an_empty_or_ragged_csv_is_named(tmp_path, target):
    for text in ("", "a,y\n1,2\n3\n", "a,y\n1,2\nx,3\n"):
        (tmp_path / "old.csv").write_text(text)
        with pytest.raises(BadFile, match=r"old\.csv"):
            read(target, tmp_path / "old.csv")


def test_nothing_to_read_is_told(tmp_path, target):
    (tmp_path / "empty").mkdir()
    for path in ("gone.parquet", "gone/*.csv", "empty"):
        with pytest.raises(BadFile, match=path.partition("/")[0]):
            read(target, str(tmp_path / path))
    with pytest.raises(BadFile):
        read(target, Files([]))


@pytest.mark.parametrize(
    "options", [{"nulls": "keep"}, {"format": "sas"}, {"columns": "a"}], ids=str
)
def test_options_are_checked_when_they_are_given(options):
    with pytest.raises(BadOption):
        Files("old.csv", **options)


def test_an_error_of_files_is_one_of_ours(tmp_path, target):
    with gzip.open(tmp_path / "old.parquet", "wb") as file:
        file.write(b"no table at all")
    with pytest.raises(PoolwiseError):
        read(target, tmp_path / "old.parquet")


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_a_word_among_numbers_is_told_with_its_line(tmp_path, target, rows, suffix):
    file = tmp_path / f"old{suffix}"
    rows.astype({"a": object}).assign(a=[*rows["a"][:-2], "fifty", 1.0]).to_csv(file, index=False)
    message = rf"old{suffix}' .* column 'a' holds 'fifty' in line {len(rows)}, .*null_values"
    with pytest.raises(BadFile, match=message):
        read(target, file)


@pytest.mark.parametrize("given", ["", ["old.parquet", ""]])
def test_an_empty_name_is_not_the_working_directory(tmp_path, rows, monkeypatch, given):
    monkeypatch.chdir(tmp_path)
    rows.to_parquet("old.parquet", index=False)
    with pytest.raises(BadFile, match="The name is empty"):
        find_files(given)


def test_a_header_in_another_encoding_is_told_with_the_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("größe,y\n1,2\n3,4\n".encode("latin-1"))
    with pytest.raises(BadFile, match=r"a\.csv"):
        moments_of(path)
    assert moments_of(Files(path, csv={"encoding": "latin-1"})).names == ("größe", "y")


def test_a_text_in_another_encoding_is_told_with_what_to_say(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("ort,y\nHöchst,2\nKöln,4\n".encode("latin-1"))
    X, y = pd.DataFrame({"ort": ["Höchst", "Köln"] * 5, "x": range(10)}), pd.Series(range(10))
    with pytest.raises(BadFile, match=r"a\.csv.*UTF8.*another encoding.*'encoding': "):
        PooledRegressor().fit(X, y, sources={"old": path})
