"""Expectations: what the paper says of a figure, held against our points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poolwise.double_double import Array
from poolwise.experiments.points import Point, curve_of


@dataclass(frozen=True)
class Verdict:
    """One statement about a figure, and whether it holds.

    Parameters
    ----------
    says : str
        The statement.
    holds : bool
        Whether it holds in our figure.
    found : str
        What we have instead of, or as well as, the published number.
    """

    says: str
    holds: bool
    found: str


def judge(points: Sequence[Point], expected: Iterable[Mapping[str, Any]]) -> list[Verdict]:
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


def _judged(points: Sequence[Point], expectation: Mapping[str, Any]) -> Verdict:
    low = expectation.get("at", expectation.get("from", -np.inf)) - 1e-9
    high = expectation.get("at", expectation.get("to", np.inf)) + 1e-9
    kept = [p for p in points if low <= p.x <= high]
    holds, found = KINDS[expectation["kind"]](kept, expectation)
    return Verdict(expectation["says"], bool(holds), found)


def _between(points: Sequence[Point], e: Mapping[str, Any]) -> tuple[bool, str]:
    _, y = _xy(points, e["curve"])
    low, high = e["between"]
    found = f"{y.min():.4g}" if len(y) == 1 else f"{y.min():.4g} to {y.max():.4g}"
    return bool(low <= y.min() and y.max() <= high), found


def _below(points: Sequence[Point], e: Mapping[str, Any]) -> tuple[bool, str]:
    _, y = _xy(points, e["curve"])
    others = np.min([_xy(points, name)[1] for name in e["than"]], axis=0)
    return bool(np.all(y < others)), f"below at {np.sum(y < others)} of {len(y)} points"


def _crossing(points: Sequence[Point], e: Mapping[str, Any]) -> tuple[bool, str]:
    x, y = _xy(points, e["curve"])
    where = first_crossing(x, y - _xy(points, e["over"])[1])
    low, high = e["between"]
    found = "no crossing" if where is None else f"crosses at {where:.2f}"
    return where is not None and low <= where <= high, found


def first_crossing(x: Array, difference: Array) -> float | None:
    """Return where a difference first turns from negative to positive, on straight lines."""
    for j in range(len(x) - 1):
        before, after = difference[j], difference[j + 1]
        if before < 0.0 <= after:
            return float(x[j] + (x[j + 1] - x[j]) * before / (before - after))
    return None


def _peak(points: Sequence[Point], e: Mapping[str, Any]) -> tuple[bool, str]:
    x, y = _xy(points, e["curve"])
    low, high = e["between"]
    where = float(x[y.argmax()])
    return low <= where <= high, f"highest at {where:.2f}, {y.max():.2f}"


def _rise(points: Sequence[Point], e: Mapping[str, Any]) -> tuple[bool, str]:
    _, y = _xy(points, e["curve"])
    low, high = e["between"]
    return bool(low <= y[-1] - y[0] <= high), f"from {y[0]:.2f} to {y[-1]:.2f}"


def _flat(points: Sequence[Point], e: Mapping[str, Any]) -> tuple[bool, str]:
    _, y = _xy(points, e["curve"])
    return bool(np.ptp(y) <= e["within"]), f"{y.min():.4g} to {y.max():.4g}"


def _spread(points: Sequence[Point], e: Mapping[str, Any]) -> tuple[bool, str]:
    spread = np.ptp([_xy(points, name)[1] for name in e["curves"]], axis=0).max()
    return bool(spread <= e["within"]), f"at most {spread:.4g} apart"


KINDS: dict[str, Callable[[Sequence[Point], Mapping[str, Any]], tuple[bool, str]]] = {
    "between": _between,
    "below": _below,
    "crossing": _crossing,
    "peak": _peak,
    "rise": _rise,
    "flat": _flat,
    "spread": _spread,
}


def _xy(points: Sequence[Point], curve: str) -> tuple[Array, Array]:
    own = curve_of(points, curve)
    return np.array([p.x for p in own]), np.array([p.mean for p in own])
