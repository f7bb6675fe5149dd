"""Scaling: a problem in standard deviations, centred at the target's means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum

import numpy as np
from numpy.typing import NDArray

from poolwise.double_double import Array
from poolwise.moments import Moments
from poolwise.problem import Problem

CONSTANT = 1e-14  # deviation of a column, relative to its largest number, that is mere rounding
OTHER_UNITS = 100.0, 1e6  # times the target's deviation: more than chance, less than doubles hold
ENOUGH = 3.0  # rows of a source below which nothing is learned from it
FEW_ROWS = "fewer than three rows tell nothing about their noise"
NOTHING_VARIES = "none of their features varies"


@dataclass(frozen=True, eq=False)
class ScaledTable:
    """Second moments of a table in standard deviations.

    Parameters
    ----------
    name : str
        Name of the source, or "the target".
    at : array of int
        Which of the features it has.
    weight : float
        Number of rows.
    free : float
        Rows less one where there is an intercept.
    offset : array
        Means of its features less those of the target.
    step : float
        Mean of its response less that of the target.
    gram : array of shape (k, k)
        Products of features, about the means where there is an intercept.
    cross : array of shape (k,)
        Products of features and response.
    square : float
        Square of the response.
    """

    name: str
    at: NDArray[np.intp]
    weight: float
    free: float
    offset: Array
    step: float
    gram: Array
    cross: Array
    square: float


@dataclass(frozen=True, eq=False)
class Scaled:
    """A problem whose columns all have standard deviation one.

    Features come in two groups: first those that every source has, then the new ones. Features
    without spread are left out.

    Parameters
    ----------
    features : tuple of str
        Those that are left.
    common : int
        How many of them every source has.
    intercept : bool
        Whether there is one.
    unit : array
        Standard deviation of each feature.
    response_unit : float
        Standard deviation of the response.
    target : ScaledTable
        The target.
    sources : tuple of ScaledTable
        The sources, of which each has at least three rows.
    left_out : mapping of str to str
        Names of the others, and why.
    dropped : mapping of str to str
        Features left out, and why.
    """

    features: tuple[str, ...]
    common: int
    intercept: bool
    unit: Array
    response_unit: float
    target: ScaledTable
    sources: tuple[ScaledTable, ...]
    left_out: Mapping[str, str]
    dropped: Mapping[str, str]

    @property
    def lead(self) -> int:
        """Number of coefficients before those of the features: one with an intercept."""
        return int(self.intercept)

    @property
    def new(self) -> int:
        """Number of features that some source lacks."""
        return len(self.features) - self.common

    @cached_property
    def feature_sets(self) -> tuple[tuple[int, ...], ...]:
        """The different sets of features that sources have.

        First those that lack something, and among them those of most rows.
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
    """Scale a problem.

    Parameters
    ----------
    problem : Problem
        Target and sources.
    """
    left_out = {n: FEW_ROWS for n, s in problem.sources.items() if s.weight < ENOUGH}
    usable = {n: s for n, s in problem.sources.items() if n not in left_out}
    unit, response_unit = _units(problem, usable)
    varies = [n for n in problem.features if unit[n] > 0.0]
    still = [n for n, s in usable.items() if not any(f in s for f in varies)]
    left_out |= dict.fromkeys(still, NOTHING_VARIES)
    usable = {n: s for n, s in usable.items() if n not in still}
    common = [n for n in varies if all(n in s for s in usable.values())]
    features = (*common, *(n for n in varies if n not in common))

    def own(name: str, table: Moments) -> ScaledTable:
        return _scaled_table(name, table, problem, features, unit, response_unit)

    sources = [own(name, source) for name, source in usable.items()]
    return Scaled(
        features=features,
        common=len(common),
        intercept=problem.intercept,
        unit=np.array([unit[n] for n in features]),
        response_unit=response_unit,
        target=own("the target", problem.target),
        sources=tuple(sorted(sources, key=lambda table: _rank(table, features))),
        left_out=left_out,
        dropped={n: f"constant in {problem.pool_name}" for n in problem.features if unit[n] == 0.0},
    )


def _rank(table: ScaledTable, features: Sequence[str]) -> tuple[float, list[str], float, float]:
    """Return what sources are sorted by: the largest first, whatever order they came in."""
    return -table.weight, sorted(features[j] for j in table.at), table.step, table.square


def _units(problem: Problem, usable: Mapping[str, Moments]) -> tuple[dict[str, float], float]:
    """Return the pooled standard deviation of each column, zero where there is none.

    Where history has a column in other units, the pooled deviation is that of neither table, and a
    prior in it would hold the target's coefficient near zero. It is the target's own then. Below a
    hundredfold deviation it is not: columns of mostly one value come to that by chance.
    """
    tables = [problem.target, *usable.values()]
    units = {}
    for name in problem.target.names:
        having = [(t, t.index([name])[0]) for t in tables if name in t]
        # Exact sums: the order of the sources must not matter, not even to the last bit.
        squares = fsum(_squares(t, j, problem.intercept) for t, j in having)
        rows = fsum(max(t.weight - problem.intercept, 0.0) for t, _ in having) or 1.0
        largest = max(max(-t.low[j], t.high[j]) for t, j in having)
        deviation = float(np.sqrt(squares / rows))
        free = max(problem.target.weight - problem.intercept, 1.0)
        own = float(np.sqrt(_squares(*having[0], problem.intercept) / free))
        if OTHER_UNITS[0] * own < deviation < OTHER_UNITS[1] * own:
            deviation = own
        units[name] = deviation if deviation > CONSTANT * largest else 0.0
    return units, units.pop(problem.response)


def _squares(table: Moments, j: int, intercept: bool) -> float:
    about_mean = float(table.scatter.diagonal()[j])
    return about_mean if intercept else about_mean + table.weight * float(table.mean[j]) ** 2


def _scaled_table(
    name: str,
    table: Moments,
    problem: Problem,
    features: tuple[str, ...],
    unit: Mapping[str, float],
    response_unit: float,
) -> ScaledTable:
    at = [j for j, n in enumerate(features) if n in table]
    names = [*(features[j] for j in at), problem.response]
    own, theirs = table.index(names), problem.target.index(names)
    divisor = np.array([*(unit[features[j]] for j in at), response_unit or 1.0])
    scatter = table.scatter if problem.intercept else table.about_zero()
    products = scatter.between(own, own) / np.outer(divisor, divisor)
    step = np.zeros(len(names))
    if problem.intercept:
        difference = table.mean_pair[own] - problem.target.mean_pair[theirs]
        step = difference.high / divisor
    return ScaledTable(
        name=name,
        at=np.array(at, dtype=np.intp),
        weight=table.weight,
        free=max(table.weight - problem.intercept, 0.0),
        offset=step[:-1],
        step=float(step[-1]),
        gram=products[:-1, :-1],
        cross=products[:-1, -1],
        square=float(products[-1, -1]),
    )
