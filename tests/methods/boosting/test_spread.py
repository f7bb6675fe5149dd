"""Spread: intervals by errors on rows that were left out."""

import math

import numpy as np
import pytest
import scipy.stats
from numpy.testing import assert_allclose, assert_array_equal

from poolwise.errors import BadOption
from poolwise.methods.boosting.stack import MOST, Spread


def spread_of(errors, weights=None):
    return Spread.of(errors, np.ones(len(errors)) if weights is None else weights)


@pytest.mark.parametrize("rows", [20, 57, 1000])
@pytest.mark.parametrize("coverage", [0.1, 0.5, 0.8, 0.95])
def test_the_width_is_the_error_of_the_conformal_rank(rows, coverage):
    errors = np.random.default_rng(rows).standard_t(3, size=rows)
    rank = math.ceil(coverage * (rows + 1))
    if rank > rows:
        pytest.skip("too few rows for this rank")
    assert spread_of(errors).width(coverage) == sorted(abs(errors))[rank - 1]


@pytest.mark.parametrize("rows", [1, 2, 5, 18])
def test_too_few_rows_for_a_rank_give_the_interval_of_student(rows):
    errors = np.random.default_rng(rows).normal(size=rows)
    expected = (
        scipy.stats.t.ppf(0.975, max(rows - 1, 1))
        * np.sqrt(np.mean(errors**2))
        * np.sqrt(1.0 + 1.0 / rows)
    )
    expected = max(expected, abs(errors).max())  # never narrower than for a smaller coverage
    assert_allclose(spread_of(errors).width(0.95), expected, rtol=1e-9)


def test_nineteen_rows_are_enough_for_a_rank():
    errors = np.arange(1.0, 20.0)
    assert spread_of(errors).width(0.95) == 19.0


@pytest.mark.parametrize("rows", [8, 30, 200])
def test_an_interval_holds_the_next_response_as_often_as_it_says(rows):
    rng, held = np.random.default_rng(0), []
    for _ in range(2000):
        errors = rng.laplace(size=rows + 1)
        held.append(abs(errors[-1]) <= spread_of(errors[:-1]).width(0.9))
    # At least that, and not much more; four standard errors of 2,000 draws are 0.027.
    assert 0.9 - 0.027 < np.mean(held) < 0.9 + 1.0 / (rows + 1) + 0.027


@pytest.mark.parametrize("rows", [9, 40])
def test_widths_are_in_the_unit_of_the_errors(rows):
    errors = np.random.default_rng(0).normal(size=rows)
    spread, moved = spread_of(errors), spread_of(np.ldexp(errors, -190))
    assert moved.deviation == np.ldexp(spread.deviation, -190)
    for coverage in (0.5, 0.95, 0.999):
        assert moved.width(coverage) == np.ldexp(spread.width(coverage), -190)


def test_of_very_many_errors_quantiles_are_kept():
    errors = np.random.default_rng(0).normal(size=50_000)
    spread = spread_of(errors)
    assert len(spread.sizes) == MOST
    for coverage in (0.5, 0.9, 0.99):
        exact = np.quantile(abs(errors), coverage)
        assert_allclose(spread.width(coverage), exact, rtol=0.02)
    assert spread.sizes[-1] == abs(errors).max()


def test_a_width_grows_with_its_coverage():
    errors = np.random.default_rng(0).normal(size=40)
    widths = [spread_of(errors).width(c) for c in np.linspace(0.01, 0.999, 200)]
    assert (np.diff(widths) >= 0.0).all()


def test_the_order_and_the_sign_of_errors_do_not_matter():
    errors = np.random.default_rng(0).normal(size=40)
    a, b = spread_of(errors), spread_of(-errors[::-1])
    assert_array_equal(a.sizes, b.sizes)
    assert_allclose(a.deviation, b.deviation, rtol=1e-14)


def test_equal_weights_of_any_size_change_nothing():
    errors = np.random.default_rng(0).normal(size=40)
    found = spread_of(errors, np.full(40, 0.25))
    assert found.width(0.8) == spread_of(errors).width(0.8)
    assert found.rows == 40.0


def test_a_row_with_most_of_the_weight_decides():
    errors, weights = np.array([5.0, *np.full(60, 0.1)]), np.array([100.0, *np.full(60, 0.01)])
    found = spread_of(errors, weights)
    assert found.rows < 1.1  # as good as one row
    assert found.width(0.5) > 4.0


def test_rows_without_weight_do_not_count():
    rng = np.random.default_rng(0)
    errors = rng.normal(size=50)
    weights = np.r_[np.ones(40), np.zeros(10)]
    found = spread_of(np.r_[errors[:40], np.full(10, 1e6)], weights)
    assert_allclose(found.rows, 40.0)
    assert_allclose(found.deviation, np.sqrt(np.mean(errors[:40] ** 2)))
    assert found.width(0.9) <= abs(errors[:40]).max()


@pytest.mark.parametrize("coverage", [0.0, 1.0, -1.0, 95, "0.9", np.nan, None])
def test_a_coverage_that_is_no_probability_is_refused(coverage):
    with pytest.raises(BadOption, match="above 0 and below 1"):
        spread_of(np.ones(30)).width(coverage)
