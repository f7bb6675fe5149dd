"""What it is for two models to be the same."""

from numpy.testing import assert_allclose

from tests.moments.stored_moments import bits


def assert_same_model(a, b, *, exactly=True):
    if exactly:
        assert bits(a.coef_) == bits(b.coef_)
        assert a.intercept_ == b.intercept_
        assert (a.coef_cov_ is None) == (b.coef_cov_ is None)
        assert a.coef_cov_ is None or bits(a.coef_cov_) == bits(b.coef_cov_)
    # Sums in doubles are off by about rows times 2**-53; the columns here are well apart.
    assert_allclose(a.coef_, b.coef_, rtol=1e-9)
    assert a.optional_columns_ == b.optional_columns_
    assert a.conflict_.keys() == b.conflict_.keys()
