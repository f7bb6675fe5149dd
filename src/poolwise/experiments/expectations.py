"""Expectations: what the paper says of a figure, held against our points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poolwise.double_double import Array
from poolwise.experiments.points import Point, curve_of


@dataclass(frozen=True)
class Judgement:
    """One statement about a figure, and whether it holds.

    Parameters
    ----------
    says : str
        The statement, with the band that is checked.
    holds : bool
        Whether it holds in our figure.
    found : str
        What we have instead of, or as well as, the published number.
    values : tuple of float
        The same in numbers: what had to be in the band, the least and the greatest of it.
    """

    says: str
    holds: bool
    found: str
    values: tuple[float, ...] = ()


def judge(points: Sequence[Point], expected: Iterable[Mapping[str, Any]]) -> list[Judgement]:
    """Hold points against the expectations of their figure.

    Parameters
    ----------
    points : sequence of Point
        Of one figure.
    expected : iterable of mappings
        Each with ``says``, ``kind`` (one of ``KINDS``) and the words of that kind; ``at``,
        ``from`` and ``to`` restrict the points it is about.
    """
    return [_judged(points, e) for e in expected]


def sentence(expectation: Mapping[str, Any]) -> str:
    """Return the statement, with the numbers that are checked in the places it has for them."""
    numbers = {k: v for k, v in expectation.items() if isinstance(v, int | float)}
    for word, ends in (("between", ("low", "high")), ("elsewhere", ("times", "splits"))):
        numbers.update(zip(ends, expectation.get(word, ()), strict=False))
    says: str = expectation["says"]
    return says.format_map({k: f"{v:g}" for k, v in numbers.items()})


def _judged(points: Sequence[Point], expectation: Mapping[str, Any]) -> Judgement:
    low = expectation.get("at", expectation.get("from", -np.inf)) - 1e-9
    high = expectation.get("at", expectation.get("to", np.inf)) + 1e-9
    kept = [p for p in points if low <= p.x <= high]
    holds, found, values = KINDS[expectation["kind"]](kept, expectation)
    return Judgement(sentence(expectation), bool(holds), found, tuple(float(v) for v in values))


Finding = tuple[bool, str, Sequence[float]]


def _between(points: Sequence[Point], e: Mapping[str, Any]) -> Finding:
    """Check that every point is in the band."""
    _, y = _xy(points, e["curve"])
    return _within(y, e), _range(y), (y.min(), y.max())


def _above(points: Sequence[Point], e: Mapping[str, Any]) -> Finding:
    """Check that every point is above a number."""
    _, y = _xy(points, e["curve"])
    return bool((y > e["above"]).all()), _range(y), (y.min(), y.max())


def _below(points: Sequence[Point], e: Mapping[str, Any]) -> Finding:
    """Check that a curve is below all the others at every point."""
    _, y = _xy(points, e["curve"])
    room = np.min([_xy(points, name)[1] for name in e["than"]], axis=0) - y
    below = int(np.sum(room > 0.0))
    return below == len(y), f"below at {below} of {len(y)} points", (room.min(), room.max())


def _difference(points: Sequence[Point], e: Mapping[str, Any]) -> Finding:
    """Check that one curve less another is in the band at every point."""
    y = _xy(points, e["curve"])[1] - _xy(points, e["less"])[1]
    return _within(y, e), _range(y), (y.min(), y.max())


def _crossing(points: Sequence[Point], e: Mapping[str, Any]) -> Finding:
    """Check that a curve crosses another once, from below, and where."""
    x, y = _xy(points, e["curve"])
    where = crossing(x, y - _xy(points, e["over"])[1])
    if where is None:
        return False, "no crossing, or several", (np.nan,)
    return _within(np.array([where]), e), f"crosses at {where:.3f}", (where,)


def crossing(x: Array, difference: Array) -> float | None:
    """Return where a difference turns from negative to positive, on straight lines.

    None if it does not, or if it has both signs on either side.
    """
    after = int(np.argmax(difference >= 0.0))
    if not (after > 0 and (difference[after:] >= 0.0).all()):
        return None
    (a, b), (low, high) = x[after - 1 : after + 1], difference[after - 1 : after + 1]
    return float(a + (b - a) * low / (low - high))


def _highest_at(points: Sequence[Point], e: Mapping[str, Any]) -> Finding:
    """Check where a curve is highest."""
    x, y = _xy(points, e["curve"])
    where = x[[y.argmax()]]
    return _within(where, e), f"highest at {where[0]:.2f}", (where[0],)


def _highest(points: Sequence[Point], e: Mapping[str, Any]) -> Finding:
    """Check how high a curve is where it is highest."""
    top = _xy(points, e["curve"])[1].max()
    return _within(np.array([top]), e), f"{top:.4g}", (top,)


def _rises(points: Sequence[Point], e: Mapping[str, Any], sign: float = 1.0) -> Finding:
    """Check that a curve rises: no step falls by ``slack``, and from end to end it rises more."""
    _, y = _xy(points, e["curve"])
    steps = sign * np.diff(y)
    holds = (steps > -e["slack"]).all() and sign * (y[-1] - y[0]) > e["slack"]
    against = max(0.0, float(-steps.min()))
    found = f"from {y[0]:.4g} to {y[-1]:.4g}, {_against(against, sign)}"
    return bool(holds), found, (against,)


def _against(most: float, sign: float) -> str:
    other = "falls" if sign > 0.0 else "rises"
    return f"a step {other} by {most:.2g}" if most else f"no step {other}"


def _falls(points: Sequence[Point], e: Mapping[str, Any]) -> Finding:
    """Check that a curve falls, as ``_rises`` does."""
    return _rises(points, e, -1.0)


def _square(points: Sequence[Point], e: Mapping[str, Any]) -> Finding:
    """Check that a curve rises with the square of x, by how much, and how nearly."""
    x, y = _xy(points, e["curve"])
    risen = y - y[0]
    factor = risen @ x**2 / (x**4).sum()
    off = np.abs(risen - factor * x**2).max()
    found = f"{factor:.4g} times the square, at most {off:.2g} off"
    return _within(np.array([factor]), e) and bool(off <= e["within"]), found, (factor,)


def _flat(points: Sequence[Point], e: Mapping[str, Any]) -> Finding:
    """Check that all points of a curve are equal."""
    spread = np.ptp(_xy(points, e["curve"])[1])
    return bool(spread <= e["within"]), f"highest less lowest point {spread:.1g}", (spread,)


def _spread(points: Sequence[Point], e: Mapping[str, Any]) -> Finding:
    """Check that several curves are close to each other at every point."""
    spread = np.ptp([_xy(points, name)[1] for name in e["curves"]], axis=0).max()
    return bool(spread <= e["within"]), f"at most {spread:.4g} apart", (spread,)


KINDS: dict[str, Callable[[Sequence[Point], Mapping[str, Any]], Finding]] = {
    "between": _between,
    "above": _above,
    "below": _below,
    "difference": _difference,
    "crossing": _crossing,
    "highest_at": _highest_at,
    "highest": _highest,
    "rises": _rises,
    "falls": _falls,
    "square": _square,
    "flat": _flat,
    "spread": _spread,
}


def _within(values: Array, e: Mapping[str, Any]) -> bool:
    low, high = e["between"]
    slip = 1e-9 * (abs(low) + abs(high))  # 0.63 + 0.09 is not 0.72
    return bool(((values >= low - slip) & (values <= high + slip)).all())


def _range(y: Array) -> str:
    return f"{y[0]:.4g}" if len(y) == 1 else f"{y.min():.4g} to {y.max():.4g}"


def _xy(points: Sequence[Point], curve: str) -> tuple[Array, Array]:
    own = curve_of(points, curve)
    return np.array([p.x for p in own]), np.array([p.mean for p in own])
