"""Damaged model files: each is refused with its reason, or gives a model that works."""

import json
import sys
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poolwise import PooledRegressor
from poolwise.errors import BadFile
from tests.linear_methods import LINEAR_METHODS
from tests.model.model_file.damage import BAD, KINDS, files, loaded, put
from tests.model.model_file.reloading import assert_same_fit, quietly_also_sklearn, saved
from tests.model.model_file.worlds import fitted, world
from tests.mutations import garbled, mutations


class TestReading:
    @pytest.fixture
    def data(self):
        return deepcopy(files()[0])

    @pytest.mark.parametrize("kind", BAD)
    def test_what_contradicts_itself_is_refused_by_file_and_reason(self, kind, data):
        change, why = BAD[kind]
        with pytest.raises(BadFile, match=rf"(?s)b\.model\.json cannot be read.*{why}"):
            loaded(change(data))

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("", "truncated"),
            ("{", "truncated"),
            ("[]", "expected `object`, got `array`"),
            ("[" * 100_000, "expected `object`, got `array`"),
            ('{"format": ' + "[" * 100_000, "got `array` at `.*format"),
            ('{"fit": ' * 100_000, "nested too deeply"),
            ('{"fit": {"coef": ' + "[" * 100_000, "nested too deeply"),
            ('{"level": NaN}', "unknown field `level`"),
            ('{"response": Infinity}', "JSON is malformed"),
            ('{"level": ' + "9" * 5000 + "}", "unknown field `level`"),
        ],
    )
    def test_what_is_not_this_format_is_refused(self, text, why):
        with pytest.raises(BadFile, match=why):
            loaded(text)

    def test_a_number_beyond_doubles_is_refused(self, data):
        text = json.dumps(put(12345.5, "fit", "level")(data)).replace("12345.5", "1e999")
        with pytest.raises(BadFile, match=r"out of range at .*fit\.level"):
            loaded(text)

    def test_a_key_that_comes_twice_is_refused(self, data):
        text = json.dumps(data)
        for key in ("response", "centre", "version"):
            again = text.replace(
                f'"{key}": ', f'"{key}": {json.dumps(first(data, key))}, "{key}": ', 1
            )
            with pytest.raises(BadFile, match=f"more than one key named '{key}'"):
                loaded(again)

    def test_a_file_that_is_too_large_missing_or_binary_is_refused(self, tmp_path):
        path = saved(fitted("target_only", world("numbers")), tmp_path)
        with pytest.raises(BadFile, match=r"larger than 100 bytes.*larger max_bytes"):
            PooledRegressor.load(path, max_bytes=100)
        assert PooledRegressor.load(str(path), max_bytes=path.stat().st_size).n_features_in_ == 3
        with pytest.raises(BadFile, match="there is no such file"):
            PooledRegressor.load(tmp_path / "none.model.json")
        with pytest.raises(BadFile, match="Check that it is a file"):
            PooledRegressor.load(tmp_path)
        path.write_bytes(b"\x80\x04\x95")  # how a pickle begins
        with pytest.raises(BadFile, match="not text in UTF-8"):
            PooledRegressor.load(path)

    def test_loading_imports_nothing_and_calls_no_method(self, data, monkeypatch):
        def never(*_args, **_options):
            pytest.fail("a method was asked to solve")

        for kind in LINEAR_METHODS.values():
            monkeypatch.setattr(kind, "solve", never)
        before = set(sys.modules)
        loaded(data)
        assert set(sys.modules) == before

    def test_a_name_that_is_a_class_of_python_stays_a_text(self, data):
        record = loaded(put("builtins.eval", "options", "response")(data))
        assert record.parameters["response"] == "builtins.eval"


def first(data, key):
    return data[key] if key in data else data["fit"][key]


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
    except BadFile:
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


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(st.sampled_from(range(len(KINDS))), st.data())
def test_a_garbled_text_gives_our_error_or_a_model(which, draw):
    text = draw.draw(garbled(json.dumps(files()[which])))
    try:
        record = loaded(text)
    except BadFile:
        return
    assert np.isfinite(record.fitted.fit.coef).all()
