import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise.methods import MeanFill
from tests.laws.problems import KINDS, least_squares, tables_of


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_least_squares_with_equal_weights_on_mean_filled_rows(kind, intercept):
    tables = tables_of(kind, seed=8)
    t, sources = tables.target, tables.sources.values()
    X = np.concatenate([t.X, *(tables.filled(s) for s in sources)])
    y = np.concatenate([t.y, *(s.y for s in sources)])
    w = np.concatenate([t.w, *(s.w for s in sources)])
    expected = least_squares(X, y, w, intercept=intercept)
    fit = MeanFill().solve(tables.problem(intercept=intercept))
    assert_allclose(fit.coef, expected[1:], rtol=0, atol=1e-10 * np.abs(expected).max())
    assert_allclose(fit.intercept, expected[0], rtol=0, atol=1e-10 * np.abs(expected).max())
    assert fit.weights == dict.fromkeys(tables.sources, 1.0)


def test_it_says_how_uncertain_it_is():
    fit = MeanFill().solve(tables_of("one source", seed=8).problem())
    assert (np.linalg.eigvalsh(fit.covariance) > 0.0).all()
