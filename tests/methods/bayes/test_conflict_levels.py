"""ConflictLevels of conflict of several sources, against every combination of them."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from poolwise.methods.bayes.conflict_levels import probable_settings
from poolwise.methods.bayes.evidence import points, posterior
from poolwise.methods.bayes.pseudo_rows import MOST, every_setting, levels
from tests.laws.problems import random_tables
from tests.methods.bayes.dense import model_of, with_levels


def three_sources(seed, bad, same):
    """Draw three sources of which one may have another intercept and other coefficients."""
    has = [(0, 1)] * 3 if same else [(0, 1), (0, 1, 2), (1, 2)]
    sources = {n: (r, h) for n, r, h in zip("abc", (50, 40, 30), has, strict=True)}
    tables = random_tables(seed, sources=sources)
    if bad:
        table = tables.sources["b"]
        table.y[:] += 3.0 - 2.0 * table.X[:, 0]
    return tables


@pytest.mark.parametrize("same", [True, False], ids=["the same features", "different features"])
@pytest.mark.parametrize("bad", [False, True], ids=["all agree", "one in conflict"])
def test_the_probable_settings_are_nearly_as_good_as_all_of_them(bad, same):
    known = model_of(three_sources(0, bad, same))
    every = range(len(levels(intercept=True)))
    exact = with_levels(known, list(product(every, repeat=3)))
    quick = posterior(known.evidence, points(known.evidence))
    whole = posterior(exact.evidence, points(exact.evidence))
    deviation = np.sqrt(whole.covariance.diagonal())
    # A mean field leaves out how levels depend on each other. Over twenty seeds of each case the
    # median difference was 0.01 standard deviations of a mean, 1 % of a deviation and 0.03 of a
    # probability; the worst, 0.18, 5 % and 0.21. This seed is one of the usual ones.
    assert_allclose(quick.mean / deviation, whole.mean / deviation, rtol=0, atol=0.05)
    assert_allclose(np.sqrt(quick.covariance.diagonal()), deviation, rtol=0.03)
    assert_allclose(quick.conflict, whole.conflict, rtol=0, atol=0.05)
    names = [s.name for s in known.scaled.sources]
    if bad:
        assert quick.conflict[names.index("b"), 0] < 0.05


def test_every_setting_is_every_combination():
    settings = every_setting(2, 3)
    assert settings.shape == (9, 2, 3)
    chosen = {tuple(s) for s in settings.argmax(axis=2).tolist()}
    assert chosen == set(product(range(3), repeat=2))
    assert_allclose(settings.sum(axis=2), 1.0)
    assert every_setting(0, 7).shape == (1, 0, 7)
    assert every_setting(2, 9) is None  # 81, more than are looked at


@pytest.mark.parametrize("sources", [3, 7])
def test_probable_settings_are_few_and_are_probabilities(sources):
    given = {f"s{k}": (20 + k, (0, 1)) for k in range(sources)}
    known = model_of(random_tables(5, sources=given))
    every = levels(intercept=True)
    settings = probable_settings(known.groups, every, known.evidence)
    assert len(settings) <= MOST
    assert settings.shape[1:] == (sources, len(every))
    assert_allclose(settings.sum(axis=2), 1.0)
    assert (settings >= 0.0).all()
    assert len({s.tobytes() for s in settings}) == len(settings)
