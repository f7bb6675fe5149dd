"""The command as a user types it, and two tables to type it about."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from poolwise.cli.app import app

ENTRY = Path(sys.executable).parent / "poolwise"
COMMAND = [str(ENTRY)] if ENTRY.exists() else [sys.executable, "-m", "poolwise.cli"]
# Of the column that history has and the recent table lacks.
QUIET = pytest.mark.filterwarnings("ignore::poolwise.errors.LeftOut")


def run(folder, *arguments, stdin=None, **environment):
    """Type a command in a folder, without a terminal."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=folder,
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


# The command, on a machine that lacks a package.
WITHOUT = """
import sys
from importlib.machinery import PathFinder
find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *path: None if name == {package!r} else find(name, *path)
from poolwise.cli import main
{first}
sys.argv = ["poolwise", *{arguments!r}]
main()
"""
# As the fixture few_trees_on_nan does in this process.
FEW_TREES = """
from functools import partial
from poolwise.evaluation import target_folds
target_folds.HistGradientBoostingRegressor = partial(
    target_folds.HistGradientBoostingRegressor, max_iter=5
)
"""


def run_without(package, folder, *arguments, first=""):
    """Type a command where a package is not installed, after some lines of Python."""
    program = WITHOUT.format(package=package, first=first, arguments=[*map(str, arguments)])
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def quick(folder, monkeypatch, *arguments, stdin=None):
    """Do the same in this process, which has imported everything already."""
    monkeypatch.chdir(folder)
    return CliRunner().invoke(app, list(map(str, arguments)), input=stdin)


# Calls, arguments and names of the library; values to type have capitals: --csv encoding=NAME.
PYTHON = re.compile(
    r"\w\(|\w=(?![A-Z])|\bX\b|poolwise\.[A-Za-z]|Pooled|max_bytes|min_rows|Moments\."
)


def python_in(said):
    """Return what a message has of Python, beside names in quotes."""
    return PYTHON.findall(re.sub(r"'[^']*'", "", said))


def machines(rows, seed, columns=("hours", "load", "site", "vibration", "wear")):
    """Return a table of machines; all of them wear alike."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "hours": rng.uniform(0.0, 5.0, rows).round(3),
            "load": rng.integers(20, 90, rows),
            "site": rng.choice(["coast", "inland"], rows),
            "vibration": rng.normal(3.0, 0.5, rows).round(3),
        }
    )
    wear = frame["hours"] + 0.1 * frame["load"] + 2.0 * frame["vibration"]
    frame["wear"] = (wear + (frame["site"] == "coast") + rng.normal(size=rows)).round(3)
    return frame[list(columns)]


OLD = ("hours", "load", "site", "wear")


def write_tables(folder):
    """Write history without vibration, a recent table with it, and rows to predict."""
    machines(300, 0, OLD).assign(plant=1.0).to_csv(folder / "history.csv", index=False)
    machines(40, 1).to_csv(folder / "recent.csv", index=False)
    machines(6, 2).drop(columns="wear").assign(id="007").to_csv(folder / "new.csv", index=False)


def write_pumps(folder):
    """Write a table, one with gaps, and the first one in several files."""
    rng, n = np.random.default_rng(2), 300
    pumps = pd.DataFrame(
        {
            "hours": rng.uniform(0.0, 5.0, n).round(2),
            "load": rng.normal(60.0, 12.0, n).round(1),
            "site": rng.choice(["coast", "inland"], n),
            "wear": rng.normal(10.0, 2.0, n).round(2),
        }
    )
    pumps.to_csv(folder / "pumps.csv", index=False)
    (folder / "history").mkdir()
    for k in range(10):
        pumps[k::10].to_parquet(folder / f"history/{k}.parquet", index=False)
    pumps.loc[:99, "load"] = np.nan
    pumps.loc[96:99, "site"] = None
    pumps.to_csv(folder / "gaps.csv", index=False)


def names_in(folder):
    """Return the names of what is in a folder."""
    return {file.name for file in folder.iterdir()}
