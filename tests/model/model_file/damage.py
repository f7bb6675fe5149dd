"""Ways in which a model file can be wrong."""

import json
import re
from copy import deepcopy
from functools import cache
from pathlib import Path

from poolwise.model.model_file.model_json import FORMAT
from tests.model.model_file.reloading import quietly, saved
from tests.model.model_file.worlds import OWN_PARAMETERS, fitted, world


def data_of(method="bayes_pooling", kind="texts", **options):
    model = quietly(fitted, method, world(kind), **options)
    return json.loads(text_of_model(model))


def text_of_model(model, **options):
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        return saved(model, Path(folder), **options).read_text("ascii")


def loaded(data):
    """Read JSON, or what becomes JSON, as a model."""
    text = data if isinstance(data, str) else json.dumps(data)
    return FORMAT.decode(text, "b.model.json")


def put(value, *at):
    """Return a change of one entry."""

    def apply(data):
        inner = data
        for key in at[:-1]:
            inner = inner[key]
        inner[at[-1]] = value
        return data

    return apply


def cut(*at):
    def apply(data):
        inner = data
        for key in at[:-1]:
            inner = inner[key]
        del inner[at[-1]]
        return data

    return apply


def twice(*at):
    """Return a change that repeats the first entry of a list."""

    def apply(data):
        inner = data
        for key in at:
            inner = inner[key]
        inner.append(deepcopy(inner[0]))
        return data

    return apply


def at(*keys):
    """Return a pattern for a place in a file."""
    place = "".join(f"[{k}]" if isinstance(k, int) or k == "..." else f".{k}" for k in keys)
    return "at " + re.escape(f"`${place}`")


