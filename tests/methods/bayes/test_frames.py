"""Frames are the log density of all pseudo-rows, against the dense covariance."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise.methods.bayes.evidence import products_of
from poolwise.methods.bayes.pseudo_rows import frames, levels
from tests.laws.problems import KINDS, random_tables, tables_of
from tests.methods.bayes.dense import conflict_variance, model_of, random_levels


def dense_density(known, frame, signal, theta):
    """Return the log density of all pseudo-rows given theta, with the prior of the frame."""
    own, f = known.scaled, known.evidence.frames
    lead, account = own.lead, f.account[frame]
    chosen = f.conflict[frame].argmax(axis=1)
    total = levels(intercept=own.intercept).log_prior[chosen].sum()
    total += known.groups[0].imputations[account].log_weight
    for group in known.groups:
        imputed = group.imputations[account]
        B_c = np.zeros((lead + len(group.has),) * 2)
        B_c[:lead, :lead] = imputed.spread / own.target.weight
        B_c[lead:, lead:] = imputed.error
        slopes = theta[lead + group.has] + imputed.B @ theta[lead + group.lacks]
        beta = np.append(theta[:lead], slopes)
        J = np.concatenate([known.sources[m].J for m in group.members])
        k = np.concatenate([known.sources[m].k for m in group.members])
        V = signal * J @ B_c @ J.T
        start = 0
        for m in group.members:
            own_rows = slice(start, start + len(known.sources[m].k))
            V[own_rows, own_rows] += conflict_variance(known.sources[m], chosen[m], lead)
            start = own_rows.stop
        away = k - J @ beta
        log_determinant = np.linalg.slogdet(V)[1]
        total -= 0.5 * (away @ np.linalg.inv(V) @ away + log_determinant)
    return total


def tables_for(case):
    if case == "three of the same features":
        old = (0, 1, 3)
        return random_tables(6, sources={"a": (30, old), "b": (25, old), "c": (20, old)})
    return tables_of(case, seed=6)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("case", [*KINDS, "three of the same features"])
def test_a_frame_is_the_log_density_of_all_pseudo_rows(case, intercept):
    known = random_levels(model_of(tables_for(case), intercept=intercept), 4, seed=0)
    f, rng = known.evidence.frames, np.random.default_rng(1)
    p, count = f.rows.shape[2] - 1, 30
    frame = rng.integers(0, len(f.log_weight), count)
    signal = np.exp(rng.normal(size=count) * 3.0)
    theta = rng.normal(size=(count, p))
    products, log_weight = products_of(f, frame, signal)
    ends = np.column_stack((theta, -np.ones(count)))
    found = log_weight - 0.5 * np.einsum("mi,mij,mj->m", ends, products, ends)
    expected = np.array(
        [dense_density(known, *case) for case in zip(frame, signal, theta, strict=True)]
    )
    # The densities themselves, but for powers of 2 pi that were left out of both.
    assert_allclose(found, expected, rtol=1e-8, atol=1e-6)


def test_settings_that_are_averages_have_the_average_information_and_their_entropy():
    known = model_of(tables_of("overlapping sources", seed=6))
    own = known.scaled
    prior = levels(intercept=True).log_prior
    belief = np.random.default_rng(0).dirichlet(np.ones(len(prior)), size=(1, 2))
    said = frames(
        known.groups, belief, prior, coefficients=5, lead=1, target_rows=own.target.weight
    )
    products, log_weight = products_of(said, np.array([0]), np.array([0.0]))
    theta = np.array([0.1, -0.4, 0.7, 0.2, 1.0])
    ends = np.append(theta, -1.0)
    found = log_weight[0] - 0.5 * ends @ products[0] @ ends
    expected = -np.sum(belief[0] * (np.log(belief[0]) - prior))
    expected += known.groups[0].imputations[0].log_weight
    for group in known.groups:
        beta = np.append(theta[:1], theta[1 + group.has])
        beta[1:] += group.imputations[0].B @ theta[1 + group.lacks]
        for m in group.members:
            s = known.sources[m]
            for level, probability in enumerate(belief[0, m]):
                V = conflict_variance(s, level, 1)
                away = s.k - s.J @ beta
                quadratic = away @ np.linalg.inv(V) @ away
                expected -= 0.5 * probability * (quadratic + np.log(np.linalg.det(V)))
    assert_allclose(found, expected, rtol=1e-9)


def test_without_sources_there_are_no_rows():
    known = model_of(random_tables(6, sources={}))
    assert known.evidence.frames.rows.shape == (1, 0, 6)
    products, log_weight = products_of(known.evidence.frames, np.array([0]), np.array([1.0]))
    assert not products.any()
    assert log_weight.tolist() == [0.0]
