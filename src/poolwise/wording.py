"""How sentences write names, counts and probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches


def capital(text: str) -> str:
    """Start a sentence, unless it starts with the name of a file."""
    first = text.partition(" ")[0]
    return text[:1].upper() + text[1:] if first.isalpha() else text


def plural(count: int, noun: str) -> str:
    """Write a count with its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def probability(p: float) -> str:
    """Return a probability that is never written as certain."""
    if p > 0.995:
        return "above 99%"
    return "below 1%" if p < 0.005 else f"{p:.0%}"


def listed(names: Sequence[object], most: int = 12) -> str:
    """Write names one after the other, shortened when there are many."""
    shown = ", ".join(repr(str(n)) for n in names[:most]) or "none"
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def nearest(name: object, there: Sequence[object]) -> list[str]:
    """Return the name that is nearest, be it in capitals or not; none if none is near."""
    folded = {str(n).casefold(): str(n) for n in there}
    near = get_close_matches(str(name), [str(n) for n in there], n=1)
    return near or [folded[n] for n in get_close_matches(str(name).casefold(), folded, n=1)]


def did_you_mean(name: object, there: Sequence[object]) -> str:
    """Ask whether the nearest name was meant, with a blank before it; nothing if none is near."""
    near = nearest(name, there)
    return f" Did you mean {near[0]!r}?" if near else ""


def rows_for(rows: float, coefficients: int) -> str:
    """Write how many rows there are for how many coefficients."""
    many = "" if coefficients == 1 else "s"
    return f"{rows:g} row{'' if rows == 1 else 's'} for {coefficients} coefficient{many}"


def counted(counts: Mapping[str, int], most: int = 12) -> str:
    """Write in how many rows each name is, shortened when there are many."""
    shown = [f"{str(name)!r} in {count:,}" for name, count in list(counts.items())[:most]]
    return ", ".join([*shown, f"{len(counts) - most} more columns"][: len(counts)])
