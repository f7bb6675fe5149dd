"""Files are whole or not there, and what a kill left goes when its file is next written."""

import subprocess
import sys
import time

import pytest

from poolwise.experiments import whole_files
from poolwise.experiments.whole_files import replace_file

# A writer that stops in the middle until it is told to go on.
WRITER = """
import os, sys
from pathlib import Path
from poolwise.experiments.whole_files import replace_file

def wait(_):
    print("half", flush=True)
    sys.stdin.readline()

os.fsync = wait
replace_file(Path(sys.argv[1]), "theirs")
"""


def writer(path):
    command = [sys.executable, "-c", WRITER, str(path)]
    return subprocess.Popen(command, stdin=-1, stdout=-1, text=True)


def names_in(folder):
    return sorted(file.name for file in folder.iterdir())


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path):
    for content in ("text", b"bytes"):
        replace_file(tmp_path / "a.csv", content)
    assert (tmp_path / "a.csv").read_bytes() == b"bytes"
    assert names_in(tmp_path) == ["a.csv"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there only age tells")
def test_what_a_killed_writer_left_is_removed_and_the_old_file_is_whole_until_then(tmp_path):
    path = tmp_path / "a.csv"
    replace_file(path, "old")
    with writer(path) as killed:
        assert killed.stdout.readline() == "half\n"
        killed.kill()
    assert len(names_in(tmp_path)) == 2
    assert path.read_text() == "old"
    replace_file(path, "new")
    assert path.read_text() == "new"
    assert names_in(tmp_path) == ["a.csv"]


@pytest.mark.slow
def test_a_writer_at_work_is_left_alone(tmp_path):
    path = tmp_path / "a.csv"
    with writer(path) as other:
        assert other.stdout.readline() == "half\n"
        replace_file(path, "ours")
        assert path.read_text() == "ours"
        other.communicate("go on\n", timeout=60)
    assert other.returncode == 0
    assert path.read_text() == "theirs"
    assert names_in(tmp_path) == ["a.csv"]


def test_of_writers_on_other_machines_only_age_tells(tmp_path, monkeypatch):
    stray = tmp_path / "a.csv.0badcafe.1.partial"
    stray.write_text("half")
    replace_file(tmp_path / "a.csv", "whole")
    assert stray.exists()
    late = time.time() + 2 * whole_files.DAY
    monkeypatch.setattr(whole_files.time, "time", lambda: late)
    replace_file(tmp_path / "a.csv", "whole")
    assert names_in(tmp_path) == ["a.csv"]
