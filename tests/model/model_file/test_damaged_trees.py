"""Damaged files of models with trees: our error, or a model that works."""

import json
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poolwise import PooledRegressor
from poolwise.errors import BadFile
from tests.model.model_file.damage import at, cut, loaded, put
from tests.model.model_file.derived_models import file_of, world_of
from tests.model.model_file.reloading import quietly_also_sklearn, same
from tests.model.model_file.test_schema import CHECK
from tests.mutations import mutations

B = ("fit", "boosters", 0)
C = ("fit", "columns", 0)
S = ("fit", "stack")
T = (*S, "trees", "pooled_trees")


def changed(*at, by):
    """Return a change of one entry by a function."""

    def apply(data):
        inner = data
        for key in at[:-1]:
            inner = inner[key]
        inner[at[-1]] = by(inner[at[-1]])
        return data

    return apply


def node(key, value, *, leaf):
    """Return a change of one node of the first tree: the root, or its first leaf."""

    def apply(data):
        booster = data["fit"]["boosters"][0]
        leaves = [i for i, child in enumerate(booster["left"]) if child == i]
        place = leaves[0] if leaf else 0
        booster[key][place] = value(place) if callable(value) else value
        return data

    return apply


CHILD = "a child that does not come after it in its tree " + at(*B)
BAD = {
    "fit lacks boosters": (
        cut("fit", "boosters"),
        "missing required field `boosters` " + at("fit"),
    ),
    "fit has more": (put(1, "fit", "code"), "unknown field `code` " + at("fit")),
    "boosters are an object": (put({}, "fit", "boosters"), at("fit", "boosters")),
    "no boosters": (put([], "fit", "boosters"), "a booster that does not exist"),
    "booster is null": (put(None, *B), at(*B)),
    "booster lacks": (cut(*B, "value"), "missing required field `value` " + at(*B)),
    "baseline is text": (put("0", *B, "baseline"), at(*B, "baseline")),
    "threshold is text": (put("1", *B, "threshold", 0), at(*B, "threshold", 0)),
    "threshold is null": (put(None, *B, "threshold", 0), at(*B, "threshold", 0)),
    "threshold beyond": (put(10**400, *B, "threshold", 0), at(*B, "threshold", 0)),
    "a threshold less": (cut(*B, "threshold", 0), r"`threshold` must have \d+ entries " + at(*B)),
    "a value less": (cut(*B, "value", 0), r"`value` must have \d+ entries " + at(*B)),
    "value is true": (put(True, *B, "value", 0), at(*B, "value", 0)),
    "values beyond": (
        changed(*B, "value", by=lambda v: [1.7e308] * len(v)),
        "sum of trees is beyond",
    ),
    "baseline beyond": (put(1.7e308, *B, "baseline"), "sum of trees is beyond"),
    "child before its parent": (node("left", -1, leaf=False), at(*B, "left", 0)),
    "child in another tree": (
        lambda data: node("left", data["fit"]["boosters"][0]["roots"][1], leaf=False)(data),
        CHILD,
    ),
    "child out of range": (node("right", 10**6, leaf=False), CHILD),
    "child beyond integers": (node("right", 2**40, leaf=False), at(*B, "right", 0)),
    "child a fraction": (node("left", 1.0, leaf=False), at(*B, "left", 0)),
    "a cycle": (node("left", 0, leaf=True), CHILD),
    "half a leaf": (node("left", lambda place: place, leaf=False), CHILD),
    "feature out of range": (node("feature", 99, leaf=False), "a column that does not exist"),
    "feature negative": (node("feature", -1, leaf=False), at(*B, "feature", 0)),
    "feature a fraction": (node("feature", 0.5, leaf=False), at(*B, "feature", 0)),
    "missing is true": (put(True, *B, "missing_left", 0), at(*B, "missing_left", 0)),
    "missing is two": (put(2, *B, "missing_left", 0), at(*B, "missing_left", 0)),
    "missing is negative": (put(-1, *B, "missing_left", 0), at(*B, "missing_left", 0)),
    "roots begin late": (put(1, *B, "roots", 0), "`roots` must rise from 0 on"),
    "roots fall": (changed(*B, "roots", by=lambda r: r[::-1]), "`roots` must rise from 0 on"),
    "roots twice": (changed(*B, "roots", by=lambda r: [0, *r[:-1]]), "`roots` must rise from 0 on"),
    "root out of range": (put(10**6, *B, "roots", -1), "`roots` must rise from 0 on"),
    "nodes without a root": (put([], *B, "roots"), "`roots` must rise from 0 on"),
    "a tree less": (changed(*B, "roots", by=lambda r: r[:-1]), "does not have the . trees of its"),
    "columns are null": (put(None, "fit", "columns"), at("fit", "columns")),
    "a column less": (
        put([], "fit", "columns"),
        "the `names` of a fit differ from the columns",
    ),
    "column lacks": (cut(*C, "trees"), "missing required field `trees` " + at(*C)),
    "column is a feature": (put("marker", *C, "name"), "more than one column named 'marker'"),
    "column is the response": (put("wear", *C, "name"), "more than one column named 'wear'"),
    "column is a number": (put(3, *C, "name"), at(*C, "name")),
    "inputs of strangers": (put(["q"], *C, "inputs"), "not columns of the model"),
    "no inputs": (put([], *C, "inputs"), at(*C, "inputs")),
    "inputs twice": (put(["marker", "marker"], *C, "inputs"), "more than one input named"),
    "no trees": (put(0, *C, "trees"), "does not have the 0 trees"),
    "trees beyond": (put(2**21, *C, "trees"), at(*C, "trees")),
    "trees are text": (put("2", *C, "trees"), at(*C, "trees")),
    "no booster": (put([], *C, "boosters"), at(*C, "boosters")),
    "booster out of range": (put(10**6, *C, "boosters", 0), "a booster that does not exist"),
    "booster negative": (put(-1, *C, "boosters", 0), at(*C, "boosters", 0)),
    "moments without derived ones": (
        put(None, "moments", "derived"),
        "a fit with trees needs `moments.derived`",
    ),
    "derived moments of others": (
        lambda data: put(
            {key: data["moments"][key] for key in ("target", "sources")}, "moments", "derived"
        )(data),
        "the columns of a target and of the fit differ",
    ),
    "a pool": (
        lambda data: put(data["moments"]["target"], "moments", "pool")(data),
        "needs `moments.derived`, and has no pool",
    ),
    "stack is a list": (put([], *S), at(*S)),
    "stack lacks": (cut(*S, "spread"), "missing required field `spread` " + at(*S)),
    "linear is null": (put(None, *S, "linear"), at(*S, "linear")),
    "linear of others": (
        lambda data: put(deepcopy(data["fit"]["linear"]), *S, "linear")(data),
        "the `names` of a fit differ from the columns",
    ),
    "linear is a stack": (put("trees", *S, "linear", "kind"), at(*S, "linear", "kind")),
    "unknown candidate": (
        lambda data: put({"os.system": data["fit"]["stack"]["correction"]}, *S, "trees")(data),
        "invalid value 'os.system'",
    ),
    "line among trees": (
        lambda data: put({"linear": data["fit"]["stack"]["correction"]}, *S, "trees")(data),
        "invalid value 'linear'",
    ),
    "mean lacks": (cut(*T, "constant"), "missing required field `constant`"),
    "constant is null": (put(None, *T, "constant"), at(*S, "trees", "...", "constant")),
    "correction is a list": (put([], *S, "correction"), at(*S, "correction")),
    "correction out of range": (
        put([10**6], *S, "correction", "boosters"),
        "a booster that does not exist",
    ),
    "a weight less": (
        changed(*S, "weights", by=lambda w: [sum(w[:2]), *w[2:]]),
        r"`weights` must have \d entries",
    ),
    "weights sum to two": (
        changed(*S, "weights", by=lambda w: [2.0 * x for x in w]),
        "`weights` must sum to one " + at(*S),
    ),
    "a negative weight": (
        changed(*S, "weights", by=lambda w: [w[0] + 2.0, w[1] - 2.0, *w[2:]]),
        at(*S, "weights", 1),
    ),
    "bounds backwards": (put([2.0, 1.0], *S, "bounds"), "bound, 1, is below the lower bound, 2"),
    "a bound is null": (put([None, 1.0], *S, "bounds"), at(*S, "bounds", 0)),
    "evidence lacks": (cut(*S, "held_out", "fall"), "missing required field `fall`"),
    "an error less": (cut(*S, "held_out", "errors", 0), r"`errors` must have \d entries"),
    "an error negative": (put(-1.0, *S, "held_out", "errors", 0), at(*S, "held_out", "errors", 0)),
    "fall error negative": (put(-1.0, *S, "held_out", "fall_error"), ">= 0.0 at .*fall_error"),
    "evidence of no rows": (put(0, *S, "held_out", "rows"), at(*S, "held_out", "rows")),
    "rows a fraction": (put(1.5, *S, "held_out", "rows"), at(*S, "held_out", "rows")),
    "spread of no rows": (put(0.0, *S, "spread", "rows"), at(*S, "spread", "rows")),
    "deviation negative": (put(-1.0, *S, "spread", "deviation"), at(*S, "spread", "deviation")),
    "no sizes": (put([], *S, "spread", "sizes"), at(*S, "spread", "sizes")),
    "sizes fall": (put([2.0, 1.0], *S, "spread", "sizes"), "`sizes` must rise " + at(*S, "spread")),
    "sizes negative": (put([-1.0], *S, "spread", "sizes"), at(*S, "spread", "sizes", 0)),
    "too many sizes": (put([1.0] * 1001, *S, "spread", "sizes"), "length <= 1000"),
    "effect of a stranger": (put("q", *S, "effects", 0, "feature"), "'q', which is not a feature"),
    "effect lacks": (cut(*S, "effects", 0, "change"), "missing required field `change`"),
    "effect of nothing": (
        changed(*S, "effects", 0, by=lambda e: e | {"values": [], "means": [], "deviations": []}),
        at(*S, "effects", 0, "values"),
    ),
    "values of an effect fall": (
        changed(*S, "effects", 0, "values", by=lambda v: v[::-1]),
        "`values` must rise " + at(*S, "effects", 0),
    ),
    "means of an effect short": (cut(*S, "effects", 0, "means", 0), "must have the same length"),
    "deviation of an effect negative": (
        put(-1.0, *S, "effects", 0, "change_deviation"),
        at(*S, "effects", 0, "change_deviation"),
    ),
    "effect twice": (
        changed(*S, "effects", by=lambda e: [*e, e[0]]),
        "more than one effect of a feature named",
    ),
    "reason is null": (put(None, "fit", "reason"), at("fit", "reason")),
    "fit without the column": (
        lambda data: put(deepcopy(data["fit"]["stack"]["linear"]), "fit", "linear")(data),
        "the `names` of a fit differ from the columns",
    ),
}


