"""The tables of the paper, again: to the printed digits under the published protocol."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from paper.agreement import agreement, marks_of
from paper.datasets import available
from paper.errors import PaperError
from paper.protocol import labels, run_count, run_errors
from paper.rendering import count_sizes, statistics_grid
from paper.specs import read_statistics, read_table_spec
from tests.linear_methods import LINEAR_METHODS

needs_data = pytest.mark.skipif(
    not all(available(name) for name in read_statistics()),
    reason="the datasets are not all here: POOLWISE_DATA should name their folder",
)


@pytest.fixture(autouse=True)
def one_thread():
    """Sum in the same order everywhere, and leave other cores to others."""
    with threadpool_limits(1):
        yield


def errors_of(table, dataset, methods, protocol, runs=None):
    if not available(dataset):
        pytest.skip(f"POOLWISE_DATA has no {dataset}")
    spec = read_table_spec(table)
    return {m: np.array(run_errors(spec, dataset, m, protocol, runs=runs)) for m in methods}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "dataset", "methods"),
    [
        ("large100", "concrete", ["ols", "dsft", "dsft_nl", "dp"]),
        ("large300", "energy", ["ols", "dsft", "dsft_nl", "dp"]),
        ("nonadd5", "concrete", ["ols", "dsft", "dsft_nl", "dp"]),
        ("large100", "sml", ["ols", "dp"]),
        ("large300", "sml", ["ols", "dp"]),
        ("nonadd5", "sml", ["ols", "dp"]),
    ],
)
def test_lines_of_large_tables_agree_with_the_printed_digits(table, dataset, methods):
    spec = read_table_spec(table)
    found = agreement(spec, {dataset: errors_of(table, dataset, methods, "published")})
    assert found.means.agree == len(methods)
    assert found.sds.agree + found.sds.next_to == len(methods)
    assert found.marks.agree == found.marks.total


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "alone", "pooled", "mark"),
    [
        ("large100", 2.00, 3.18, "worse"),
        ("large300", 1.67, 2.40, "worse"),
        ("small5", 2.80, 2.90, "none"),
        ("small3", 2.80, 2.88, "none"),
    ],
)
def test_with_the_intended_columns_sml_flips_or_ties(table, alone, pooled, mark):
    errors = errors_of(table, "sml", ["ols", "dp"], "corrected")
    assert errors["ols"].mean() == pytest.approx(alone, abs=0.005)
    assert errors["dp"].mean() == pytest.approx(pooled, abs=0.005)
    assert marks_of(errors).ols == mark
    assert read_table_spec(table).published["sml"].mark == ""  # printed: dp better


def test_any_registered_method_can_be_asked_for():
    found = errors_of("small5", "energy", list(LINEAR_METHODS), "corrected", runs=2)
    assert list(found) == list(LINEAR_METHODS)
    assert all(np.isfinite(errors).all() for errors in found.values())


@needs_data
def test_the_statistics_are_those_of_the_data():
    counted = count_sizes()
    assert counted == read_statistics()
    grid = statistics_grid(counted, read_statistics())
    assert grid.notes[0] == "Agree with the paper: 54 of 54 numbers."
    first = [cell.text for cell in grid.lines[0].cells]
    assert first == ["concrete", "1030", "114", "38", "103", "8", "21"]


def test_methods_go_by_the_name_of_the_paper_where_it_has_one():
    spec = read_table_spec("small5")
    assert labels(spec) == ("ols", "dsft", "dsft_nl", "dp")
    assert labels(spec, ["data_pooling", "offset", "dp"]) == ("dp", "offset")
    with pytest.raises(PaperError, match=r"'offset'\? .*'ols', 'dsft', 'dsft_nl', 'dp', "):
        labels(spec, ["ofset"])


def test_runs_are_as_many_as_the_rows_give_or_as_are_wanted():
    spec = read_table_spec("small5")
    assert run_count(spec, "energy") == 15
    assert run_count(spec, "energy", 50) == 15
    assert run_count(read_table_spec("large300"), "energy", 4) == 4
    with pytest.raises(PaperError, match="positive"):
        run_count(spec, "energy", 0)
    with pytest.raises(PaperError, match="concrete"):
        run_count(spec, "wine")
