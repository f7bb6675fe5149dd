"""A target, and history in another order of columns."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def target():
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(20, 3)), columns=["age", "bmi", "dose"])


@pytest.fixture
def old():
    rng = np.random.default_rng(1)
    return pd.DataFrame(rng.normal(size=(50, 2)), columns=["bmi", "age"])


@pytest.fixture
def y():
    return np.random.default_rng(2).normal(size=20)


@pytest.fixture
def y_old():
    return np.random.default_rng(3).normal(size=50)
