"""Model files: every bit of a model comes back, and nothing else than a model does."""

import json
import math
import os
import stat
import subprocess
import sys
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from poolwise import PooledRegressor, diagnose, plan
from poolwise.errors import NeedsRows, NotWritten, RankDeficient
from poolwise.methods import BayesPooling, DataPooling, TargetOnly
from tests.linear_methods import LINEAR_METHODS
from tests.model.model_file.reloading import (
    assert_same_model,
    quietly,
    reloaded,
    same,
    saved,
)
from tests.model.model_file.worlds import EVERY_METHOD, OWN_PARAMETERS, WORLDS, fitted, world

PRECISIONS = ["fast", "accurate", "exact"]


class TestRoundTrip:
    @pytest.mark.parametrize(
        ("method", "kind"),
        [
            *product(LINEAR_METHODS, WORLDS),
            *product(OWN_PARAMETERS, ["numbers", "weights, two sources"]),
        ],
    )
    def test_every_bit_of_every_method_comes_back(self, method, kind, tmp_path):
        given_ = world(kind)
        model = quietly(fitted, EVERY_METHOD[method], given_)
        if isinstance(model, str):  # this method says no to these tables
            assert model.startswith(("NeedsRows", "BeyondDoubles"))
            return
        again = reloaded(model, tmp_path)
        assert_same_model(model, again, given_.rows, given_.lacking)
        told = [quietly(m.update, **given_.more) for m in (model, again)]
        if isinstance(told[0], str):
            assert told[0] == told[1]
        else:
            assert_same_model(model, again, given_.rows)

    @pytest.mark.slow
    @settings(deadline=None, max_examples=30)
    @given(
        st.sampled_from([m for m in LINEAR_METHODS if m != "kernel_transfer"]),
        st.sampled_from(list(WORLDS)),
        st.sampled_from(PRECISIONS),
        st.integers(1, 10**6),
    )
    def test_every_bit_of_any_numbers_comes_back(self, tmp_path_factory, method, kind, prec, seed):
        given_ = world(kind, seed)
        model = quietly(fitted, method, given_, precision=prec)
        if isinstance(model, str):
            return
        again = reloaded(model, tmp_path_factory.mktemp("model"))
        assert_same_model(model, again, given_.rows, given_.lacking)
        changed = [quietly(m.update, **given_.more) for m in (model, again)]
        assert isinstance(changed[0], str) == isinstance(changed[1], str)
        if not isinstance(changed[0], str):
            forgotten = [quietly(m.forget, **given_.more) for m in (model, again)]
            assert isinstance(forgotten[0], str) == isinstance(forgotten[1], str)
            assert_same_model(model, again, given_.rows)

    def test_numbers_of_numpy_come_back_as_those_of_python(self, tmp_path):
        method = DataPooling(ridge=np.float64(2.5), weights={"source": np.int64(2)})
        again = reloaded(fitted(method, world("numbers")), tmp_path)
        assert repr(again.method) == "DataPooling(ridge=2.5, weights={'source': 2.0})"
        method = BayesPooling(bounds=np.array([-np.inf, 9.0]))
        again = reloaded(fitted(method, world("numbers")), tmp_path)
        assert again.method_.bounds == (-np.inf, 9.0) == again.fit_.bounds

    @pytest.mark.parametrize("kind", ["texts", "large and small"])
    def test_the_same_model_makes_the_same_file(self, kind, tmp_path):
        model = quietly(fitted, "bayes_pooling", world(kind))
        first = saved(model, tmp_path).read_bytes()
        assert (
            saved(PooledRegressor.load(tmp_path / "wear.model.json"), tmp_path).read_bytes()
            == first
        )

    def test_a_warning_of_the_fit_comes_back_as_what_it_was(self, tmp_path):
        X = np.random.default_rng(0).normal(size=(30, 2))
        X = np.column_stack((X, X[:, 0]))
        with pytest.warns(RankDeficient):
            model = PooledRegressor("target_only").fit(X, X[:, 1])
        again = reloaded(model, tmp_path)
        assert [type(c) for c in again.fit_.cautions] == [RankDeficient]
        assert str(again.fit_.cautions[0]) == str(model.fit_.cautions[0])

    def test_options_that_were_changed_after_the_fit_are_kept_beside_it(self, tmp_path):
        model = fitted("data_pooling", world("numbers")).set_params(method="offset", response="z")
        again = reloaded(model, tmp_path)
        assert (again.method, again.response, again.response_) == ("offset", "z", "y")
        assert type(again.method_) is DataPooling

    def test_a_loaded_model_can_be_cloned_and_fitted_again(self, tmp_path):
        given_ = world("texts")
        model = fitted(BayesPooling(bounds=None), given_)
        again = clone(reloaded(model, tmp_path))
        with pytest.raises(NotFittedError):
            again.predict(given_.rows)
        assert same(again.fit(**given_.fit).predict(given_.rows), model.predict(given_.rows))

    def test_a_class_that_inherits_loads_as_itself(self, tmp_path):
        class Ours(PooledRegressor):
            pass

        path = saved(fitted("target_only", world("numbers")), tmp_path)
        assert type(Ours.load(path)) is Ours

    @pytest.mark.slow
    def test_another_process_gets_the_same_bits(self, tmp_path):
        given_ = world("texts")
        model = fitted("bayes_pooling", given_)
        path = saved(model, tmp_path)
        given_.rows.to_pickle(tmp_path / "rows.pkl")
        code = (
            "import sys, pandas as pd; from poolwise import PooledRegressor; "
            "rows = pd.read_pickle(sys.argv[2]); "
            "print(PooledRegressor.load(sys.argv[1]).predict(rows).tobytes().hex())"
        )
        command = [sys.executable, "-c", code, str(path), str(tmp_path / "rows.pkl")]
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        assert found == model.predict(given_.rows).tobytes().hex()


