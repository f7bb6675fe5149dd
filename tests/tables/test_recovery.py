"""Jobs over many files that are killed: what was read before is not read again."""

import json
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from poolwise import moments_by_pattern, moments_of
from poolwise.tables.file_reader import Reader

FILES = 12
ROOT = Path(__file__).parents[2]

# Stops for good when it begins to read a file, waiting to be killed.
PROGRAM = """
import json, sys, time
sys.path.insert(0, {root!r})
from poolwise import moments_by_pattern, moments_of
from poolwise.tables.file_reader import Reader

folder, parts, stop_at, options = json.loads(sys.argv[1])
by_pattern = options.pop("by_pattern", False)
batches = Reader.batches

def braked(reader, *args):
    if reader.file.path.stem == stop_at:
        print("stopped", flush=True)
        time.sleep(600.0)
    return batches(reader, *args)

Reader.batches = braked
take = moments_by_pattern if by_pattern else moments_of
found = take(folder, parts=parts, **options)
for moments in found.values() if by_pattern else [found]:
    print(json.dumps(moments.text()))
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here"),
]


def made(folder, form="parquet"):
    """Make a folder of files with numbers, nearly dependent ones among them, texts and gaps."""
    rng = np.random.default_rng(11)
    folder.mkdir()
    for k in range(FILES):
        a, b = rng.normal(size=(2, 40)) * [[1e3], [1.0]]
        rows = pd.DataFrame({"a": a, "twin": a + 1e-8 * b, "b": b, "y": a + b})
        rows["site"] = rng.choice(["coast", "inland", f"site {k % 5}"], 40)
        rows.loc[: k % 4, "b"] = np.nan
        write = rows.to_parquet if form == "parquet" else rows.to_csv
        write(folder / f"{k:02}.{form}", index=False)
    return folder


@contextmanager
def job(folder, parts, stop_at="", **options):
    """Start a process that takes moments."""
    program = [sys.executable, "-c", PROGRAM.format(root=str(ROOT))]
    given = json.dumps([str(folder), str(parts), stop_at, options])
    with subprocess.Popen([*program, given], stdout=-1, stderr=-1, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def killed(folder, parts, stop_at, **options):
    """Run a job, and kill it when it comes to a file."""
    with job(folder, parts, stop_at, **options) as process:
        assert process.stdout.readline() == "stopped\n", process.stderr.read()
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
    assert process.returncode == -signal.SIGKILL


def resumed(folder, parts, monkeypatch, take=moments_of, **options):
    """Take moments again; return them, and the files that were read for that."""
    read, batches = set(), Reader.batches

    def watched(reader, *args):
        read.add(int(reader.file.path.stem))
        return batches(reader, *args)

    with monkeypatch.context() as patch:
        patch.setattr(Reader, "batches", watched)
        found = take(folder, parts=parts, **options)
    return found, read


@pytest.mark.parametrize(
    ("form", "precision", "drop"),
    [
        ("parquet", "fast", ["site", "b"]),
        ("csv", "accurate", ["b"]),
        ("parquet", "exact", ["site", "b"]),
        ("csv", "exact", ["b"]),
    ],
)
def test_a_job_that_is_killed_loses_no_file_that_it_has_read(
    tmp_path, monkeypatch, form, precision, drop
):
    history, parts = made(tmp_path / "history", form), tmp_path / "parts"
    options = {"precision": precision, "drop": drop}
    whole = moments_of(history, parts=tmp_path / "other", **options)
    killed(history, parts, "05", **options)
    found, read = resumed(history, parts, monkeypatch, **options)
    assert found.text() == whole.text()
    assert read == {*range(5, FILES)}
    if precision == "exact":
        assert found.text() == moments_of(history, **options).text()


def test_a_job_of_two_threads_loses_no_more_than_two_files(tmp_path, monkeypatch):
    history, parts = made(tmp_path / "history"), tmp_path / "parts"
    whole = moments_of(history, drop=["b"], precision="exact")
    killed(history, parts, "05", drop=["b"], precision="exact", n_jobs=2)
    found, read = resumed(history, parts, monkeypatch, drop=["b"], precision="exact")
    assert found.text() == whole.text()
    assert 5 in read
    assert len(read & {*range(6)}) <= 2  # the one it stopped at, and the one of the other thread


def test_a_job_may_be_killed_again_and_again(tmp_path, monkeypatch):
    """In its first pass, and in the second, for better sums."""
    history, parts = made(tmp_path / "history"), tmp_path / "parts"
    whole = moments_by_pattern(history, response="y")
    assert whole["source"].precision == "exact"  # so that there is a second pass
    for stop_at in ("02", "07"):
        killed(history, parts, stop_at, by_pattern=True, response="y")
    moments_by_pattern(history, response="y", precision="accurate", parts=parts)
    killed(history, parts, "03", by_pattern=True, response="y")  # all files once, three twice
    found, read = resumed(history, parts, monkeypatch, moments_by_pattern, response="y")
    assert read == {*range(3, FILES)}
    assert {n: m.text() for n, m in found.items()} == {
        n: m.text() for n, m in moments_by_pattern(history, response="y", precision="exact").items()
    }


def test_a_file_that_changes_after_a_kill_is_read_as_it_is_now(tmp_path, monkeypatch):
    history, parts = made(tmp_path / "history", "csv"), tmp_path / "parts"
    options = {"drop": ["site", "b"], "precision": "exact"}
    killed(history, parts, "05", **options)
    with (history / "02.csv").open("a") as file:
        file.write("1.0,2.0,3.0,4.0,coast\n")
    found, read = resumed(history, parts, monkeypatch, **options)
    assert found.text() == moments_of(history, **options).text()
    assert read == {2, *range(5, FILES)}
    assert found.rows == 40 * FILES + 1


def test_two_processes_at_one_folder_do_no_harm(tmp_path):
    history, parts = made(tmp_path / "history"), tmp_path / "parts"
    options = {"drop": ["b"], "precision": "exact"}
    whole = moments_of(history, **options)
    with job(history, parts, **options) as one, job(history, parts, **options) as two:
        for process in (one, two):
            text, errors = process.communicate(timeout=60)
            assert process.returncode == 0, errors
            assert json.loads(text) == whole.text()
