"""Some of the adversarial arrays, the same ones each time; ``make fuzz`` tries others."""

import pytest
from hypothesis import HealthCheck, given, settings

from tests.fuzz import cases, check


@pytest.mark.slow
@settings(
    max_examples=500, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(cases())
def test_fit_raises_our_errors_and_returns_finite_numbers_alone(case):
    check(case)
