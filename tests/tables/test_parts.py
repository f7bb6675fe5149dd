"""Parts: moments of each file in a folder, which are used again while the file is the same."""

import json
import os

import numpy as np
import pandas as pd
import polars as pl
import pytest

from poolwise import Files, Moments, moments_by_pattern, moments_of
from poolwise.errors import BadOption, LeftOut, NotFinite
from poolwise.tables.file_reader import Reader


@pytest.fixture
def history(tmp_path):
    rng = np.random.default_rng(5)
    (tmp_path / "history").mkdir()
    for k in range(3):
        rows = pd.DataFrame({"a": rng.normal(size=20), "b": rng.normal(size=20), "g": k})
        rows["site"] = rng.choice(["coast", "inland", f"site {k}"], 20)
        rows.to_csv(tmp_path / "history" / f"{k}.csv", index=False)
    return tmp_path / "history"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "parts"


@pytest.fixture
def read(monkeypatch):
    """Return the names of the files, as their rows are read."""
    names, batches = [], Reader.batches

    def watched(reader, *args):
        names.append(reader.file.path.stem)
        return batches(reader, *args)

    monkeypatch.setattr(Reader, "batches", watched)
    return names


def with_gaps(history):
    """Make rows that lack a number or a text, and a file that has no text at all."""
    for k, path in enumerate(sorted(history.glob("*.csv"))):
        rows = pd.read_csv(path)
        rows.loc[: k + 2, "b"] = np.nan
        rows.loc[15:, "site"] = None
        if k == 1:
            rows["site"] = None
        rows.to_csv(path, index=False)


def agree(ours, theirs):
    S, T = (m.scatter_between(m.names, m.names) for m in (ours, theirs))
    assert (ours.names, ours.rows) == (theirs.names, theirs.rows)
    assert np.allclose(ours.mean, theirs.mean, rtol=1e-13, atol=1e-15)
    assert np.allclose(S, T, rtol=1e-12, atol=1e-12)
    assert np.array_equal([ours.low, ours.high], [theirs.low, theirs.high])


@pytest.mark.parametrize("jobs", [1, 2])
def test_exact_moments_have_the_bits_that_they_have_without_parts(history, folder, jobs):
    whole = moments_of(history, precision="exact")
    for _ in range(2):
        found = moments_of(history, precision="exact", parts=folder, n_jobs=jobs)
        assert found.text() == whole.text()


@pytest.mark.parametrize("precision", ["auto", "fast", "accurate"])
def test_other_moments_agree_and_are_the_same_when_they_are_added_up_again(
    history, folder, precision
):
    whole = moments_of(history, precision=precision)
    found = moments_of(history, precision=precision, parts=folder)
    agree(found, whole)
    assert found.precision == whole.precision
    assert moments_of(history, precision=precision, parts=folder).text() == found.text()


@pytest.mark.parametrize("precision", ["auto", "exact"])
def test_patterns_of_missing_columns_are_those_without_parts(history, folder, precision):
    with_gaps(history)
    whole = moments_by_pattern(history, response="a", precision=precision)
    assert "source without site" in whole
    for _ in range(2):
        found = moments_by_pattern(history, response="a", precision=precision, parts=folder)
        assert [*found] == [*whole]
        for name, moments in found.items():
            agree(moments, whole[name])
            assert precision == "auto" or moments.text() == whole[name].text()


def test_dropped_rows_are_counted_whether_or_not_they_are_read(history, folder):
    with_gaps(history)
    said = []
    for parts in (None, folder, folder):
        with pytest.warns(LeftOut) as caught:
            moments_of(history, nulls="drop", drop=["site"], parts=parts)
        said.append([str(w.message) for w in caught])
    assert said[0] == said[1] == said[2]


def test_a_column_that_no_row_has_is_part_of_no_pattern(history, folder):
    for path in history.glob("*.csv"):
        pd.read_csv(path).assign(site=None, b=np.nan).to_csv(path, index=False)
    options = {"texts": ["site"], "precision": "exact"}
    whole = moments_by_pattern(history, **options)
    found = moments_by_pattern(history, parts=folder, **options)
    assert {n: m.text() for n, m in found.items()} == {n: m.text() for n, m in whole.items()}


