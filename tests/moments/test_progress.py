"""A bar appears after two seconds, on a terminal, and never changes what is yielded."""

import time

import pytest

from poolwise.moments import progress


@pytest.mark.parametrize("show", [None, False, True])
def test_items_pass_unchanged(show):
    assert list(progress.tracked(iter("abc"), 3, "Reading", show=show)) == ["a", "b", "c"]


def test_quick_work_shows_nothing(capfd):
    list(progress.tracked(range(3), 3, "Reading", show=True))
    assert "Reading" not in capfd.readouterr().err


def test_slow_work_shows_its_label(capfd, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich then treats the stream as a terminal
    list(progress.tracked(range(3), 3, "Reading", show=True))
    assert "Reading" in capfd.readouterr().err


def test_a_bar_appears_while_the_first_item_takes_long(capfd, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.1)
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = []

    def items():
        shown.append("Reading" in capfd.readouterr().err)
        end = time.monotonic() + 20
        while not shown[-1] and time.monotonic() < end:
            time.sleep(0.05)
            shown.append("Reading" in capfd.readouterr().err)
        yield 1

    assert list(progress.tracked(items(), 1, "Reading", show=True)) == [1]
    assert (shown[0], shown[-1]) == (False, True)


def test_items_may_be_work_of_different_size(monkeypatch):
    moved = []
    monkeypatch.setattr("rich.progress.Progress.advance", lambda _, __, by: moved.append(by))
    list(progress.tracked([2, 3], 5, "Reading", work=float, show=True))
    list(progress.tracked([2, 3], 2, "Reading", show=True))
    assert moved == [2.0, 3.0, 1.0, 1.0]


def test_without_a_terminal_long_work_has_lines_with_the_time_left(capfd, monkeypatch):
    clock = iter(range(0, 10_000, 2))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(clock)))
    assert list(progress.tracked(range(20), 20, "Comparing", sample=4)) == list(range(20))
    told = capfd.readouterr()
    assert told.out == ""
    assert told.err.splitlines() == [
        "Comparing: 15% done",
        "Comparing: 20% done, about 30 seconds left",
        "Comparing: 35% done, about 25 seconds left",
        "Comparing: 50% done, about 20 seconds left",
        "Comparing: 65% done, about 15 seconds left",
        "Comparing: 80% done, about 10 seconds left",
        "Comparing: 95% done, about 5 seconds left",
    ]
    list(progress.tracked(range(20), 20, "Comparing", show=False))
    list(progress.tracked(range(4), 4, "Comparing"))  # eight seconds in all
    assert capfd.readouterr().err == ""
    assert [progress._about(s) for s in (1.0, 89.0, 91.0, 6000.0)] == [
        "about 5 seconds",
        "about 90 seconds",
        "about 2 minutes",
        "about 2 hours",
    ]


@pytest.mark.parametrize("patience", [-1.0, 60.0])
def test_what_has_no_parts_shows_its_label_and_only_if_it_takes_long(capfd, monkeypatch, patience):
    monkeypatch.setattr(progress, "PATIENCE", patience)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress.waiting("Predicting [/]x", show=True):
        pass
    assert ("Predicting [/]x" in capfd.readouterr().err) == (patience < 0.0)
    with progress.waiting("Predicting", show=False):
        pass
    assert "Predicting" not in capfd.readouterr().err


def test_a_reading_of_unknown_size_has_no_total():
    with progress.reading_bar("Reading", 0.0, show=True) as bar:
        bar.update(3, 24.0)
        assert bar._bar.tasks[0].total is None
        assert not bar._bar.finished
