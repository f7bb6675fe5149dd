"""Runs are kept part by part, survive any interrupt, and do not depend on how they were made."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from poolwise.errors import BadOption
from poolwise.experiments import tables
from poolwise.experiments.datasets import UCI, available
from poolwise.experiments.parts import parts_of
from poolwise.experiments.runs import compute, read_runs
from poolwise.experiments.specs import read_table_spec

SPEC = read_table_spec("small5")
DATASETS = ["concrete", "energy"]


def made_up(name, data=None):
    """Rows of the right shape."""
    rng = np.random.default_rng(sum(name.encode()))
    return rng.normal(size=(UCI[name].rows, UCI[name].columns))


@pytest.fixture
def made_up_data(monkeypatch):
    tables._rows.cache_clear()
    monkeypatch.setattr(tables.datasets, "load", made_up)
    yield
    tables._rows.cache_clear()


def parts(**options):
    return parts_of(SPEC, "published", **{"datasets": DATASETS, "runs": 4, **options})


def run(chosen, folder, **options):
    return list(compute(chosen, folder, **options))


def test_runs_hold_one_line_per_fit(made_up_data, tmp_path):
    run(parts(), tmp_path)
    lines = (tmp_path / "runs.csv").read_text().splitlines()
    assert lines[0] == "table,dataset,run,method,rmse"
    assert len(lines) == 1 + 2 * 4 * 4
    assert lines[1].startswith("small5,concrete,0,ols,")
    scored = {s.method: s.rmse for s in tables.scores(SPEC, "energy", ["dp"], "published", runs=1)}
    assert read_runs(tmp_path)["energy"]["dp"][0] == scored["dp"]  # to the last bit


def test_a_second_start_computes_nothing(made_up_data, tmp_path, monkeypatch):
    run(parts(), tmp_path)
    monkeypatch.setattr(tables.datasets, "load", None)
    tables._rows.cache_clear()
    assert run(parts(), tmp_path) == parts()


@pytest.mark.parametrize(
    "change", [{"runs": 3}, {"methods": ["dp", "offset"]}, {"protocol": "corrected"}, {"code": "x"}]
)
def test_parts_made_by_other_means_are_made_again(made_up_data, tmp_path, change):
    run(parts(methods=["dp"]), tmp_path)
    kept = (tmp_path / "parts" / "energy-dp-4.csv").read_text()
    if "code" in change:
        other = [part.__class__(**{**vars(part), "code": "x"}) for part in parts(methods=["dp"])]
    elif "protocol" in change:
        other = parts_of(SPEC, "corrected", methods=["dp"], datasets=DATASETS, runs=4)
    else:
        other = parts(**{"methods": ["dp"], **change})
    run(other, tmp_path)
    is_kept = (tmp_path / "parts" / "energy-dp-4.csv").read_text() == kept
    assert is_kept == ("methods" in change or "runs" in change)
    assert set(read_runs(tmp_path)["energy"]) == {part.method for part in other}


DAMAGES = {
    "empty": lambda whole: b"",
    "another head": lambda whole: b"# small5",
    "half": lambda whole: whole[:120],
    "no text": lambda whole: b"\xff\xfe" + whole,
    "no number": lambda whole: whole.replace(b"\n0,", b"\nzero,"),
    "a run twice": lambda whole: whole.replace(b"\n0,", b"\n1,"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_part_is_made_again(made_up_data, tmp_path, damage):
    run(parts(), tmp_path)
    whole = (tmp_path / "runs.csv").read_bytes()
    part = tmp_path / "parts" / "energy-dp-4.csv"
    part.write_bytes(damage(part.read_bytes()))
    run(parts(), tmp_path)
    assert (tmp_path / "runs.csv").read_bytes() == whole


def test_a_quick_look_leaves_the_long_run_alone(made_up_data, tmp_path):
    run(parts(runs=None, methods=["dp"]), tmp_path)
    long = (tmp_path / "parts" / "energy-dp.csv").read_bytes()
    run(parts(runs=2, methods=["dp"]), tmp_path)
    assert (tmp_path / "parts" / "energy-dp.csv").read_bytes() == long


@pytest.mark.parametrize("methods", [[], [""]])
def test_no_method_is_no_table(methods):
    with pytest.raises(BadOption, match="at least one name"):
        parts(methods=methods)


SLOW = """
import sys, time
sys.path.insert(0, {root!r})
from pathlib import Path
from tests.experiments.test_runs import made_up, parts, tables
from poolwise.experiments import parts as making, whole_files
from poolwise.experiments.runs import compute

