"""Moments as files: every bit comes back, and nothing else than moments of rows does."""

import json
import math
import re
from copy import deepcopy
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import cross_val_score

from poolwise import Files, Moments, PooledRegressor, Sources, compare
from poolwise.errors import (
    NotMoments,
    NotOverwritten,
    NotWritten,
    SlicedSources,
    TooFewToShare,
    TransferError,
    UnreadableMoments,
)
from poolwise.fit import regress
from poolwise.store import record_of, text_of
from tests.laws.tables import tables

PRECISIONS = ["fast", "accurate", "exact"]
NAMES = ("age", "größe", "y")
CENTRE = np.array([50.0, 1e8, 0.0])
ROWS = np.random.default_rng(0).normal(size=(40, 3)) * [1.0, 1e-3, 1e6] + CENTRE
SCHEMA = json.loads((files("poolwise") / "schemas" / "moments-1.schema.json").read_text("utf-8"))


def moments_of(rows=ROWS, precision="accurate", weights=None):
    names = NAMES if rows.shape[1] == 3 else tuple(f"c{j}" for j in range(rows.shape[1]))
    return Moments.of_rows(names, rows, weights, precision=precision)


def saved(moments, folder):
    path = folder / "some.moments.json"
    moments.save(path, overwrite=True)
    return path


def data_of(moments, folder):
    return json.loads(saved(moments, folder).read_text(encoding="ascii"))


def loaded(data):
    """Read JSON, or what becomes JSON, as moments."""
    text = data if isinstance(data, str) else json.dumps(data)
    return Moments.of_record(record_of(text, "b.moments.json"))


def bits(array):
    return np.asarray(array, dtype=np.float64).tobytes()


def assert_same_bits(a, b):
    assert (a.names, a.rows, a.precision) == (b.names, b.rows, b.precision)
    for key in ("weight", "weight_tail", "mean", "mean_tail", "low", "high"):
        assert bits(getattr(a, key)) == bits(getattr(b, key)), key
    assert a.units.tolist() == b.units.tolist()
    assert bits(a.scatter.pair.high) == bits(b.scatter.pair.high)
    assert bits(a.scatter.pair.low) == bits(b.scatter.pair.low)
    assert (a.sums is None) == (b.sums is None)
    if a.sums is not None:
        left, right = a.sums.reduced(), b.sums.reduced()  # the unit of a sum has no say
        assert left.gram.tolist() == right.gram.tolist()
        assert left.units.tolist() == right.units.tolist()


def made(precision):
    """Return moments of every kind that the verbs make."""
    weights = np.random.default_rng(1).uniform(0.1, 3.0, size=len(ROWS))
    a = moments_of(precision=precision, weights=weights)
    b = moments_of(ROWS[:7] + 1.0, precision)
    extreme = moments_of(ROWS * [1e280, 1e-280, 1.0], precision)
    small = moments_of(ROWS * [5e-324, 1.0, 1.0], precision)
    return {
        "weighted": a,
        "sum": a + b,
        "difference": (a + b) - b,
        "weighed": 0.3 * a,
        "mapped": a.affine(["u", "v"], np.array([[1.0, 0.1, 0.0], [0.0, 1.0, -1e-7]]), np.ones(2)),
        "selected": a.select(["y", "age"]),
        "filled": a.fill({"const": 0.1}),
        "extreme": extreme,
        "extreme sum": extreme + moments_of(ROWS * [1e290, 1e-290, 1.0], precision),
        "subnormal": small,
        "rescaled": extreme.rescaled(extreme.units),
        "one row": moments_of(ROWS[:1], precision),
        "constant": moments_of(np.full((5, 3), 0.1), precision),
        "negative zeros": moments_of(np.full((5, 3), -0.0), precision),
        "empty": Moments.empty(NAMES),
        "empty, filled": Moments.empty(NAMES).widened((*NAMES, "k"), {"k": 2.0}),
        "no columns": Moments.empty(()),
    }


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("kind", made("fast"))
def test_every_bit_comes_back(kind, precision, tmp_path):
    moments = made(precision)[kind]
    again = Moments.load(saved(moments, tmp_path))
    assert_same_bits(moments, again)
    assert not again.mean.flags.writeable


@settings(deadline=None, max_examples=40)
@given(tables(), st.sampled_from(PRECISIONS))
def test_every_bit_of_any_table_comes_back(rows, precision):
    moments = Moments.of_rows([f"c{j}" for j in range(rows.shape[1])], rows, precision=precision)
    scatter = moments.scatter.pair
    record = record_of(moments.text(), "here")
    assert_same_bits(moments, Moments.of_text(text_of(record), "here"))
    assert bits(record.scatter) == bits(scatter.high)


