"""Mean and covariance of tables with gaps, against an EM over single rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise import Moments
from poolwise.linear.joint import joint_of

NAMES = ("a", "b", "c", "d")


def rows_of(n=100, share=0.3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) @ rng.normal(size=(4, 4)) * [1.0, 1e3, 1e-3, 5.0] + [
        0.0,
        7.0,
        1.0,
        0.0,
    ]
    return np.where(rng.random(X.shape) < share, np.nan, X)


def patterns(X, names=NAMES):
    gone = np.isnan(X)
    for own in np.unique(gone, axis=0):
        if not own.all():
            rows = X[(gone == own).all(axis=1)][:, ~own]
            yield Moments.of_rows([n for n, g in zip(names, own, strict=True) if not g], rows)


def row_by_row(X, prior_rows):
    """EM over single rows, in units of the deviations of the values that are there."""
    centre, scale = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    Z, p = (X - centre) / scale, X.shape[1]
    Z = Z[~np.isnan(Z).all(axis=1)]
    mean, S = np.zeros(p), np.eye(p)
    for _ in range(100):
        filled, spread = [], np.zeros((p, p))
        for z in Z:
            has, lacks = np.flatnonzero(~np.isnan(z)), np.flatnonzero(np.isnan(z))
            own, B = z.copy(), np.linalg.solve(S[np.ix_(has, has)], S[np.ix_(has, lacks)]).T
            own[lacks] = mean[lacks] + B @ (z[has] - mean[has])
            spread[np.ix_(lacks, lacks)] += S[np.ix_(lacks, lacks)] - B @ S[np.ix_(has, lacks)]
            filled.append(own)
        mean = np.mean(filled, axis=0)
        away = np.array(filled) - mean
        S = (away.T @ away + spread + prior_rows * np.eye(p)) / (len(Z) + prior_rows)
    return centre + scale * mean, S * np.outer(scale, scale)


def shrunk_by(X):
    """Rows of the prior: oracle approximating shrinkage of the correlations of pairs."""
    Z, p = (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0), X.shape[1]
    there = (~np.isnan(Z)).astype(float)
    rows, filled = there.T @ there, np.nan_to_num(Z)
    C = np.clip(filled.T @ filled / rows, -1.0, 1.0)
    square, trace, n = np.sum(C**2), np.trace(C), rows.mean()
    share = ((1 - 2 / p) * square + trace**2) / ((n + 1 - 2 / p) * (square - trace**2 / p))
    return n * share / (1.0 - share)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.4])
def test_moments_of_patterns_are_enough_for_em(share):
    X = rows_of(share=share)
    found, (mean, covariance) = joint_of(NAMES, patterns(X)), row_by_row(X, shrunk_by(X))
    scale = np.sqrt(covariance.diagonal())
    assert_allclose((found.mean - mean) / scale, 0.0, atol=1e-3)
    theirs = found.correlation * np.outer(found.scale, found.scale)
    assert_allclose((theirs - covariance) / np.outer(scale, scale), 0.0, atol=1e-3)


def test_gaps_are_filled_by_the_regression_on_the_rest_of_the_row():
    joint = joint_of(NAMES, patterns(rows_of()))
    S, row = joint.correlation * np.outer(joint.scale, joint.scale), rows_of(1, 0.0, seed=1)
    row[0, [1, 3]] = np.nan
    coef = np.array([1.0, 2.0, 3.0, 4.0])
    full, variance = joint.filled(row, coef)
    B = np.linalg.solve(S[np.ix_([0, 2], [0, 2])], S[np.ix_([0, 2], [1, 3])]).T
    assert_allclose(full[0, [1, 3]], joint.mean[[1, 3]] + B @ (row[0, [0, 2]] - joint.mean[[0, 2]]))
    left = S[np.ix_([1, 3], [1, 3])] - B @ S[np.ix_([0, 2], [1, 3])]
    assert_allclose(variance, coef[[1, 3]] @ left @ coef[[1, 3]])


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_few_rows_constants_and_indicators_have_a_joint_distribution_too(rows):
    X = np.column_stack(
        (np.arange(6.0)[:rows], np.full(rows, 3.0), np.eye(6)[:rows, :1], np.nan * np.ones(rows))
    )
    joint = joint_of(NAMES, patterns(X))
    full, _ = joint.filled(np.full((1, 4), np.nan))
    assert np.isfinite(full).all()
    assert full[0, 1] == 3.0
    assert np.isfinite(np.linalg.inv(joint.correlation)).all()


def test_other_tables_inform_about_relations_and_not_about_the_mean():
    X, rng = rows_of(30, 0.3), np.random.default_rng(2)
    others = Moments.of_rows(
        NAMES[:2], rng.normal(size=(5000, 2)) @ [[2.0, 1.8e3], [0.0, 2e2]] + 50.0
    )
    alone, helped = joint_of(NAMES, patterns(X)), joint_of(NAMES, patterns(X), [others])
    assert helped.correlation[0, 1] > 0.97
    assert_allclose(helped.mean[:2], alone.mean[:2], atol=3.0 * alone.scale[:2].max())
    assert helped.informed[0] > alone.informed[0]
