"""The published schema of moments: what is written follows it, and it travels with the package."""

import json
import math
import re
from importlib.resources import files
from pathlib import Path

import pytest

from tests.stored_moments import PRECISIONS, data_of, made, moments_of

SCHEMA = json.loads((files("poolwise") / "schemas" / "moments-1.schema.json").read_text("utf-8"))


def check(value, schema, where="file"):
    """Check a value against the part of JSON Schema that our schema uses."""
    known = {"$schema", "$id", "title", "description", "type", "required", "additionalProperties"}
    known |= {"properties", "items", "const", "minimum", "maximum", "pattern", "uniqueItems"}
    assert schema.keys() <= known, "teach this function the word"
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float)}
    if "type" in schema:
        wanted = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        assert any(
            value is None if kind == "null" else isinstance(value, kinds[kind]) for kind in wanted
        ), where
        assert not isinstance(value, bool), where
    if "const" in schema:
        assert value == schema["const"], where
    if isinstance(value, int | float):
        assert schema.get("minimum", -math.inf) <= value <= schema.get("maximum", math.inf), where
    if isinstance(value, str):
        assert re.search(schema.get("pattern", ""), value), where
    if isinstance(value, list):
        assert not schema.get("uniqueItems") or len(set(value)) == len(value), where
        for k, item in enumerate(value):
            check(item, schema.get("items", {}), f"{where}[{k}]")
    if isinstance(value, dict):
        assert set(schema.get("required", ())) <= value.keys(), where
        properties = schema.get("properties", {})
        assert schema.get("additionalProperties", True) or value.keys() <= properties.keys(), where
        for key, item in value.items():
            check(item, properties.get(key, {}), f"{where}.{key}")


class TestSchema:
    @pytest.mark.parametrize("precision", PRECISIONS)
    def test_what_is_written_follows_the_published_schema(self, precision, tmp_path):
        for moments in made(precision).values():
            check(data_of(moments, tmp_path), SCHEMA)

    def test_the_check_of_this_test_refuses_what_the_schema_does(self, tmp_path):
        data = data_of(moments_of(precision="exact"), tmp_path)
        wrong = [("rows", -1), ("rows", 1.5), ("names", ["a", "a", "b"]), ("low", ["x", 1.0, 2.0])]
        wrong += [("version", 2), ("sums", {"units": []}), ("weight", True), ("mean", None)]
        for key, value in wrong:
            with pytest.raises(AssertionError):
                check(data | {key: value}, SCHEMA)

    def test_schema_and_reader_have_the_same_keys(self, tmp_path):
        data = data_of(moments_of(), tmp_path)
        assert data.keys() == SCHEMA["properties"].keys() == set(SCHEMA["required"])

    def test_the_schema_travels_with_the_package(self):
        hatchling = pytest.importorskip("hatchling.builders.wheel")
        root = Path(__file__).parents[1]
        shipped = {
            f.distribution_path for f in hatchling.WheelBuilder(str(root)).recurse_included_files()
        }
        assert "poolwise/schemas/moments-1.schema.json" in shipped
