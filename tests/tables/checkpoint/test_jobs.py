"""Jobs with a checkpoint: what was found is kept, and is of one job alone."""

import os

import numpy as np
import pandas as pd
import polars as pl
import pytest

from poolwise import Files, moments_of
from poolwise.errors import BadOption, BeginsAnew, FilesNotFound, NotACheckpoint, NotFinite
from poolwise.tables.checkpoint import Checkpoint
from poolwise.tables.file_batches import open_files
from poolwise.tables.formats import Reader
from poolwise.tables.pattern_sums import SumByPattern
from poolwise.tables.streamed import FindLevels


@pytest.fixture
def history(tmp_path):
    rng = np.random.default_rng(5)
    (tmp_path / "history").mkdir()
    for k in range(3):
        rows = pd.DataFrame({"a": rng.normal(size=20), "b": rng.normal(size=20), "g": k})
        rows.to_csv(tmp_path / "history" / f"{k}.csv", index=False)
    return tmp_path / "history"


def key(files, texts=("a", "b")):
    return open_files(files, "here", dict.fromkeys(texts, False), None).batches.key


def test_the_same_files_read_alike_have_the_same_key(history):
    assert key(Files(history)) == key(Files(f"{history}/*.csv", progress=False, workers=2))


def test_whatever_may_change_the_sums_changes_the_key(history):
    keys = {
        key(Files(history)),
        key(Files([history / "0.csv", history / "1.csv"])),
        key(Files([history / "1.csv", history / "0.csv", history / "2.csv"])),
        key(Files(history, filter=[("a", ">", 0.0)])),
        key(Files(history, filter=[("a", ">", 1.0)])),
        key(Files(history, csv={"null_values": ["0"]})),
        key(Files(history), ["a"]),
    }
    os.utime(history / "1.csv", ns=(1, 1))
    keys.add(key(Files(history)))
    (history / "1.csv").write_text((history / "1.csv").read_text() + "1,2,3\n")
    os.utime(history / "1.csv", ns=(1, 1))
    keys.add(key(Files(history)))
    assert len(keys) == 9


def test_pieces_of_a_long_file_are_in_the_key(history, monkeypatch):
    rows = pd.DataFrame({"a": np.arange(100.0), "b": 1.0})
    rows.to_parquet(history / "long.parquet", row_group_size=10)
    files = Files(history / "long.parquet")
    whole = key(files)
    monkeypatch.setattr("poolwise.tables.formats.PIECE", 300)
    assert len(open_files(files, "here", {"a": False}, None).batches.shards()) > 2
    assert key(files) != whole


def test_a_file_that_is_gone_is_told(history):
    opened = open_files(Files(history), "here", {"a": False}, None)
    (history / "1.csv").unlink()
    with pytest.raises(FilesNotFound, match=r"1\.csv"):
        _ = opened.batches.key


def test_tasks_have_keys_by_all_that_matters():
    assert FindLevels(("a",)).key != FindLevels(("b",)).key
    assert SumByPattern(None, "fast", None, "x").key != SumByPattern(None, "exact", None, "x").key


def test_only_files_have_a_checkpoint(path):
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    for table in (frame, frame.to_numpy(), pl.from_pandas(frame).lazy()):
        with pytest.raises(BadOption, match=r"checkpoint=.*job\.part.*Files can have one"):
            moments_of(table, checkpoint=path)
    assert not path.exists()


@pytest.fixture
def read(monkeypatch):
    """Return the names of the files, as they are read."""
    names, batches = [], Reader.batches

    def watched(reader, *args):
        names.append(reader.file.path.stem)
        return batches(reader, *args)

    monkeypatch.setattr(Reader, "batches", watched)
    return names


def test_a_job_that_is_done_removes_its_file(history, path, read):
    alone = moments_of(history)
    read.clear()
    kept = Checkpoint(path, pause=0.0)
    assert moments_of(history, checkpoint=kept).text() == alone.text()
    assert read == ["0", "1", "2"]
    assert path.exists()  # who made it removes it
    again = moments_of(history, checkpoint=path)
    assert again.text() == alone.text()
    assert read == ["0", "1", "2"]  # all was there
    assert not path.exists()


@pytest.mark.parametrize("change", ["a file", "more files", "columns", "precision"])
def test_a_job_that_has_changed_begins_anew_and_says_so(history, path, read, change):
    moments_of(history, checkpoint=Checkpoint(path, pause=0.0))
    options = {}
    if change == "a file":
        (history / "1.csv").write_text((history / "1.csv").read_text() + "1,2,3\n")
    elif change == "more files":
        (history / "3.csv").write_text("a,b,g\n1,2,3\n")
    else:
        options = {"columns": {"drop": ["b"]}, "precision": {"precision": "exact"}}[change]
    alone = moments_of(history, **options)
    read.clear()
    with pytest.warns(BeginsAnew, match=r"job\.part.*anew") as seen:
        found = moments_of(history, checkpoint=path, **options)
    assert found.text() == alone.text()
    assert read[:3] == ["0", "1", "2"]
    assert seen[0].filename == __file__
    assert not path.exists()


def test_a_damaged_checkpoint_is_told_before_anything_is_read(history, path, read):
    path.write_text("my diary")
    with pytest.raises(NotACheckpoint):
        moments_of(history, checkpoint=path)
    assert path.read_text() == "my diary"
    assert not read


@pytest.mark.parametrize("pause", [0.0, 1e-9])  # written after every shard, or in the end
def test_an_error_on_the_way_keeps_what_was_found(history, path, read, pause):
    alone = moments_of(history)
    good = (history / "2.csv").read_text()
    stat = (history / "2.csv").stat()
    number = good.splitlines()[1].partition(",")[0]
    (history / "2.csv").write_text(good.replace(number, "1e" + "9" * (len(number) - 2)))
    os.utime(history / "2.csv", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    read.clear()
    with pytest.raises(NotFinite, match=r"2\.csv.*'a' in 1"):
        moments_of(history, checkpoint=Checkpoint(path, pause=pause))
    assert read == ["0", "1", "2"]
    (history / "2.csv").write_text(good)
    os.utime(history / "2.csv", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert moments_of(history, checkpoint=path).text() == alone.text()
    assert read == ["0", "1", "2", "2"]


def test_an_interrupt_keeps_what_was_found_although_nothing_was_due(history, path, monkeypatch):
    alone = moments_of(history)
    batches = Reader.batches

    def interrupted(reader, *args):
        if reader.file.path.stem == "2":
            raise KeyboardInterrupt
        return batches(reader, *args)

    with monkeypatch.context() as patch:
        patch.setattr(Reader, "batches", interrupted)
        with pytest.raises(KeyboardInterrupt):
            moments_of(history, checkpoint=Checkpoint(path, pause=1e9))
    assert path.exists()
    assert moments_of(history, checkpoint=path).text() == alone.text()


def test_a_bar_begins_where_the_reading_does(history, path, monkeypatch):
    moments_of(history, checkpoint=Checkpoint(path, pause=0.0))
    bars = []

    class Bar:
        def __init__(self, size):
            self.size, self.rows, self.bytes = size, 0, 0.0
            bars.append(self)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def update(self, rows, size):
            self.rows, self.bytes = self.rows + rows, self.bytes + size

    monkeypatch.setattr(
        "poolwise.tables.streamed.reading_bar", lambda label, size, show=None: Bar(size)
    )
    moments_of(history, checkpoint=path)
    (bar,) = bars
    assert bar.bytes == pytest.approx(bar.size)
    assert bar.rows == 0
