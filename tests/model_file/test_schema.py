"""The published schema of model files: what is written follows it, and no reader is laxer."""

import json
from copy import deepcopy
from importlib.resources import files as package_files
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from poolwise.errors import UnreadableModel
from poolwise.model_file.fits import KEYS as FIT_KEYS
from poolwise.model_file.reading import KEYS, record_of
from tests.model_file.damage import BAD, KINDS, files, text_of_model
from tests.model_file.worlds import EVERY_METHOD, WORLDS, fitted, world
from tests.mutations import mutations


def schema(name):
    return json.loads((package_files("poolwise") / "schemas" / name).read_text("utf-8"))


MODEL, MOMENTS = schema("model-1.schema.json"), schema("moments-1.schema.json")
REGISTRY = Registry().with_resources(
    [(s["$id"], Resource.from_contents(s)) for s in (MODEL, MOMENTS)]
)
CHECK = Draft202012Validator(MODEL, registry=REGISTRY)


@pytest.mark.parametrize("which", [MODEL, MOMENTS], ids=["model", "moments"])
def test_a_schema_is_one(which):
    Draft202012Validator.check_schema(which)


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


def test_schema_and_reader_have_the_same_keys():
    assert MODEL["properties"].keys() == {"format", "version", *KEYS} == set(MODEL["required"])
    fit = MODEL["$defs"]["fit"]
    assert fit["properties"].keys() == set(FIT_KEYS) == set(fit["required"])


def test_the_schema_refuses_half_of_what_the_reader_refuses():
    refused = [not CHECK.is_valid(change(deepcopy(files()[0]))) for change, _ in BAD.values()]
    assert sum(refused) > len(BAD) / 2  # the others contradict themselves, which no schema sees


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(st.sampled_from(range(len(KINDS))), st.data())
def test_what_the_reader_takes_the_schema_takes(which, data):
    found = data.draw(mutations(files()[which]))
    try:
        record_of(json.dumps(found), "here")
    except UnreadableModel:
        return
    assert not list(CHECK.iter_errors(found))


def test_the_schema_travels_with_the_package():
    hatchling = pytest.importorskip("hatchling.builders.wheel")
    root = Path(__file__).parents[2]
    shipped = {
        f.distribution_path for f in hatchling.WheelBuilder(str(root)).recurse_included_files()
    }
    assert "poolwise/schemas/model-1.schema.json" in shipped
