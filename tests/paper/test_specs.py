"""The specs of the tables hold what the paper prints."""

import math

import pytest

from paper.datasets import UCI
from paper.errors import PaperError
from paper.protocol import small_sizes
from paper.specs import (
    TABLES,
    read_statistics,
    read_table_spec,
)
from poolwise.methods import METHODS


@pytest.fixture(params=TABLES)
def spec(request):
    return read_table_spec(request.param)


def test_every_table_has_nine_datasets_and_four_methods(spec):
    assert spec.datasets == tuple(sorted(spec.datasets))  # the order of the stream of draws
    assert len(spec.datasets) == 9
    assert list(spec.methods) == ["ols", "dsft", "dsft_nl", "dp"]
    assert set(spec.methods.values()) <= set(METHODS)
    assert set(spec.datasets) <= set(UCI)


def test_every_cell_has_a_printed_mean_and_deviation_of_three_digits(spec):
    for line in spec.published.values():
        for number in (*line.means.values(), *line.sds.values()):
            assert math.isfinite(number)
            assert float(f"{number:.3g}") == number


@pytest.mark.parametrize(
    ("table", "dataset", "method", "mean", "sd"),
    [
        ("small5", "pol", "ols", 4.77e9, 3.38e10),
        ("small3", "sml", "dp", 2.78, 0.493),
        ("small5_np1", "energy", "ols", 684, 4530),
        ("large100", "protein", "dp", 0.679, 0.0127),
        ("large300", "kin40k", "dsft_nl", 1.14, 0.0631),
        ("nonadd5", "concrete", "dsft_nl", 4900, 2840),
    ],
)
def test_numbers_are_those_of_the_paper(table, dataset, method, mean, sd):
    line = read_table_spec(table).published[dataset]
    assert (line.means[method], line.sds[method]) == (mean, sd)


def test_marks_are_those_of_the_paper():
    line = read_table_spec("large300").published["skillcraft"]
    assert (line.mark, line.underlined, line.italic) == ("†", "dsft_nl", "dp")
    line = read_table_spec("large100").published["energy"]
    assert (line.mark, line.underlined, line.italic) == ("*", "dp", "dp")
    line = read_table_spec("small5").published["kin40k"]
    assert (line.mark, line.underlined, line.italic) == ("", "", "")


def test_target_rows_are_a_number_or_follow_the_features():
    assert read_table_spec("small5").target_rows(8) == 38
    assert read_table_spec("small5_np1").target_rows(8) == 9
    assert read_table_spec("large300").target_rows(8) == 300


def test_the_printed_sizes_follow_from_rows_and_features():
    for name, printed in read_statistics().items():
        assert small_sizes(printed.total, printed.features) == printed
        assert UCI[name].rows == printed.total


def test_a_table_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(PaperError, match="small5_np1"):
        read_table_spec("small7")


def test_marks_and_splits_are_known(spec):
    assert spec.split in ("small", "large")
    assert spec.datasets == tuple(spec.published)
    for line in spec.published.values():
        assert line.mark in ("", "*", "†")
        assert line.underlined in ("", "dp", "dsft_nl")
        assert line.italic in ("", "dp", "dsft")
