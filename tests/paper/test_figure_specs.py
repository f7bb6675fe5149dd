"""The specs of figures: all there, all readable, and what they name exists."""

import pytest

from paper.errors import PaperError
from paper.expectations import KINDS
from paper.specs import FIGURES, FOLDER, Simulation, read_figure_spec
from poolwise.methods import METHODS


def test_there_is_one_file_per_figure():
    assert {f.name for f in (FOLDER / "figures").iterdir()} == {f"{name}.toml" for name in FIGURES}


@pytest.mark.parametrize("name", FIGURES)
def test_no_comment_is_made_twice(name):
    file = FOLDER / "figures" / f"{name}.toml"
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line[:1] == "#"]
    assert len(lines) == len(set(lines))


@pytest.mark.parametrize("name", FIGURES)
def test_a_spec_names_only_what_exists(name):
    spec = read_figure_spec(name)
    curves = {curve.name for curve in spec.curves}
    assert all(curve.method in METHODS for curve in spec.curves)
    for expectation in spec.expected:
        assert expectation["kind"] in KINDS
        single = {expectation.get(word) for word in ("curve", "over", "less")}
        named = single | set(expectation.get("than", []))
        assert (named | set(expectation.get("curves", []))) - {None} <= curves


def test_the_points_are_those_of_the_paper():
    assert read_figure_spec("gain_noise").x.values == tuple(range(5, 31))
    assert read_figure_spec("airfare").x.values == tuple(range(8, 31))
    assert read_figure_spec("correlation").x.values[::5] == (0.0, 0.45, 0.9)
    assert read_figure_spec("mean_shift").x.values[-2:] == (0.9, 1.0)


def test_the_sizes_are_those_of_the_paper():
    sizes = {name: read_figure_spec(name).experiment for name in FIGURES}
    assert all(s.test_rows == 1000 for s in sizes.values() if isinstance(s, Simulation))
    assert [sizes[n].test_rows for n in ("wine", "concrete", "airfare")] == [700, 180, 5000]
    assert [read_figure_spec(n).repetitions for n in FIGURES] == [200, 200, 200, 200, 25, 25, 50]
    assert (sizes["correlation"].source_rows, sizes["correlation"].target_rows) == (100, 8)
    assert (sizes["mean_shift"].source_rows, sizes["mean_shift"].target_rows) == (200, 15)


def test_an_unknown_figure_is_refused_with_those_there_are():
    with pytest.raises(PaperError, match=r"No figure named 'gain'.*'gain_noise'"):
        read_figure_spec("gain")
