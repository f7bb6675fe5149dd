"""Jobs over many files that are killed, and go on as if nothing had happened."""

import json
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from poolwise import moments_by_pattern, moments_of
from poolwise.tables.checkpoint import Checkpoint
from poolwise.tables.formats import Reader

FILES = 12
ROOT = Path(__file__).parents[1]

# Counts the files that are read, and stops for good at one of them, waiting to be killed.
PROGRAM = """
import json, sys, time
sys.path.insert(0, {root!r})
from poolwise import moments_by_pattern, moments_of
from poolwise.tables.checkpoint import Checkpoint
from poolwise.tables.formats import Reader

folder, path, stop_at, options = json.loads(sys.argv[1])
by_pattern = options.pop("by_pattern", False)
batches, read = Reader.batches, []

def braked(reader, *args):
    read.append(reader.where)
    if len(read) == stop_at:
        print("stopped", flush=True)
        time.sleep(600.0)
    return batches(reader, *args)

Reader.batches = braked
take = moments_by_pattern if by_pattern else moments_of
found = take(folder, checkpoint=Checkpoint(path, pause=0.0), **options)
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
def job(folder, path, stop_at=-1, **options):
    """Start a process that takes moments."""
    program = [sys.executable, "-c", PROGRAM.format(root=str(ROOT))]
    given = json.dumps([str(folder), str(path), stop_at, options])
    with subprocess.Popen([*program, given], stdout=-1, stderr=-1, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def killed(folder, path, stop_at, done, **options):
    """Run a job, kill it where it stops, and wait that ``done`` shards of its task are kept."""
    with job(folder, path, stop_at, **options) as process:
        assert process.stdout.readline() == "stopped\n", process.stderr.read()
        end = time.monotonic() + 30.0
        while kept(path) != done and time.monotonic() < end:
            time.sleep(0.01)  # another thread may still be at the file before
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert kept(path) == done


def kept(path):
    """Return how many shards each task has done, as the file says."""
    if not path.exists():
        return []
    return [done for done, _ in json.loads(path.read_text().splitlines()[1]).values()]


def resumed(folder, path, monkeypatch, take=moments_of, **options):
    """Take moments again; return them, and the number of files that were read for that."""
    read, batches = [], Reader.batches

    def watched(reader, *args):
        read.append(reader.where)
        return batches(reader, *args)

    with monkeypatch.context() as patch:
        patch.setattr(Reader, "batches", watched)
        found = take(folder, checkpoint=path, **options)
    assert not path.exists()
    return found, len(read)


@pytest.mark.parametrize(
    ("form", "precision", "jobs"),
    [
        ("parquet", "fast", 1),
        ("csv", "fast", 2),
        ("parquet", "accurate", 2),
        ("csv", "accurate", 1),
        ("parquet", "exact", 2),
    ],
)
def test_a_job_that_is_killed_goes_on_and_ends_with_the_same_bits(
    tmp_path, monkeypatch, form, precision, jobs
):
    history, path = made(tmp_path / "history", form), tmp_path / "job.part"
    options = {"precision": precision, "drop": ["site", "b"]}
    whole = moments_of(history, **options)
    killed(history, path, 6, [5], n_jobs=jobs, **options)
    found, read = resumed(history, path, monkeypatch, **options)
    assert found.text() == whole.text()
    assert read == FILES - 5


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_job_may_be_killed_while_it_looks_for_levels(tmp_path, monkeypatch, jobs):
    history, path = made(tmp_path / "history"), tmp_path / "job.part"
    options = {"precision": "accurate", "drop": ["b"]}
    whole = moments_of(history, **options)
    killed(history, path, 4, [3], n_jobs=jobs, **options)
    found, read = resumed(history, path, monkeypatch, **options)
    assert found.text() == whole.text()
    assert read == (FILES - 3) + FILES


def test_a_job_may_be_killed_again_and_again(tmp_path, monkeypatch):
    """In its first pass, for levels; in the second, for sums; in the third, for better ones."""
    history, path = made(tmp_path / "history"), tmp_path / "job.part"
    options = {"by_pattern": True, "response": "y"}
    whole = moments_by_pattern(history, response="y")
    assert whole["source"].precision == "exact"  # so that there is a third pass
    killed(history, path, 3, [2], **options)
    killed(history, path, FILES - 2 + 1, [FILES], **options)  # between two passes
    killed(history, path, 8, [FILES, 7], **options)
    killed(history, path, FILES - 7 + 1, [FILES, FILES], **options)  # and again
    killed(history, path, 10, [FILES, FILES, 9], **options)
    found, read = resumed(history, path, monkeypatch, moments_by_pattern, response="y")
    assert {n: m.text() for n, m in found.items()} == {n: m.text() for n, m in whole.items()}
    assert read == FILES - 9


def test_a_file_that_changes_after_a_kill_is_read_as_it_is_now(tmp_path, monkeypatch):
    history, path = made(tmp_path / "history", "csv"), tmp_path / "job.part"
    options = {"drop": ["site", "b"], "precision": "fast"}
    killed(history, path, 6, [5], **options)
    with (history / "02.csv").open("a") as file:
        file.write("1.0,2.0,3.0,4.0,coast\n")
    with pytest.warns(match="anew"):
        found, read = resumed(history, path, monkeypatch, **options)
    assert found.text() == moments_of(history, **options).text()
    assert read == FILES
    assert found.rows == 40 * FILES + 1


def test_two_processes_at_one_checkpoint_do_no_harm(tmp_path):
    history, path = made(tmp_path / "history"), tmp_path / "job.part"
    whole = moments_of(history, drop=["b"], precision="accurate")
    options = {"drop": ["b"], "precision": "accurate"}
    with job(history, path, **options) as one, job(history, path, **options) as two:
        for process in (one, two):
            text, errors = process.communicate(timeout=60)
            assert process.returncode == 0, errors
            assert json.loads(text) == whole.text()
    Checkpoint(path).remove()  # each left it, whole, for whoever asked for it
