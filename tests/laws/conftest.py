"""Every method, and tables of every kind."""

import pytest

from tests.laws.problems import KINDS, tables_of
from tests.linear_methods import LINEAR_METHODS


@pytest.fixture(params=LINEAR_METHODS.values(), ids=LINEAR_METHODS)
def method(request):
    return request.param()


@pytest.fixture(params=KINDS)
def tables(request):
    return tables_of(request.param, seed=2)
