"""A problem in the units of its columns: their spread, or their reach where a value is rare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum

import numpy as np
from numpy.typing import NDArray

from poolwise._typing import Array
from poolwise.linear.problem import Problem
from poolwise.moments.moments import Moments
from poolwise.numerics.double_double import Pair

CONSTANT = 1e-14  # deviation of a column, relative to its largest number, that is only rounding
BOUND = 0.98  # of the largest distance possible, from which it is taken for a bound
FAR = 3.0  # deviations from the mean at which a value of its own begins to set the unit
OTHER_UNITS = 100.0, 1e6  # times the target's deviation: beyond chance, within doubles
ENOUGH = 3.0  # rows of a source below which nothing is learned from it
FEW_ROWS = "fewer than three rows do not determine their noise"
NOTHING_VARIES = "none of their features varies"
OTHER_RESPONSE = (
    "their response has 30 times the spread, or a thirtieth: other units, or a few huge values"
)
FAR_APART, KNOWN_ROWS = 30.0, 8.0  # noise over the other's spread; rows that determine both


@dataclass(frozen=True, eq=False)
class ScaledTable:
    """Second moments of a table in the units of its columns."""

    name: str  # of the source, or "the target"
    at: NDArray[np.intp]  # which of the features it has
    weight: float  # number of rows
    free: float  # rows, less one with an intercept
    offset: Array  # means of its features minus the target's
    step: float  # mean of its response minus the target's
    gram: Array  # (k, k): products of features, about the means with an intercept
    cross: Array  # (k,): products of features and response
    square: float  # of the response


@dataclass(frozen=True, eq=False)
class Scaled:
    """A problem whose response has standard deviation one, and whose features are of that order.

    Features come in two groups: first those that every source has, then the new ones. Features
    without spread are left out.
    """

    features: tuple[str, ...]
    common: int  # number of features that every source has
    intercept: bool
    unit: Array  # of each feature
    response_unit: float  # standard deviation of the response
    target: ScaledTable
    sources: tuple[ScaledTable, ...]  # of at least three rows each
    left_out: Mapping[str, str]  # names of the other sources, and why
    dropped: Mapping[str, str]  # features left out, and why
    lead: int  # coefficients before those of the features: one with an intercept
    new: int  # number of features that some source lacks
    tails: float  # variance that heavy tails add to the log of the target's noise

    @cached_property
    def feature_sets(self) -> tuple[tuple[int, ...], ...]:
        """The different sets of features that sources have.

        Sets that lack features come first, then sets with most rows.
        """
        weight: dict[tuple[int, ...], float] = {}
        for source in self.sources:
            key = tuple(source.at.tolist())
            weight[key] = weight.get(key, 0.0) + source.weight

        def rank(key: tuple[int, ...]) -> tuple[bool, float, list[str]]:
            names = sorted(self.features[j] for j in key)
            return len(key) == len(self.features), -weight[key], names

        return tuple(sorted(weight, key=rank))


def scaled(problem: Problem) -> Scaled:
    """Return a problem in the units of its columns."""
    left_out = {n: FEW_ROWS for n, s in problem.sources.items() if s.weight < ENOUGH}
    target = _Doubles.of(problem.target, problem.intercept, is_target=True)
    usable = {
        n: _Doubles.of(s, problem.intercept)
        for n, s in problem.sources.items()
        if n not in left_out
    }
    other = [n for n, s in usable.items() if _has_other_response(problem, target, s)]
    left_out |= dict.fromkeys(other, OTHER_RESPONSE)
    usable = {n: s for n, s in usable.items() if n not in other}
    unit, response_unit = _units(problem, [target, *usable.values()])
    varies = [n for n in problem.features if unit[n] > 0.0]
    still = [n for n, s in usable.items() if not any(f in s.place for f in varies)]
    left_out |= dict.fromkeys(still, NOTHING_VARIES)
    usable = {n: s for n, s in usable.items() if n not in still}
    common = [n for n in varies if all(n in s.place for s in usable.values())]
    features = (*common, *(n for n in varies if n not in common))
    units = {n: unit[n] for n in features} | {problem.response: response_unit or 1.0}
    sources = [
        _scaled_table(name, source, target, units, intercept=problem.intercept)
        for name, source in usable.items()
    ]
    return Scaled(
        features=features,
        common=len(common),
        intercept=problem.intercept,
        unit=np.array([unit[n] for n in features]),
        response_unit=response_unit,
        target=_scaled_table("the target", target, target, units, intercept=problem.intercept),
        sources=tuple(sorted(sources, key=lambda table: _rank(table, features))),
        left_out=left_out,
        dropped={n: f"constant in {problem.pool_name}" for n in problem.features if unit[n] == 0.0},
        lead=int(problem.intercept),
        new=len(features) - len(common),
        tails=_tails(problem, [target, *usable.values()]),
    )


@dataclass(frozen=True, eq=False)
class _Doubles:
    """A table as plain arrays."""

    table: Moments
    place: dict[str, int]
    squares: list[float]
    products: Array
    is_target: bool = False

    @classmethod
    def of(cls, table: Moments, intercept: bool, *, is_target: bool = False) -> _Doubles:
        """Take products about the means or, without an intercept, about zero."""
        products = table.scatter.high
        squares = products.diagonal().tolist()
        if not intercept:
            means = table.mean.tolist()
            squares = [s + table.weight * m**2 for s, m in zip(squares, means, strict=True)]
            products = table.about_zero().high
        return cls(table, table.place, squares, products, is_target)


def _rank(table: ScaledTable, features: Sequence[str]) -> tuple[float, list[str], float, float]:
    """Return the sort key of sources: the largest first, independent of their given order."""
    return -table.weight, sorted(features[j] for j in table.at), table.step, table.square


def _has_other_response(problem: Problem, target: _Doubles, source: _Doubles) -> bool:
    """Return whether the noise of one table is far beyond the spread of the other's response.

    Then the response of the source is in other units, and its slopes tell nothing.
    """
    spread, noise = [], []
    for own in (target, source):
        free, y = own.table.weight - problem.intercept, own.place[problem.response]
        if free < KNOWN_ROWS or own.squares[y] == 0.0:
            return False
        x = [j for n, j in own.place.items() if n != problem.response and own.squares[j] > 0.0]
        scale = np.sqrt([own.squares[j] for j in x])
        cross = own.products[x, y] / scale
        gram = own.products[np.ix_(x, x)] / np.outer(scale, scale)
        coef, _, rank, _ = np.linalg.lstsq(gram, cross, rcond=1e-10)
        left = max(own.squares[y] - float(cross @ coef), 0.0)
        spread.append(own.squares[y] / free)
        noise.append(left / max(free - rank, 1.0))
    return bool(max(noise[1] / spread[0], noise[0] / spread[1]) > FAR_APART**2)


def _units(problem: Problem, tables: Sequence[_Doubles]) -> tuple[dict[str, float], float]:
    """Return the unit of each column, zero if it is constant.

    It is the pooled standard deviation. A feature of mostly one value, such as the indicator of a
    rare level, has a deviation that says how rare the other values are, not how much they matter;
    its unit is a third of the largest distance from the mean, if that is more. So the prior is the
    same for the indicators of a level in 1 % and in 5 % of the rows.

    If a source has a column in other units, the pooled deviation suits neither table, and a prior
    in this unit would shrink the target's coefficient to zero. Beyond a ratio of 100, the target's
    own deviation is used instead. Columns of mostly one value reach smaller ratios by chance.
    """
    units = {}
    for name in problem.target.names:
        having = [
            (t.table, t.squares[j], j) for t in tables if (j := t.place.get(name)) is not None
        ]
        # Exact sums: the order of the sources must not matter, not even to the last bit.
        squares = fsum(square for _, square, _ in having)
        rows = fsum(max(t.weight - problem.intercept, 0.0) for t, _, _ in having) or 1.0
        largest = max(max(-t.low[j], t.high[j]) for t, _, j in having)
        deviation = float(np.sqrt(squares / rows))
        free = max(problem.target.weight - problem.intercept, 1.0)
        own = float(np.sqrt(having[0][1] / free))
        if OTHER_UNITS[0] * own < deviation < OTHER_UNITS[1] * own:
            deviation, having = own, having[:1]
        unit = deviation
        if name != problem.response:
            known = [t for t in tables if any(t.table is table for table, _, _ in having)]
            reach = max(_reach(t, name, problem.intercept) for t in known)
            unit = max(deviation, reach / FAR)
        units[name] = unit if deviation > CONSTANT * largest else 0.0
    return units, units.pop(problem.response)


def _reach(own: _Doubles, name: str, intercept: bool) -> float:
    """Return the largest distance of a column from its mean or, without an intercept, from zero.

    A distance that is the largest possible for this deviation is a bound, as of a published model,
    or one row, and counts as none.
    """
    table, j = own.table, own.place[name]
    centre, rest = (table.mean[j], table.mean_tail[j]) if intercept else (0.0, 0.0)
    reach = float(max(table.high[j] - centre - rest, centre - table.low[j] + rest))
    most = own.squares[j] * (1.0 - intercept / table.weight)  # Samuelson's inequality
    return reach if own.is_target or reach**2 < BOUND * most else 0.0


def _tails(problem: Problem, tables: Sequence[_Doubles]) -> float:
    """Return the variance of the log of the target's noise that heavy tails add.

    It is the excess kurtosis over the rows, of which the largest response of any table gives a
    lower bound.
    """
    most = 0.0
    for own in tables:
        squares = own.squares[own.place[problem.response]]
        if squares > 0.0:
            reach = _reach(own, problem.response, problem.intercept)
            most = max(most, own.table.weight * (reach / np.sqrt(squares)) ** 4 - 3.0)
    return float(most / problem.target.weight)


def _scaled_table(
    name: str, own: _Doubles, target: _Doubles, units: Mapping[str, float], *, intercept: bool
) -> ScaledTable:
    """Return a table in units of its features, in their order, and of the response, the last."""
    names = [n for n in units if n in own.place]
    at, to = [own.place[n] for n in names], [target.place[n] for n in names]
    divisor = np.array([units[n] for n in names])
    products = own.products[np.ix_(at, at)] / np.outer(divisor, divisor)
    step = np.zeros(len(names))
    if intercept and own is not target:
        theirs, ours = own.table, target.table
        difference = Pair(theirs.mean[at], theirs.mean_tail[at]) - Pair(
            ours.mean[to], ours.mean_tail[to]
        )
        step = difference.high / divisor
    return ScaledTable(
        name=name,
        at=np.array([j for j, n in enumerate(units) if n in names[:-1]], dtype=np.intp),
        weight=own.table.weight,
        free=max(own.table.weight - intercept, 0.0),
        offset=step[:-1],
        step=float(step[-1]),
        gram=products[:-1, :-1],
        cross=products[:-1, -1],
        square=float(products[-1, -1]),
    )
