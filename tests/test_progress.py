"""A bar appears after two seconds, on a terminal, and never changes what is yielded."""

import pytest

from poolwise import progress


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
