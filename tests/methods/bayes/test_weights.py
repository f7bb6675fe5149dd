"""The weight of a row of a source is what the levels of conflict leave of its information."""

import numpy as np
from numpy.testing import assert_allclose

from poolwise import PooledRegressor

COEF = np.array([1.0, -1.0, 0.5, 0.8])


def fit(difference, seed=0, rows=40):
    rng = np.random.default_rng(seed)
    X, X_old = rng.normal(size=(rows, 4)), rng.normal(size=(2000, 4))
    y, other = X @ COEF + rng.normal(size=rows), COEF + difference * np.eye(4)[0]
    y_old = X_old @ other + rng.normal(size=2000)
    return PooledRegressor().fit(X, y, sources={"old": (X_old[:, :3], y_old)})


def test_the_weight_is_the_mean_share_of_information_that_is_left():
    from poolwise.methods.bayes.scaling import scaled
    from poolwise.methods.bayes.share_of_history import Stack

    model = fit(0.5)
    stack = Stack.of(model.problem_, scaled(model.problem_))
    own, chance = stack.history.model, stack.history.full.conflict[0]
    J, known = own.sources[0].J, own.levels
    left = []
    for level in range(len(known)):
        slopes = known.slope_variance(own.sources[0])[level] / 3 * J[:, 1:] @ J[:, 1:].T
        V = np.eye(4) + slopes
        V += known.level_variance(own.sources[0])[level] * J[:, :1] @ J[:, :1].T
        left.append(np.trace(J[:, 1:].T @ np.linalg.inv(V) @ J[:, 1:]))
    kept = chance @ np.array(left) / left[0]
    unit = stack.history.model.scaled.response_unit**2
    noise = unit * stack.history.full.noise
    found = model.fit_.weights["old"]
    assert_allclose(found, stack.share * kept * noise / model.fit_.source_noise["old"], rtol=1e-6)


def test_a_source_that_is_used_has_a_weight_however_likely_its_conflict():
    model = fit(2.0)
    assert model.conflict_["old"] > 0.9
    assert model.fit_.weights["old"] > 0.0
    assert fit(0.0).fit_.weights["old"] > 10.0 * model.fit_.weights["old"]
