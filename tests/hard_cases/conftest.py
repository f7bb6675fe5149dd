"""What every hard case is tried with: each precision, each method, a target and its history."""

import pytest

from tests.hard_cases.fitting import PRECISIONS, draw
from tests.linear_methods import LINEAR_METHODS


@pytest.fixture(params=PRECISIONS)
def precision(request):
    return request.param


@pytest.fixture(params=LINEAR_METHODS)
def method(request):
    return request.param


@pytest.fixture
def rows():
    """A target of 20 rows and a history of 40; numbers with few digits, so that sums are exact."""
    return draw(60)
