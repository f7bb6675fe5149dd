"""Options: checks that several classes make of theirs."""

from __future__ import annotations

from numbers import Real

from poolwise.errors import BadOption


def check_number(option: str, value: object, *, positive: bool = False) -> None:
    """Refuse an option that is no finite number, or a negative one, or zero where that is wrong."""
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else -1.0
    if not 0.0 <= number < float("inf") or (positive and not number):
        raise BadOption(option, value, f"finite and {'positive' if positive else 'not negative'}")