class TestWriting:
    def test_a_file_is_not_replaced_unless_asked(self, tmp_path):
        model = fitted("target_only", world("numbers"))
        path = saved(model, tmp_path)
        before = path.read_bytes()
        with pytest.raises(NotWritten, match="exists already"):
            fitted("target_only", world("texts")).save(path)
        assert path.read_bytes() == before

    def test_a_write_that_fails_leaves_what_was_there(self, tmp_path, monkeypatch):
        path = saved(fitted("target_only", world("numbers")), tmp_path)
        before = path.read_bytes()
        monkeypatch.setattr("os.fsync", lambda number: (_ for _ in ()).throw(OSError("disk full")))
        with pytest.raises(NotWritten, match="disk full"):
            fitted("target_only", world("texts")).save(path, overwrite=True)
        assert path.read_bytes() == before
        assert [p.name for p in tmp_path.iterdir()] == [path.name]

    def test_a_model_that_is_not_fitted_cannot_be_saved(self, tmp_path):
        with pytest.raises(NotFittedError):
            PooledRegressor().save(tmp_path / "a.model.json")
        assert not list(tmp_path.iterdir())

    def test_a_method_of_ones_own_is_refused_by_name(self, tmp_path):
        class Mine(TargetOnly):
            pass

        model = fitted(Mine(), world("numbers"))
        with pytest.raises(NotWritten, match=r"its method Mine is not one of poolwise's.*skops"):
            model.save(tmp_path / "a.model.json")
        model = fitted("target_only", world("numbers")).set_params(method=Mine())
        with pytest.raises(NotWritten, match="its method Mine"):
            model.save(tmp_path / "a.model.json")
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize(
        ("options", "why"),
        [
            ({"response": 3}, r"expected `str`, got `int` at `\$\.response`"),
            ({"precision": "double"}, r"invalid value 'double' at `\$\.precision`"),
            ({"max_levels": None}, r"got `null` at `\$\.max_levels`"),
            ({"method": "data_poling"}, r"invalid value 'data_poling' at `\$\.method`"),
            ({"method": DataPooling(ridge="much")}, r"invalid value 'much' at `\$\.ridge`"),
            ({"method": DataPooling(means=[1.0])}, r"got `array` at `\$\.means`"),
        ],
    )
    def test_an_option_that_no_file_can_hold_is_refused(self, options, why, tmp_path):
        model = fitted("target_only", world("numbers")).set_params(**options)
        with pytest.raises(NotWritten, match=why):
            model.save(tmp_path / "a.model.json")

    def test_a_number_that_is_not_finite_is_refused(self, tmp_path):
        model = fitted("target_only", world("numbers"))
        broken = replace(model.fit_, noise=math.inf)
        model._fitted = replace(model._fitted, fit=broken)
        with pytest.raises(NotWritten, match="a number that is not finite"):
            model.save(tmp_path / "a.model.json")

    def test_a_file_is_plain_ascii_json(self, tmp_path):
        text = saved(fitted("bayes_pooling", world("texts")), tmp_path).read_bytes().decode("ascii")
        assert json.loads(text, parse_constant=pytest.fail)["response"] == "wear"

    def test_a_file_says_nothing_of_who_made_it_where_or_when(self, tmp_path):
        data = json.loads(saved(fitted("bayes_pooling", world("texts")), tmp_path).read_text())
        wanted = {"poolwise", "python", "numpy", "scipy", "scikit-learn"}
        assert data["made_with"].keys() == wanted
        text = json.dumps(data)
        for secret in (str(tmp_path), os.path.expanduser("~"), "wear.model.json"):
            assert secret not in text

    def test_no_draft_is_left_and_the_file_is_a_plain_one(self, tmp_path):
        path = saved(fitted("target_only", world("numbers")), tmp_path)
        assert [p.name for p in tmp_path.iterdir()] == [path.name]
        assert not path.stat().st_mode & stat.S_IXUSR


