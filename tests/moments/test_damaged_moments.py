"""Damaged files of moments: each is refused with its reason, or gives moments that work."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poolwise import Moments
from poolwise.errors import BadFile, PoolwiseError
from poolwise.linear.regress import regress
from tests.moments.stored_moments import (
    NAMES,
    ROWS,
    assert_same_bits,
    data_of,
    loaded,
    moments_of,
    saved,
)
from tests.mutations import garbled, mutations


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
    "other format": (changed(format="poolwise model"), 'does not say "format": "poolwise moments"'),
    "newer": (changed(version=2), "of version 2, and this poolwise reads version 1.*newer"),
    "version zero": (changed(version=0), r"invalid value 0 at `\$\.version`"),
    "version true": (changed(version=True), r"expected `int`, got `bool` at `\$\.version`"),
    "no mean": (without("mean"), "object missing required field `mean`"),
    "unknown key": (changed(code="import os"), "object contains unknown field `code`"),
    "names are no list": (changed(names="age"), r"expected `array`, got `str` at `\$\.names`"),
    "names are no texts": (changed(names=[1, 2, 3]), r"got `int` at `\$\.names\[0\]`"),
    "a name twice": (changed(names=["a", "a", "y"]), "more than one column named 'a'"),
    "fewer names": (changed(names=["a", "y"]), "`scatter` must have 2 lists of 2 entries"),
    "rows negative": (changed(rows=-1), r"expected `int` >= 0 at `\$\.rows`"),
    "rows are half": (changed(rows=1.5), r"got `float` at `\$\.rows`"),
    "rows are text": (changed(rows="40"), r"got `str` at `\$\.rows`"),
    "no rows": (changed(rows=0), "a weight of 40, but no rows"),
    "weight negative": (changed(weight=-1.0), r"expected `float` >= 0.0 at `\$\.weight`"),
    "weight too large": (changed(weight=1e200), r"expected `float` <= 1e\+150 at `\$\.weight`"),
    "weight is text": (changed(weight="40"), r"expected `float`, got `str` at `\$\.weight`"),
    "weight is true": (changed(weight=True), r"expected `float`, got `bool` at `\$\.weight`"),
    "weight zero": (changed(weight=0.0), "products of rows, but no weight"),
    "large tail of weight": (changed(weight_tail=5.0), "tail of the weight or of the scatter is"),
    "mean outside": (entry("mean", 500.0, 0), "the mean of 'age' is outside of its range"),
    "mean huge": (entry("mean", 1e300, 0), "the mean of 'age' is outside of its range"),
    "mean short": (changed(mean=[1.0]), "`mean` must have 3 entries"),
    "mean null": (entry("mean", None, 0), r"expected `float`, got `null` at `\$\.mean\[0\]`"),
    "mean too many digits": (entry("mean", 10**400, 0), r"out of range at `\$\.mean\[0\]`"),
    "large tail of mean": (entry("mean_tail", 1.0, 0), "tail of the mean of 'age' is too large"),
    "low null": (entry("low", None, 0), "`low` holds null"),
    "low beyond": (entry("low", -1e76, 0), r"'age'.* above 1e\+75 or below 1e-75"),
    "all below": (changed(low=3 * [0], high=3 * [1e-76]), r"'age'.* above 1e\+75 or below 1e-75"),
    "low above high": (entry("low", 1e3, 0), "the range of 'age' is below its lower end"),
    "scatter ragged": (entry("scatter", [1.0], 0), "`scatter` must have 3 lists of 3 entries"),
    "scatter flat": (changed(scatter=[1.0, 2.0, 3.0]), r"got `float` at `\$\.scatter\[0\]`"),
    "not symmetric": (entry("scatter", 3.0, 0, 1), "the scatter is not symmetric"),
    "negative variance": (entry("scatter", -1.0, 0, 0), "the scatter of 'age' is negative"),
    "indefinite": (symmetric(1e9), "not positive semidefinite"),
    "too spread": (scaled("scatter", 1e3), "the scatter of 'age' is larger than its range allows"),
    "large tail": (entry("scatter_tail", 1.0, 0, 0), "tail of the weight or of the scatter is"),
    "tail not symmetric": (entry("scatter_tail", 1e-13, 0, 1), "the scatter is not symmetric"),
    "sums are a list": (changed(sums=[]), r"expected `object \| null`, got `array` at `\$\.sums`"),
    "no tail": (changed(scatter_tail=None), "exact sums, but no weight or no `scatter_tail`"),
    "gram is text": (entry("sums", "zz", "gram", 0, 0), r"regex.* at `\$\.sums\.gram\[0\]\[0\]`"),
    "gram is a sign": (entry("sums", "-", "gram", 0, 0), r"matching regex .* at `\$\.sums\.gram"),
    "gram has plus": (entry("sums", "+1_0", "gram", 0, 0), r"matching regex .* at `\$\.sums\.gram"),
    "gram is a number": (entry("sums", 5, "gram", 0, 0), r"got `int` at `\$\.sums\.gram"),
    "gram ragged": (entry("sums", ["5"], "gram", 0), "`gram` must have 4 lists of 4 entries"),
    "gram not symmetric": (entry("sums", "5", "gram", 0, 1), "are not sums of rows"),
    "gram without rows": (entry("sums", "0", "gram", 3, 3), "are not sums of rows"),
    "gram another": (entry("sums", "5", "gram", 0, 0), "contradict the weight, the mean or the"),
    "gram beyond": (entry("sums", "f" * 3000, "gram", 0, 0), "beyond doubles"),
    "gram without end": (entry("sums", "f" * 20_000, "gram", 0, 0), "`str` of length <= 16384"),
    "gram units": (entry("sums", 2, "units", 0), "contradict the weight, the mean or the scatter"),
    "gram units beyond": (entry("sums", 10**9, "units", 0), r"at `\$\.sums\.units\[0\]`"),
}


class TestReading:
    @pytest.mark.parametrize("kind", BAD)
    def test_what_no_rows_have_is_refused_by_file_and_reason(self, kind, tmp_path):
        change, why = BAD[kind]
        data = data_of(moments_of(precision="exact"), tmp_path)
        with pytest.raises(BadFile, match=rf"b\.moments\.json cannot be read.*{why}"):
            loaded(change(data))

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("", "truncated"),
            ("{", "truncated"),
            ("[]", "expected `object`, got `array`"),
            ("null", "expected `object`, got `null`"),
            ("[" * 100_000, "expected `object`, got `array`"),
            ('{"code": ' * 100_000, "object contains unknown field `code`"),
            ('{"mean": ' + "[" * 100_000, r"expected `float`, got `array` at `\$\.mean\[0\]`"),
            ('{"weight": NaN}', "JSON is malformed"),
            ('{"weight": -Infinity}', "JSON is malformed"),
            ('{"rows": ' + "9" * 5000 + "}", r"at `\$\.rows`"),
            ("\ufeff{}", "JSON is malformed"),
            ('{"names": ["\\ud800"]}', "truncated"),
        ],
    )
    def test_what_is_not_this_format_is_refused(self, text, why):
        with pytest.raises(BadFile, match=why):
            loaded(text)

    def test_a_number_beyond_doubles_is_refused(self, tmp_path):
        text = saved(moments_of(), tmp_path).read_text()
        with pytest.raises(BadFile, match=r"out of range at `\$\.weight`"):
            loaded(text.replace('"weight": 40.0', '"weight": 1e999'))

    def test_a_key_that_comes_twice_is_refused(self, tmp_path):
        text = saved(moments_of(), tmp_path).read_text()
        for old, new in (('"rows"', '"rows": 40, "rows"'), ('"format"', '"version": 1, "format"')):
            with pytest.raises(BadFile, match=r"more than one key named '(rows|version)'"):
                loaded(text.replace(old, new))

    def test_products_or_half_a_range_without_rows_are_refused(self, tmp_path):
        data = data_of(Moments.empty(NAMES), tmp_path)
        with pytest.raises(BadFile, match="one end of its range but not the other"):
            loaded(entry("low", 1.0, 0)(data))

    def test_whole_numbers_may_stand_for_doubles(self, tmp_path):
        data = data_of(moments_of(np.ones((4, 3))), tmp_path) | {"weight": 4, "mean": [1, 1, 1]}
        assert loaded(data).mean_of("age") == 1.0

    def test_a_file_that_is_too_large_is_refused(self, tmp_path):
        path = saved(moments_of(), tmp_path)
        size = path.stat().st_size
        with pytest.raises(BadFile, match=r"larger than 100 bytes.*larger max_bytes"):
            Moments.load(path, max_bytes=100)
        assert Moments.load(path, max_bytes=size).rows == 40

    def test_a_file_that_is_not_there_or_no_text_is_refused(self, tmp_path):
        with pytest.raises(BadFile, match="there is no such file"):
            Moments.load(tmp_path / "none.moments.json")
        with pytest.raises(BadFile, match="Check that it is a file"):
            Moments.load(tmp_path)
        path = tmp_path / "a.moments.json"
        path.write_bytes(b"\xff\xfe{}")
        with pytest.raises(BadFile, match="not text in UTF-8"):
            Moments.load(path)


FILES = [
    json.loads(m.text())
    for m in (
        moments_of(precision="fast"),
        moments_of(ROWS[:6], precision="accurate"),
        moments_of(ROWS[:6], precision="exact"),
        moments_of(ROWS * [1e60, 1.0, 1e-60], precision="fast"),
        Moments.empty(NAMES),
    )
]


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(FILES).flatmap(mutations))
def test_a_mutated_file_gives_our_error_or_moments_that_work(data):
    try:
        moments = loaded(json.dumps(data))
    except BadFile:
        return
    again = loaded(moments.text())
    assert_same_bits(moments, again)
    both = moments + again
    assert np.isfinite(both.mean).all()
    assert np.isfinite(both.scatter.pair.high).all()
    if moments.weight and "y" in moments and len(moments.names) > 1:
        try:
            fit = regress(moments, "y")
        except PoolwiseError:
            return
        assert np.isfinite(fit.coef).all()


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(FILES), st.data())
def test_a_garbled_text_gives_our_error_or_moments(data, draw):
    text = draw.draw(garbled(json.dumps(data)))
    try:
        moments = loaded(text)
    except BadFile:
        return
    assert isinstance(moments, Moments)