def test_a_file_of_exact_moments_adds_up_to_the_bits_of_all_rows(tmp_path):
    parts = []
    for k in range(4):
        path = tmp_path / f"{k}.moments.json"
        moments_of(ROWS[k::4], "exact").save(path)
        parts.append(Moments.load(path))
    whole = moments_of(precision="exact")
    total = parts[3] + parts[1] + parts[0] + parts[2]
    assert bits(total.scatter.pair.low) == bits(whole.scatter.pair.low)
    assert bits(regress(total, "y").coef) == bits(regress(whole, "y").coef)


class TestWriting:
    def test_a_file_is_not_replaced_unless_asked(self, tmp_path):
        path = saved(moments_of(), tmp_path)
        with pytest.raises(NotOverwritten, match="is there already"):
            moments_of(ROWS[:5]).save(path)
        assert Moments.load(path).rows == 40
        moments_of(ROWS[:5]).save(path, overwrite=True)
        assert Moments.load(str(path)).rows == 5

    def test_a_write_that_fails_leaves_what_was_there(self, tmp_path, monkeypatch):
        path = saved(moments_of(), tmp_path)
        monkeypatch.setattr("os.fsync", lambda number: (_ for _ in ()).throw(OSError("disk full")))
        with pytest.raises(NotWritten, match=r"some\.moments\.json cannot be written: disk full"):
            moments_of(ROWS[:5]).save(path, overwrite=True)
        assert Moments.load(path).rows == 40
        assert [p.name for p in tmp_path.iterdir()] == [path.name]

    def test_what_cannot_be_written_is_told_by_its_own_name(self, tmp_path):
        with pytest.raises(NotWritten, match=r"/none/a\.moments\.json cannot be written: No such"):
            moments_of().save(tmp_path / "none" / "a.moments.json")
        with pytest.raises(NotWritten, match="it is a folder"):
            moments_of().save(tmp_path, overwrite=True)
        with pytest.raises(NotWritten, match="too long"):
            moments_of().save(tmp_path / ("a" * 300))
        assert not list(tmp_path.iterdir())

    def test_a_file_is_plain_ascii_json_without_constants_that_json_lacks(self, tmp_path):
        text = saved(Moments.empty(NAMES), tmp_path).read_bytes().decode("ascii")
        assert json.loads(text, parse_constant=pytest.fail)["low"] == [None] * 3

    @pytest.mark.parametrize("least", [0, 40])
    def test_enough_rows_are_written(self, least, tmp_path):
        path = tmp_path / "a.moments.json"
        moments_of().save(path, min_rows=least)
        assert Moments.load(path).rows == 40

    def test_too_few_rows_are_not_written(self, tmp_path):
        with pytest.raises(TooFewToShare, match="The table has 40 rows, fewer than min_rows=41"):
            moments_of().save(tmp_path / "a.moments.json", min_rows=41)
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize("ones", [3, 37])
    def test_a_small_group_is_not_written(self, ones, tmp_path):
        rows = np.column_stack((ROWS, np.arange(40) < ones))
        moments = Moments.of_rows((*NAMES, "site=south"), rows)
        with pytest.raises(TooFewToShare, match=r"'site=south' has 3 rows, fewer than min_rows=10"):
            moments.save(tmp_path / "a.moments.json", min_rows=10)
        moments.save(tmp_path / "a.moments.json", min_rows=3)

    def test_a_share_between_zero_and_one_is_no_group(self, tmp_path):
        share = np.linspace(0.0, 1.0, 40)[:, None]
        path = tmp_path / "a.moments.json"
        Moments.of_rows(["share"], share).save(path, min_rows=10)
        assert Moments.load(path).names == ("share",)


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


def changed(**change):
    def apply(data):
        return data | change

    return apply


def entry(key, value, *at):
    """Change one number."""

    def apply(data):
        inner = data[key]
        for k in at[:-1]:
            inner = inner[k]
        inner[at[-1]] = value
        return data

    return apply


def symmetric(value):
    def apply(data):
        data["scatter"][0][2] = data["scatter"][2][0] = value
        return data

    return apply


def scaled(key, factor):
    def apply(data):
        data[key] = [[factor * v for v in row] for row in data[key]]
        return data

    return apply


def without(key):
    return lambda data: {k: v for k, v in data.items() if k != key}


