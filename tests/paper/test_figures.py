"""Figures as files: valid, complete, and the same bytes for the same seed."""

import math
import struct
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from paper import figures
from paper.drawing import STYLES, apart, styles_of
from paper.errors import PaperError
from paper.expectations import judge, judgements
from paper.figures import Point, curve_of
from paper.specs import parse_figure_spec, read_figure_spec
from tests.paper.points_file import read_points

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def points():
    return figures.run("correlation", repetitions=20)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gain_mean", "correlation"])
def test_a_figure_is_written_three_times(name, tmp_path):
    points = figures.run(name, repetitions=10)
    svg, png, table = figures.write(points, name, tmp_path / "new" / "folder")
    root = ElementTree.parse(svg).getroot()
    assert root.tag == f"{SVG}svg"
    words = " ".join("".join(t.itertext()) for t in root.iter(f"{SVG}text"))
    spec = read_figure_spec(name)
    assert all(word in words for word in (spec.title, spec.x.label, spec.y_label, spec.where))
    assert all(curve.label in words for curve in spec.curves)  # a label at each curve, no legend
    header = png.read_bytes()[:24]
    assert header[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", header[16:]) == (1290, 750)
    assert read_points(table) == points


def test_the_same_seed_gives_the_same_bytes(points, tmp_path):
    first = figures.write(points, "correlation", tmp_path / "a")
    again = figures.run("correlation", repetitions=20)
    for one, two in zip(first, figures.write(again, "correlation", tmp_path / "b"), strict=True):
        assert one.read_bytes() == two.read_bytes()


def test_another_seed_gives_other_points(points):
    assert figures.run("correlation", repetitions=20, seed=9) != points


def test_a_spec_of_ones_own_is_a_figure_too(points, tmp_path):
    own = replace(read_figure_spec("correlation"), name="own", expected=())
    found = figures.run(own, repetitions=20)
    assert found == [replace(p, figure="own") for p in points]
    assert judgements(found, own) == []
    files = figures.write(found, own, tmp_path)
    assert [f.name for f in files] == ["own.svg", "own.png", "own.csv"]


@pytest.mark.parametrize(
    ("text", "about"), [("", "figure"), ("[figure", "Expected"), ("[figure]\nodd = 1", "x")]
)
def test_a_spec_that_is_none_says_where_words_are_explained(text, about):
    with pytest.raises(PaperError, match=f"FigureSpec.* explains: .*{about}"):
        parse_figure_spec("own", text)


def test_a_spec_of_ones_own_needs_a_seed_and_known_methods():
    spec = read_figure_spec("correlation")
    with pytest.raises(PaperError, match="seed"):
        figures.run(replace(spec, seed=None), repetitions=2)
    odd = (replace(spec.curves[0], method="boosted_pooling"),)
    with pytest.raises(PaperError, match="boosted_pooling"):
        figures.run(replace(spec, curves=odd), repetitions=2)


def test_drawing_leaves_no_trace_in_matplotlib(points, tmp_path):
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    figures.write(points, "correlation", tmp_path)
    assert dict(mpl.rcParams) == before


def test_any_registered_method_can_be_added(tmp_path):
    points = figures.run("correlation", repetitions=3, methods=["mean_fill", "data_pooling"])
    curves = [p.curve for p in points if p.x == 0.0]
    assert curves[-1] == "mean_fill"
    assert curves.count("data_pooling") == 1
    svg, *_ = figures.write(points, "correlation", tmp_path)
    assert "mean fill" in svg.read_text(encoding="utf-8")


def test_a_gain_of_target_only_over_itself_is_nothing():
    points = figures.run("gain_noise", repetitions=3, methods=["target_only"])
    assert all(p.mean == 0.0 for p in curve_of(points, "target_only"))


@pytest.mark.slow
def test_the_numbers_do_not_depend_on_how_many_processes_there_are(points):
    given = {"repetitions": 20, "methods": ["mean_fill"]}
    one, two = (figures.run("correlation", jobs=jobs, **given) for jobs in (1, 2))
    assert one == two
    assert [p for p in two if p.curve != "mean_fill"] == points


def test_the_curves_of_the_paper_start_no_process(points, monkeypatch):
    monkeypatch.setattr("joblib.externals.loky.process_executor.ProcessPoolExecutor.submit", None)
    assert figures.run("correlation", repetitions=20, jobs=2) == points


def test_a_bar_with_the_time_left_moves_once_a_point(points, monkeypatch):
    told = []

    def tracked(items, total, label, *, show):
        told.extend((total, label, show))
        return items

    monkeypatch.setattr(figures, "tracked", tracked)
    assert figures.run("correlation", repetitions=20, progress=True) == points
    assert told == [11, "Figure correlation", True]


def test_many_further_curves_all_look_different():
    names = [f"method_{k}" for k in range(12)]
    points = [Point("f", n, "published", 0.0, 1.0, 0.1, 0.9, 1.1, 5, 0) for n in names]
    styles = [*styles_of(points).values(), *STYLES.values()]
    assert len({(s.color, str(s.dashes)) for s in styles}) == 12 + len(set(STYLES.values()))


def test_what_is_not_there_is_refused():
    with pytest.raises(PaperError, match="mean_fill"):
        figures.run("correlation", methods=["mean_fil"])
    with pytest.raises(PaperError, match="'published', 'corrected'"):
        figures.run("correlation", protocol="printed")
    with pytest.raises(PaperError, match="jobs=0"):
        figures.run("correlation", repetitions=2, jobs=0)


def test_a_band_is_the_confidence_interval_of_student():
    point = Point.of_values("f", "c", "published", 1.0, np.array([1.0, 2.0, 3.0]), 0)
    assert (point.mean, point.error) == pytest.approx((2.0, 1 / math.sqrt(3)))
    assert point.high - point.mean == pytest.approx(4.302653 * point.error)


def test_one_repetition_has_no_band_and_can_be_drawn(tmp_path):
    points = figures.run("mean_shift", repetitions=1)
    assert all(math.isnan(p.low) for p in points)
    assert len(figures.write(points, "mean_shift", tmp_path)) == 3


def test_labels_keep_their_distance_and_move_little():
    assert apart([0.1, 0.5, 0.9], 0.05) == [0.1, 0.5, 0.9]
    moved = apart([0.5, 0.5, 0.51, 0.9], 0.06)
    assert (np.diff(moved) > 0.06 - 1e-12).all()
    assert np.mean(moved[:3]) == pytest.approx(np.mean([0.5, 0.5, 0.51]))
    assert moved[3] == 0.9


def test_a_statement_that_does_not_hold_is_told(points):
    says = {"says": "Least squares is perfect.", "kind": "between", "curve": "target_only"}
    (verdict,) = judge(points, [{**says, "between": [0.0, 0.1]}])
    assert not verdict.holds
    assert verdict.found[0].isdigit()
