"""Methods with what they need, laws they break by definition, and what the same fit is."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.laws.problems import with_one
from tests.linear_methods import LINEAR_METHODS

# Two ways to sum the same numbers differ by their rounding, 1e-16 a step. The problems here
# multiply that by at most 1e3, and the kernel method, whose equations have a condition number
# near 1e7 (it weighs a mean by 1e5), by 1e7; a law broken by an idea shows in the first digits.
CLOSE = 1e-8

NEEDS_ROWS = {"kernel_transfer"}
USES_ROWS = {"target_ridge"}  # which choose its penalty, where they are known
NEEDS_MANY_ROWS = {"monotone_likelihood"}
DEPENDS_ON_UNITS = {
    "feature_transfer": "its penalty is a sum of squares of coefficients, which have units",
    "kernel_transfer": "its kernel has one width for all columns, in the units of the data",
}
SHRINKS = {
    "bayes_pooling": "it shrinks: its priors have a say, with or without sources",
    "target_ridge": "it shrinks",
}


def methods_but(exceptions, kinds=("one source",)):
    """Return every method with kinds of tables; those that break the law by definition, once."""
    cases = []
    for name, method in LINEAR_METHODS.items():
        if name in exceptions:
            mark = pytest.mark.xfail(reason=exceptions[name], raises=AssertionError, strict=True)
            cases.append(pytest.param(method(), "one source", id=name, marks=mark))
        else:
            cases += [pytest.param(method(), kind, id=f"{name}-{kind}") for kind in kinds]
    return cases


def assert_same_fit(a, b, table, *, exactly=False):
    """Check that two fits agree in all they say."""
    rtol = 0.0 if exactly else CLOSE
    assert_same_line(a, b, table, rtol=rtol)
    assert a.weights.keys() == b.weights.keys()
    for name, weight in b.weights.items():
        assert_allclose(a.weights[name], weight, rtol=rtol)
    assert (a.noise is None) == (b.noise is None)
    if b.noise is not None:
        assert_allclose(a.noise, b.noise, rtol=rtol)
    assert (a.covariance is None) == (b.covariance is None)
    if b.covariance is not None:
        u = with_one(table.X)
        ours = variance_at(a, u)
        assert_allclose(ours, variance_at(b, u), rtol=rtol)
    told = str if exactly else type  # names may come in another order
    assert [told(c) for c in a.cautions] == [told(c) for c in b.cautions]
    assert a.dropped == b.dropped


def variance_at(fit, u):
    """Return the variance of predictions, which does not depend on where the level is taken."""
    rows = np.column_stack((u[:, :1], u[:, 1:] - fit.centre))
    return np.einsum("ij,jk,ik->i", rows, fit.covariance, rows)


def assert_same_line(a, b, table, *, rtol=CLOSE):
    assert a.names == b.names
    if rtol == 0.0:
        assert_array_equal(a.coef, b.coef)
        assert_array_equal(a.predict(table.X), b.predict(table.X))
        return
    assert_allclose(a.coef, b.coef, rtol=0, atol=rtol * size(b.coef))
    assert_allclose(a.predict(table.X), b.predict(table.X), rtol=0, atol=rtol * size(table.y))


def size(values):
    return max(np.abs(values).max(), 1e-300)
