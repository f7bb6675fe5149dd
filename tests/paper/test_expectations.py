"""What is said of a figure: the band in the sentence is the band checked, and each can fail."""

import re
from string import Formatter

import numpy as np
import pytest

from paper.expectations import KINDS, crossing, judge, sentence
from paper.figures import Point
from paper.specs import FIGURES as NAMES
from paper.specs import read_figure_spec

SPECS = {name: read_figure_spec(name) for name in NAMES}
ALL = [(name, e) for name in NAMES for e in SPECS[name].expected]
IDS = [f"{name}-{k}-{e['kind']}" for k, (name, e) in enumerate(ALL)]
every = pytest.mark.parametrize(("name", "expectation"), ALL, ids=IDS)

OTHER = 50.0  # height of the curves that a curve is compared with


def holds(name, expectation, curves):
    points = [
        Point(name, curve, "published", x, y, 0.0, y, y, 2, 0)
        for curve, heights in curves.items()
        for x, y in zip(SPECS[name].x.values, heights, strict=True)
    ]
    return judge(points, [expectation])[0].holds


def judged(name, e):
    """Return the places that an expectation is about."""
    x = np.array(SPECS[name].x.values)
    low, high = e.get("at", e.get("from", -np.inf)), e.get("at", e.get("to", np.inf))
    return x, np.flatnonzero((x > low - 1e-9) & (x < high + 1e-9))


