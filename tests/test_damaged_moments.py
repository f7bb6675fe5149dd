"""Damaged files of moments: each is refused with its reason, or gives moments that work."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poolwise import Moments
from poolwise.errors import TransferError, UnreadableMoments
from poolwise.fit import regress
from tests.mutations import garbled, mutations
from tests.stored_moments import NAMES, ROWS, assert_same_bits, data_of, loaded, moments_of, saved


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
    "no mean": (without("mean"), r"it lacks 'mean'"),
    "unknown key": (changed(code="import os"), r"keys that version 1 does not have, 'code'"),
    "names are no list": (changed(names="age"), "names is not a list of texts"),
    "names are no texts": (changed(names=[1, 2, 3]), "names is not a list of texts"),
    "a name twice": (changed(names=["a", "a", "y"]), r"more than one column named 'a'"),
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
    text = draw.draw(garbled(json.dumps(data)))
    try:
        moments = loaded(text)
    except UnreadableMoments:
        return
    assert isinstance(moments, Moments)
