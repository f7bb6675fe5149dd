"""What --json prints, on every verb: keys and types that scripts rely on; others, a new version."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.entry import quick
from tests.methods.boosting.few_trees import grow_few

pytestmark = pytest.mark.filterwarnings("ignore::poolwise.errors.LeftOut")

NUMBER = (int, float)
VERDICT = {"level": str, **dict.fromkeys(("basis", "method"), (str, type(None)))}
VERDICT |= {"headline": str, "sentences": [str], "text": str}
WARNINGS = [{"kind": str, "message": str, "hint": str}]
COLUMNS = {
    "response": str,
    "shared": [str],
    "new": [str],
    "partly_shared": [{"name": str, "lacking_in": [str]}],
    "dropped": [{"name": str, "table": str, "why": str}],
    "response_read_as": str,
    "columns": [
        {"name": str, "table": str, "kind": str, "use": str, "why": str, "lacking_in": [str]}
    ],
    "tables": [{"name": str, "rows": int, "without_response": int, "filled": dict, "lacks": [str]}],
    "notes": [str],
}
MAYBE = (*NUMBER, type(None))
VERDICT |= {"probability": MAYBE, "change": MAYBE}
LINE = {"method": str, "rmse": float, "sd": float}
LINE |= dict.fromkeys(("difference", "low", "high", "p", "p_holm"), MAYBE)
SERIES = {k: [NUMBER] for k in ("rows", "gain", "gain_low", "gain_high", "width", "width_alone")}
SERIES |= {"errors": dict, "enough": float}
SERIES |= dict.fromkeys(("stops_at", "stops_low", "stops_high"), MAYBE)
TREES = {
    "candidates": [{"name": str, "words": str, "weight": float, "error": float}],
    "error": float,
    "text": str,
    "effects": [
        {
            "feature": str,
            **{key: [float] for key in ("values", "means", "deviations")},
            "change": float,
            "change_deviation": float,
        }
    ],
}
MEAN_TREES = {"models": int, "weights": dict, "fall": float}
TABLES = ["history.csv", "recent.csv", "--label", "wear"]
VERBS = {
    "fit": (
        ["fit", *TABLES],
        {
            "model": (str, type(None)),
            "report": (str, type(None)),
            "columns": COLUMNS,
            "verdict": VERDICT,
            "summary": {
                "method": str,
                "response": str,
                "intercept": float,
                "intercept_std_error": MAYBE,
                "intercept_low": MAYBE,
                "intercept_high": MAYBE,
                "coefficients": [
                    {
                        "name": str,
                        "coef": float,
                        "std_error": MAYBE,
                        "low": MAYBE,
                        "high": MAYBE,
                        "seen_in": int,
                        **dict.fromkeys(("note", "column", "reference"), str),
                    }
                ],
                "tables": [
                    {
                        "name": str,
                        "rows": int,
                        "lacks": [str],
                        "noise": MAYBE,
                        "weight": MAYBE,
                        "conflict": MAYBE,
                        "level_conflict": MAYBE,
                    }
                ],
                "transfer_gain": MAYBE,
                "cautions": [str],
                "reason": str,
                "trees": (dict, type(None)),
                "share": MAYBE,
                "transform": str,
            },
            "warnings": WARNINGS,
        },
    ),
    "predictions": (
        ["predict", "model.json", "new.csv", "--interval", "0.9"],
        {
            "out": (str, type(None)),
            "rows": int,
            "columns": {"used": [str], "lacking": [str], "ignored": [str], "added": [str]},
            "gaps": {"rows": int, "columns": dict},
            "new_levels": dict,
            "predictions": [
                {"prediction": float, "prediction_low": float, "prediction_high": float}
            ],
            "warnings": WARNINGS,
        },
    ),
    "comparison": (
        ["compare", *TABLES, "--method", "offset", "--folds", "2"],
        {
            "columns": COLUMNS,
            "rows": {"target": int, "held_out": int, "history": int},
            "baseline": str,
            "split": str,
            "methods": [LINE],
            "trees": dict,
            "left_out": [{"method": str, "why": str}],
            "verdict": VERDICT,
            "warnings": WARNINGS,
        },
    ),
    "plan": (
        ["plan", "model.json", "--rows", "40", "--draws", "1"],
        {
            "columns": (dict, type(None)),
            "plan": {**SERIES, "draws": int, "is_linear": bool, "today": dict, "sources": int},
            "verdict": VERDICT,
            "warnings": WARNINGS,
        },
    ),
    "report run": (
        ["report", *TABLES, "--folds", "2", "-o", "r.html"],
        {
            "report": str,
            "columns": COLUMNS,
            "rows": {"target": int, "history": int},
            "verdict": VERDICT,
            "warnings": WARNINGS,
        },
    ),
    "moments report": (
        ["moments", "history.csv", "-o", "h.moments.json"],
        {
            "files": [
                {
                    "path": str,
                    "without": [str],
                    "rows": int,
                    "weight": float,
                    "precision": str,
                    "columns": [str],
                }
            ],
            "left_out": [{"without": [str], "rows": int, "why": str}],
            "rows": {"read": int, "dropped": int, "missing": dict},
            "resumed": bool,
            "warnings": WARNINGS,
        },
    ),
    "demo": (
        ["demo", "--draws", "2"],
        {"stories": [{"name": str, "verdict": VERDICT, "report": str, "figures": [str]}]},
    ),
    "version": (["version"], {"poolwise": str, "python": str, "packages": dict}),
}


def follows(value, schema):
    """Say whether JSON has these keys, no others, and these types."""
    if isinstance(schema, dict):
        same = isinstance(value, dict) and value.keys() == schema.keys()
        return same and all(follows(value[key], schema[key]) for key in schema)
    if isinstance(schema, list):
        return isinstance(value, list) and all(follows(item, schema[0]) for item in value)
    kinds = (*NUMBER,) if schema is float else schema
    return isinstance(value, kinds) and (schema is bool or not isinstance(value, bool))


@pytest.mark.parametrize("format_", [f for f in VERBS if f != "demo"])  # see test_demo_stories.py
def test_json_has_the_documented_keys_and_no_others(fitted, monkeypatch, format_):
    arguments, schema = VERBS[format_]
    told = quick(fitted, monkeypatch, *arguments, "--json")
    assert (told.exit_code, told.stderr) == (0, ""), told.output
    found = json.loads(told.stdout)
    assert found.pop("format") == f"poolwise {format_}"
    assert found.pop("version") == 1
    assert follows(found, schema), found
    filled = [key for key in ("methods", "predictions", "results", "files") if key in found]
    assert all(found[key] for key in filled)


def test_a_model_with_trees_tells_its_candidates(fitted, monkeypatch):
    grow_few(monkeypatch)
    told = quick(fitted, monkeypatch, "fit", *TABLES, "--method", "boosted_pooling", "--json")
    assert told.exit_code == 0, told.output
    found = json.loads(told.stdout)
    trees = found["summary"]["trees"]
    assert follows(trees, TREES)
    assert sum(c["weight"] for c in trees["candidates"]) == pytest.approx(1.0)
    assert [e["feature"] for e in trees["effects"]] == ["vibration"]
    assert found["verdict"]["headline"].startswith("Expected with bayes_pooling, a linear model ")
    assert "This model has RMSE " in found["verdict"]["text"]


def test_a_comparison_tells_what_methods_with_trees_are_made_of(fitted, monkeypatch):
    grow_few(monkeypatch, stages=(1, 2, 4), own=3)
    asked = ["compare", *TABLES, "--method", "boosted_pooling", "--folds", "2", "--json"]
    told = quick(fitted, monkeypatch, *asked)
    assert told.exit_code == 0, told.output
    found = json.loads(told.stdout)
    assert [*found["trees"]] == ["boosted_pooling"]
    assert follows(found["trees"]["boosted_pooling"], MEAN_TREES)
    assert sum(found["trees"]["boosted_pooling"]["weights"].values()) == pytest.approx(1.0)


def test_the_seed_is_that_of_the_trees_too(fitted, monkeypatch):
    grow_few(monkeypatch)
    found = []
    for seed in ("0", "7", "7", "3000000000"):
        asked = [*TABLES, "--method", "derived_pooling", "--seed", seed, "--json"]
        found.append(quick(fitted, monkeypatch, "fit", *asked))
    said = [json.loads(told.stdout) for told in found]
    assert said[1] == said[2]
    assert said[0]["summary"]["coefficients"] != said[1]["summary"]["coefficients"]
    assert said[0]["columns"] == said[1]["columns"]
    assert "--seed" in said[3]["error"]["message"]
    assert "2147483647" in said[3]["error"]["message"]


def test_the_plan_of_tables_says_how_they_were_matched(fitted, monkeypatch):
    few = ["--rows", "40", "--draws", "1", "--json"]
    told = quick(fitted, monkeypatch, "plan", *TABLES, *few)
    assert told.exit_code == 0, told.output
    found = json.loads(told.stdout)
    assert follows(found["columns"], COLUMNS)
    assert found["columns"]["new"] == ["vibration"]
    assert follows(found["plan"], VERBS["plan"][1]["plan"])


def test_the_guide_lists_the_keys_that_are_there():
    page = (Path(__file__).parents[2] / "docs/guides/command_line.md").read_text()
    lines = re.findall(r"^\| `poolwise ([a-z ]+)` \| (`.*`.*) \|$", page, re.MULTILINE)
    listed = {format_: re.findall("`([a-z_]+)`", keys) for format_, keys in lines}
    assert listed.pop("error") == ["error"]
    assert listed == {format_: [*schema] for format_, (_, schema) in VERBS.items()}


def test_answers_are_words_of_the_guide(fitted, monkeypatch):
    page = (Path(__file__).parents[2] / "docs/guides/command_line.md").read_text()
    few = {"fit": [], "compare": ["--method", "offset", "--folds", "2"], "plan": ["--draws", "1"]}
    for verb, options in few.items():
        told = quick(fitted, monkeypatch, verb, *TABLES, *options, "--json")
        assert f"`{json.loads(told.stdout)['verdict']['level']}`" in page, verb


TELLING = ["moments", "recent.csv", "--min-rows", "50", "-o", "h.moments.json"]
WRONG = [
    (["fit", *TABLES[:-1], "x"], 1, "BadColumns", "No column named 'x'."),
    (["fit", *TABLES, "--drop", "x"], 1, "BadColumns", "No column named 'x'."),
    (["fit", "history.csv", "recent.csv"], 2, "UsageError", "Missing option '--label'"),
    (["fit", *TABLES, "-o", "model.json"], 2, "UsageError", "exists already."),
    (["fit", *TABLES, "--csv", "sep=;"], 2, "BadOption", "--csv sep is not possible."),
    (["predict", "model.json", "x.csv"], 1, "BadFile", "No file to read at 'x.csv'."),
    (["compare", *TABLES, "--method", "x"], 2, "UsageError", "No method named 'x'."),
    (["plan", "model.json", "--enough", "-1"], 2, "BadOption", "--enough -1.0 is not possible."),
    (["report", *TABLES], 2, "UsageError", "Missing option '--out'"),
    (TELLING, 1, "TooFewToShare", "has 40 rows, fewer than 50."),
    (["demo", "-o", "new.csv"], 2, "UsageError", "new.csv is a file."),
    (["version", "--much"], 2, "UsageError", "--much"),
    (["fti"], 2, "UsageError", "fti"),
]


@pytest.mark.parametrize(("arguments", "code", "kind", "says"), WRONG)
def test_what_is_wrong_is_one_object_with_kind_and_message(
    fitted, monkeypatch, arguments, code, kind, says
):
    told = quick(fitted, monkeypatch, *arguments, "--json")
    assert told.exit_code == code, told.output
    found = json.loads(told.stdout)
    assert [*found] == ["format", "version", "error"]
    assert (found["format"], found["version"]) == ("poolwise error", 1)
    assert found["error"].keys() == {"kind", "message", "hint"}
    assert found["error"]["kind"] == kind
    assert says in found["error"]["message"]
    said = f"{found['error']['message']} {found['error']['hint']}"
    assert " ".join(said.split()) in " ".join(told.stderr.split())
    plain = quick(fitted, monkeypatch, *arguments)
    assert plain.exit_code == code
    assert "{" not in plain.stdout


def test_a_schema_that_is_not_met_is_noticed():
    assert follows({"a": [1.5], "b": None}, {"a": [float], "b": MAYBE})
    assert not follows({"a": [1.5]}, {"a": [float], "b": MAYBE})
    assert not follows({"a": "1.5", "b": 2}, {"a": [float], "b": MAYBE})
    assert not follows(True, int)
