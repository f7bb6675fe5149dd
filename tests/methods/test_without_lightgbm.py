"""A machine on which LightGBM cannot be loaded: linear methods and files of models work."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from poolwise import PooledRegressor
from poolwise.errors import NotInstalled
from poolwise.methods import BayesPooling, BoostedPooling
from tests.methods.boosting.few_trees import grow_few
from tests.methods.nonlinear import fit, world

NO_OPENMP = "libgomp.so.1: cannot open shared object file: No such file or directory"
REASONS = {"no package": "None in sys.modules", "no OpenMP": NO_OPENMP}


@pytest.fixture(params=REASONS)
def reason(request, monkeypatch, tmp_path):
    """Make the import of LightGBM fail, and return a part of the error."""
    if request.param == "no package":
        monkeypatch.setitem(sys.modules, "lightgbm", None)
    else:
        (tmp_path / "lightgbm.py").write_text(f"raise OSError({NO_OPENMP!r})\n")
        monkeypatch.delitem(sys.modules, "lightgbm", raising=False)
        monkeypatch.syspath_prepend(tmp_path)
    return REASONS[request.param]


def given():
    return world("smooth", rows=20, history=40)


@pytest.mark.parametrize("method", ["boosted_pooling", "derived_pooling"])
def test_methods_with_trees_say_what_to_install_and_what_else_will_do(method, reason):
    with pytest.raises(NotInstalled, match="LightGBM, which cannot be loaded") as told:
        fit(method, given())
    assert reason in told.value.message
    assert "libgomp on Linux, libomp on macOS" in told.value.hint
    assert "bayes_pooling" in told.value.hint


def test_the_default_method_works(reason):
    assert np.isfinite(PooledRegressor().fit(given().X, given().y).predict(given().tried)).all()
    assert np.isfinite(fit("bayes_pooling", given()).predict(given().tried)).all()


def test_auto_is_bayes_pooling_and_says_why(reason):
    model = fit("auto", given())
    assert isinstance(model.method_, BayesPooling)
    assert reason in model.reason_
    assert model.reason_.endswith("): bayes_pooling.")
    expected = fit("bayes_pooling", given())
    assert_array_equal(model.predict(given().tried), expected.predict(given().tried))
    assert_array_equal(model.coef_, expected.coef_)


@pytest.mark.slow
def test_a_model_file_with_trees_predicts(tmp_path, monkeypatch):
    grow_few(monkeypatch)
    model, rows = fit(BoostedPooling(), given()), given().tried
    model.save(tmp_path / "a.model.json")
    np.save(tmp_path / "rows.npy", rows)
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
    assert done.stdout == model.predict(rows).tobytes().hex()
    again = PooledRegressor.load(tmp_path / "a.model.json")
    assert_array_equal(again.predict_interval(rows), model.predict_interval(rows))
    assert again.summary().trees.effects == model.summary().trees.effects != ()
