"""The model of a problem: its target, its groups, its scales."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise.methods.bayes.evidence import points, posterior
from tests.laws.problems import KINDS, Tables, random_tables, tables_of
from tests.methods.bayes.dense import model_of, scaled_rows


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_the_target_is_its_products(kind, intercept):
    tables = tables_of(kind, seed=4)
    known = model_of(tables, intercept=intercept)
    Z, y = scaled_rows(known.scaled, tables, tables.target)
    rows = np.column_stack((Z, y))
    # A hair is added to the square of the response, so that rounding leaves something of it.
    assert_allclose(known.evidence.target, rows.T @ rows, rtol=1e-10, atol=1e-10)
    assert known.evidence.rows == len(y)


@pytest.mark.parametrize("kind", KINDS)
def test_every_source_is_in_the_group_of_its_features(kind):
    known = model_of(tables_of(kind, seed=4))
    members = [k for group in known.groups for k in group.members]
    assert sorted(members) == list(range(len(known.sources)))
    everything = set(range(len(known.scaled.features)))
    for group in known.groups:
        assert set(group.has) | set(group.lacks) == everything
        assert not set(group.has) & set(group.lacks)
        assert len(group.imputations) == len(known.groups[0].imputations)
        for k in group.members:
            assert known.scaled.sources[k].at.tolist() == group.has.tolist()


def test_the_other_shape_of_the_prior_follows_the_covariance_of_new_features():
    tables = random_tables(4, target_rows=4000, features=5, sources={"old": (60, (0, 1))})
    known = model_of(tables)
    Z, _ = scaled_rows(known.scaled, tables, tables.target)
    fitted = np.linalg.lstsq(Z[:, :3], Z[:, 3:], rcond=None)[0]
    left = np.cov((Z[:, 3:] - Z[:, :3] @ fitted).T)
    # The variance of a feature whose unit is its reach counts as one.
    wide = left + np.diag(left.diagonal() * (1.0 / np.minimum(Z[:, 3:].var(axis=0), 1.0) - 1.0))
    for account, zellner in zip(
        known.groups[0].imputations[:1], known.evidence.zellner[:1], strict=True
    ):
        assert_allclose(np.trace(zellner), 3.0, rtol=2e-3)  # a thousandth is added
        # Thousands of rows: the ridge is least squares, but for a thousandth of the diagonal.
        assert_allclose(zellner, 3.0 * wide / np.trace(wide), rtol=0, atol=5e-3)
        assert_allclose(account.spread, np.trace(left), rtol=2e-3)


def test_scales_are_those_of_the_largest_source_that_lacks_something():
    known = model_of(tables_of("nested sources", seed=4))
    assert known.evidence.noise == known.sources[0].noise
    sizes = [s.coefficient_size for s in known.sources]
    assert known.evidence.size == pytest.approx(np.median(sizes))


def test_without_sources_scales_are_those_of_the_target():
    tables = random_tables(4, target_rows=400, sources={})
    known = model_of(tables)
    Z, y = scaled_rows(known.scaled, tables, tables.target)
    left = y - Z @ np.linalg.lstsq(Z, y, rcond=None)[0]
    assert_allclose(known.evidence.noise, left @ left / (len(y) - 5), rtol=0.02)
    assert known.evidence.new == 0


@pytest.mark.parametrize("kind", ["overlapping sources", "nested sources", "no feature in all"])
def test_the_order_of_sources_does_not_matter(kind):
    tables = tables_of(kind, seed=4)
    backwards = Tables(tables.target, dict(reversed(tables.sources.items())))
    answers = []
    for given in (tables, backwards):
        known = model_of(given)
        found = posterior(known.evidence, points(known.evidence))
        names = [s.name for s in known.scaled.sources]
        answers.append((found, dict(zip(names, found.conflict, strict=True)), known.scaled))
    (a, conflict, own), (b, other, theirs) = answers
    assert own.features == theirs.features
    assert_allclose(a.mean, b.mean, rtol=1e-9, atol=1e-12)
    assert_allclose(a.covariance, b.covariance, rtol=1e-9, atol=1e-12)
    assert conflict.keys() == other.keys()
    assert_allclose([conflict[n] for n in other], list(other.values()), rtol=1e-8, atol=1e-12)
