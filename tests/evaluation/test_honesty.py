"""Diagnostics keep their word; ``python -m benchmarks.honesty`` has more repetitions."""

import pytest

from benchmarks.honesty import COLUMNS, ROWS, TAILS, alarms, detections, main, promises

KINDS = {**TAILS, "rare ones": lambda rng, n: (rng.random((n, COLUMNS)) < 0.1).astype(float)}


@pytest.mark.slow
@pytest.mark.parametrize("rows", ROWS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_where_nothing_has_moved_little_is_found(kind, rows):
    # 5 % of 200 are 10, with a standard deviation of 3.1.
    assert alarms(KINDS[kind], rows, 200, seed=7) <= 19 / 200


def test_a_large_move_is_found_and_a_tiny_one_is_not():
    assert detections(3.0, 10) == 1.0
    assert detections(0.01, 10) == 0.0


@pytest.mark.slow
def test_a_conflict_that_is_half_seen_is_promised_too_much():
    promised, found, held = promises(25, 0.5, 100)
    assert promised > 1.5 * found
    assert 0.65 < held < 0.95
    _, _, without = promises(25, 0.0, 100)
    assert without > 0.95 - 3 * 0.022  # the standard error of 100 draws


@pytest.mark.slow
def test_the_command_prints_every_kind_of_columns_and_judges_the_worst(capsys):
    code = main(["--repetitions", "2"])
    printed = capsys.readouterr().out
    assert [name for name in TAILS if f"\n{name} " not in printed] == []
    assert printed.endswith("MISSED\n" if code else "met\n")