BAD = {
    "other format": (changed(format="poolwise model"), "format"),
    "newer": (changed(version=2), "of version 2, and this poolwise reads up to 1.*newer poolwise"),
    "version zero": (changed(version=0), "its version is 0"),
    "version true": (changed(version=True), "its version is True"),
    "no mean": (without("mean"), r"it lacks \['mean'\]"),
    "unknown key": (changed(code="import os"), r"keys that version 1 does not have, \['code'\]"),
    "names are no list": (changed(names="age"), "names is not a list of texts"),
    "names are no texts": (changed(names=[1, 2, 3]), "names is not a list of texts"),
    "a name twice": (changed(names=["a", "a", "y"]), r"more than one column named \['a'\]"),
    "fewer names": (changed(names=["a", "y"]), "mean is 3 entries where a list of 2 is needed"),
    "rows negative": (changed(rows=-1), "rows is -1"),
    "rows are half": (changed(rows=1.5), "rows is 1.5"),
    "rows are text": (changed(rows="40"), "rows is a str"),
    "no rows": (changed(rows=0), "the weight 40 and no rows"),
    "weight negative": (changed(weight=-1.0), "the weight is -1"),
    "weight too large": (changed(weight=1e200), r"the weight is 1e\+200"),
    "weight is text": (changed(weight="40"), "weight holds something that is not a number"),
    "weight is true": (changed(weight=True), "weight holds something that is not a number"),
    "weight zero": (changed(weight=0.0), "products of rows but no weight"),
    "large tail of weight": (changed(weight_tail=5.0), "the weight has too large a tail"),
    "mean outside": (entry("mean", 500.0, 0), "the mean of 'age' is outside of its range"),
    "mean huge": (entry("mean", 1e300, 0), "the mean of 'age' is outside of its range"),
    "mean null": (entry("mean", None, 0), "mean holds something that is not a number"),
    "mean too many digits": (entry("mean", 10**400, 0), "mean holds a number beyond doubles"),
    "large tail of mean": (entry("mean_tail", 1.0, 0), "the mean of 'age' has too large a tail"),
    "low null": (entry("low", None, 0), "low holds null"),
    "low beyond": (entry("low", -1e301, 0), r"low holds numbers beyond 1e\+300"),
    "low above high": (entry("low", 1e3, 0), "the range of 'age' ends below its beginning"),
    "unit too large": (entry("units", 900, 0), "the mean of 'age' is outside of its range"),
    "unit too small": (entry("units", -900, 0), "a unit that does not suit its range"),
    "unit beyond": (entry("units", 10**6, 0), "units holds something that is not a whole number"),
    "unit is half": (entry("units", 0.5, 0), "units holds something that is not a whole number"),
    "scatter ragged": (entry("scatter", [1.0], 0), "scatter is 1 entries"),
    "scatter flat": (changed(scatter=[1.0, 2.0, 3.0]), "scatter is 1.0 where a list of 3"),
    "not symmetric": (entry("scatter", 3.0, 0, 1), "the scatter is not symmetric"),
    "negative variance": (entry("scatter", -1.0, 0, 0), "the scatter of 'age' is negative"),
    "indefinite": (symmetric(1e9), "not positive semidefinite"),
    "too spread": (scaled("scatter", 1e3), "the scatter of 'age' is larger than its range allows"),
    "large tail": (entry("scatter_tail", 1.0, 0, 0), "the scatter has too large a tail"),
    "tail not symmetric": (entry("scatter_tail", 1e-13, 0, 1), "the scatter is not symmetric"),
    "sums are a list": (changed(sums=[]), 'sums must have the keys "units" and "gram"'),
    "no tail": (changed(scatter_tail=None), "exact sums but no scatter_tail"),
    "gram is text": (entry("sums", "zz", "gram", 0, 0), "not an integer in base sixteen"),
    "gram is a sign": (entry("sums", "-", "gram", 0, 0), "not an integer in base sixteen"),
    "gram has plus": (entry("sums", "+1_0", "gram", 0, 0), "not an integer in base sixteen"),
    "gram is a number": (entry("sums", 5, "gram", 0, 0), "not an integer in base sixteen"),
    "gram not symmetric": (entry("sums", "5", "gram", 0, 1), "not those of rows"),
    "gram without rows": (entry("sums", "0", "gram", 3, 3), "not those of rows"),
    "gram another": (entry("sums", "5", "gram", 0, 0), "contradict its weight, mean or scatter"),
    "gram beyond": (entry("sums", "f" * 3000, "gram", 0, 0), "beyond doubles"),
    "gram units": (entry("sums", 2, "units", 0), "contradict its weight, mean or scatter"),
    "gram units beyond": (entry("sums", 10**9, "units", 0), "units of sums holds something"),
}


