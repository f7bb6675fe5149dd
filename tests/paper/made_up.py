"""Made-up data of the right shape, and processes that stop in the middle of computing with it."""

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from paper import protocol
from paper.datasets import UCI

ROOT = Path(__file__).parents[2]


def made_up(name, data=None):
    """Rows of the right shape."""
    rng = np.random.default_rng(sum(name.encode()))
    return rng.normal(size=(UCI[name].rows, UCI[name].columns))


@pytest.fixture
def made_up_data(monkeypatch):
    protocol._rows.cache_clear()
    monkeypatch.setattr(protocol.datasets, "load", made_up)
    monkeypatch.setattr(protocol.datasets, "fetch", lambda name, data: None)
    yield
    protocol._rows.cache_clear()


# A module, which workers import too: they compute with the same data, and stop alike.
MODULE = """
import os, time
from paper import protocol, results
from tests.paper.made_up import made_up

run_errors, left = results.run_errors, {stop_after!r}

def stopping(*given, **more):
    global left
    if left == 0:
        os.write(1, b"stopped\\n")  # at once: two processes may say so
        time.sleep(600)
    left -= 1
    return run_errors(*given, **more)

results.run_errors, protocol.datasets.load = stopping, made_up
protocol.datasets.fetch = lambda name, data: None
compute = results.Cell.compute

def cell_errors(*given):
    return compute(*given)

results.Cell.compute = cell_errors  # pickled by name: a worker that looks it up loads this module
"""


@contextmanager
def stopping_process(folder, call, stop_after=-1):
    """Start a process that makes a call, and that stops for good after this many cells.

    With several processes each of them does.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "stopping_module.py").write_text(MODULE.format(stop_after=stop_after))
    program = folder / "program.py"
    program.write_text(f"import stopping_module\n{call}\n")
    command = [sys.executable, str(program)]
    path = os.pathsep.join(map(str, (folder, ROOT, ROOT / "src")))  # for workers too
    env = {**os.environ, "PYTHONPATH": path}
    with subprocess.Popen(command, stdout=-1, stderr=-1, text=True, env=env) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_until(holds, seconds=60.0):
    """Wait until a condition holds: a parent process writes what its workers have finished."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)
