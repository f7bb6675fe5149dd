"""Workers end together: with their parent, at the first error, or when one of them is killed."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info

from poolwise.errors import BadOption, WorkerDied
from poolwise.experiments.workers import each

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


def fail_or_sleep(seconds):
    if not seconds:
        raise BadOption("seconds", seconds, "more")
    time.sleep(seconds)


def die_or_sleep(seconds):
    if not seconds:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(seconds)


def write_threads(path):
    import scipy.linalg  # noqa: F401  with a BLAS of its own, beside NumPy's

    blas = [x["num_threads"] for x in threadpool_info() if x["user_api"] == "blas"]
    Path(path).write_text(f"{sorted(blas)}")


@pytest.mark.slow
def test_linear_algebra_has_one_thread_in_each_process(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    files = [(str(tmp_path / name),) for name in "ab"]
    assert sorted(each(write_threads, files, 2)) == [0, 1]
    assert {set(Path(f).read_text()[1:-1].split(", ")) == {"1"} for (f,) in files} == {True}


@pytest.mark.slow
def test_an_error_in_one_process_ends_the_others():
    start = time.monotonic()
    before = set(threading.enumerate())
    with pytest.raises(BadOption, match="seconds=0"):
        list(each(fail_or_sleep, [(600,), (0,), (600,)], 2))
    assert set(threading.enumerate()) <= before  # the pool's own is gone, not on its way
    assert time.monotonic() - start < 60  # starting two interpreters takes a few


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")
def test_a_process_that_was_killed_is_told_with_what_to_do():
    start = time.monotonic()
    with pytest.raises(WorkerDied, match=r"One of 2 worker processes.*memory.*kept.*fewer --jobs"):
        list(each(die_or_sleep, [(600,), (0,)], 2))
    assert time.monotonic() - start < 60  # and not when the other process returns


@pytest.mark.slow
def test_processes_that_end_with_their_work_are_not_taken_for_dead():
    assert sorted(each(die_or_sleep, [(0.01,)] * 8, 2)) == list(range(8))
