"""Every method, and tables of every kind."""

import pytest

from poolwise import METHODS
from tests.laws.problems import KINDS, tables_of


@pytest.fixture(params=METHODS.values(), ids=METHODS)
def method(request):
    return request.param()


@pytest.fixture(params=KINDS)
def tables(request):
    return tables_of(request.param, seed=2)
