"""How numbers are written in the tables and figures of a report."""

from __future__ import annotations

from poolwise.wording import number


def round_number(value: float) -> str:
    """Return a number without trailing zeros, as at an axis."""
    text = number(value)
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def round_percent(share: float) -> str:
    """Return a share as a percentage without trailing zeros, as at an axis."""
    return f"{round_number(100.0 * share)}%"


def signed(value: float) -> str:
    """Return a number with its sign and one decimal."""
    return f"{value:+.1f}".replace("-", "−")


def p_value(p: float | None) -> str:
    """Return a p-value."""
    if p is None:
        return "–"
    return "<0.001" if p < 0.001 else f"{p:.3f}"
