"""A target, its history, and the formats that files may have."""

import numpy as np
import pandas as pd
import pytest

from tests.tables.files.writing import WRITERS


@pytest.fixture(params=WRITERS)
def suffix(request):
    return request.param


@pytest.fixture(params=["csv", "parquet", "feather"])
def form(request):
    return request.param


@pytest.fixture
def rows():
    """Return history: numbers, an integer, a text, a yes or no, and the response."""
    rng, n = np.random.default_rng(3), 60
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=n) * 1e3,
            "count": rng.integers(0, 9, n),
            "site": rng.choice(["coast", "inland", "Ærø"], n),
            "on": rng.random(n) < 0.5,
        }
    )
    return frame.assign(y=frame["a"] / 1e3 + frame["count"] + rng.normal(size=n))


@pytest.fixture
def target():
    rng, n = np.random.default_rng(4), 30
    return pd.DataFrame(
        {
            "a": rng.normal(size=n) * 1e3,
            "count": rng.integers(0, 9, n),
            "site": rng.choice(["coast", "inland"], n),
            "on": rng.random(n) < 0.5,
            "new": rng.normal(size=n),
        }
    )