def slow(path, text):  # a write that can be caught in the middle
    half = path.with_name(path.name + ".1.partial")
    half.write_text(text[: len(text) // 2])
    print("writing", path.name, flush=True)
    time.sleep(0.3)
    half.unlink()
    whole_files.replace_file(path, text)

tables.datasets.load = made_up
making.replace_file = slow
for part in compute(parts(), Path({folder!r})):
    print("done", flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("signal_name", ["SIGKILL", "SIGINT"])
def test_after_a_kill_the_rest_is_computed_and_the_result_is_the_same(
    made_up_data, tmp_path, signal_name
):
    if not hasattr(signal, signal_name):
        pytest.skip(f"there is no {signal_name} here")
    run(parts(), tmp_path / "whole")
    folder = tmp_path / "killed"
    root = str(Path(__file__).parents[2])
    code = SLOW.format(root=root, folder=str(folder))
    with subprocess.Popen([sys.executable, "-c", code], stdout=-1, stderr=-1, text=True) as process:
        for _ in range(7):  # in the middle of writing the fourth part
            line = process.stdout.readline()
        process.send_signal(getattr(signal, signal_name))
        process.communicate(timeout=20)
    assert line.startswith("writing"), line
    assert process.returncode != 0
    assert not (folder / "runs.csv").exists()
    kept = [part for part in parts() if part.read(folder / "parts") is not None]
    assert len(kept) == 3
    assert {file.name for file in (folder / "parts").glob("*.csv")} == {
        part.file(folder).name for part in kept
    }
    assert run(parts(), folder)[:3] == kept
    assert (folder / "runs.csv").read_bytes() == (tmp_path / "whole" / "runs.csv").read_bytes()
    assert not list(folder.rglob("*.partial"))


@pytest.mark.slow
@pytest.mark.skipif(
    not all(map(available, DATASETS)),
    reason="the datasets are not here: POOLWISE_DATA should name their folder",
)
def test_two_processes_give_the_same_bytes_as_one(tmp_path):
    run(parts(), tmp_path / "one", jobs=1)
    assert sorted(map(str, run(parts(), tmp_path / "two", jobs=2))) == sorted(map(str, parts()))
    assert (tmp_path / "one/runs.csv").read_bytes() == (tmp_path / "two/runs.csv").read_bytes()


WORKERS = """
import multiprocessing, threading, time
from poolwise.experiments.workers import each

def tell():
    while len(multiprocessing.active_children()) < 2:
        time.sleep(0.05)
    print(*[child.pid for child in multiprocessing.active_children()], flush=True)

threading.Thread(target=tell).start()
list(each(time.sleep, [(60,), (60,)], 2))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc here")
def test_workers_do_not_outlive_a_killed_parent():
    with subprocess.Popen([sys.executable, "-c", WORKERS], stdout=-1, text=True) as process:
        workers = [int(pid) for pid in process.stdout.readline().split()]
        assert len(workers) == 2
        assert all(map(is_running, workers))
        os.kill(process.pid, signal.SIGKILL)
        end = time.monotonic() + 20
        while any(map(is_running, workers)) and time.monotonic() < end:
            time.sleep(0.1)
    assert not any(map(is_running, workers))


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_no_processes_are_too_few(made_up_data, tmp_path):
    with pytest.raises(BadOption, match="jobs=0"):
        run(parts(), tmp_path, jobs=0)
