"""The log evidence is the density of target and pseudo-rows, jointly Gaussian."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise.methods.bayes.evidence import Points, points, posterior
from tests.laws.problems import KINDS, random_tables, tables_of
from tests.methods.bayes.dense import gaussians, model_of, random_cells, random_levels


def tables_for(case):
    if case == "no sources":
        return random_tables(8, sources={})
    if case == "nothing new":
        return random_tables(8, sources={"old": (30, (0, 1, 2, 3))})
    if case == "one new feature":
        return random_tables(8, sources={"old": (30, (0, 1, 3))})
    if case == "fewer rows than features":
        return random_tables(8, target_rows=4, features=6, sources={"old": (30, (0, 1, 3))})
    return tables_of(case, seed=8)


OTHERS = ["no sources", "nothing new", "one new feature", "fewer rows than features"]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("case", [*KINDS, *OTHERS])
def test_the_log_evidence_is_that_of_the_joint_gaussian(case, intercept):
    tables = tables_for(case)
    known = random_levels(model_of(tables, intercept=intercept), 5, seed=0)
    cells = random_cells(known, 12, seed=0)
    found = known.evidence.log_evidence(cells)
    expected = np.array(
        [[g.log_evidence for g in gaussians(known, tables, cell)] for cell in cells]
    )
    # What all points have in common is left out: powers of 2 pi, the prior of the intercept.
    found, expected = found - found[0, 0], expected - expected[0, 0]
    # Rounding, 1e-16, times the condition number of the explicit inverse, at most 1e12.
    assert_allclose(found, expected, rtol=0, atol=1e-4)
    assert np.ptp(expected) > 1.0


@pytest.mark.parametrize(
    ("case", "close"),
    # With fewer rows than features more of the grid is far from empty, and more of it left out.
    [("one source", 3e-3), ("nothing new", 3e-3), ("fewer rows than features", 1e-2)],
)
def test_the_search_finds_what_the_whole_grid_says(case, close):
    known = model_of(tables_for(case))
    searched = points(known.evidence)
    shape = (len(known.evidence.frames.log_weight), *known.evidence.grid.shape)
    cells = np.argwhere(np.ones(shape, dtype=bool))
    log_evidence = known.evidence.log_evidence(cells)
    weight = np.exp(log_evidence - log_evidence.max())
    whole = posterior(known.evidence, Points(cells, weight / weight.sum()))
    quick = posterior(known.evidence, searched)
    assert len(searched.cells) < 0.7 * len(cells)
    deviation = np.sqrt(whole.covariance.diagonal())
    assert_allclose(quick.mean / deviation, whole.mean / deviation, rtol=0, atol=close)
    assert_allclose(np.sqrt(quick.covariance.diagonal()), deviation, rtol=close)
    assert_allclose(quick.noise, whole.noise, rtol=close)
    assert_allclose(quick.conflict, whole.conflict, rtol=0, atol=close)


def test_points_of_the_grid_are_found_in_any_order_and_number():
    known = model_of(tables_for("one source"))
    cells = random_cells(known, 30, seed=1)
    together = known.evidence.log_evidence(cells)
    backwards = known.evidence.log_evidence(cells[::-1])[::-1]
    alone = np.concatenate([known.evidence.log_evidence(c[None]) for c in cells])
    assert_allclose(backwards, together, rtol=1e-9)
    assert_allclose(alone, together, rtol=1e-9)


def test_columns_that_depend_on_each_other_leave_it_finite():
    tables = tables_for("one source").each(doubled)
    known = model_of(tables)
    shape = (len(known.evidence.frames.log_weight), *known.evidence.grid.shape)
    cells = np.argwhere(np.ones(shape, dtype=bool))[::7]
    assert np.isfinite(known.evidence.log_evidence(cells)).all()


def doubled(table):
    X = table.X.copy()
    X[:, 1] = 2.0 * X[:, 0]
    return type(table)(table.names, X, table.y, table.weights)
