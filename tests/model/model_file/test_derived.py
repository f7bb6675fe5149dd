"""Models with trees in a file: every bit comes back, and nothing that is not a tree does."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from poolwise import PooledRegressor
from poolwise.errors import NeedsRows, NotAvailable
from poolwise.methods.boosting import derivation
from tests.model.model_file.derived_models import KINDS, file_of, model_of, world_of
from tests.model.model_file.reloading import quietly, reloaded, same, saved
from tests.model.model_file.test_schema import CHECK
from tests.model.model_file.worlds import fitted, world
from tests.moments.stored_moments import assert_same_bits


@pytest.mark.parametrize("kind", KINDS)
class TestRoundTrip:
    def test_every_bit_comes_back(self, kind, tmp_path):
        model, tried = model_of(kind), world_of(kind)
        again = reloaded(model, tmp_path)
        assert str(again.get_params()) == str(model.get_params())
        for rows in (tried.rows, tried.lacking):
            if rows is None:
                continue
            for verb in ("predict", "predict_interval"):
                answers = [quietly(getattr(m, verb), rows) for m in (model, again)]
                assert isinstance(answers[0], np.ndarray)
                assert same(*answers)
        assert str(again.summary()) == str(model.summary())
        assert again.summary().to_dict() == model.summary().to_dict()
        assert (again.reason_, again.cautions_) == (model.reason_, model.cautions_)
        assert hasattr(again, "coef_") == hasattr(model, "coef_")
        assert type(again.method_) is type(model.method_)
        if model.fit_.parts().line is None:
            own, theirs = again.fit_.problem, model.fit_.problem
            assert_same_bits(own.target, theirs.target)
            for name, source in theirs.sources.items():
                assert_same_bits(own.sources[name], source)

    def test_the_same_model_makes_the_same_file(self, kind, tmp_path):
        first = saved(model_of(kind), tmp_path).read_bytes()
        again = PooledRegressor.load(tmp_path / "wear.model.json")
        assert saved(again, tmp_path).read_bytes() == first

    def test_without_moments_complete_rows_have_the_same_bits(self, kind, tmp_path):
        model, tried = model_of(kind), world_of(kind)
        again = reloaded(model, tmp_path, moments=False)
        for verb in ("predict", "predict_interval"):
            assert same(*(quietly(getattr(m, verb), tried.rows) for m in (model, again)))
        with pytest.raises(NeedsRows):
            again.summary()
        if tried.lacking is not None:
            with pytest.raises(NeedsRows, match="a row without"):
                again.predict(tried.lacking)
        found = file_of(kind, moments=False)
        assert found["moments"] is None
        assert "scatter" not in json.dumps(found)

    def test_it_follows_the_schema(self, kind):
        for moments in (True, False):
            assert not list(CHECK.iter_errors(file_of(kind, moments=moments)))


@pytest.mark.slow
def test_a_model_of_all_trees_comes_back_in_another_process(tmp_path):
    given_ = world("numbers")
    model = fitted("boosted_pooling", given_)
    path = saved(model, tmp_path)
    np.save(tmp_path / "rows.npy", given_.rows)
    code = (
        "import sys, numpy as np; from poolwise import PooledRegressor; "
        "model = PooledRegressor.load(sys.argv[1]); "
        "print(model.predict(np.load(sys.argv[2])).tobytes().hex())"
    )
    command = [sys.executable, "-c", code, str(path), str(tmp_path / "rows.npy")]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    assert found == model.predict(given_.rows).tobytes().hex()


def test_what_is_not_there_is_not_there_after_loading(tmp_path):
    again = reloaded(model_of("numbers"), tmp_path)
    assert not hasattr(again, "coef_")
    with pytest.raises(NotAvailable, match="boosted_pooling is a weighted mean"):
        _ = again.standard_errors_
    with pytest.raises(NeedsRows):
        again.update(**world("numbers").more)


def test_a_sum_of_trees_that_two_parts_have_is_written_once():
    found = file_of("numbers")["fit"]
    texts = [json.dumps(b) for b in found["boosters"]]
    assert len(set(texts)) == len(texts)
    placed = [p for c in found["columns"] for p in c["boosters"]]
    placed += [p for mean in found["stack"]["trees"].values() for p in mean["boosters"]]
    assert len(placed) > len(set(placed))


def test_a_file_holds_plain_numbers_and_texts_alone():
    def kinds(value):
        if isinstance(value, dict):
            return {k for v in value.values() for k in kinds(v)}
        if isinstance(value, list):
            return {k for v in value for k in kinds(v)}
        return {type(value)}

    assert kinds(file_of("texts")) <= {int, float, str, bool, type(None)}


def test_names_that_are_code_or_markup_stay_texts(tmp_path):
    frame = pd.DataFrame(
        np.random.default_rng(0).normal(size=(40, 2)), columns=["__import__('os')", "<b>new</b>"]
    )
    y = frame.sum(axis=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(derivation, "POOLED", derivation.POOLED._replace(trees=200, leaves=2))
        model = PooledRegressor("boosted_pooling").fit(
            frame[:10], y[:10], sources=(frame[10:].iloc[:, :1], y[10:])
        )
    again = reloaded(model, tmp_path)
    assert_array_equal(again.predict(frame), model.predict(frame))