class TestReading:
    @pytest.mark.parametrize("kind", BAD)
    def test_what_contradicts_itself_is_refused_by_file_and_reason(self, kind):
        change, why = BAD[kind]
        with pytest.raises(BadFile, match=rf"(?s)b\.model\.json cannot be read.*{why}"):
            loaded(change(deepcopy(file_of("texts"))))

    def test_the_file_that_these_change_is_a_good_one(self):
        found = deepcopy(file_of("texts"))
        loaded(found)
        assert 0 not in found["fit"]["boosters"][0]["left"][:1]  # its root is not a leaf
        assert len(found["fit"]["boosters"][0]["roots"]) > 1
        assert len(found["fit"]["stack"]["effects"]) > 1

    def test_loading_grows_no_tree(self, monkeypatch):
        found = file_of("texts")
        monkeypatch.setattr("poolwise.methods.boosting.booster._lightgbm", None)
        assert loaded(found).fitted.fit.stack is not None


FUZZED = ("numbers", "texts", "two sets", "large and small", "derived")


def with_kinds(found):
    """Fill in the kind of lines inside a fit, which can be no other: readers do not ask for it."""
    fit = found["fit"]
    for line in (fit["linear"], *((fit.get("stack") or {}).get(n) for n in ("linear", "alone"))):
        if line is not None:
            line.setdefault("kind", "linear")
    return found


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(st.data())
def test_a_mutated_file_gives_our_error_or_a_model_that_works(tmp_path_factory, data):
    kind = data.draw(st.sampled_from(FUZZED))
    found = deepcopy(file_of(kind, moments=data.draw(st.booleans())))
    found["fit"] = data.draw(mutations(found["fit"]))
    path = tmp_path_factory.mktemp("mutant") / "a.model.json"
    path.write_text(json.dumps(found))
    try:
        model = PooledRegressor.load(path)
    except BadFile:
        return
    assert not list(CHECK.iter_errors(with_kinds(found)))
    assert_works(model, world_of(kind), path)


def assert_works(model, tried, path):
    """Ask all that a model may be asked; errors of ours are answers too."""
    has_moments = model.problem_ is not None
    model.save(path, overwrite=True, moments=has_moments)
    again = PooledRegressor.load(path)
    for rows in (tried.rows, tried.lacking):
        answer = quietly_also_sklearn(model.predict, rows)
        assert isinstance(answer, str) or np.isfinite(answer).all()
        assert same(answer, quietly_also_sklearn(again.predict, rows))
    ends = quietly_also_sklearn(model.predict_interval, tried.rows)
    assert isinstance(ends, str) or np.isfinite(ends).all()
    str(quietly_also_sklearn(model.summary))
