"""Clusters, the ways to compute a frame, a target and history with gaps."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.tables.dask.cluster import cluster_in

FOLDER = Path(__file__).parent


@pytest.hookimpl(trylast=True)  # when the order is random already
def pytest_collection_modifyitems(items):
    """Keep the tests of this folder together: they share a cluster, which ends with them."""
    ours = [item for item in items if FOLDER in item.path.parents]
    if ours:
        first, own = items.index(ours[0]), set(ours)
        items[first:] = ours + [item for item in items[first:] if item not in own]


@pytest.fixture(scope="package")
def client(tmp_path_factory):
    """Return a client of two processes, which is not the one that Dask computes with by itself."""
    with cluster_in(tmp_path_factory.mktemp("dask"), n_workers=2, processes=True) as client:
        yield client


@pytest.fixture(params=["threads", "sync", "cluster"])
def scheduler(request):
    """Compute Dask DataFrames in one of the ways there are."""
    if request.param == "cluster":
        with request.getfixturevalue("client").as_current():
            yield request.param
    else:
        import dask

        with dask.config.set(scheduler=request.param):
            yield request.param


@pytest.fixture
def rows():
    """Return history with gaps: numbers, an integer, a text and the response."""
    rng, n = np.random.default_rng(8), 90
    a = rng.normal(size=n) * 1e3
    frame = pd.DataFrame(
        {"a": a, "count": rng.integers(0, 9, n), "y": a / 1e3 + rng.normal(size=n)}
    )
    frame["site"] = rng.choice(["coast", "inland", "Ærø"], n)
    frame.loc[::7, "a"] = np.nan
    frame.loc[::11, "site"] = None
    return frame


@pytest.fixture
def target():
    rng, n = np.random.default_rng(9), 30
    numbers = {"a": rng.normal(size=n) * 1e3, "count": rng.integers(0, 9, n)}
    return pd.DataFrame(numbers).assign(
        site=rng.choice(["coast", "inland"], n), new=rng.normal(size=n)
    )


@pytest.fixture
def brittle(tmp_path):
    """Return a client of a cluster in this process, which may be broken."""
    with cluster_in(tmp_path / "dask", n_workers=1, processes=False) as client:
        yield client
