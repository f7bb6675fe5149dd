"""How numbers are written in the tables and figures of a report."""

from __future__ import annotations


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with a few digits."""
    if value is None:
        return "–"
    if value == 0.0:
        return "0"
    large = 10.0**digits <= abs(value) < 1e9
    text = f"{value:,.0f}" if large else f"{value:#.{digits}g}".rstrip(".")
    return text.replace("-", "−", 1) if value < 0.0 else text


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
