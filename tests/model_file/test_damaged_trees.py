"""Damaged files of models with trees: our error, or a model that works."""

import json
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poolwise import PooledRegressor
from poolwise.errors import UnreadableModel
from tests.model_file.damage import cut, loaded, put
from tests.model_file.derived_models import file_of, world_of
from tests.model_file.reloading import quietly_also_sklearn, same
from tests.model_file.test_schema import CHECK
from tests.mutations import mutations

B = ("derived", "boosters", 0)
S = ("derived", "stack")


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
        booster = data["derived"]["boosters"][0]
        leaves = [i for i, child in enumerate(booster["left"]) if child == i]
        place = leaves[0] if leaf else 0
        booster[key][place] = value(place) if callable(value) else value
        return data

    return apply


CHILD = "a child that does not come after it in its tree"
BAD = {
    "derived is a list": (put([], "derived"), "derived is a list where an object is needed"),
    "derived lacks": (cut("derived", "boosters"), "derived has the keys"),
    "derived knows more": (put(1, "derived", "code"), "derived has the keys"),
    "boosters are an object": (put({}, "derived", "boosters"), "boosters is a dict where a list"),
    "no boosters": (
        put([], "derived", "boosters"),
        "boosters holds something that is not a whole number",
    ),
    "booster is null": (put(None, *B), "a booster is None where an object"),
    "booster lacks": (cut(*B, "value"), "a booster has the keys"),
    "baseline is text": (put("0", *B, "baseline"), "baseline holds something that is not a number"),
    "threshold is text": (put("1", *B, "threshold", 0), "threshold holds something that is not"),
    "threshold is null": (put(None, *B, "threshold", 0), "threshold holds something that is not"),
    "threshold beyond": (put(10**400, *B, "threshold", 0), "threshold holds a number beyond"),
    "a threshold less": (cut(*B, "threshold", 0), r"threshold is \d+ entries where a list of"),
    "a value less": (cut(*B, "value", 0), r"value is \d+ entries where a list of"),
    "value is true": (put(True, *B, "value", 0), "value holds something that is not a number"),
    "values beyond": (
        changed(*B, "value", by=lambda v: [1.7e308] * len(v)),
        "sum of trees is beyond",
    ),
    "baseline beyond": (put(1.7e308, *B, "baseline"), "sum of trees is beyond"),
    "child before its parent": (node("left", -1, leaf=False), CHILD),
    "child in another tree": (
        lambda data: node("left", data["derived"]["boosters"][0]["roots"][1], leaf=False)(data),
        CHILD,
    ),
    "child out of range": (node("right", 10**6, leaf=False), CHILD),
    "child beyond integers": (node("right", 2**40, leaf=False), "right holds something that is"),
    "child a fraction": (node("left", 1.0, leaf=False), "left holds something that is not a whole"),
    "a cycle": (node("left", 0, leaf=True), CHILD),
    "half a leaf": (node("left", lambda place: place, leaf=False), CHILD),
    "feature out of range": (node("feature", 99, leaf=False), "a column that is not there"),
    "feature negative": (node("feature", -1, leaf=False), "a column of a negative place"),
    "feature a fraction": (node("feature", 0.5, leaf=False), "feature holds something that is"),
    "missing is true": (put(True, *B, "missing_left", 0), "missing_left holds something"),
    "missing is two": (put(2, *B, "missing_left", 0), "missing_left holds something that is not"),
    "missing is negative": (put(-1, *B, "missing_left", 0), "a negative place"),
    "roots begin late": (put(1, *B, "roots", 0), "the roots of trees do not rise from 0 on"),
    "roots fall": (changed(*B, "roots", by=lambda r: r[::-1]), "the roots of trees do not rise"),
    "roots twice": (changed(*B, "roots", by=lambda r: [0, *r[:-1]]), "the roots of trees do not"),
    "root out of range": (put(10**6, *B, "roots", -1), "the roots of trees do not rise"),
    "nodes without a root": (put([], *B, "roots"), "the roots of trees do not rise"),
    "a tree less": (
        changed(*B, "roots", by=lambda r: r[:-1]),
        "does not have the . trees that it should have",
    ),
    "columns are null": (put(None, "derived", "columns"), "derived columns is None where a list"),
    "a column less": (put([], "derived", "columns"), "in its problem, the columns of the target"),
    "column lacks": (cut("derived", "columns", 0, "trees"), "a derived column has the keys"),
    "column is a feature": (put("marker", "derived", "columns", 0, "name"), "name of another"),
    "column is the response": (put("wear", "derived", "columns", 0, "name"), "name of another"),
    "column is a number": (put(3, "derived", "columns", 0, "name"), "a name is 3 where a text"),
    "inputs of strangers": (put(["q"], "derived", "columns", 0, "inputs"), "not columns of the"),
    "no inputs": (put([], "derived", "columns", 0, "inputs"), "not columns of the model"),
    "inputs twice": (
        put(["marker", "marker"], "derived", "columns", 0, "inputs"),
        "more than one column named",
    ),
    "no trees": (put(0, "derived", "columns", 0, "trees"), "does not have the 0 trees"),
    "trees beyond": (put(2**21, "derived", "columns", 0, "trees"), "trees holds something that"),
    "trees are text": (put("2", "derived", "columns", 0, "trees"), "trees holds something that"),
    "no booster": (put([], "derived", "columns", 0, "boosters"), "no booster, or one that is not"),
    "booster out of range": (
        put(10**6, "derived", "columns", 0, "boosters", 0),
        "boosters holds something that is not a whole number",
    ),
    "booster negative": (put(-1, "derived", "columns", 0, "boosters", 0), "one that is not there"),
    "moments without their problem": (put(None, "derived", "problem"), "moments of one and not"),
    "problem of others": (
        lambda data: put(
            {k: data["moments"][k] for k in ("intercept", "units", "target", "sources")},
            "derived",
            "problem",
        )(data),
        "in its problem, the columns of the target are not those",
    ),
    "stack is a list": (put([], *S), "in its stack, the object is a list"),
    "stack lacks": (cut(*S, "spread"), "in its stack, the object has the keys"),
    "linear is null": (put(None, *S, "linear"), "in linear, the fit is None"),
    "linear of others": (
        lambda data: put(deepcopy(data["fit"]), *S, "linear")(data),
        "in linear, its names are not those",
    ),
    "unknown candidate": (put("os.system", *S, "trees", 0, "name"), "name of a candidate is"),
    "candidate twice": (
        changed(*S, "trees", by=lambda t: [*t, t[0]]),
        "it has the candidate 'pooled_trees' twice",
    ),
    "line among trees": (put("linear", *S, "trees", 0, "name"), "the candidate 'linear' twice"),
    "mean lacks": (cut(*S, "trees", 0, "mean", "constant"), "a mean of trees has the keys"),
    "constant is null": (put(None, *S, "trees", 0, "mean", "constant"), "constant holds"),
    "correction is a list": (put([], *S, "correction"), "a mean of trees is a list"),
    "correction out of range": (
        put([10**6], *S, "correction", "boosters"),
        "boosters holds something that is not a whole number",
    ),
    "a weight less": (cut(*S, "weights", 0), r"weights is \d entries where a list of"),
    "weights sum to two": (
        changed(*S, "weights", by=lambda w: [2.0 * x for x in w]),
        "negative, or do not sum to one",
    ),
    "a negative weight": (
        changed(*S, "weights", by=lambda w: [w[0] + 2.0, w[1] - 2.0, *w[2:]]),
        "negative, or do not sum to one",
    ),
    "bounds backwards": (put([2.0, 1.0], *S, "bounds"), "end at 1, below their beginning at 2"),
    "a bound is null": (put([None, 1.0], *S, "bounds"), "bounds holds something that is not"),
    "evidence lacks": (cut(*S, "evidence", "fall"), "evidence has the keys"),
    "an error less": (cut(*S, "evidence", "errors", 0), "errors is . entries where a list of"),
    "an error negative": (put(-1.0, *S, "evidence", "errors", 0), "an error that is negative"),
    "fall error negative": (put(-1.0, *S, "evidence", "fall_error"), "an error that is negative"),
    "evidence of no rows": (put(0, *S, "evidence", "rows"), "or has no rows"),
    "rows a fraction": (put(1.5, *S, "evidence", "rows"), "rows holds something that is not"),
    "spread of no rows": (put(0.0, *S, "spread", "rows"), "the spread has no rows"),
    "deviation negative": (put(-1.0, *S, "spread", "deviation"), "or a negative deviation"),
    "no sizes": (put([], *S, "spread", "sizes"), "not 1 to 1000 rising numbers"),
    "sizes fall": (put([2.0, 1.0], *S, "spread", "sizes"), "not 1 to 1000 rising numbers"),
    "sizes negative": (put([-1.0], *S, "spread", "sizes"), "not 1 to 1000 rising numbers"),
    "too many sizes": (put([1.0] * 1001, *S, "spread", "sizes"), "not 1 to 1000 rising numbers"),
    "effect of a stranger": (put("q", *S, "effects", 0, "feature"), "the feature of an effect is"),
    "effect lacks": (cut(*S, "effects", 0, "change"), "an effect has the keys"),
    "effect of nothing": (
        changed(*S, "effects", 0, by=lambda e: e | {"values": [], "means": [], "deviations": []}),
        "an effect has fewer than two values",
    ),
    "values of an effect fall": (
        changed(*S, "effects", 0, "values", by=lambda v: v[::-1]),
        "or they do not rise",
    ),
    "means of an effect short": (cut(*S, "effects", 0, "means", 0), "means is . entries where"),
    "deviation of an effect negative": (
        put(-1.0, *S, "effects", 0, "change_deviation"),
        "a negative standard error",
    ),
    "effect twice": (changed(*S, "effects", by=lambda e: [*e, e[0]]), "effect of .* twice"),
    "reason is null": (put(None, "reason"), "reason is None where a text is needed"),
    "fit without the column": (
        lambda data: put(deepcopy(data["derived"]["stack"]["linear"]), "fit")(data),
        "in fit, its names are not those",
    ),
}