class TestWithoutMoments:
    @pytest.fixture
    def pair(self, tmp_path):
        given_ = world("texts")
        model = fitted("bayes_pooling", given_)
        return model, reloaded(model, tmp_path, moments=False), given_

    @pytest.mark.parametrize("method", LINEAR_METHODS)
    def test_complete_rows_are_predicted_with_the_same_bits(self, method, tmp_path):
        given_ = world("texts")
        model = fitted(method, given_)
        again = reloaded(model, tmp_path, moments=False)
        assert again.problem_ is None
        assert again.fit_.pool is None
        for verb in ("predict", "predict_interval"):
            answers = [quietly(getattr(m, verb), given_.rows) for m in (model, again)]
            assert same(*answers)
        assert same(again.standard_errors_, model.standard_errors_)

    def test_what_needs_moments_says_so(self, pair):
        model, again, given_ = pair
        asked = {
            "summary": again.summary,
            "transfer_gain_": lambda: again.transfer_gain_,
            "update": lambda: again.update(**given_.more),
            "forget": lambda: again.forget(**given_.more),
            "a row without": lambda: again.predict(given_.lacking),
            "a diagnosis": lambda: diagnose(again),
            "saving it with them": lambda: again.save("never.model.json"),
        }
        for what, ask in asked.items():
            with pytest.raises(NeedsRows, match=what):
                ask()
        with pytest.raises(NeedsRows, match="a diagnosis"):
            plan(again, [100])
        assert same(again.predict(given_.rows), model.predict(given_.rows))

    def test_it_can_be_saved_again_without_them(self, pair, tmp_path):
        _, again, given_ = pair
        third = reloaded(again, tmp_path, moments=False)
        assert same(third.predict(given_.rows), again.predict(given_.rows))

    def test_the_file_holds_no_moments_of_any_table(self, tmp_path):
        model = fitted("feature_transfer", world("texts"))
        text = saved(model, tmp_path, moments=False).read_text()
        assert json.loads(text)["moments"] is None
        for table in (model.problem_.target, *model.problem_.sources.values(), model.fit_.pool):
            assert "scatter" not in text
            for number in (table.scatter.pair.high[0, 0], table.low[0], table.high[0]):
                assert repr(float(number)) not in text

    def test_the_covariance_of_least_squares_still_tells_the_scatter(self, tmp_path):
        model = fitted("target_only", world("numbers"))
        fit = json.loads(saved(model, tmp_path, moments=False).read_text())["fit"]
        told = fit["noise"] * np.linalg.inv(np.array(fit["covariance"])[1:, 1:])
        names = model.fit_.names
        assert_allclose(told, model.problem_.target.scatter_between(names, names), rtol=1e-8)
