"""Model files: every bit of a model comes back, and nothing else than a model does."""

import json
import math
import os
import stat
import subprocess
import sys
import warnings
from copy import deepcopy
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from poolwise import METHODS, PooledRegressor, diagnose, plan
from poolwise.errors import (
    CannotSave,
    MomentsLeftOut,
    NotOverwritten,
    NotWritten,
    RankDeficient,
    TransferError,
    TransferWarning,
    UnreadableModel,
)
from poolwise.methods import BayesPooling, DataPooling, TargetOnly
from poolwise.model_file.reading import record_of
from tests.model_file.worlds import EVERY_METHOD, OWN_PARAMETERS, WORLDS, fitted, world
from tests.test_store import assert_same_bits, bits, mutations

PRECISIONS = ["fast", "accurate", "exact"]


def saved(model, folder, **options):
    path = folder / "wear.model.json"
    model.save(path, overwrite=True, **options)
    return path


def reloaded(model, folder, **options):
    return PooledRegressor.load(saved(model, folder, **options))


def quietly(function, *args, **options):
    """Return what a call gives, or the error of ours that it ends with."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TransferWarning)
        try:
            return function(*args, **options)
        except TransferError as error:
            return f"{type(error).__name__}: {error}"


def same(a, b):
    """Say whether two answers have the same bits."""
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.shape == b.shape and bits(a) == bits(b)
    return type(a) is type(b) and a == b


def assert_same_model(a, b, rows, lacking=None):
    """Compare all that two models say."""
    assert a.get_params(deep=False).keys() == b.get_params(deep=False).keys()
    assert str(a.get_params()) == str(b.get_params())
    assert same(quietly(a.predict, rows), quietly(b.predict, rows))
    assert same(quietly(a.predict_interval, rows), quietly(b.predict_interval, rows))
    if lacking is not None:
        assert same(*(quietly(m.predict_interval, lacking) for m in (a, b)))
        if a.fit_.covariance is None:
            assert same(*(quietly(m.predict, lacking) for m in (a, b)))
    for name in ("coef_", "coef_cov_", "standard_errors_", "intercept_", "transfer_gain_"):
        assert same(getattr(a, name), getattr(b, name)), name
    for name in ("optional_columns_", "conflict_", "cautions_", "columns_", "response_"):
        assert getattr(a, name) == getattr(b, name), name
    assert a.coef_names_.tolist() == b.coef_names_.tolist()
    assert a.n_features_in_ == b.n_features_in_
    assert hasattr(a, "feature_names_in_") == hasattr(b, "feature_names_in_")
    if hasattr(a, "feature_names_in_"):
        assert a.feature_names_in_.tolist() == b.feature_names_in_.tolist()
    assert str(a.summary()) == str(b.summary())
    assert_same_fit(a.fit_, b.fit_)
    assert_same_bits(a.problem_.target, b.problem_.target)
    assert list(a.problem_.sources) == list(b.problem_.sources)
    for name, source in a.problem_.sources.items():
        assert_same_bits(source, b.problem_.sources[name])
    assert dict(a.problem_.units) == dict(b.problem_.units)


def assert_same_fit(a, b):
    assert (a.names, a.tails, a.bounds) == (b.names, b.tails, b.bounds)
    for name in ("coef", "centre", "covariance", "tail"):
        assert same(getattr(a, name), getattr(b, name)), name
    for name in ("level", "noise", "intercept_variance"):
        assert same(getattr(a, name), getattr(b, name)), name
    for name in ("source_noise", "weights", "dropped", "conflict"):
        assert dict(getattr(a, name)) == dict(getattr(b, name)), name
    assert [type(c) for c in a.cautions] == [type(c) for c in b.cautions]
    assert [str(c) for c in a.cautions] == [str(c) for c in b.cautions]
    assert (a.pool is None) == (b.pool is None)
    if a.pool is not None:
        assert_same_bits(a.pool, b.pool)


class TestRoundTrip:
    @pytest.mark.parametrize(
        ("method", "kind"),
        [*product(METHODS, WORLDS), *product(OWN_PARAMETERS, ["numbers", "weights, two sources"])],
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
        st.sampled_from([m for m in METHODS if m != "kernel_transfer"]),
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
        assert repr(again.method) == "DataPooling(ridge=2.5, weights={'source': 2})"
        method = BayesPooling(bounds=np.array([-np.inf, 9.0]))
        again = reloaded(fitted(method, world("numbers")), tmp_path)
        assert again.method_.bounds == (-np.inf, 9.0) == again.fit_.bounds

    @pytest.mark.parametrize("kind", ["texts", "extreme"])
    def test_the_same_model_makes_the_same_file(self, kind, tmp_path):
        model = quietly(fitted, "bayes_pooling", world(kind))
        first = saved(model, tmp_path).read_bytes()
        assert (
            saved(PooledRegressor.load(tmp_path / "wear.model.json"), tmp_path).read_bytes()
            == first
        )

    def test_an_extreme_model_keeps_its_units_and_both_its_fits(self, tmp_path):
        given_ = world("extreme")
        model = fitted("data_pooling", given_)
        assert model.problem_.units
        assert model._working_fit is not model.fit_
        again = reloaded(model, tmp_path)
        assert_same_fit(again._working_fit, model._working_fit)
        assert same(again.transfer_gain_, model.transfer_gain_)

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
        with pytest.raises(NotOverwritten, match="is there already"):
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
        with pytest.raises(CannotSave, match=r"its method Mine is not one of poolwise's.*skops"):
            model.save(tmp_path / "a.model.json")
        model = fitted("target_only", world("numbers")).set_params(method=Mine())
        with pytest.raises(CannotSave, match="its method Mine"):
            model.save(tmp_path / "a.model.json")
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize(
        ("options", "why"),
        [
            ({"response": 3}, "the option response is 3 where a text is needed"),
            ({"precision": "double"}, "the option precision is 'double'"),
            ({"unseen_level": None}, "the option unseen_level is None"),
            ({"method": "data_poling"}, "the option method is 'data_poling'"),
            ({"method": DataPooling(ridge="much")}, "ridge='much' of its method data_pooling"),
            ({"method": DataPooling(means=[1.0])}, "means=.* is not a mapping of names to numbers"),
        ],
    )
    def test_an_option_that_no_file_can_hold_is_refused(self, options, why, tmp_path):
        model = fitted("target_only", world("numbers")).set_params(**options)
        with pytest.raises(CannotSave, match=why):
            model.save(tmp_path / "a.model.json")

    def test_a_number_that_is_not_finite_is_refused(self, tmp_path):
        model = fitted("target_only", world("numbers"))
        model.fit_ = replace(model.fit_, noise=math.inf)
        with pytest.raises(CannotSave, match="a number that is not finite"):
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

    @pytest.mark.parametrize("method", METHODS)
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
            with pytest.raises(MomentsLeftOut, match=what):
                ask()
        with pytest.raises(MomentsLeftOut, match="a diagnosis"):
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


def data_of(method="bayes_pooling", kind="texts", **options):
    model = quietly(fitted, method, world(kind), **options)
    return json.loads(text_of_model(model))


def text_of_model(model, **options):
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        return saved(model, Path(folder), **options).read_text("ascii")


def loaded(data):
    """Read JSON, or what becomes JSON, as a model."""
    text = data if isinstance(data, str) else json.dumps(data)
    return record_of(text, "b.model.json")


def put(value, *at):
    """Return a change of one entry."""

    def apply(data):
        inner = data
        for key in at[:-1]:
            inner = inner[key]
        inner[at[-1]] = value
        return data

    return apply


def cut(*at):
    def apply(data):
        inner = data
        for key in at[:-1]:
            inner = inner[key]
        del inner[at[-1]]
        return data

    return apply


def twice(*at):
    """Return a change that repeats the first entry of a list."""

    def apply(data):
        inner = data
        for key in at:
            inner = inner[key]
        inner.append(deepcopy(inner[0]))
        return data

    return apply


ROW = {"kind": "RankDeficient", "message": "x"}
BAD = {
    "moments": (put("poolwise moments", "format"), 'does not say "format": "poolwise model"'),
    "newer": (put(2, "version"), "of version 2, and this poolwise reads up to 1.*newer poolwise"),
    "version is text": (put("1", "version"), "its version is a str"),
    "a key lacks": (cut("fit"), r"it lacks \['fit'\]"),
    "a key too many": (put("import os", "code"), r"version 1 does not have, \['code'\]"),
    "made with nothing": (put({}, "made_with"), "which poolwise wrote it"),
    "made with numbers": (put({"poolwise": 1}, "made_with"), "the version of 'poolwise' is 1"),
    "options are a list": (put([], "options"), "options is a list where an object is needed"),
    "an option lacks": (cut("options", "response"), "options has the keys"),
    "unknown option": (put("ridge", "options", "method"), "the option method is 'ridge'"),
    "option is a number": (put(3, "options", "method"), "the option method is 3 where an object"),
    "intercept is 1": (put(1, "options", "fit_intercept"), "fit_intercept is 1 where true or"),
    "unknown precision": (put("x", "options", "precision"), "the option precision is 'x'"),
    "unknown method": (put("os.system", "method", "name"), "its method is 'os.system', and this"),
    "method is a number": (put(1, "method", "name"), "its method is 1, and this poolwise has"),
    "unknown parameter": (put(1, "method", "parameters", "cmd"), "parameters of bayes_pooling has"),
    "no parameter": (cut("method", "parameters", "bounds"), "parameters of bayes_pooling has the"),
    "parameter is text": (
        put("1", "method", "parameters", "bounds"),
        "bounds of bayes_pooling is not a number or 2 numbers or None",
    ),
    "parameter is true": (
        put(True, "method", "parameters", "bounds"),
        "bounds of bayes_pooling is",
    ),
    "three bounds": (
        put([1, 2, 3], "method", "parameters", "bounds"),
        "bounds of bayes_pooling is",
    ),
    "huge parameter": (
        put(10**400, "method", "parameters", "bounds"),
        "bounds of bayes_pooling is",
    ),
    "response is null": (put(None, "response"), "response is None where a text is needed"),
    "response is a column": (put("marker", "response"), "have the same name"),
    "no columns": (put([], "columns"), "it has no columns"),
    "columns are an object": (put({}, "columns"), "columns is a dict where a list is needed"),
    "a column twice": (twice("columns"), "more than one column named"),
    "column without a name": (put(None, "columns", 0, "name"), "the name of a column is None"),
    "levels are text": (put("ab", "columns", 1, "levels"), "levels of .* is not a list of texts"),
    "no levels": (put([], "columns", 1, "levels"), "the list of levels of .* is empty"),
    "a level twice": (put(["a", "a"], "columns", 1, "levels"), "more than one level named"),
    "a level less": (cut("columns", 1, "levels", 1), "its names are not those of the columns"),
    "numbers are full": (put(True, "columns", 0, "full"), "has no levels, and says what they do"),
    "unknown unseen": (put("skip", "columns", 1, "unseen"), "unseen is 'skip'"),
    "named perhaps": (put(None, "columns_are_named"), "columns_are_named is None"),
    "optional unknown": (put(["x"], "optional_columns"), "optional_columns are not some of"),
    "optional order": (put(["kind", "marker"], "optional_columns"), "optional_columns are not"),
    "optional twice": (put(["kind", "kind"], "optional_columns"), "more than one column named"),
    "cautions are numbers": (put([1], "cautions"), "a caution is 1 where a text is needed"),
    "fit is null": (put(None, "fit"), "the fit is None where an object is needed"),
    "fit lacks": (cut("fit", "tails"), "the fit has the keys"),
    "names in another order": (
        lambda data: put(data["fit"]["names"][::-1], "fit", "names")(data),
        "its names are not those of the columns",
    ),
    "a coefficient less": (cut("fit", "coef", 0), "coef is 8 entries where a list of 9"),
    "coefficient null": (put(None, "fit", "coef", 0), "coef holds something that is not a number"),
    "coefficient beyond": (put(10**400, "fit", "coef", 0), "coef holds a number beyond doubles"),
    "centre is text": (put("0", "fit", "centre", 0), "centre holds something that is not a number"),
    "level is a list": (put([1.0], "fit", "level"), "level holds something that is not a number"),
    "intercept beyond": (
        lambda data: put(1e300, "fit", "centre", 0)(put(1e300, "fit", "coef", 0)(data)),
        "the intercept is beyond doubles",
    ),
    "covariance smaller": (cut("fit", "covariance", 0), "covariance is 9 entries"),
    "covariance ragged": (put([1.0], "fit", "covariance", 2), "covariance is 1 entries"),
    "noise negative": (put(-1.0, "fit", "noise"), "noise is -1, and must not be negative"),
    "weights a list": (put([], "fit", "weights"), "weights is a list where an object is needed"),
    "weight null": (put({"2019": None}, "fit", "weights"), "weights holds something that is not"),
    "weight of a stranger": (put({"x": 1.0}, "fit", "weights"), r"tells of sources \['x'\]"),
    "noise of a stranger": (put({"x": 1.0}, "fit", "source_noise"), r"tells of sources \['x'\]"),
    "conflict above one": (put({"2019": 2.0}, "fit", "conflict"), "conflict is 2, and must be"),
    "dropped stranger": (put({"x": "why"}, "fit", "dropped"), r"dropped names \['x'\]"),
    "dropped number": (put({"marker": 1}, "fit", "dropped"), "dropped is 1 where a text is needed"),
    "caution of code": (put([ROW | {"kind": "system"}], "fit", "cautions"), "kind of a caution is"),
    "caution an error": (put([ROW | {"kind": "NotFinite"}], "fit", "cautions"), "of a caution is"),
    "caution a number": (
        put([ROW | {"message": 1}], "fit", "cautions"),
        "the message of a caution",
    ),
    "caution more": (put([ROW | {"args": []}], "fit", "cautions"), "a caution has the keys"),
    "tail short": (put([0.0], "fit", "tail"), "tail is 1 entries where a list of 10 is needed"),
    "freedom of two": (put(2.0, "fit", "tails", "freedom"), "freedom of tails is 2, and must be"),
    "freedom negative": (
        put({"freedom": -1, "deviation": "plugged in"}, "fit", "tails"),
        "the freedom of tails is -1, and must be above 0",
    ),
    "unknown deviation": (put("x", "fit", "tails", "deviation"), "the deviation of tails is 'x'"),
    "bounds backwards": (put([2.0, 1.0], "fit", "bounds"), "end at 1, below their beginning at 2"),
    "one bound": (put([2.0], "fit", "bounds"), "bounds is 1 entries where a list of 2 is needed"),
    "moments a list": (put([], "moments"), "in moments, the object is a list"),
    "no target": (put(None, "moments", "target"), "in moments, in the target, it does not say"),
    "target negative": (
        put(-1.0, "moments", "target", "weight"),
        "in moments, in the target, the weight is -1",
    ),
    "target with a unit": (put(1, "moments", "target", "units", 0), "in the target, "),
    "target without a column": (put("q", "moments", "target", "names", 0), "No column named|other"),
    "source without rows": (
        lambda data: put(empty_like(data), "moments", "sources", 0, "moments")(data),
        "in source '2019', there are no rows",
    ),
    "source twice": (twice("moments", "sources"), r"more than one source named \['2019'\]"),
    "source without a name": (put(1, "moments", "sources", 0, "name"), "name of a source is 1"),
    "source is null": (put(None, "moments", "sources", 0), "a source is None where an object"),
    "units of strangers": (put({"x": 1}, "moments", "units"), "keys are columns of the target"),
    "units zero": (put({"marker": 0}, "moments", "units"), "units holds a zero"),
    "units huge": (put({"marker": 10**9}, "moments", "units"), "units holds something that is not"),
    "units beyond": (put({"marker": 2000}, "moments", "units"), "beyond 1e\\+300 in its units"),
    "units alone": (put({"marker": 3}, "moments", "units"), "units without a working_fit"),
    "working fit alone": (
        lambda data: put(deepcopy(data["fit"]), "moments", "working_fit")(data),
        "a working_fit without units",
    ),
    "pool of others": (
        lambda data: put(data["moments"]["sources"][0]["moments"], "moments", "pool")(data),
        "the pool has other columns than the target",
    ),
}


def empty_like(data):
    """Return moments of no rows, with the columns of the first source."""
    from poolwise import Moments

    return json.loads(Moments.empty(data["moments"]["sources"][0]["moments"]["names"]).text())


class TestReading:
    @pytest.fixture
    def data(self):
        return deepcopy(files()[0])

    @pytest.mark.parametrize("kind", BAD)
    def test_what_contradicts_itself_is_refused_by_file_and_reason(self, kind, data):
        change, why = BAD[kind]
        with pytest.raises(UnreadableModel, match=rf"(?s)b\.model\.json cannot be read.*{why}"):
            loaded(change(data))

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("", "it is not JSON"),
            ("{", "it is not JSON"),
            ("[]", "does not say"),
            ("[" * 100_000, "nested too deeply"),
            ('{"a": ' * 100_000, "nested too deeply"),
            ('{"format": "poolwise model", "format": "poolwise model"}', "same key twice"),
            ('{"level": NaN}', "it holds NaN"),
            ('{"level": Infinity}', "it holds Infinity"),
            ('{"level": ' + "9" * 5000 + "}", "too many digits"),
        ],
    )
    def test_what_is_not_this_format_is_refused(self, text, why):
        with pytest.raises(UnreadableModel, match=why):
            loaded(text)

    def test_a_number_beyond_doubles_is_refused(self, data):
        text = json.dumps(put(12345.5, "fit", "level")(data)).replace("12345.5", "1e999")
        with pytest.raises(UnreadableModel, match="level holds a number beyond doubles"):
            loaded(text)

    def test_a_file_that_is_too_large_missing_or_binary_is_refused(self, tmp_path):
        path = saved(fitted("target_only", world("numbers")), tmp_path)
        with pytest.raises(UnreadableModel, match=r"larger than 100 bytes.*larger max_bytes"):
            PooledRegressor.load(path, max_bytes=100)
        assert PooledRegressor.load(str(path), max_bytes=path.stat().st_size).n_features_in_ == 3
        with pytest.raises(UnreadableModel, match="there is no such file"):
            PooledRegressor.load(tmp_path / "none.model.json")
        with pytest.raises(UnreadableModel, match="Check that it is a file"):
            PooledRegressor.load(tmp_path)
        path.write_bytes(b"\x80\x04\x95")  # how a pickle begins
        with pytest.raises(UnreadableModel, match="not text in UTF-8"):
            PooledRegressor.load(path)

    def test_loading_imports_nothing_and_calls_no_method(self, data, monkeypatch):
        def never(*_args, **_options):
            pytest.fail("a method was asked to solve")

        for kind in METHODS.values():
            monkeypatch.setattr(kind, "solve", never)
        before = set(sys.modules)
        loaded(data)
        assert set(sys.modules) == before

    def test_a_name_that_is_a_class_of_python_stays_a_text(self, data):
        record = loaded(put("builtins.eval", "options", "response")(data))
        assert record.options["response"] == "builtins.eval"


@cache
def files():
    """Return what files of several kinds hold."""
    given = OWN_PARAMETERS["data_pooling, given"]
    bare = fitted("bayes_pooling", world("numbers"))
    return (
        data_of("bayes_pooling", "texts"),
        data_of("data_pooling", "extreme"),
        data_of("feature_transfer", "numbers", precision="exact"),
        data_of(given, "weights, two sources", precision="fast"),
        json.loads(text_of_model(bare, moments=False)),
    )


KINDS = ("texts", "extreme", "numbers", "weights, two sources", "numbers")


@pytest.mark.slow
@settings(deadline=None, max_examples=400)
@given(st.data())
def test_a_mutated_file_gives_our_error_or_a_model_that_works(tmp_path_factory, data):
    which = data.draw(st.integers(0, len(KINDS) - 1))
    found = data.draw(mutations(files()[which]))
    path = tmp_path_factory.mktemp("mutant") / "a.model.json"
    path.write_text(json.dumps(found))
    try:
        model = PooledRegressor.load(path)
    except UnreadableModel:
        return
    has_moments = model.problem_ is not None
    model.save(path, overwrite=True, moments=has_moments)
    again = PooledRegressor.load(path)
    assert str(again.get_params()) == str(model.get_params())
    assert_same_fit(again.fit_, model.fit_)
    tried = world(KINDS[which])
    for table in (tried.rows, tried.lacking):
        answer = quietly_also_sklearn(model.predict, table)
        assert isinstance(answer, str) or np.isfinite(answer).all()
    quietly_also_sklearn(model.predict_interval, tried.rows)
    quietly_also_sklearn(model.summary)
    quietly_also_sklearn(model.update, **tried.more)


def quietly_also_sklearn(function, *args, **options):
    """Return what a call gives, or an error of ours, or scikit-learn's about names of columns."""
    try:
        return quietly(function, *args, **options)
    except (ValueError, UserWarning) as error:
        if "feature names" in str(error) or "features, but" in str(error):
            return str(error)
        raise


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(st.sampled_from(range(len(KINDS))), st.data())
def test_a_garbled_text_gives_our_error_or_a_model(which, draw):
    text = json.dumps(files()[which])
    for _ in range(draw.draw(st.integers(1, 4))):
        at = draw.draw(st.integers(0, len(text)))
        end = min(len(text), at + draw.draw(st.integers(0, 3)))
        new = draw.draw(st.text(alphabet='0123456789eE+-.,:[]{}"NaInfty \\u', max_size=3))
        text = text[:at] + new + text[end:]
    try:
        record = loaded(text)
    except UnreadableModel:
        return
    assert np.isfinite(record.fitted.fit.coef).all()
