"""to_onnx: onnxruntime predicts what the model predicts, in doubles."""

import json
import sys
import warnings

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from poolwise import PooledRegressor
from poolwise.errors import NotInstalled, NotWritten, PredictionsBounded
from poolwise.methods import BayesPooling
from poolwise.model.exports import Line, TextTerm, graph
from tests.linear_methods import LINEAR_METHODS
from tests.model.model_file.worlds import WORLDS, fitted, world

CLOSE = 1e-12  # the same terms, added in another order


def run(exported, rows, names):
    """Predict rows with onnxruntime, as a reader who knows the file alone would."""
    frame = pd.DataFrame(rows)
    frame.columns = names
    session = onnxruntime.InferenceSession(
        exported.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    told = session.get_modelmeta().custom_metadata_map
    kinds = {"numbers": np.float64, "texts": object}
    given = {k: frame[json.loads(told[k])].to_numpy(dtype) for k, dtype in kinds.items()}
    wanted = {i.name for i in session.get_inputs()}
    return session.run(["prediction"], {k: v for k, v in given.items() if k in wanted})[0]


def names_of(model):
    return [c.name for c in model.columns_]


@pytest.mark.parametrize("kind", WORLDS)
def test_it_predicts_what_the_model_predicts(kind):
    given = world(kind)
    for method in ("bayes_pooling", "data_pooling"):
        model = fitted(method, given)
        found = run(model.to_onnx(), given.rows, names_of(model))
        assert found.dtype == np.float64
        assert_allclose(found, model.predict(given.rows), rtol=CLOSE)


@pytest.mark.parametrize("method", LINEAR_METHODS)
def test_every_method_has_an_export(method):
    given = world("texts")
    model = fitted(method, given)
    found = run(model.to_onnx(), given.rows, names_of(model))
    assert_allclose(found, model.predict(given.rows), rtol=CLOSE)


@pytest.mark.parametrize("without", [["marker"], ["kind"], ["kind", "marker"]])
def test_rows_without_columns_have_their_own_export(without):
    given = world("texts")
    model = fitted("bayes_pooling", given)
    rows = given.rows.drop(columns=without)
    found = run(model.to_onnx(without=without), rows, list(rows.columns))
    assert_allclose(found, model.predict(rows), rtol=CLOSE)


@pytest.mark.parametrize("bounds", [0.5, (0.0, np.inf), (-np.inf, 0.0), None])
def test_bounds_hold(bounds):
    given = world("numbers")
    model = fitted(BayesPooling(bounds=bounds), given)
    far = 1e6 * given.rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PredictionsBounded)
        expected = model.predict(far)
    assert_allclose(run(model.to_onnx(), far, names_of(model)), expected, rtol=CLOSE)


@pytest.mark.parametrize("bounds", [0.5, None])
def test_a_missing_number_gives_nan_even_where_there_are_bounds(bounds):
    given = world("numbers")
    model = fitted(BayesPooling(bounds=bounds), given)
    found = run(model.to_onnx(), given.lacking, names_of(model))
    gone = np.isnan(given.lacking).any(axis=1)
    assert np.isnan(found).tolist() == gone.tolist()
    assert 0 < gone.sum() < len(gone)


@pytest.mark.filterwarnings("ignore:X has:poolwise.errors.DataWarning")
def test_a_text_that_no_table_had_gives_nan_or_the_mean_effect():
    given = world("texts")
    rows = given.rows.copy()
    rows.iloc[0, 1] = "elsewhere"
    rows.iloc[1, 1] = rows.iloc[1, 1] + " "
    model = fitted("data_pooling", given._replace(options={"strict": True}))
    found = run(model.to_onnx(), rows, names_of(model))
    assert np.isnan(found[:2]).all()
    assert_allclose(found[2:], model.predict(rows[2:]), rtol=CLOSE)
    for intercept in (True, False):
        options = {"fit_intercept": intercept}
        model = fitted("data_pooling", given._replace(options=options))
        found = run(model.to_onnx(), rows, names_of(model))
        assert_allclose(found, model.predict(rows), rtol=CLOSE)


@pytest.mark.parametrize("kind", ["texts", "numbers"])
def test_no_rows_are_predicted_as_no_rows(kind):
    given = world(kind)
    model = fitted("bayes_pooling", given)
    assert run(model.to_onnx(), given.rows[:0], names_of(model)).shape == (0,)


def test_a_model_of_texts_alone_is_one():
    frame = pd.DataFrame({"a": list("xyzxyzxyz"), "b": list("ppqqppqqp")})
    model = PooledRegressor("target_only").fit(frame, np.arange(9.0))
    exported = model.to_onnx()
    assert [i.name for i in exported.graph.input] == ["texts"]
    assert_allclose(run(exported, frame, ["a", "b"]), model.predict(frame), rtol=CLOSE)


def test_the_file_says_which_columns_it_takes(tmp_path):
    model = fitted("data_pooling", world("texts"))
    onnx.save(model.to_onnx(), tmp_path / "model.onnx")
    told = {p.key: json.loads(p.value) for p in onnx.load(tmp_path / "model.onnx").metadata_props}
    texts = [c.name for c in model.columns_ if c.levels is not None]
    assert told["texts"] == texts
    assert told["numbers"] == [n for n in names_of(model) if n not in texts]
    assert told["response"] == "wear"


def test_operators_are_of_the_standard_set_alone():
    exported = fitted("bayes_pooling", world("texts")).to_onnx()
    assert [(o.domain, o.version) for o in exported.opset_import] == [("", 19)]
    assert {n.domain for n in exported.graph.node} == {""}


def test_a_level_that_is_no_unicode_is_refused():
    term = TextTerm("a", {"x": 0.0, "\ud800": 1.0}, 0.0)
    with pytest.raises(NotWritten, match="ONNX: a level of column 'a' is not valid Unicode"):
        graph(Line(0.0, (term,), None, "y", True))


def test_without_the_package_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(NotInstalled, match=r"poolwise\[onnx\]"):
        fitted("target_only", world("numbers")).to_onnx()