class TestReading:
    @pytest.mark.parametrize("kind", BAD)
    def test_what_no_rows_have_is_refused_by_file_and_reason(self, kind, tmp_path):
        change, why = BAD[kind]
        data = data_of(moments_of(precision="exact"), tmp_path)
        with pytest.raises(UnreadableMoments, match=rf"b\.moments\.json cannot be read.*{why}"):
            loaded(change(data))

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("", "it is not JSON"),
            ("{", "it is not JSON"),
            ("[]", "does not say"),
            ("null", "does not say"),
            ("[" * 100_000, "nested too deeply"),
            ('{"format": "poolwise moments", "format": "poolwise moments"}', "same key twice"),
            ('{"weight": NaN}', "it holds NaN"),
            ('{"weight": -Infinity}', "it holds -Infinity"),
            ('{"rows": ' + "9" * 5000 + "}", "too many digits"),
            ("\ufeff{}", "it is not JSON"),
        ],
    )
    def test_what_is_not_this_format_is_refused(self, text, why):
        with pytest.raises(UnreadableMoments, match=why):
            loaded(text)

    def test_a_number_beyond_doubles_is_refused(self, tmp_path):
        text = saved(moments_of(), tmp_path).read_text()
        with pytest.raises(UnreadableMoments, match="weight holds a number beyond doubles"):
            loaded(text.replace('"weight": 40.0', '"weight": 1e999'))

    def test_products_or_half_a_range_without_rows_are_refused(self, tmp_path):
        data = data_of(Moments.empty(NAMES), tmp_path)
        with pytest.raises(UnreadableMoments, match="one end of its range but not the other"):
            loaded(entry("low", 1.0, 0)(data))

    def test_whole_numbers_may_stand_for_doubles(self, tmp_path):
        data = data_of(moments_of(np.ones((4, 3))), tmp_path) | {"weight": 4, "mean": [1, 1, 1]}
        assert loaded(data).mean_of("age") == 1.0

    def test_a_file_that_is_too_large_is_refused(self, tmp_path):
        path = saved(moments_of(), tmp_path)
        size = path.stat().st_size
        with pytest.raises(UnreadableMoments, match=r"larger than 100 bytes.*larger max_bytes"):
            Moments.load(path, max_bytes=100)
        assert Moments.load(path, max_bytes=size).rows == 40

    def test_a_file_that_is_not_there_or_no_text_is_refused(self, tmp_path):
        with pytest.raises(UnreadableMoments, match="there is no such file"):
            Moments.load(tmp_path / "none.moments.json")
        with pytest.raises(UnreadableMoments, match="Check that it is a file"):
            Moments.load(tmp_path)
        path = tmp_path / "a.moments.json"
        path.write_bytes(b"\xff\xfe{}")
        with pytest.raises(UnreadableMoments, match="not text in UTF-8"):
            Moments.load(path)


ODD = st.sampled_from(
    (
        *(None, True, "", "x", "-f", [], {}, [[]], -1, 0, 1, 2, 10**30, 10**400),
        *(-0.0, 0.5, -1.5, 1e-320, 1e16, 1e155, -1e299, 1e308, "inf", [1.0], {"units": []}),
    )
)


@st.composite
def mutations(draw, data):
    """Change a file in a few places: a key, an entry, a digit or a length."""
    data = json.loads(json.dumps(data))
    for _ in range(draw(st.integers(1, 3))):
        holder, key = data, draw(st.sampled_from(sorted(data)))
        while isinstance(holder[key], list | dict) and holder[key] and draw(st.integers(0, 4)):
            holder = holder[key]
            keys = range(len(holder)) if isinstance(holder, list) else sorted(holder)
            key = draw(st.sampled_from(list(keys)))
        old, kind = holder[key], draw(st.integers(0, 5))
        if kind == 0 and isinstance(holder, list):
            holder.insert(key, deepcopy(draw(ODD)))
        elif kind == 1:
            del holder[key]
            if not data:
                break
        elif kind >= 2 and type(old) in (int, float) and abs(old) < 1e300:
            factor = draw(st.sampled_from([0, -1, 1 + 1e-15, 1.001, 2, 1e10, 1e-10, 1e100]))
            holder[key] = old * factor if draw(st.booleans()) else old + draw(st.integers(-2, 2))
        else:
            holder[key] = deepcopy(draw(ODD))
    return data


