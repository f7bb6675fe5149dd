"""Made-up data of the right shape, and processes that stop in the middle of computing with it."""

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from poolwise.experiments import tables
from poolwise.experiments.datasets import UCI

ROOT = Path(__file__).parents[2]


def made_up(name, data=None):
    """Rows of the right shape."""
    rng = np.random.default_rng(sum(name.encode()))
    return rng.normal(size=(UCI[name].rows, UCI[name].columns))


@pytest.fixture
def made_up_data(monkeypatch):
    tables._rows.cache_clear()
    monkeypatch.setattr(tables.datasets, "load", made_up)
    monkeypatch.setattr(tables.datasets, "fetch", lambda name, data: None)
    yield
    tables._rows.cache_clear()


# Spawned workers run the top of this too: they compute with the same data, and stop alike.
PROGRAM = """
import os, sys, time
sys.path.insert(0, {root!r})
from poolwise.experiments import tables
from tests.experiments.made_up import made_up

predict, left = tables._predictions, {stop_after!r}

def slow(*given):
    global left
    if left == 0:
        os.write(1, b"stopped\\n")  # at once: two processes may say so
        time.sleep(600)
    left -= 1
    return predict(*given)

tables.datasets.load, tables._predictions = made_up, slow
tables.datasets.fetch = lambda name, data: None
if __name__ == "__main__":
    print("ready", flush=True)
    {call}
"""


@contextmanager
def stopping_process(folder, call, stop_after=-1):
    """Start a process that makes a call, and that stops for good after so many runs.

    With several processes each of them does. They are made from a file of the folder, since those
    that are spawned read it again.
    """
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "program.py"
    program.write_text(PROGRAM.format(root=str(ROOT), stop_after=stop_after, call=call))
    command = [sys.executable, str(program)]
    with subprocess.Popen(command, stdout=-1, stderr=-1, text=True) as process:
        try:
            yield process
        finally:
            process.kill()
