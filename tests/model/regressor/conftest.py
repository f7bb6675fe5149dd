"""A target with two new columns, and its history."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def frames():
    """A target of 60 rows with two new columns, one of them text; a history of 300 rows."""
    rng = np.random.default_rng(3)
    n = 360
    X = pd.DataFrame(
        {
            "age": rng.normal(50, 10, n),
            "region": rng.choice(["north", "south", "west"], n),
            "smokes": rng.random(n) < 0.3,
            "größe": rng.normal(170, 9, n),
            "scanner": rng.choice(["A", "B"], n),
        }
    )
    y = (
        0.2 * X["age"]
        + X["region"].map({"north": 0.0, "south": 1.0, "west": -1.0})
        + 2.0 * X["smokes"]
        + 0.1 * X["größe"]
        + 1.5 * (X["scanner"] == "B")
        + rng.normal(size=n)
    ).rename("score")
    old = ["region", "smokes", "age"]  # another order
    return X[300:], y[300:], X[:300][old], y[:300]
