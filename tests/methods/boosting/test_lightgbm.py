"""LightGBM's trees: its own bits, as plain numbers that need no LightGBM any more."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from poolwise import PooledRegressor
from poolwise.errors import BadOption, NotInstalled
from poolwise.methods import Auto, BoostedPooling, DerivedPooling
from poolwise.methods.boosting import booster
from poolwise.methods.boosting.booster import Growth, grower
from poolwise.methods.boosting.trees import EVERY_VALUE
from tests.methods.boosting.few_trees import grow_few
from tests.methods.nonlinear import fit, world

lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed")

GROWTH = Growth(trees=30, leaves=15, rate=0.2, rows_per_leaf=5)
METHODS = [BoostedPooling, DerivedPooling, Auto]


@pytest.fixture
def _few_trees(monkeypatch):
    grow_few(monkeypatch)


def grow(X, y, w=None, growth=GROWTH):
    return grower("lightgbm", 3)(X, y, w, growth)


def table(lacking=0.3):
    """Return rows that centring and units do nothing to, and that single precision can hold.

    So LightGBM by itself is given what it is given by us. The response and its weights are those of
    the rows from the other end, with the other sign and with the same.
    """
    rng = np.random.default_rng(0)
    X = rng.uniform(-0.99, 0.99, size=(300, 4))
    y = np.sin(9.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=300)
    X[rng.random(X.shape) < lacking] = np.nan
    y += 3.0 * np.isnan(X[:, 3])
    y = y - y[::-1]
    y = np.round(y * (2.0**15 / (1.01 * np.abs(y).max()))) / 2.0**15
    w = rng.choice([0.5, 0.75], 150)
    return X, y, np.concatenate((w, w[::-1]))


def theirs(X, y, w=None, **options):
    """Let LightGBM itself learn the same."""
    options |= {
        "objective": "l2",
        "num_leaves": GROWTH.leaves,
        "learning_rate": GROWTH.rate,
        "min_data_in_leaf": GROWTH.rows_per_leaf,
        "deterministic": True,
        "force_row_wise": True,
        "feature_pre_filter": False,
        "num_threads": 1,
        "verbose": -1,
    }
    return lightgbm.train(options, lightgbm.Dataset(X, y, weight=w, params=options), GROWTH.trees)


def hard_rows(trees):
    """Return rows on every threshold and next to it, without any value, tiny and very large."""
    size = np.abs(trees.threshold)
    at = np.flatnonzero((size > 1e-34) & (size < 1e300))  # what is smaller is zero to LightGBM
    on = np.full((len(at), 4), np.nan)
    on[np.arange(len(at)), trees.feature[at]] = trees.threshold[at]
    sizes = np.array([np.nan, 0.0, 1e-36, -1e-36, 2e-35, -2e-35, 1e299, 1e307, -1e307])
    same = np.repeat(sizes[:, None], 4, axis=1)
    return np.concatenate((table()[0], on, np.nextafter(on, 9.0), np.nextafter(on, -9.0), same))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("lacking", [0.0, 0.3])
def test_predictions_have_the_bits_of_lightgbm(lacking, weighted):
    X, y, w = table(lacking)
    own = (X, y, w if weighted else None)
    trees = grow(*own)
    assert trees.baseline == 0.0
    rows = hard_rows(trees)
    assert_array_equal(trees.predict(rows), theirs(*own).predict(rows, num_threads=1))
    assert len(trees.roots) == GROWTH.trees


def test_a_split_on_whether_there_is_a_value_is_one_for_every_value():
    X, y, _ = table()
    trees = grow(X, y)
    assert (trees.threshold == EVERY_VALUE).any()
    moved = trees.times_powers([900] * 4, 0)
    assert np.isfinite(moved.threshold).all()


def test_a_response_far_from_zero_keeps_its_digits():
    X, y, _ = table()
    far = grow(X, y + 2.0**30).predict(X) - 2.0**30
    assert_allclose(far, grow(X, y).predict(X), atol=1e-6)


@pytest.mark.parametrize("power", [-900, -130, 40, 900])
def test_units_of_columns_and_response_do_not_matter(power):
    X, y, w = table()
    trees = grow(np.ldexp(X, power), np.ldexp(y, -power), np.ldexp(w, power // 20))
    expected = np.ldexp(grow(X, y, w).predict(X), -power)
    assert_array_equal(trees.predict(np.ldexp(X, power)), expected)


def test_any_number_of_threads_grows_the_same_trees(monkeypatch):
    X, y, w = table()
    few = GROWTH._replace(trees=2, leaves=4)  # threads that wait for each other are slow
    found = {grow(X, y, w, few).predict(X).tobytes()}
    monkeypatch.setattr(booster, "THREADS_PAY", 0)  # as if there were very many rows
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="openmp"):
            found.add(grow(X, y, w, few).predict(X).tobytes())
    assert len(found) == 1


def test_what_cannot_be_split_is_its_mean():
    X, y, _ = table()
    assert_array_equal(grow(X, np.full(300, 2.5)).predict(X), np.full(300, 2.5))
    assert_allclose(grow(X[:3], y[:3]).predict(X), y[:3].mean(), atol=1e-7)


@pytest.mark.usefixtures("_few_trees")
@pytest.mark.parametrize("method", METHODS)
def test_the_same_random_state_gives_the_same_bits_and_they_are_not_scikit_learns(method):
    given = world("smooth", rows=30, history=60)
    once, again, other = (
        fit(method(random_state=3, learner=learner), given).predict(given.tried)
        for learner in ("lightgbm", "lightgbm", "sklearn")
    )
    assert_array_equal(once, again)
    assert (once != other).any()


def test_another_name_of_a_learner_is_refused():
    with pytest.raises(BadOption, match="'sklearn' or 'lightgbm'"):
        fit(BoostedPooling(learner="xgboost"), world("smooth", rows=9, history=20))


@pytest.mark.parametrize("method", METHODS)
def test_without_lightgbm_it_says_what_to_install_and_what_else_will_do(method, monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)  # so importing it fails
    with pytest.raises(NotInstalled, match=r"poolwise\[lightgbm\].*learner='sklearn' grows trees"):
        fit(method(learner="lightgbm"), world("smooth", rows=9, history=20))


@pytest.mark.usefixtures("_few_trees")
@pytest.mark.slow
def test_a_model_file_needs_no_lightgbm(tmp_path):
    given = world("smooth", rows=20, history=40)
    model = fit(BoostedPooling(learner="lightgbm"), given)
    model.save(tmp_path / "a.model.json")
    np.save(tmp_path / "rows.npy", given.tried)
    code = (
        "import sys; sys.modules['lightgbm'] = None; "
        "import numpy as np; from poolwise import PooledRegressor; "
        "found = PooledRegressor.load('a.model.json').predict(np.load('rows.npy')); "
        "sys.stdout.write(found.tobytes().hex())"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=env, cwd=tmp_path
    )
    assert done.stdout == model.predict(given.tried).tobytes().hex()
    again = PooledRegressor.load(tmp_path / "a.model.json")
    assert_array_equal(again.predict_interval(given.tried), model.predict_interval(given.tried))
