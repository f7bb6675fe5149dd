"""Marks: significant by ranks at 0.05 / 3, directed by means or by ranks."""

import numpy as np
import pytest

from paper.agreement import compare, marks_of, p_value, printed_marks
from paper.specs import PrintedLine

SMALL = np.linspace(1.0, 2.0, 20)


def test_errors_that_are_always_smaller_are_better():
    assert compare(SMALL, SMALL + 0.1) == "better"
    assert compare(SMALL + 0.1, SMALL) == "worse"


def test_equal_errors_are_not_different():
    assert p_value(SMALL, SMALL.copy()) == 1.0
    assert compare(SMALL, SMALL.copy()) == "none"


def test_seven_wins_of_seven_are_significant_and_six_of_six_are_not():
    # All signs alike in n runs: p = 2 / 2**n, and 2 / 2**7 = 0.0156 < 0.0167 < 2 / 2**6.
    steps = np.arange(1.0, 8.0)
    assert p_value(np.zeros(7), steps) == pytest.approx(2 / 2**7)
    assert compare(np.zeros(7), steps) == "better"
    assert compare(np.zeros(6), steps[:6]) == "none"


def test_one_large_error_turns_the_means_but_not_the_ranks():
    other = SMALL + np.linspace(0.1, 0.2, 20)
    pooled = SMALL.copy()
    pooled[3] += 1000.0
    assert compare(pooled, other, "means") == "worse"
    assert compare(pooled, other, "ranks") == "better"


@pytest.mark.parametrize("runs", [1, 2, 3])
def test_few_runs_are_never_significant(runs):
    assert compare(np.zeros(runs), np.ones(runs)) == "none"


def test_marks_are_there_for_the_methods_that_were_run():
    errors = {"ols": SMALL, "dsft": SMALL - 0.1, "dsft_nl": SMALL + 0.1}
    assert marks_of(errors) == (None, None, None)
    assert marks_of({"dp": SMALL, "ols": SMALL + 0.1}) == ("better", None, None)
    partial = marks_of({"dp": SMALL, "dsft": SMALL + 0.1})
    assert (partial.sign, partial.italic, partial.underlined) == ("?", "dp", "")
    marks = marks_of({**errors, "dp": SMALL})
    assert marks == ("none", "worse", "better")
    assert (marks.sign, marks.italic, marks.underlined) == ("*", "dsft", "dp")


def test_printed_signs_are_read_as_they_are_written():
    line = PrintedLine({}, {}, mark="†", underlined="", italic="dsft")
    assert printed_marks(line) == ("worse", "worse", "none")
    line = PrintedLine({}, {}, mark="", underlined="dsft_nl", italic="dp")
    assert printed_marks(line) == ("better", "better", "worse")