class TestReading:
    @pytest.mark.parametrize("kind", BAD)
    def test_what_contradicts_itself_is_refused_by_file_and_reason(self, kind):
        change, why = BAD[kind]
        with pytest.raises(UnreadableModel, match=rf"(?s)b\.model\.json cannot be read.*{why}"):
            loaded(change(deepcopy(file_of("texts"))))

    def test_the_file_that_these_change_is_a_good_one(self):
        found = deepcopy(file_of("texts"))
        loaded(found)
        assert 0 not in found["derived"]["boosters"][0]["left"][:1]  # its root is not a leaf
        assert len(found["derived"]["boosters"][0]["roots"]) > 1
        assert len(found["derived"]["stack"]["effects"]) > 1

    def test_loading_grows_no_tree(self, monkeypatch):
        found = file_of("texts")
        monkeypatch.setattr("poolwise.boosting.booster.HistGradientBoostingRegressor", None)
        monkeypatch.setattr("poolwise.boosting.booster.grower", None)
        assert loaded(found).fitted.stack is not None


FUZZED = ("numbers", "texts", "two sets", "extreme", "derived")


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(st.data())
def test_a_mutated_file_gives_our_error_or_a_model_that_works(tmp_path_factory, data):
    kind = data.draw(st.sampled_from(FUZZED))
    found = deepcopy(file_of(kind, moments=data.draw(st.booleans())))
    found["derived"] = data.draw(mutations(found["derived"]))
    path = tmp_path_factory.mktemp("mutant") / "a.model.json"
    path.write_text(json.dumps(found))
    try:
        model = PooledRegressor.load(path)
    except UnreadableModel:
        return
    assert not list(CHECK.iter_errors(found))
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
