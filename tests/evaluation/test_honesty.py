"""Diagnostics keep their word; ``python -m benchmarks.honesty`` has more repetitions."""

import pytest

from benchmarks import verdicts
from benchmarks.honesty import COLUMNS, ROWS, TAILS, alarms, detections, main, promises
from benchmarks.messy_problems import PROBLEMS
from benchmarks.verdicts import CLEAN, CONFLICT, DOORS, MESSY, Calibration, Case, as_text, judged

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


def said(probability, *, true, door="fit", group=CLEAN, level="helps", worse=False):
    return Case(group, door, probability, level, true, worse)


def test_a_calibration_compares_what_was_said_with_what_was_true():
    found = Calibration.of([said(0.96, true=True), said(0.98, true=False, worse=True)])
    assert (found.count, found.mean, found.hits) == (2, pytest.approx(0.97), 0.5)
    assert found.brier == pytest.approx((0.04**2 + 0.98**2) / 2)
    assert (found.sure, found.sure_hits, found.wrong) == (2, 0.5, 1)


def test_a_door_that_is_too_sure_does_not_keep_its_word():
    def judge(probability):
        every = [
            said(probability, true=k % 5 > 0, door=door, group=group, level="probably_helps")
            for door in DOORS
            for group in (CONFLICT, MESSY)
            for k in range(10)
        ]
        every += [said(0.9, true=True, door=door) for door in DOORS]
        return as_text(every)

    table, kept = judge(0.8)
    assert kept
    assert table.endswith(": met")
    table, kept = judge(0.97)
    assert not kept
    assert table.endswith("MISSED by fit, diagnose, compare, report")


@pytest.mark.slow
def test_every_door_is_asked_about_the_same_draw():
    found = list(judged(PROBLEMS["gestation"]().draw(0, 60), MESSY))
    assert [case.door for case in found] == list(DOORS)
    fit, diagnose, compare, report = (case.probability for case in found)
    assert fit == compare == report != diagnose
    assert all(0.0 < case.probability < 1.0 for case in found)


@pytest.mark.slow
def test_the_command_prints_every_kind_of_columns_and_judges_the_worst(capsys, monkeypatch):
    monkeypatch.setattr(verdicts, "cases", lambda *_: [said(0.9, true=True, door=d) for d in DOORS])
    monkeypatch.setattr(verdicts, "GROUPS", {CLEAN: (CLEAN,), "all but the last": (CLEAN,)})
    monkeypatch.setattr(verdicts, "MESSY", CLEAN)
    code = main(["--repetitions", "2"])
    printed = capsys.readouterr().out
    assert [name for name in TAILS if f"\n{name} " not in printed] == []
    assert ("MISSED" in printed) == bool(code)
    assert all(f"\n{door}: " in printed for door in DOORS)
