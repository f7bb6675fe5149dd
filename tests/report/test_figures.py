"""Figures: marks stand where their numbers are, inside the drawing."""

import itertools
import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from poolwise.report.figures import figures
from poolwise.report.interval_plot import Mark, Row, draw_intervals
from poolwise.report.svg import Axis, Drawing, axis_about

SIZES = {"wide": 720.0, "narrow": 330.0}


def drawn(rows, size="wide", reference=0.0):
    text = draw_intervals(
        lambda width, height: Drawing("key", "title", "description", (width, height)),
        rows,
        SIZES[size],
        axis_label="error",
        shown="{:g}".format,
        reference=reference,
        is_narrow=size == "narrow",
    )
    return ET.fromstring(text)


def marks_of(svg):
    """Return the place of each mark, by what it says."""
    found = {}
    for mark in svg.iter():
        if "mark" in mark.get("class", "").split() and mark.find("title") is not None:
            at = mark.get("cx") or (mark.get("x") and float(mark.get("x")) + 4.0)
            found[mark.find("title").text] = None if at is None else float(at)
    return found


@pytest.mark.parametrize("size", SIZES)
def test_marks_stand_at_their_numbers(size):
    values = [-1.0, 0.0, 0.5, 3.0]
    kinds = ["with", "without", "other", "with"]
    rows = [
        Row(f"r{v}", (Mark(v, v - 1.0, v + 1.0, k, f"{v}"),))
        for v, k in zip(values, kinds, strict=True)
    ]
    at = marks_of(drawn(rows, size))
    # Equal differences are equally far apart, to the tenth to which places are written.
    steps = [at["0.0"] - at["-1.0"], 2.0 * (at["0.5"] - at["0.0"]), (at["3.0"] - at["0.0"]) / 3.0]
    assert_allclose(steps, steps[2], atol=0.25)


@pytest.mark.parametrize("size", SIZES)
@given(
    st.lists(
        st.tuples(st.floats(-1e9, 1e9), st.floats(0.0, 1e9), st.booleans(), st.text(max_size=80)),
        min_size=1,
        max_size=30,
    )
)
def test_whatever_is_drawn_lies_inside_the_drawing(size, given_rows):
    rows = [
        Row(label, (Mark(v, v - w, v + w, "with" if must else "without", "tip", must),))
        for v, w, must, label in given_rows
    ]
    svg = drawn(rows, size)
    _, _, width, height = map(float, svg.get("viewBox").split())
    assert width == SIZES[size]
    for e in svg.iter():
        for key in ("x", "x1", "x2", "cx"):
            assert -0.05 <= float(e.get(key, "1")) <= width + 0.05
        for key in ("y", "y1", "y2", "cy"):
            assert -0.05 <= float(e.get(key, "1")) <= height + 0.05


def test_what_lies_far_off_is_an_arrow_and_does_not_squeeze_the_rest():
    near = Row("near", (Mark(1.0, 0.5, 1.5, "with", "near"),))
    far = Row("far", (Mark(1e6, -1e6, 3e6, "without", "far", must_show=False),))
    svg = drawn([near, far])
    assert marks_of(svg)["far"] is None  # no square: a triangle at the end of the axis
    ends = [e for e in svg.iter("line") if e.get("class") == "interval with"]
    assert float(ends[0].get("x2")) - float(ends[0].get("x1")) > 60.0


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_ticks_are_a_few_round_numbers_inside_the_axis(low, length):
    ticks = Axis(low, low + length, 0.0, 100.0).ticks()
    slack = 1e-6 * (abs(low) + length)
    assert 2 <= len(ticks) <= 9
    assert all(low - slack <= t <= low + length + slack for t in ticks)


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=5))
def test_an_axis_holds_all_its_numbers(values):
    axis = axis_about(values, 10.0, 90.0)
    assert all(axis.holds(v) for v in values)
    assert all(10.0 <= axis.at(v) <= 90.0 for v in values)


@pytest.mark.parametrize("size", SIZES)
def test_numbers_below_an_axis_do_not_touch(size):
    rows = [Row("r", (Mark(v, None, None, "with", "m"),)) for v in (-0.41, 0.1, 123456.0)]
    svg = drawn(rows, size)
    ticks = [e for e in svg.iter("text") if e.get("class") == "tick"]
    places = sorted((float(t.get("x")), len(t.text)) for t in ticks)
    for (x, letters), (next_x, next_letters) in itertools.pairwise(places):
        assert next_x - x > 0.5 * 13.0 * 0.6 * (letters + next_letters)


def test_each_coefficient_is_drawn_with_and_without_history(helping):
    for svg in figures(helping.data)["coefficients"].values():
        marks = [
            e.get("class") for e in ET.fromstring(svg).iter() if "mark" in (e.get("class") or "")
        ]
        assert marks.count("mark with") == marks.count("mark without") == 10


def test_every_row_is_a_point_and_every_method_a_mark(helping):
    made = figures(helping.data)
    assert made["residuals"]["wide"].count('class="mark point"') == 40
    labels = re.findall(r"<title>(RMSE [^<]+)</title>", made["methods"]["wide"])
    assert len(labels) == len(helping.data["methods"]["lines"])
    assert len(made) == 5


def test_no_figure_is_taller_than_a_printed_page(bad_names):
    for sizes in figures(bad_names.data).values():
        _, _, width, height = map(float, ET.fromstring(sizes["wide"]).get("viewBox").split())
        # A4 and letter, less 16 mm on each side and three lines of caption, in pixels.
        for page_width, page_height in ((673.0, 1001.0), (695.0, 934.0)):
            assert height * min(page_width / width, 1.0) <= page_height - 80.0
