"""Figures: what is drawn stands where its number says, fits its page, and has fixed bytes."""

import itertools
import re
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from poolwise.errors import NotInstalled
from poolwise.report.figures import Mark, Row, _intervals, figures
from poolwise.report.svg import WIDTHS


def drawn(rows, size="wide"):
    return ET.fromstring(_intervals("key", "title", rows, "axis", reference=0.0)[size])


def marks_of(svg):
    """Return the place of each mark, by its tip."""
    found = {}
    for e in svg.iter("g"):
        if (e.get("class") or "").startswith("mark"):
            found[e.find("title").text] = float(next(e.iter("use")).get("x"))
    return found


def places(svg):
    """Yield every coordinate of what is drawn, as pairs."""
    for e in svg.iter():
        if e.tag in ("use", "text"):
            yield float(e.get("x")), float(e.get("y"))
        elif e.tag == "path" and e.get("id") is None:  # those with one are shapes about zero
            numbers = [float(v) for v in re.findall(r"-?[\d.]+(?:e[-+]?\d+)?", e.get("d"))]
            yield from zip(numbers[::2], numbers[1::2], strict=True)


@pytest.mark.parametrize("size", WIDTHS)
def test_marks_stand_at_their_numbers(size):
    values = [-1.0, 0.0, 0.5, 3.0]
    kinds = ["with", "without", "other", "with"]
    rows = [
        Row(f"r{v}", (Mark(v, v - 1.0, v + 1.0, k, f"{v}"),))
        for v, k in zip(values, kinds, strict=True)
    ]
    at = marks_of(drawn(rows, size))
    # Equal differences are equally far apart, to the digits to which places are written.
    steps = [at["0.0"] - at["-1.0"], 2.0 * (at["0.5"] - at["0.0"]), (at["3.0"] - at["0.0"]) / 3.0]
    assert_allclose(steps, steps[2], atol=0.25)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(-1e9, 1e9), st.floats(0.0, 1e9), st.booleans(), st.text(max_size=80)),
        min_size=1,
        max_size=12,
    )
)
def test_whatever_is_drawn_lies_inside_the_drawing(given_rows):
    rows = [
        Row(label, (Mark(v, v - w, v + w, "with" if must else "without", "tip", must),))
        for v, w, must, label in given_rows
    ]
    for size, width in WIDTHS.items():
        svg = drawn(rows, size)
        _, _, own, height = map(float, svg.get("viewBox").split())
        assert own == width
        for x, y in places(svg):
            assert -0.05 <= x <= width + 0.05
            assert -0.05 <= y <= height + 0.05


def test_what_lies_far_off_is_an_arrow_and_does_not_squeeze_the_rest():
    near = Row("near", (Mark(1.0, 0.5, 1.5, "with", "near"),))
    far = Row("far", (Mark(1e6, -1e6, 3e6, "without", "far", must_show=False),))
    at = marks_of(drawn([near, far]))
    assert at["near"] > 300.0
    assert at["far"] == pytest.approx(WIDTHS["wide"] - 30.0)  # at the end of the axis


@pytest.mark.parametrize("size", WIDTHS)
def test_an_error_far_off_is_an_arrow_with_its_number(size):
    near = Row("near", (Mark(1.0, 0.8, 1.2, "with", "near"),))
    far = Row("far", (Mark(7.25, 1.0, 13.5, "other", "far", must_show=False, text="7.25"),))
    shown = {e.text for e in drawn([near, far], size).iter() if e.text}
    assert {"7.25", "1"} <= shown
    assert not shown & {"2", "4", "5", "8", "10"}  # of an axis that holds it


@pytest.mark.parametrize("size", WIDTHS)
@pytest.mark.parametrize("last", [0.00123, 12.0, 123456.0, 1e12])
def test_numbers_below_an_axis_do_not_touch(size, last):
    rows = [Row("r", (Mark(v * last, None, None, "with", "m"),)) for v in (-0.41, 0.1, 1.0)]
    texts = [e for e in drawn(rows, size).iter("text") if "middle" in e.get("style")][:-1]
    at = sorted((float(t.get("x")), len(t.text)) for t in texts)
    assert len(at) >= 2
    for (x, letters), (next_x, next_letters) in itertools.pairwise(at):
        assert next_x - x > 0.5 * 13.0 * 0.6 * (letters + next_letters)


def test_each_coefficient_is_drawn_with_and_without_history(helping):
    for svg in figures(helping.data)["coefficients"].values():
        kinds = [e.get("class") for e in ET.fromstring(svg).iter("g") if e.get("class")]
        assert kinds.count("mark with") == kinds.count("mark without") == 10


def test_every_row_is_a_point_and_every_method_a_mark(helping):
    made = figures(helping.data)
    (points,) = [
        e for e in ET.fromstring(made["residuals"]["wide"]).iter("g") if e.get("class") == "points"
    ]
    assert len(list(points.iter("use"))) == 40
    labels = re.findall(r"<title>(RMSE [^<]+)</title>", made["methods"]["wide"])
    assert len(labels) == len(helping.data["methods"]["lines"])
    assert len(made) == 5


def test_no_figure_is_taller_than_a_printed_page(bad_names):
    for sizes in figures(bad_names.data).values():
        _, _, width, height = map(float, ET.fromstring(sizes["wide"]).get("viewBox").split())
        # A4 and letter, less 16 mm on each side and three lines of caption, in pixels.
        for page_width, page_height in ((673.0, 1001.0), (695.0, 934.0)):
            assert height * min(page_width / width, 1.0) <= page_height - 80.0


def test_figures_have_the_colours_of_the_page_and_the_same_bytes_every_time(helping):
    made = figures(helping.data)
    assert figures(helping.data) == made
    for sizes in made.values():
        for svg in sizes.values():
            assert not re.search("#[0-9a-f]{6}|font-family|<style|<image", svg)
            assert "var(--with)" in svg


def test_matplotlib_is_imported_only_when_a_page_is_made(helping, monkeypatch):
    code = (
        "import sys, poolwise.report, poolwise.report.html; assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(NotInstalled, match=r"poolwise\[report\]"):
        helping.html()


@pytest.mark.slow
def test_a_page_needs_nothing_of_the_command_line(tmp_path):
    code = f"""
import sys
sys.modules |= {{"rich": None, "typer": None}}  # importing them fails
import numpy as np
from poolwise import report
rng = np.random.default_rng(0)
X = rng.normal(size=(90, 2))
y = X @ [1.0, 2.0] + rng.normal(size=90)
made = report(X[60:], y[60:], sources=(X[:60, :1], y[:60]), methods=["data_pooling"])
made.save({str(tmp_path / "page.html")!r})
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert "<svg" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_label_in_wide_letters_has_more_room():
    latin, chinese = (
        marks_of(drawn([Row(letter * 30, (Mark(1.0, None, None, "with", "m"),))]))["m"]
        for letter in "a漢"
    )
    assert chinese > latin
