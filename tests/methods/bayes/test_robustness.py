"""Where history is wrong Bayes pooling is hardly worse than the target alone.

The limits are those of ``python -m benchmarks.robustness``, which has more points and repetitions.
"""

import pytest

from benchmarks.robustness import MIXES, QUESTIONS, report, risks, several_sources

REPETITIONS = 100
POINTS = {
    "the new feature's mean has shifted": (0.0, 1.0, 3.0),
    "the old feature's coefficient differs": (1.0, 1.5, 10.0),
    "a source with all features and little noise is wrong": (0.3, 0.01),
    "new and old feature correlate": (0.0, 0.54, 0.72),
    "more target rows": (5, 10, 30),
    "the new feature is nearly determined": (0.95, 0.99),
}


@pytest.mark.parametrize(
    ("title", "at"), [(title, at) for title, points in POINTS.items() for at in points]
)
def test_its_error_is_within_the_limit(title, at):
    question = QUESTIONS[title]
    found = risks(question.cases[at], (*question.better_of, "bayes_pooling"), REPETITIONS)
    assert found["bayes_pooling"] <= question.most * min(found[m] for m in question.better_of)


def test_data_pooling_breaks_the_same_limits():
    for title, at in (
        ("the new feature's mean has shifted", 1.0),
        ("the old feature's coefficient differs", 1.5),
        ("new and old feature correlate", 0.54),
        ("the new feature is nearly determined", 0.95),
    ):
        question = QUESTIONS[title]
        found = risks(question.cases[at], ("target_only", "data_pooling"), REPETITIONS)
        assert found["data_pooling"] > 1.05 * question.most * found["target_only"]


def test_one_bad_source_among_good_ones_costs_little():
    found = several_sources(3, 1, 20)
    assert found["all sources"] < 1.03 * found["good ones alone"]
    assert found["all sources"] < 0.9 * found["target_only"]


def test_the_report_has_a_verdict_for_every_question():
    lines = list(report(2, show=False))
    verdicts = [line for line in lines if line.endswith((": met", ": MISSED"))]
    assert len(verdicts) == len(QUESTIONS) + len(MIXES)
