"""Folders: with two tables, with a model, with one table in many forms."""

import shutil
import warnings
from functools import partial

import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

from poolwise import PooledRegressor
from poolwise.evaluation import target_folds
from tests.cli.entry import write_pumps, write_tables


@pytest.fixture(autouse=True)
def few_trees_on_nan(monkeypatch):
    """Grow few trees in the baseline of comparisons: no test here depends on its error."""
    few = partial(HistGradientBoostingRegressor, max_iter=5)
    monkeypatch.setattr(target_folds, "HistGradientBoostingRegressor", few)


@pytest.fixture
def folder(tmp_path):
    write_tables(tmp_path)
    return tmp_path


@pytest.fixture
def pump_files(tmp_path):
    write_pumps(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def _fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fitted")
    write_tables(folder)
    recent = pd.read_csv(folder / "recent.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the column that the target lacks
        model = PooledRegressor().fit(
            recent.drop(columns="wear"), recent["wear"], sources={"history": folder / "history.csv"}
        )
    model.save(folder / "model.json")
    return folder


@pytest.fixture
def fitted(_fitted, tmp_path):
    """Return a folder with a model, made by the library, and the tables behind it."""
    return shutil.copytree(_fitted, tmp_path / "fitted")
