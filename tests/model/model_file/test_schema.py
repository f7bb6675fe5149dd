"""The published schema of model files: what is written and read follows it."""

import json
from copy import deepcopy
from importlib.resources import files as package_files
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from poolwise.errors import BadFile
from poolwise.methods import METHODS
from poolwise.model.model_file.model_json import FORMAT
from tests.model.model_file.damage import BAD, KINDS, files, loaded, text_of_model
from tests.model.model_file.worlds import EVERY_METHOD, WORLDS, fitted, world
from tests.mutations import mutations

PUBLISHED = (package_files("poolwise") / "model" / "model-1.schema.json").read_text("utf-8")
MODEL = json.loads(PUBLISHED)
CHECK = Draft202012Validator(MODEL)


def test_the_published_schema_is_printed_from_the_declaration():
    assert FORMAT.schema() == PUBLISHED, "run: make schemas"
    Draft202012Validator.check_schema(MODEL)


def test_every_method_is_declared_with_its_parameters():
    for name, kind in METHODS.items():
        declared = MODEL["$defs"][kind.__name__]
        assert declared["properties"].keys() == {"name", *kind().get_params()}
        assert declared["properties"]["name"] == {"enum": [name]}


@pytest.mark.parametrize("kind", WORLDS)
def test_what_is_written_follows_the_schema(kind):
    model = fitted("feature_transfer", world(kind))
    for moments in (True, False):
        found = json.loads(text_of_model(model, moments=moments))
        assert not list(CHECK.iter_errors(found))


@pytest.mark.parametrize("method", EVERY_METHOD)
def test_every_method_follows_the_schema(method):
    model = fitted(EVERY_METHOD[method], world("weights, two sources"))
    assert not list(CHECK.iter_errors(json.loads(text_of_model(model))))


def test_the_schema_refuses_half_of_what_the_reader_refuses():
    refused = [not CHECK.is_valid(change(deepcopy(files()[0]))) for change, _ in BAD.values()]
    assert sum(refused) > len(BAD) / 2  # the others contradict themselves, which no schema sees


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(st.sampled_from(range(len(KINDS))), st.data())
def test_what_the_reader_takes_the_schema_takes(which, data):
    found = data.draw(mutations(files()[which]))
    try:
        loaded(found)
    except BadFile:
        return
    assert not list(CHECK.iter_errors(found))


def test_the_schemas_travel_with_the_package():
    hatchling = pytest.importorskip("hatchling.builders.wheel")
    root = Path(__file__).parents[3]
    shipped = {
        f.distribution_path for f in hatchling.WheelBuilder(str(root)).recurse_included_files()
    }
    assert {
        "poolwise/model/model-1.schema.json",
        "poolwise/moments/moments-1.schema.json",
    } <= shipped