FILES = [
    json.loads(m.text())
    for m in (
        moments_of(precision="fast"),
        moments_of(ROWS[:6], precision="accurate"),
        moments_of(ROWS[:6], precision="exact"),
        moments_of(ROWS * [1e280, 1.0, 1e-280], precision="fast"),
        Moments.empty(NAMES),
    )
]


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(FILES).flatmap(mutations))
def test_a_mutated_file_gives_our_error_or_moments_that_work(data):
    try:
        moments = loaded(json.dumps(data))
    except UnreadableMoments:
        return
    again = Moments.of_text(moments.text(), "here")
    assert_same_bits(moments, again)
    both = moments + again
    assert np.isfinite(both.mean).all()
    assert np.isfinite(both.scatter.pair.high).all()
    if moments.weight and "y" in moments and len(moments.names) > 1:
        try:
            fit = regress(moments, "y")
        except TransferError:
            return
        assert np.isfinite(fit.coef).all()


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(FILES), st.data())
def test_a_garbled_text_gives_our_error_or_moments(data, draw):
    text = json.dumps(data)
    for _ in range(draw.draw(st.integers(1, 4))):
        at = draw.draw(st.integers(0, len(text)))
        end = min(len(text), at + draw.draw(st.integers(0, 3)))
        new = draw.draw(st.text(alphabet='0123456789eE+-.,:[]{}"NaInfty \\u', max_size=3))
        text = text[:at] + new + text[end:]
    try:
        moments = loaded(text)
    except UnreadableMoments:
        return
    assert isinstance(moments, Moments)


def near(rows):
    return moments_of(np.random.default_rng(rows).normal(size=(rows, 3)) + CENTRE)


class TestSources:
    """A path stands for the moments in the file, wherever moments may stand."""

    @pytest.fixture
    def old(self, tmp_path):
        moments = near(200).select(["age", "y"])
        path = tmp_path / "old.moments.json"
        moments.save(path)
        return moments, path

    @pytest.fixture
    def target(self):
        return near(40)

    @pytest.mark.parametrize("kind", [str, Path])
    def test_a_path_is_read_as_moments(self, old, kind):
        moments, path = old
        for given_as in (
            kind(path),
            [kind(path)],
            (kind(path),),
            {"old": kind(path)},
            Sources({"old": kind(path)}),
        ):
            ((_, found),) = Sources(given_as)
            assert_same_bits(found, moments)

    def test_letters_of_a_suffix_may_be_large(self, old, tmp_path):
        path = tmp_path / "OLD.MOMENTS.JSON"
        old[0].save(path)
        ((_, found),) = Sources(path)
        assert_same_bits(found, old[0])

    def test_two_paths_are_two_sources(self, old):
        assert [name for name, _ in Sources((old[1], old[1]))] == ["source 1", "source 2"]

    def test_a_path_that_ends_otherwise_is_one_of_rows(self):
        ((_, source),) = Sources("old.csv")
        assert isinstance(source.X, Files)

    def test_fit_and_fit_moments_take_paths(self, old, target, tmp_path):
        moments, path = old
        known = PooledRegressor().fit_moments(target, {"old": moments})
        there = saved(target, tmp_path)
        for found in (
            PooledRegressor().fit_moments(target, {"old": str(path)}),
            PooledRegressor().fit_moments(there, {"old": path}),
            PooledRegressor().fit_moments(str(there), {"old": path}),
        ):
            assert bits(found.coef_) == bits(known.coef_)
        with pytest.raises(NotMoments):
            PooledRegressor().fit_moments("target.csv")

    def test_fit_takes_a_path_beside_rows(self, old):
        moments, path = old
        rng = np.random.default_rng(1)
        X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
        renamed = replace(moments, names=("x0", "y")).affine(["x0", "y"], np.eye(2), -moments.mean)
        renamed.save(path, overwrite=True)
        known = PooledRegressor().fit(X, y, sources={"old": renamed})
        found = PooledRegressor().fit(X, y, sources={"old": str(path)})
        assert bits(found.coef_) == bits(known.coef_)
        scores = compare(X, y, sources={"old": str(path)}, methods=["data_pooling"], cv=3)
        assert "data_pooling" in str(scores)

    def test_text_as_long_as_the_target_is_read_whole_and_never_cut(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        rng = np.random.default_rng(2)
        path = "old.moments.json"
        Moments.of_rows(["x0", "y"], rng.normal(size=(100, 2))).save(path)
        X, y = rng.normal(size=(len(path), 2)), rng.normal(size=len(path))
        model = PooledRegressor("data_pooling").fit(X, y, sources=path)
        assert list(model.problem_.sources) == ["source"]
        with pytest.raises(SlicedSources, match=r"poolwise\.Sources"):
            cross_val_score(model, X, y, params={"sources": path}, error_score="raise", cv=4)
        for safe in (Sources(path), Path(path), {"old": path}):
            cross_val_score(model, X, y, params={"sources": safe}, error_score="raise", cv=4)