def examples(name, e):
    """Yield curves made up to hold narrowly (True) or to fail narrowly (False)."""
    x, at = judged(name, e)
    flat, ends = np.full(len(x), OTHER), (at[0], at[len(at) // 2], at[-1])
    low, high = e.get("between", (0.0, 0.0))
    edge = 0.01 * (high - low)

    def moved(heights, place, by):
        return heights + by * (np.arange(len(x)) == place)

    if e["kind"] in ("between", "difference"):
        other = {e["less"]: flat} if "less" in e else {}
        base = flat if "less" in e else 0.0 * x
        inside = base + (low + high) / 2
        yield True, {**other, e["curve"]: inside}
        for place in ends:
            for to in (low - edge, high + edge):
                yield False, {**other, e["curve"]: moved(inside, place, to - (low + high) / 2)}
            for to in (low + edge, high - edge):
                yield True, {**other, e["curve"]: moved(inside, place, to - (low + high) / 2)}
    elif e["kind"] == "above":
        yield True, {e["curve"]: 0.0 * x + e["above"] + 1e-9}
        for place in ends:
            yield False, {e["curve"]: moved(0.0 * x + e["above"] + 1.0, place, -1.0)}
    elif e["kind"] == "below":
        others = {other: flat for other in e["than"]}
        yield True, {**others, e["curve"]: flat - 1e-9}
        for place in ends:
            yield False, {**others, e["curve"]: moved(flat - 1.0, place, 1.0)}
        for other in others:  # below one of them is not enough
            yield False, {**others, other: flat - 2.0, e["curve"]: flat - 1.0}
    elif e["kind"] == "crossing":
        for place, right in (((low + high) / 2, True), (low - edge, False), (high + edge, False)):
            yield right, {e["over"]: flat, e["curve"]: flat + x - place}
        yield False, {e["over"]: flat, e["curve"]: flat - x + (low + high) / 2}  # from above
        yield False, {e["over"]: flat, e["curve"]: flat - 1.0}
        twice = np.abs(x - 0.5) - 0.2
        yield False, {e["over"]: flat, e["curve"]: flat + twice}
    elif e["kind"] == "highest_at":
        for place in x:
            inside = low - 1e-9 <= place <= high + 1e-9
            yield bool(inside), {e["curve"]: OTHER - (x - place) ** 2}
    elif e["kind"] == "highest":
        for top, right in ((low + edge, True), (low - edge, False), (high + edge, False)):
            yield right, {e["curve"]: top - x}
    elif e["kind"] in ("rises", "falls"):
        sign = 1.0 if e["kind"] == "rises" else -1.0
        slack, line = e["slack"], OTHER + sign * 10.0 * np.arange(len(x))
        yield True, {e["curve"]: line}
        yield False, {e["curve"]: flat}
        yield False, {e["curve"]: line[::-1]}
        for place in at[1:]:  # one step the other way, then on as before
            for by, right in ((slack + 1e-6, False), (slack - 1e-6, True)):
                if len(at) > 2:
                    step = np.where(np.arange(len(x)) >= place, 10.0 + by, 0.0)
                    yield right, {e["curve"]: line - sign * step}
    elif e["kind"] == "square":
        for factor, right in (((low + high) / 2, True), (low - edge, False), (high + edge, False)):
            yield right, {e["curve"]: OTHER + factor * x**2}
        middle = OTHER + (low + high) / 2 * x**2
        yield False, {e["curve"]: moved(middle, len(x) // 2, 1.2 * e["within"])}
        yield False, {e["curve"]: OTHER + (low + high) / 2 * x}
    elif e["kind"] == "flat":
        yield True, {e["curve"]: moved(flat, at[0], 0.9 * e["within"])}
        for place in ends:
            yield False, {e["curve"]: moved(flat, place, 1.1 * e["within"])}
        yield False, {e["curve"]: flat + x}
    else:
        assert e["kind"] == "spread"
        for curve in e["curves"]:
            for by, right in ((0.9, True), (1.1, False), (-1.1, False)):
                heights = {c: flat for c in e["curves"]}
                yield right, {**heights, curve: moved(flat, at[-1], by * e["within"])}


@every
def test_each_statement_holds_inside_its_band_and_fails_just_outside(name, expectation):
    results = [(right, holds(name, expectation, c)) for right, c in examples(name, expectation)]
    assert {right for right, _ in results} == {True, False}
    assert [found for _, found in results] == [right for right, _ in results]


@every
def test_a_curve_without_numbers_holds_nothing(name, expectation):
    x, _ = judged(name, expectation)
    curves = {c: np.full(len(x), np.nan) for c in [c.name for c in SPECS[name].curves]}
    assert not holds(name, expectation, curves)


@every
def test_the_sentence_states_what_is_checked(name, expectation):
    places = {field for _, field, *_ in Formatter().parse(expectation["says"]) if field}
    checked = {"within", "above"} & set(expectation)
    checked |= {"slack"} if expectation.get("slack") else set()
    checked |= {"low", "high"} if "between" in expectation else set()
    checked |= {"times", "splits"} if "elsewhere" in expectation else set()
    assert checked <= places
    assert "{" not in sentence(expectation)


@every
def test_the_printed_number_is_in_its_band(name, expectation):
    if "printed" in expectation:
        low, high = expectation["between"]
        printed = np.atleast_1d(expectation["printed"])
        assert low <= printed.min() <= printed.max() <= high
    for place in re.findall(r"[Aa]t (\d+) ", expectation["says"].partition("(")[0]):
        assert expectation["at"] == int(place)


@every
def test_a_statement_is_about_points_that_there_are(name, expectation):
    _, at = judged(name, expectation)
    assert len(at) >= (3 if expectation["kind"] in ("rises", "falls") else 1)


def test_every_kind_is_used():
    assert {e["kind"] for _, e in ALL} == set(KINDS)


def test_a_crossing_is_found_on_straight_lines():
    x = np.array([0.0, 1.0, 2.0])
    assert crossing(x, np.array([-1.0, -0.5, 0.5])) == pytest.approx(1.5)
    assert crossing(x, np.array([-1.0, 0.0, 0.5])) == pytest.approx(1.0)
    assert crossing(x, np.array([1.0, 2.0, 3.0])) is None
    assert crossing(x, np.array([-1.0, 1.0, -1.0])) is None
