"""Intervals of coefficients and of new responses, against textbook formulas."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from poolwise import PooledRegressor
from poolwise.errors import BadOption, NotAvailable
from poolwise.linear.linear_fit import coefficient_intervals
from poolwise.linear.student_t import NORMAL, StudentT
from tests.laws.problems import tables_of, with_one
from tests.linear_methods import LINEAR_METHODS


@pytest.mark.parametrize("coverage", [0.5, 0.95, 0.999])
def test_quantiles_are_those_of_the_distributions(coverage):
    upper = 0.5 + 0.5 * coverage
    assert_allclose(NORMAL.quantile(coverage), stats.norm.ppf(upper), rtol=1e-12)
    assert_allclose(StudentT(7.0).quantile(coverage), stats.t.ppf(upper, 7.0), rtol=1e-9)
    # A deviation that holds the uncertainty of the noise is that of Student's distribution itself.
    averaged = stats.t.ppf(upper, 7.0) / stats.t.std(7.0)
    assert_allclose(StudentT(7.0, "averaged").quantile(coverage), averaged, rtol=1e-9)


@pytest.mark.parametrize("coverage", [0.0, 1.0, 95, -0.5, np.nan, "a", None, [0.5, 0.9]])
def test_a_coverage_is_between_zero_and_one(coverage):
    with pytest.raises(BadOption, match="above 0 and below 1"):
        NORMAL.quantile(coverage)


def test_intervals_of_least_squares_are_those_of_the_textbook():
    t = tables_of("one source", seed=1).target
    model = PooledRegressor("target_only").fit(t.X, t.y)
    Z, free = with_one(t.X), len(t.y) - 5
    inverse = np.linalg.inv(Z.T @ Z)
    beta = inverse @ Z.T @ t.y
    noise = np.sum((t.y - Z @ beta) ** 2) / free
    width = stats.t.ppf(0.975, free)
    expected = beta[:, None] + width * np.sqrt(noise * inverse.diagonal())[:, None] * [-1.0, 1.0]
    assert_allclose(coefficient_intervals(model.fit_), expected, rtol=1e-9)
    variance = noise * (1.0 + np.einsum("ij,jk,ik->i", Z, inverse, Z))
    ends = (Z @ beta)[:, None] + width * np.sqrt(variance)[:, None] * [-1.0, 1.0]
    assert_allclose(model.predict_interval(t.X), ends, rtol=1e-9)
    predicted, deviation = model.predict(t.X, return_std=True)
    assert_allclose(predicted, Z @ beta, rtol=1e-9)
    assert_allclose(deviation, np.sqrt(variance), rtol=1e-9)


@pytest.mark.parametrize("name", LINEAR_METHODS)
def test_a_method_has_intervals_or_says_that_it_has_none(name):
    tables = tables_of("one source", seed=1)
    t, old = tables.target, tables.sources["old"]
    model = PooledRegressor(name).fit(t.X, t.y, sources=(old.X, old.y))
    if model.coef_cov_ is None:
        assert coefficient_intervals(model.fit_) is None
        with pytest.raises(NotAvailable, match=f"This fit of {name}"):
            model.predict_interval(t.X)
        with pytest.raises(NotAvailable):
            model.predict(t.X, return_std=True)
        assert len(model.predict(t.X)) == len(t.y)
    else:
        low, high = model.predict_interval(t.X, coverage=0.8).T
        assert (low < model.predict(t.X)).all()
        assert (model.predict(t.X) < high).all()


def test_rows_that_lack_columns_have_wider_intervals():
    tables = tables_of("one source", seed=1)
    t, old = tables.target, tables.sources["old"]
    model = PooledRegressor().fit(t.X, t.y, sources=(old.X, old.y))
    holed = t.X.copy()
    holed[:12, 2:] = np.nan
    whole, mixed = (np.ptp(model.predict_interval(X), axis=1) for X in (t.X, holed))
    assert (mixed[:12] > whole[:12]).all()
    assert_allclose(mixed[12:], whole[12:], rtol=1e-12)
    _, deviation = model.predict(holed, return_std=True)
    assert (deviation[:12] > deviation[12:].max()).all()
