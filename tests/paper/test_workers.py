"""Workers end together: with their parent, at the first error, or when one of them is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info

from paper.errors import PaperError
from paper.results import each

ROOT = Path(__file__).parents[2]
WORKERS = """
import time
from paper.results import each

if __name__ == "__main__":
    list(each(time.sleep, [(60,), (60,)], 2))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc here")
def test_workers_do_not_outlive_a_killed_parent():
    command = [sys.executable, "-c", WORKERS]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL) as process:
        end = time.monotonic() + 60
        while len(workers := workers_of(process.pid)) < 2 and time.monotonic() < end:
            time.sleep(0.1)
        assert len(workers) == 2
        os.kill(process.pid, signal.SIGKILL)
        end = time.monotonic() + 20
        while any(map(is_running, workers)) and time.monotonic() < end:
            time.sleep(0.1)
    assert not any(map(is_running, workers))


def workers_of(pid):
    """Return the worker processes that a process has started."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == pid and b"popen_loky" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def fail_or_sleep(seconds):
    if not seconds:
        raise ValueError("seconds=0")
    time.sleep(seconds)


def die_or_sleep(seconds):
    if not seconds:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(seconds)


def threads(name):
    import scipy.linalg  # noqa: F401  with a BLAS of its own, beside NumPy's

    return [x["num_threads"] for x in threadpool_info() if x["user_api"] == "blas"]


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_linear_algebra_has_one_thread_in_each_process(monkeypatch, jobs):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    found = dict(each(threads, [("a",), ("b",)], jobs))
    assert sorted(found) == [0, 1]
    assert {count for counts in found.values() for count in counts} == {1}


@pytest.mark.slow
def test_an_error_in_one_process_ends_the_others():
    start = time.monotonic()
    with pytest.raises(ValueError, match="seconds=0"):
        list(each(fail_or_sleep, [(600,), (0,), (600,)], 2))
    assert time.monotonic() - start < 60  # starting two interpreters takes a few


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")
def test_a_process_that_was_killed_is_told_with_what_to_do():
    start = time.monotonic()
    with pytest.raises(PaperError, match=r"One of 2 worker processes.*memory.*kept.*fewer --jobs"):
        list(each(die_or_sleep, [(600,), (0,)], 2))
    assert time.monotonic() - start < 60  # and not when the other process returns


@pytest.mark.slow
def test_processes_that_end_with_their_work_are_not_taken_for_dead():
    assert sorted(each(die_or_sleep, [(0.01,)] * 8, 2)) == [(k, None) for k in range(8)]
