"""Statements of the paper about its figures, checked against our points.

``python -m paper.expectations wine`` counts at how many other seeds each statement holds.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paper.figures import Point, curve_of, run, spec_of
from paper.specs import FIGURES, FigureSpec
from poolwise._typing import Array
from poolwise.moments.progress import tracked

Expectation = Mapping[str, Any]  # ``says``, ``kind``, and the words of that kind
Finding = tuple[bool, str, Sequence[float]]


@dataclass(frozen=True)
class Judgement:
    """One statement about a figure, and whether it holds."""

    says: str  # with the band that is checked
    holds: bool
    found: str
    values: tuple[float, ...] = ()  # what had to be in the band: the least and the greatest


def judge(points: Sequence[Point], expected: Iterable[Expectation]) -> list[Judgement]:
    """Check the points of a figure; ``at``, ``from`` and ``to`` restrict a statement to some."""
    found = []
    for e in expected:
        low = e.get("at", e.get("from", -np.inf)) - 1e-9
        high = e.get("at", e.get("to", np.inf)) + 1e-9
        kept = [p for p in points if low <= p.x <= high]
        holds, what, values = KINDS[e["kind"]](kept, e)
        found.append(Judgement(sentence(e), bool(holds), what, tuple(map(float, values))))
    return found


def judgements(points: Sequence[Point], figure: str | FigureSpec) -> list[Judgement]:
    """Check the points of a figure against the statements of its specification."""
    return judge(points, spec_of(figure).expected)


def sentence(e: Expectation) -> str:
    """Return the statement, with the checked numbers filled in."""
    numbers = {k: v for k, v in e.items() if isinstance(v, int | float)}
    for word, ends in (("between", ("low", "high")), ("elsewhere", ("times", "splits"))):
        numbers.update(zip(ends, e.get(word, ()), strict=False))
    says: str = e["says"]
    return says.format_map({k: f"{v:g}" for k, v in numbers.items()})


def _between(points: Sequence[Point], e: Expectation) -> Finding:
    y = _y(points, e["curve"])
    return _within(y, e), _range(y), (y.min(), y.max())


def _above(points: Sequence[Point], e: Expectation) -> Finding:
    y = _y(points, e["curve"])
    return bool((y > e["above"]).all()), _range(y), (y.min(), y.max())


def _below(points: Sequence[Point], e: Expectation) -> Finding:
    y = _y(points, e["curve"])
    room = np.min([_y(points, name) for name in e["than"]], axis=0) - y
    below = int(np.sum(room > 0.0))
    return below == len(y), f"below at {below} of {len(y)} points", (room.min(), room.max())


def _difference(points: Sequence[Point], e: Expectation) -> Finding:
    y = _y(points, e["curve"]) - _y(points, e["less"])
    return _within(y, e), _range(y), (y.min(), y.max())


def _crossing(points: Sequence[Point], e: Expectation) -> Finding:
    where = crossing(_x(points, e), _y(points, e["curve"]) - _y(points, e["over"]))
    if where is None:
        return False, "no crossing, or several", (np.nan,)
    return _within(where, e), f"crosses at {where:.3f}", (where,)


def crossing(x: Array, difference: Array) -> float | None:
    """Return where a difference turns from negative to positive, by linear interpolation.

    None if it does not, or if it has both signs on either side.
    """
    after = int(np.argmax(difference >= 0.0))
    if not (after > 0 and (difference[after:] >= 0.0).all()):
        return None
    (a, b), (low, high) = x[after - 1 : after + 1], difference[after - 1 : after + 1]
    return float(a + (b - a) * low / (low - high))


def _highest_at(points: Sequence[Point], e: Expectation) -> Finding:
    where = _x(points, e)[_y(points, e["curve"]).argmax()]
    return _within(where, e), f"highest at {where:.2f}", (where,)


def _highest(points: Sequence[Point], e: Expectation) -> Finding:
    top = _y(points, e["curve"]).max()
    return _within(top, e), f"{top:.4g}", (top,)


def _rises(points: Sequence[Point], e: Expectation, sign: float = 1.0) -> Finding:
    """Check that no step falls by ``slack``, and that the curve rises by more from end to end."""
    y = _y(points, e["curve"])
    steps = sign * np.diff(y)
    holds = (steps > -e["slack"]).all() and sign * (y[-1] - y[0]) > e["slack"]
    against, other = max(0.0, float(-steps.min())), "falls" if sign > 0.0 else "rises"
    said = f"a step {other} by {against:.2g}" if against else f"no step {other}"
    return bool(holds), f"from {y[0]:.4g} to {y[-1]:.4g}, {said}", (against,)


def _falls(points: Sequence[Point], e: Expectation) -> Finding:
    return _rises(points, e, -1.0)


def _square(points: Sequence[Point], e: Expectation) -> Finding:
    """Check that a curve rises with the square of x, and by which factor."""
    x, y = _x(points, e), _y(points, e["curve"])
    risen = y - y[0]
    factor = risen @ x**2 / (x**4).sum()
    off = np.abs(risen - factor * x**2).max()
    found = f"{factor:.4g} times the square, at most {off:.2g} off"
    return _within(factor, e) and bool(off <= e["within"]), found, (factor,)


def _flat(points: Sequence[Point], e: Expectation) -> Finding:
    spread = np.ptp(_y(points, e["curve"]))
    return bool(spread <= e["within"]), f"highest less lowest point {spread:.1g}", (spread,)


def _spread(points: Sequence[Point], e: Expectation) -> Finding:
    spread = np.ptp([_y(points, name) for name in e["curves"]], axis=0).max()
    return bool(spread <= e["within"]), f"at most {spread:.4g} apart", (spread,)


KINDS: dict[str, Callable[[Sequence[Point], Expectation], Finding]] = {
    check.__name__.removeprefix("_"): check
    for check in (_between, _above, _below, _difference, _crossing, _highest_at, _highest, _rises,
                  _falls, _square, _flat, _spread)
}  # fmt: skip


def _within(values: Array | float, e: Expectation) -> bool:
    low, high = e["between"]
    slip = 1e-9 * (abs(low) + abs(high))  # 0.63 + 0.09 is not 0.72
    return bool(np.all((values >= low - slip) & (values <= high + slip)))


def _range(y: Array) -> str:
    return f"{y[0]:.4g}" if len(y) == 1 else f"{y.min():.4g} to {y.max():.4g}"


def _x(points: Sequence[Point], e: Expectation) -> Array:
    return np.array([p.x for p in curve_of(points, e["curve"])])


def _y(points: Sequence[Point], curve: str) -> Array:
    return np.array([p.mean for p in curve_of(points, curve)])


@dataclass(frozen=True)
class SeedTally:
    """One statement at many seeds, and the middle 95 % of the values found."""

    says: str
    holds: int
    seeds: int
    low: float
    high: float

    @classmethod
    def of(cls, judgements: Sequence[Judgement]) -> SeedTally:
        """Count the judgements on one statement, one per seed."""
        low = np.quantile([j.values[0] for j in judgements], 0.025)
        high = np.quantile([j.values[-1] for j in judgements], 0.975)
        holds = sum(j.holds for j in judgements)
        return cls(judgements[0].says, holds, len(judgements), float(low), float(high))

    def __str__(self) -> str:
        middle = f"middle 95 %: {self.low:.4g} to {self.high:.4g}"
        return f"{self.holds} of {self.seeds}, {middle}. {self.says}"


def tally(name: str, seeds: Sequence[int]) -> list[SeedTally]:
    """Run a figure at many seeds: each is another simulation, or another split of the data."""
    found = [
        judgements(run(name, seed=seed, progress=False), name)
        for seed in tracked(seeds, len(seeds), f"Figure {name}")
    ]
    return [SeedTally.of(one) for one in zip(*found, strict=True)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print at how many seeds each statement about some figures holds."""
    parser = argparse.ArgumentParser(prog="python -m paper.expectations")
    parser.add_argument("names", nargs="+", choices=FIGURES, metavar="name")
    parser.add_argument("--seeds", type=int, default=40, help="how many, from 0 on")
    options = parser.parse_args(arguments)
    for name in options.names:
        print(name, *tally(name, range(options.seeds)), sep="\n  ")


if __name__ == "__main__":
    main()
