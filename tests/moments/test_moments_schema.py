"""The published schema of moments files: what is written and read follows it."""

import json
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from poolwise.errors import BadFile
from poolwise.moments.moments_json import FORMAT
from tests.moments.stored_moments import PRECISIONS, data_of, loaded, made, moments_of
from tests.moments.test_damaged_moments import FILES
from tests.mutations import mutations

PUBLISHED = (files("poolwise") / "moments" / "moments-1.schema.json").read_text("utf-8")
CHECK = Draft202012Validator(json.loads(PUBLISHED))


def test_the_published_schema_is_printed_from_the_declaration():
    assert FORMAT.schema() == PUBLISHED, "run: make schemas"
    Draft202012Validator.check_schema(json.loads(PUBLISHED))


@pytest.mark.parametrize("precision", PRECISIONS)
def test_what_is_written_follows_the_schema(precision, tmp_path):
    for moments in made(precision).values():
        assert not list(CHECK.iter_errors(data_of(moments, tmp_path)))


def test_the_schema_refuses_what_the_reader_does(tmp_path):
    data = data_of(moments_of(precision="exact"), tmp_path)
    wrong = [("rows", -1), ("rows", 1.5), ("names", ["a", "a", "b"]), ("low", ["x", 1.0, 2.0])]
    wrong += [("version", 2), ("sums", {"units": []}), ("weight", True), ("mean", None)]
    for key, value in wrong:
        assert not CHECK.is_valid(data | {key: value})
        with pytest.raises(BadFile):
            loaded(data | {key: value})


@settings(deadline=None, max_examples=100)
@given(st.sampled_from(FILES).flatmap(mutations))
def test_what_the_reader_takes_the_schema_takes(data):
    try:
        loaded(data)
    except BadFile:
        return
    assert not list(CHECK.iter_errors(data))
