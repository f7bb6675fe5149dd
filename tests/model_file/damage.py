"""Ways in which a model file can be wrong."""

import json
from copy import deepcopy
from functools import cache
from pathlib import Path

from poolwise.model_file.reading import record_of
from tests.model_file.reloading import quietly, saved
from tests.model_file.worlds import OWN_PARAMETERS, fitted, world


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
    return record_of(text, "b.model.json")


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


ROW = {"kind": "RankDeficient", "message": "x"}
BAD = {
    "moments": (put("poolwise moments", "format"), 'does not say "format": "poolwise model"'),
    "newer": (put(2, "version"), "of version 2, and this poolwise reads up to 1.*newer poolwise"),
    "version is text": (put("1", "version"), "its version is a str"),
    "a key lacks": (cut("fit"), r"it lacks 'fit'"),
    "a key too many": (put("import os", "code"), r"version 1 does not have, 'code'"),
    "made with nothing": (put({}, "made_with"), "which poolwise wrote it"),
    "made with numbers": (put({"poolwise": 1}, "made_with"), "the version of 'poolwise' is 1"),
    "options are a list": (put([], "options"), "options is a list where an object is needed"),
    "an option lacks": (cut("options", "response"), "options has the keys"),
    "unknown option": (put("ridge", "options", "method"), "the option method is 'ridge'"),
    "option is a number": (put(3, "options", "method"), "the option method is 3 where an object"),
    "intercept is 1": (put(1, "options", "fit_intercept"), "fit_intercept is 1 where true or"),
    "unknown precision": (put("x", "options", "precision"), "the option precision is 'x'"),
    "unknown method": (put("os.system", "method", "name"), "its method is 'os.system', and this"),
    "method is a number": (put(1, "method", "name"), "its method is 1, and this poolwise has"),
    "unknown parameter": (put(1, "method", "parameters", "cmd"), "parameters of bayes_pooling has"),
    "no parameter": (cut("method", "parameters", "bounds"), "parameters of bayes_pooling has the"),
    "parameter is text": (
        put("1", "method", "parameters", "bounds"),
        "bounds of bayes_pooling is not a number or 2 numbers or None",
    ),
    "parameter is true": (
        put(True, "method", "parameters", "bounds"),
        "bounds of bayes_pooling is",
    ),
    "three bounds": (
        put([1, 2, 3], "method", "parameters", "bounds"),
        "bounds of bayes_pooling is",
    ),
    "huge parameter": (
        put(10**400, "method", "parameters", "bounds"),
        "bounds of bayes_pooling is",
    ),
    "response is null": (put(None, "response"), "response is None where a text is needed"),
    "response is a column": (put("marker", "response"), "have the same name"),
    "no columns": (put([], "columns"), "it has no columns"),
    "columns are an object": (put({}, "columns"), "columns is a dict where a list is needed"),
    "a column twice": (twice("columns"), "more than one column named"),
    "column without a name": (put(None, "columns", 0, "name"), "the name of a column is None"),
    "levels are text": (put("ab", "columns", 1, "levels"), "levels of .* is not a list of texts"),
    "no levels": (put([], "columns", 1, "levels"), "the list of levels of .* is empty"),
    "a level twice": (put(["a", "a"], "columns", 1, "levels"), "more than one level named"),
    "a level less": (cut("columns", 1, "levels", 1), "its names are not those of the columns"),
    "numbers are full": (put(True, "columns", 0, "full"), "has no levels, and says what they do"),
    "unknown unseen": (put("skip", "columns", 1, "unseen"), "unseen is 'skip'"),
    "named perhaps": (put(None, "columns_are_named"), "columns_are_named is None"),
    "optional unknown": (put(["x"], "optional_columns"), "optional_columns are not some of"),
    "optional order": (put(["kind", "marker"], "optional_columns"), "optional_columns are not"),
    "optional twice": (put(["kind", "kind"], "optional_columns"), "more than one column named"),
    "cautions are numbers": (put([1], "cautions"), "a caution is 1 where a text is needed"),
    "fit is null": (put(None, "fit"), "the fit is None where an object is needed"),
    "fit lacks": (cut("fit", "tails"), "the fit has the keys"),
    "names in another order": (
        lambda data: put(data["fit"]["names"][::-1], "fit", "names")(data),
        "its names are not those of the columns",
    ),
    "a coefficient less": (cut("fit", "coef", 0), "coef is 8 entries where a list of 9"),
    "coefficient null": (put(None, "fit", "coef", 0), "coef holds something that is not a number"),
    "coefficient beyond": (put(10**400, "fit", "coef", 0), "coef holds a number beyond doubles"),
    "centre is text": (put("0", "fit", "centre", 0), "centre holds something that is not a number"),
    "level is a list": (put([1.0], "fit", "level"), "level holds something that is not a number"),
    "intercept beyond": (
        lambda data: put(1e300, "fit", "centre", 0)(put(1e300, "fit", "coef", 0)(data)),
        "the intercept is beyond doubles",
    ),
    "covariance smaller": (cut("fit", "covariance", 0), "covariance is 9 entries"),
    "covariance ragged": (put([1.0], "fit", "covariance", 2), "covariance is 1 entries"),
    "noise negative": (put(-1.0, "fit", "noise"), "noise is -1, and must not be negative"),
    "weights a list": (put([], "fit", "weights"), "weights is a list where an object is needed"),
    "weight null": (put({"2019": None}, "fit", "weights"), "weights holds something that is not"),
    "weight of a stranger": (put({"x": 1.0}, "fit", "weights"), r"tells of sources 'x'"),
    "noise of a stranger": (put({"x": 1.0}, "fit", "source_noise"), r"tells of sources 'x'"),
    "conflict above one": (put({"2019": 2.0}, "fit", "conflict"), "conflict is 2, and must be"),
    "dropped stranger": (put({"x": "why"}, "fit", "dropped"), r"dropped names 'x'"),
    "dropped number": (put({"marker": 1}, "fit", "dropped"), "dropped is 1 where a text is needed"),
    "caution of code": (put([ROW | {"kind": "system"}], "fit", "cautions"), "kind of a caution is"),
    "caution an error": (put([ROW | {"kind": "NotFinite"}], "fit", "cautions"), "of a caution is"),
    "caution a number": (
        put([ROW | {"message": 1}], "fit", "cautions"),
        "the message of a caution",
    ),
    "caution more": (put([ROW | {"args": []}], "fit", "cautions"), "a caution has the keys"),
    "tail short": (put([0.0], "fit", "tail"), "tail is 1 entries where a list of 10 is needed"),
    "freedom of two": (put(2.0, "fit", "tails", "freedom"), "freedom of tails is 2, and must be"),
    "freedom negative": (
        put({"freedom": -1, "deviation": "plugged in"}, "fit", "tails"),
        "the freedom of tails is -1, and must be above 0",
    ),
    "unknown deviation": (put("x", "fit", "tails", "deviation"), "the deviation of tails is 'x'"),
    "bounds backwards": (put([2.0, 1.0], "fit", "bounds"), "end at 1, below their beginning at 2"),
    "one bound": (put([2.0], "fit", "bounds"), "bounds is 1 entries where a list of 2 is needed"),
    "moments a list": (put([], "moments"), "in moments, the object is a list"),
    "no target": (put(None, "moments", "target"), "in moments, in the target, it does not say"),
    "target negative": (
        put(-1.0, "moments", "target", "weight"),
        "in moments, in the target, the weight is -1",
    ),
    "target with a unit": (put(1, "moments", "target", "units", 0), "in the target, "),
    "target without a column": (put("q", "moments", "target", "names", 0), "No column named|other"),
    "source without rows": (
        lambda data: put(empty_like(data), "moments", "sources", 0, "moments")(data),
        "in source '2019', there are no rows",
    ),
    "source twice": (twice("moments", "sources"), r"more than one source named '2019'"),
    "source without a name": (put(1, "moments", "sources", 0, "name"), "name of a source is 1"),
    "source is null": (put(None, "moments", "sources", 0), "a source is None where an object"),
    "units of strangers": (put({"x": 1}, "moments", "units"), "keys are columns of the target"),
    "units zero": (put({"marker": 0}, "moments", "units"), "units holds a zero"),
    "units huge": (put({"marker": 10**9}, "moments", "units"), "units holds something that is not"),
    "units beyond": (put({"marker": 2000}, "moments", "units"), "beyond 1e\\+300 in its units"),
    "units alone": (put({"marker": 3}, "moments", "units"), "units without a working_fit"),
    "working fit alone": (
        lambda data: put(deepcopy(data["fit"]), "moments", "working_fit")(data),
        "a working_fit without units",
    ),
    "pool of others": (
        lambda data: put(data["moments"]["sources"][0]["moments"], "moments", "pool")(data),
        "the pool has other columns than the target",
    ),
}


def empty_like(data):
    """Return moments of no rows, with the columns of the first source."""
    from poolwise import Moments

    return json.loads(Moments.empty(data["moments"]["sources"][0]["moments"]["names"]).text())


@cache
def files():
    """Return what files of several kinds hold."""
    given = OWN_PARAMETERS["data_pooling, given"]
    bare = fitted("bayes_pooling", world("numbers"))
    return (
        data_of("bayes_pooling", "texts"),
        data_of("data_pooling", "extreme"),
        data_of("feature_transfer", "numbers", precision="exact"),
        data_of(given, "weights, two sources", precision="fast"),
        json.loads(text_of_model(bare, moments=False)),
    )


KINDS = ("texts", "extreme", "numbers", "weights, two sources", "numbers")