ROW = {"kind": "RankDeficient", "message": "x"}
BAD = {
    "moments": (put("poolwise moments", "format"), 'does not say "format": "poolwise model"'),
    "newer": (put(2, "version"), "of version 2, and this poolwise reads version 1.*newer poolwise"),
    "version is text": (put("1", "version"), at("version")),
    "a key lacks": (cut("fit"), "missing required field `fit`"),
    "a key too many": (put("import os", "code"), "unknown field `code`"),
    "made with nothing": (put({}, "made_with"), at("made_with")),
    "made with numbers": (put({"poolwise": 1}, "made_with"), at("made_with", "...")),
    "options are a list": (put([], "options"), at("options")),
    "an option lacks": (cut("options", "response"), "missing required field `response`"),
    "unknown option": (put("ridge", "options", "method"), at("options", "method")),
    "option is a number": (put(3, "options", "method"), at("options", "method")),
    "intercept is 1": (put(1, "options", "fit_intercept"), at("options", "fit_intercept")),
    "unknown precision": (put("x", "options", "precision"), at("options", "precision")),
    "unknown method": (put("os.system", "method", "name"), "'os.system' " + at("method", "name")),
    "method is a number": (put(1, "method", "name"), at("method", "name")),
    "unknown parameter": (put(1, "method", "cmd"), "unknown field `cmd` " + at("method")),
    "no parameter": (cut("method", "bounds"), "missing required field `bounds` " + at("method")),
    "parameter is text": (put("1", "method", "bounds"), at("method", "bounds")),
    "parameter is true": (put(True, "method", "bounds"), at("method", "bounds")),
    "three bounds": (put([1, 2, 3], "method", "bounds"), at("method", "bounds")),
    "huge parameter": (put(10**400, "method", "bounds"), at("method", "bounds")),
    "response is null": (put(None, "response"), at("response")),
    "response is a column": (put("marker", "response"), "more than one column, level or response"),
    "no columns": (put([], "columns"), at("columns")),
    "columns are an object": (put({}, "columns"), at("columns")),
    "a column twice": (twice("columns"), "more than one column named"),
    "column without a name": (put(None, "columns", 0, "name"), at("columns", 0, "name")),
    "levels are text": (put("ab", "columns", 1, "levels"), at("columns", 1, "levels")),
    "no levels": (put([], "columns", 1, "levels"), at("columns", 1, "levels")),
    "a level twice": (put(["a", "a"], "columns", 1, "levels"), "more than one level named 'a'"),
    "a level less": (cut("columns", 1, "levels", 1), "`means` has not one share for each"),
    "numbers are full": (put(True, "columns", 0, "full"), "without levels " + ".*columns.0"),
    "unknown strict": (put("skip", "columns", 1, "strict"), at("columns", 1, "strict")),
    "named perhaps": (put(None, "columns_are_named"), at("columns_are_named")),
    "optional unknown": (put(["x"], "optional_columns"), "`optional_columns` are not some of"),
    "optional order": (put(["kind", "marker"], "optional_columns"), "`optional_columns` are not"),
    "optional twice": (put(["kind", "kind"], "optional_columns"), "`optional_columns` are not"),
    "levels are a list": (put([], "levels"), at("levels")),
    "levels without a list": (
        put({"reference": "a", "indicated": None}, "levels", "kind"),
        at("levels", "...", "indicated"),
    ),
    "cautions are numbers": (put([1], "cautions"), at("cautions", 0)),
    "fit is null": (put(None, "fit"), at("fit")),
    "fit of another kind": (put("spline", "fit", "kind"), "'spline' " + at("fit", "kind")),
    "fit lacks": (cut("fit", "distribution"), "missing required field `distribution` " + at("fit")),
    "names in another order": (
        lambda data: put(data["fit"]["names"][::-1], "fit", "names")(data),
        "`names` of a fit differ from the columns",
    ),
    "a coefficient less": (cut("fit", "coef", 0), "`coef` must have 9 entries " + at("fit")),
    "coefficient null": (put(None, "fit", "coef", 0), at("fit", "coef", 0)),
    "coefficient beyond": (put(10**400, "fit", "coef", 0), "out of range " + at("fit", "coef", 0)),
    "centre is text": (put("0", "fit", "centre", 0), at("fit", "centre", 0)),
    "level is a list": (put([1.0], "fit", "level"), at("fit", "level")),
    "intercept beyond": (
        lambda data: put(1e300, "fit", "centre", 0)(put(1e300, "fit", "coef", 0)(data)),
        "the intercept is beyond doubles " + at("fit"),
    ),
    "covariance smaller": (cut("fit", "covariance", 0), "`covariance` must have 10 lists of 10"),
    "covariance ragged": (put([1.0], "fit", "covariance", 2), "`covariance` must have 10 lists"),
    "noise negative": (put(-1.0, "fit", "noise"), ">= 0.0 " + at("fit", "noise")),
    "weights a list": (put([], "fit", "weights"), at("fit", "weights")),
    "weight null": (put({"2019": None}, "fit", "weights"), at("fit", "weights", "...")),
    "weight of a stranger": (put({"x": 1.0}, "fit", "weights"), "lacks sources of the fit: 'x'"),
    "noise of a stranger": (
        put({"x": 1.0}, "fit", "source_noise"),
        "lacks sources of the fit: 'x'",
    ),
    "conflict above one": (put({"2019": 2.0}, "fit", "conflict"), at("fit", "conflict", "...")),
    "dropped stranger": (put({"x": "why"}, "fit", "dropped"), "`dropped` has 'x'"),
    "dropped number": (put({"marker": 1}, "fit", "dropped"), at("fit", "dropped", "...")),
    "caution of code": (
        put([ROW | {"kind": "system"}], "fit", "cautions"),
        "'system' is not a warning of poolwise " + at("fit", "cautions", 0),
    ),
    "caution an error": (
        put([ROW | {"kind": "NotFinite"}], "fit", "cautions"),
        "'NotFinite' is not a warning",
    ),
    "caution a number": (
        put([ROW | {"message": 1}], "fit", "cautions"),
        at("fit", "cautions", 0, "message"),
    ),
    "caution more": (put([ROW | {"args": []}], "fit", "cautions"), "unknown field `args`"),
    "rounding short": (
        put([0.0], "fit", "rounding"),
        "`rounding` must have 10 entries " + at("fit"),
    ),
    "freedom of two": (
        put(2.0, "fit", "distribution", "freedom"),
        "above 2 " + at("fit", "distribution"),
    ),
    "freedom negative": (
        put({"freedom": -1, "deviation": "plugged in"}, "fit", "distribution"),
        at("fit", "distribution", "freedom"),
    ),
    "unknown deviation": (
        put("x", "fit", "distribution", "deviation"),
        at("fit", "distribution", "deviation"),
    ),
    "bounds backwards": (put([2.0, 1.0], "fit", "bounds"), "bound, 1, is below the lower bound, 2"),
    "one bound": (put([2.0], "fit", "bounds"), "of length 2 " + at("fit", "bounds")),
    "moments a list": (put([], "moments"), at("moments")),
    "no target": (put(None, "moments", "target"), at("moments", "target")),
    "target negative": (
        put(-1.0, "moments", "target", "weight"),
        at("moments", "target", "weight"),
    ),
    "target of no rows": (
        put([[0.0]], "moments", "target", "scatter"),
        "`scatter` must have 10 lists of 10 entries " + at("moments", "target"),
    ),
    "target beyond": (
        put(1e80, "moments", "target", "high", 0),
        r"are above 1e\+75 or below 1e-75.* " + at("moments", "target"),
    ),
    "target without a column": (put("q", "moments", "target", "names", 0), "No column named|not"),
    "source without rows": (
        lambda data: put(empty_like(data), "moments", "sources", "2019")(data),
        "source '2019' has no rows",
    ),
    "sources are a list": (put([], "moments", "sources"), at("moments", "sources")),
    "source is null": (put(None, "moments", "sources", "2019"), at("moments", "sources", "...")),
    "pool of others": (
        lambda data: put(data["moments"]["sources"]["2019"], "moments", "pool")(data),
        "the pool has no rows, or other columns than the target",
    ),
    "derived moments of a line": (
        lambda data: put(
            {key: data["moments"][key] for key in ("target", "sources")}, "moments", "derived"
        )(data),
        "`moments.derived` is only for a fit with trees",
    ),
}


def empty_like(data):
    """Return moments of no rows, with the columns of the first source."""
    from poolwise import Moments

    empty = json.loads(Moments.empty(data["moments"]["sources"]["2019"]["names"]).text())
    return {key: value for key, value in empty.items() if key not in ("format", "version")}


@cache
def files():
    """Return what files of several kinds hold."""
    given = OWN_PARAMETERS["data_pooling, given"]
    bare = fitted("bayes_pooling", world("numbers"))
    return (
        data_of("bayes_pooling", "texts"),
        data_of("data_pooling", "large and small"),
        data_of("feature_transfer", "numbers", precision="exact"),
        data_of(given, "weights, two sources", precision="fast"),
        json.loads(text_of_model(bare, moments=False)),
    )


KINDS = ("texts", "large and small", "numbers", "weights, two sources", "numbers")
