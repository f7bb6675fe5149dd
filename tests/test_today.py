"""The table of the README: its arithmetic by hand, and that table and picture are of one run."""

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks import today
from benchmarks.cells import stacked_rows

ROOT = Path(__file__).parents[1]
SHOWN = re.findall(r"^\|.*\|$", (ROOT / "README.md").read_text(encoding="utf-8"), re.M)
PICTURE = ROOT / "docs" / "pictures" / "two_tables.svg"


@pytest.fixture
def cells():
    """Two cells in which all errors are 1, but for those of two ways."""
    even = {way: np.array([1.0, 3.0]) for way in today.WAYS}
    return [
        {**even, "bayes_pooling": np.array([0.5, 0.5]), "zero_fill": np.array([4.0, 4.0])},
        {**even, "bayes_pooling": np.array([6.0, 10.0]), "mean_fill": np.array([1.0, 1.0])},
    ]


def test_the_table_has_geometric_means_and_counts(cells):
    lines = {line.split(" | ")[0]: line for line in today.as_markdown(cells, cells[1]).split("\n")}
    # Means of splits over 2: 0.25 and 4; 2 and 1; 1 and 0.5.
    assert lines["| **`bayes_pooling`**"].endswith("| 1.00 | 4.00 | 1 | 1 | 4.00 |")
    assert lines["| fill with zeros"].endswith("| 1.41 | 2.00 | 0 | 1 | 1.00 |")
    assert lines["| fill with means"].endswith("| 0.71 | 1.00 | 1 | 0 | 0.50 |")
    assert lines["| drop the history (ridge)"].endswith("| 1.00 | 1.00 | 0 | 0 | 1.00 |")


def test_the_readme_shows_a_table_of_the_command(cells):
    made = today.as_markdown(cells, cells[0]).split("\n")
    assert SHOWN[:2] == made[:2]
    assert [line.split(" | ")[0] for line in SHOWN] == [line.split(" | ")[0] for line in made]


def test_the_picture_is_the_one_of_the_numbers_of_the_table():
    errors = {
        way: float(line.split(" | ")[1]) for way, line in zip(today.WAYS, SHOWN[2:], strict=True)
    }
    cells = sum(int(line.split(" | ")[3]) for line in SHOWN[2:])  # each has one best way
    assert PICTURE.read_text(encoding="utf-8") == today.picture(errors, cells)


def test_the_benchmarks_page_shows_the_same_table():
    page = (ROOT / "docs" / "benchmarks" / "today.txt").read_text(encoding="utf-8")
    assert [line for line in page.split("\n") if line.startswith("|")] == SHOWN


def test_the_picture_is_small_and_asks_for_nothing_else():
    text = PICTURE.read_text(encoding="utf-8")
    assert len(text) < 60_000
    assert re.findall(r"https?://[^\"]+", text) == ["http://www.w3.org/2000/svg"]


def test_samples_of_the_diabetes_data_share_no_patient_and_lack_the_new_columns():
    (sample,) = today.diabetes_samples(1)
    old, y_old = sample.history
    assert (old.shape, sample.X.shape, sample.test.shape) == ((250, 8), (40, 10), (152, 10))
    parts = ((old, y_old), (sample.X, sample.y), (sample.test, sample.test_y))
    patients = np.vstack([np.column_stack((X[:, :8], y)) for X, y in parts])
    assert len(np.unique(patients, axis=0)) == 442


def test_filling_with_zeros_is_least_squares_on_rows_with_zeros():
    (sample,) = today.diabetes_samples(1)
    ways = today.predictions(sample.X, sample.y, sample.history)
    predict = next(p for way, p in ways if way == "zero_fill")  # those after it are not fitted
    rows, y = stacked_rows(sample.X, sample.y, sample.history)
    design = np.column_stack((np.ones(len(rows)), np.where(np.isnan(rows), 0.0, rows)))
    intercept, *coef = np.linalg.lstsq(design, y, rcond=None)[0]
    assert_allclose(predict(sample.test), intercept + sample.test @ coef, rtol=1e-9)
