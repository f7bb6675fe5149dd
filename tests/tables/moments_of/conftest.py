"""A table of pumps, the same with gaps, and every way to give it."""

import numpy as np
import pandas as pd
import pytest

from tests.tables.moments_of.doors import DOORS, N


@pytest.fixture
def pumps():
    """Return numbers, a whole number, a text, a yes or no, and the response."""
    rng = np.random.default_rng(8)
    hours, load = rng.uniform(0.0, 5.0, N), rng.normal(60.0, 12.0, N)
    return pd.DataFrame(
        {
            "hours": hours,
            "count": rng.integers(0, 9, N),
            "site": rng.choice(["coast", "inland", "Ærø"], N),
            "load": load,
            "on": rng.random(N) < 0.5,
            "wear": 3.0 * hours + 0.1 * load + rng.normal(size=N),
        }
    )


@pytest.fixture
def gaps(pumps):
    """Return the same with values missing in three patterns."""
    pumps = pumps.astype({"count": float})
    pumps.loc[:79, "load"] = np.nan
    pumps.loc[60:119, "site"] = None
    return pumps


@pytest.fixture(params=DOORS)
def door(request, tmp_path):
    return lambda frame: DOORS[request.param](frame, tmp_path)


@pytest.fixture(params=["csv", "folder", "pandas", "lazy"])
def some_door(request, tmp_path):
    return lambda frame: DOORS[request.param](frame, tmp_path)
