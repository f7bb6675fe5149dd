"""Stored coefficients of every method: nothing moves by accident."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.golden.regenerate import PROBLEMS, STORE, compute
from tests.linear_methods import LINEAR_METHODS

HOW = "If it was meant to move: python -m tests.golden.regenerate, and a line under Numbers."


@pytest.fixture(scope="module")
def computed():
    return compute()


@pytest.fixture(scope="module")
def stored():
    return json.loads(STORE.read_text())


def test_every_method_is_stored(stored):
    for problem in PROBLEMS:
        assert list(stored[problem]) == list(LINEAR_METHODS), HOW


@pytest.mark.parametrize("method", LINEAR_METHODS)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_coefficients_are_those_stored(problem, method, computed, stored):
    now, then = computed[problem][method], stored[problem][method]
    assert list(now) == list(then), HOW
    now, then = np.array([*now.values()]), np.array([*then.values()])
    # Another machine sums in another order, which moves the worst of them by 2e-11.
    assert_allclose(now, then, rtol=1e-9, atol=1e-9 * np.abs(then).max(), err_msg=HOW)
