"""Words: how names and numbers are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolwise import wording


@given(st.text())
def test_nothing_invisible_stays_invisible(text):
    shown = wording.visible(text)
    assert shown.isprintable()
    if text.isprintable():
        assert shown == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("age", "age"),
        ("Straße 温度", "Straße 温度"),
        ("a\x1b[31m", "a\\x1b[31m"),
        ("\u202egnp", "\\u202egnp"),
        ("\ud800", "\\ud800"),
        ("two\nlines", "two\\nlines"),
    ],
)
def test_control_characters_are_written_out(text, shown):
    assert wording.visible(text) == shown


@given(st.text(), st.integers(4, 60))
def test_a_short_name_is_short_and_keeps_its_ends(name, most):
    shown, whole = wording.short(name, most), wording.visible(name)
    assert len(shown) <= most
    if len(whole) > most:
        first, last = shown.split("…", 1) if shown.count("…") == 1 else (shown[:1], "")
        assert whole.startswith(first)
        assert whole.endswith(last)
    else:
        assert shown == whole


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["a"], "“a”"),
        (["a", "b"], "“a” and “b”"),
        (list("abc"), "“a”, “b” and “c”"),
        (list("abcdefg"), "“a”, “b”, “c”, “d”, “e” and 2 more"),
    ],
)
def test_names_are_listed(names, said):
    assert wording.named(names) == said


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (0.0, "0"),
        (55.7, "55.70"),
        (-0.0211404, "−0.02114"),
        (1234567.8, "1,234,568"),
        (12345.678, "12,346"),
        (1e12, "1.000e+12"),
        (-3e-7, "−3.000e-07"),
    ],
)
def test_numbers_have_four_digits(value, shown):
    assert wording.number(value) == shown


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (-0.0231, "2.3% lower than"),
        (0.124, "12% higher than"),
        (-0.0001, "the same as"),
        (9.52, "10.5 times as high as"),
    ],
)
def test_changes_are_told_with_their_direction(share, said):
    assert wording.than(share) == said


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (-0.2, -0.03, "3.0% to 20% lower"),
        (0.03, 0.2, "3.0% to 20% higher"),
        (-0.071, 0.023, "7.1% lower to 2.3% higher"),
        (-0.0001, 0.0002, "less than 0.1% either way"),
        (3.0, 9.0, "4 times as high to 10 times as high"),
    ],
)
def test_intervals_of_changes_are_told_from_end_to_end(low, high, said):
    assert wording.change_range(low, high) == said
