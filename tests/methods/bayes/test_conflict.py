"""What a source says at each level of conflict, against dense covariances."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise.methods.bayes.priors import AGREES, CONFLICTS
from poolwise.methods.bayes.pseudo_rows import Information, information, levels
from tests.laws.problems import tables_of
from tests.methods.bayes.dense import conflict_variance, model_of


@pytest.mark.parametrize("intercept", [True, False])
def test_the_information_is_that_of_the_dense_covariance(intercept):
    known = levels(intercept=intercept)
    for source in model_of(tables_of("nested sources", seed=3), intercept=intercept).sources:
        found = information(source, known, intercept=intercept)
        for level in range(len(known)):
            V = conflict_variance(source, level, int(intercept))
            inverse = np.linalg.inv(V)
            # Inverses of matrices with a condition number below 1e5.
            J, k = source.J, source.k
            size = np.abs(J.T @ inverse @ J).max()
            assert_allclose(found.precision[level], J.T @ inverse @ J, rtol=0, atol=1e-10 * size)
            expected = J.T @ inverse @ k
            atol = 1e-10 * np.abs(expected).max()
            assert_allclose(found.cross[level], expected, rtol=0, atol=atol)
            assert_allclose(found.square[level], k @ inverse @ k, rtol=1e-10)
            assert_allclose(found.log_determinant[level], np.log(np.linalg.det(V)), atol=1e-10)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_first_level_is_none_and_the_likeliest(intercept):
    known = levels(intercept=intercept)
    assert known.slopes[0] == known.intercept[0] == known.both[0] == 0.0
    assert (known.slopes[1:] + known.intercept[1:] + known.both[1:] > 0.0).all()
    prior = np.exp(known.log_prior)
    assert_allclose(prior.sum(), 1.0, rtol=1e-12)
    assert prior[0] == pytest.approx(AGREES)
    assert len(set(prior[1:].round(12))) == 1
    assert len(known) == 2 + (2 if intercept else 1) * len(CONFLICTS)


def test_more_conflict_tells_less():
    source = model_of(tables_of("one source", seed=3)).sources[0]
    known = levels(intercept=True)
    found = information(source, known, intercept=True)
    of_all = [k for k in range(len(known)) if known.slopes[k] == known.intercept[k]]
    assert len(of_all) == 2 + len(CONFLICTS)
    for less, more in zip(of_all[1:], of_all, strict=False):
        gap = found.precision[more] - found.precision[less]
        assert np.linalg.eigvalsh(gap).min() > -1e-9 * np.abs(gap).max()


def test_averages_are_sums_over_sources_and_levels():
    rng = np.random.default_rng(0)
    sources, sizes, r = 2, 3, 4
    known = Information(
        rng.normal(size=(sources, sizes, r, r)),
        rng.normal(size=(sources, sizes, r)),
        rng.normal(size=(sources, sizes)),
        rng.normal(size=(sources, sizes)),
    )
    weights = rng.random((5, sources, sizes))
    found = known.averaged(weights)
    for c in range(5):
        for name in ("precision", "cross", "square", "log_determinant"):
            expected = sum(
                weights[c, k, v] * getattr(known, name)[k, v]
                for k in range(sources)
                for v in range(sizes)
            )
            assert_allclose(getattr(found, name)[c], expected, rtol=1e-12)
