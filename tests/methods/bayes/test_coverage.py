"""Intervals hold the truth as often as they say; ``python -m benchmarks.coverage`` has more."""

import numpy as np
import pytest

from benchmarks.coverage import COEFFICIENTS, PREDICTIONS, SCENARIOS, Coverage, main, measured

JUDGED = [name for name, scenario in SCENARIOS.items() if not scenario.exception]
REPETITIONS = 140  # a standard error of 0.003 to 0.006 for predictions, about 0.008 beside them


@pytest.mark.slow
@pytest.mark.parametrize("name", JUDGED)
def test_intervals_of_95_percent_hold_the_truth_about_as_often(name):
    found = measured(SCENARIOS[name], REPETITIONS)
    assert found.predictions.std() / np.sqrt(REPETITIONS) < 0.007
    assert PREDICTIONS[0] <= found.predictions.mean() <= PREDICTIONS[1]
    assert COEFFICIENTS[0] <= found.coefficients.mean() <= COEFFICIENTS[1]


@pytest.mark.slow
def test_the_command_prints_a_line_for_each_scenario(capsys):
    main(["--repetitions", "2"])
    printed = capsys.readouterr().out
    for name in SCENARIOS:
        assert f"\n{name} " in printed
    assert printed.splitlines()[-1].endswith(f"of {len(JUDGED)}")


@pytest.mark.parametrize(
    ("predictions", "coefficients", "verdict"),
    [
        (0.95, 0.95, "met"),
        (0.91, 0.95, "MISSED: predictions"),
        (0.95, 0.99, "MISSED: coefficients"),
        (0.98, 0.87, "MISSED: predictions, coefficients"),
    ],
)
def test_a_missed_target_is_said_in_words(predictions, coefficients, verdict):
    found = Coverage(np.full(3, predictions), np.full(3, coefficients))
    assert found.verdict(SCENARIOS["4 d rows"]) == verdict
    assert found.verdict(SCENARIOS["d + 1 rows, strong signal"]).startswith("not judged: ")