def test_a_part_is_a_file_of_moments(history, folder):
    moments_of(history, precision="exact", parts=folder)
    names = sorted(path.name.partition("-")[0] for path in folder.glob("*.moments.json"))
    assert names == ["0.csv", "1.csv", "2.csv"]
    parts = [Moments.load(path) for path in folder.glob("*.moments.json")]
    assert [part.rows for part in parts] == [20, 20, 20]


def test_files_that_have_not_changed_are_not_read_again(history, folder, read):
    moments_of(history, parts=folder)
    assert {*read} == {"0", "1", "2"}
    read.clear()
    moments_of(history, parts=folder)
    assert read == []
    (history / "3.csv").write_text("a,b,g,site\n1,2,3,coast\n")
    found = moments_of(history, parts=folder)
    assert {*read} == {"3"}
    assert found.rows == 61


@pytest.mark.parametrize(
    "change", ["size", "time", "columns", "text", "filter", "csv", "precision"]
)
def test_a_change_of_the_file_or_of_an_option_is_noticed(history, folder, read, change):
    moments_of(history, parts=folder)
    files, options, changed = history, {}, {"0", "1", "2"}
    if change == "size":
        (history / "1.csv").write_text((history / "1.csv").read_text() + "1,2,3,coast\n")
        changed = {"1"}
    elif change == "time":
        os.utime(history / "2.csv", ns=(1, 1))
        changed = {"2"}
    elif change == "filter":
        files = Files(history, filter=[("a", ">", 0.0)])
    elif change == "csv":
        files = Files(history, csv={"null_values": ["none"]})
    else:
        changes = {"columns": {"drop": ["b"]}, "text": {"texts": ["g"]}}
        options = changes.get(change, {"precision": "exact"})
    read.clear()
    found = moments_of(files, parts=folder, **options)
    assert {*read} == changed
    agree(found, moments_of(files, **options))


@pytest.mark.parametrize("damage", ["cut", "gone", "other"])
def test_a_damaged_part_is_made_again(history, folder, read, damage):
    whole = moments_of(history, precision="exact", parts=folder)
    (record,) = folder.glob("1.csv-*.part.json")
    (moments,) = folder.glob("1.csv-*.moments.json")
    if damage == "cut":
        record.write_text(record.read_text()[:50])
    elif damage == "gone":
        moments.unlink()
    else:
        moments.write_text(json.dumps({"format": "a diary"}))
    read.clear()
    assert moments_of(history, precision="exact", parts=folder).text() == whole.text()
    assert {*read} == {"1"}


def test_an_error_keeps_the_files_that_were_read_before_it(history, folder, read):
    good = (history / "2.csv").read_text()
    (history / "2.csv").write_text(good + ",1,2,coast\n")
    with pytest.raises(NotFinite, match=r"2\.csv.*'a' in 1"):
        moments_of(history, parts=folder)
    (history / "2.csv").write_text(good)
    read.clear()
    found = moments_of(history, parts=folder)
    assert {*read} == {"2"}
    agree(found, moments_of(history))


def test_nearly_dependent_columns_are_read_with_more_digits(history, folder, read):
    for path in history.glob("*.csv"):
        rows = pd.read_csv(path)
        rows.assign(twin=rows["a"] + 1e-8 * rows["b"]).to_csv(path, index=False)
    whole = moments_of(history)
    assert whole.precision == "exact"
    for _ in range(2):
        assert moments_of(history, parts=folder).text() == whole.text()
    read.clear()
    moments_of(history, parts=folder)
    assert read == []  # better parts than the first pass asks for are used


def test_only_files_have_parts(folder):
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    for table in (frame, frame.to_numpy(), pl.from_pandas(frame).lazy()):
        with pytest.raises(BadOption, match=r"parts=.*None for a table or a stream"):
            moments_of(table, parts=folder)


def test_a_folder_that_cannot_be_made_is_told(history, tmp_path):
    for place in (tmp_path / "no" / "such", history / "0.csv"):
        with pytest.raises(BadOption, match=r"parts=.*a folder that can be used"):
            moments_of(history, parts=place)
