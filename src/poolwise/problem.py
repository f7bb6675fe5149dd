"""Problem: a target, its sources and the response; and what a method is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np

from poolwise.double_double import Array
from poolwise.errors import (
    EmptyTarget,
    MissingColumns,
    NoFeatures,
    NoResponse,
    NoSharedColumn,
    UnitsApart,
)
from poolwise.fit import LinearFit, regress
from poolwise.moments import Moments
from poolwise.row_sums import USUAL


class Rows(Protocol):
    """Rows that can be read again, for the one kind of method that needs them."""

    def blocks(self, names: Sequence[str]) -> Iterator[tuple[Array, Array | None]]:
        """Yield blocks of these columns, with the rows' weights (None: all one)."""
        ...


@dataclass(frozen=True, eq=False)
class ScaledRows:
    """Rows whose columns are divided by powers of two."""

    rows: Rows
    units: Mapping[str, int]

    def blocks(self, names: Sequence[str]) -> Iterator[tuple[Array, Array | None]]:
        """Yield blocks of these columns, with the rows' weights."""
        exponents = [-self.units.get(n, 0) for n in names]
        for block, weights in self.rows.blocks(names):
            yield np.ldexp(block, exponents), weights


COMMON = 0.9  # share of the history that makes a feature one of the history


@dataclass(frozen=True, eq=False)
class Problem:
    """Everything a method may know.

    Parameters
    ----------
    target : Moments
        Of all features and the response.
    sources : mapping of str to Moments
        Of some of the target's features and the response. Empty sources are left out.
    response : str
        Name of the response.
    intercept : bool, default=True
        Whether the model has an intercept.
    target_rows : Rows, optional
        The target's rows, where they are at hand.
    source_rows : mapping of str to Rows
        The rows of those sources whose rows are at hand.
    units : mapping of str to int
        Columns of extreme size are divided by two to this power in all tables and rows here, so
        that no method needs to think of overflow; `restored` turns a fit back.
    """

    target: Moments
    sources: Mapping[str, Moments]
    response: str
    intercept: bool = True
    target_rows: Rows | None = None
    source_rows: Mapping[str, Rows] = field(default_factory=dict)
    units: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.response not in self.target:
            raise MissingColumns([self.response], self.target.names, "The target")
        if not self.features:
            raise NoFeatures(self.response)
        if self.target.weight == 0.0:
            raise EmptyTarget(self.target.rows)
        kept = {}
        for name, source in self.sources.items():
            if self.response not in source:
                raise NoResponse(name, self.response, source.names)
            if extra := [n for n in source.names if n not in self.target]:
                raise MissingColumns(extra, self.target.names, "The target")
            if len(source.names) < 2:
                raise NoSharedColumn(name, source.names, self.features)
            if source.weight > 0.0:
                kept[name] = source
        object.__setattr__(self, "sources", kept)
        if any(table.units.any() for table in (self.target, *kept.values())):
            self._unify_units()

    @cached_property
    def features(self) -> tuple[str, ...]:
        """Names of the target's features."""
        return tuple(n for n in self.target.names if n != self.response)

    @cached_property
    def target_fit(self) -> LinearFit:
        """Least squares on the target alone, which most methods need for its noise."""
        return regress(self.target, self.response, intercept=self.intercept)

    @property
    def pool_name(self) -> str:
        """What to call the target and its sources together in a caution."""
        return "the pooled data" if self.sources else "the target"

    def shared(self, source: Moments) -> tuple[str, ...]:
        """Features that the target and a source have, in the target's order."""
        return tuple(n for n in self.features if n in source)

    def unseen(self, source: Moments) -> tuple[str, ...]:
        """Features that a source lacks, in the target's order."""
        return tuple(n for n in self.features if n not in source)

    def seen_by_all(self) -> tuple[str, ...]:
        """Features that the target and every source have."""
        return tuple(n for n in self.features if all(n in s for s in self.sources.values()))

    def history(self) -> tuple[tuple[str, ...], dict[str, Moments]]:
        """Return the features that nearly all of the history has, and the sources that have them.

        Nearly all is nine tenths of its weight, so that a few rows without a value do not take the
        column from all others. If no feature is that common: those of the largest source.
        """
        total = sum(s.weight for s in self.sources.values())
        features = tuple(
            n
            for n in self.features
            if sum(s.weight for s in self.sources.values() if n in s) >= COMMON * total
        )
        used = self._sources_with(features)
        if not features or (self.sources and not used):
            features = self.shared(next(iter(self.largest_first().values())))
            used = self._sources_with(features)
        return features, used

    def _sources_with(self, features: Sequence[str]) -> dict[str, Moments]:
        return {n: s for n, s in self.sources.items() if all(f in s for f in features)}

    def largest_first(self) -> dict[str, Moments]:
        """Return the sources by weight; equal ones by their features, never by their order."""

        def size(item: tuple[str, Moments]) -> tuple[float, int, list[str]]:
            names = sorted(item[1].names)
            return -item[1].weight, -len(names), names

        return dict(sorted(self.sources.items(), key=size))

    def filled(self, source: Moments, means: Mapping[str, float] | None = None) -> Moments:
        """Return a source with the features that it lacks, each held at one value.

        Parameters
        ----------
        source : Moments
            One of ``sources``.
        means : mapping of str to float, optional
            The values; the target's mean unless named.

        Returns
        -------
        Moments
            Of all columns of the target.
        """
        unseen = self.unseen(source)
        at = self.target.index(unseen)
        known = dict(zip(unseen, self.target.mean[at].tolist(), strict=True))
        tails = dict(zip(unseen, self.target.mean_tail[at].tolist(), strict=True))
        given = {n: math.ldexp(m, -self.units.get(n, 0)) for n, m in (means or {}).items()}
        for name in given.keys() & known.keys():
            known[name], tails[name] = given[name], 0.0
        return source.widened(self.target.names, known, tails)

    def without(self, lacking: Sequence[str]) -> Problem:
        """Return the same problem as if these features had never been measured.

        Sources that then share nothing with the target are left out, and so are all rows.
        """
        columns = [n for n in self.target.names if n not in lacking]
        sources = {
            name: source.select([n for n in columns if n in source])
            for name, source in self.sources.items()
            if any(n in source for n in columns if n != self.response)
        }
        target = self.target.select(columns)
        return Problem(target, sources, self.response, self.intercept, units=self.units)

    def true(self, name: str, value: float) -> float:
        """Return a number of a column as the user knows it.

        Parameters
        ----------
        name : str
            The column.
        value : float
            The number in the unit that the column is held in.

        Returns
        -------
        float
            The number in the user's unit.
        """
        return math.ldexp(value, self.units.get(name, 0))

    def restored(self, fit: LinearFit) -> LinearFit:
        """Return a fit for columns as the user knows them."""
        if not self.units:
            return fit
        return fit.times_units(self.units, self.response, self.target.sizes())

    def tables(self) -> tuple[Moments, dict[str, Moments]]:
        """Return the target and the sources as the user knows them."""

        def unscaled(table: Moments) -> Moments:
            exponents = [self.units.get(n, 0) for n in table.names]
            return table.unscaled(np.array(exponents, dtype=np.intp))

        return unscaled(self.target), {n: unscaled(s) for n, s in self.sources.items()}

    def with_target(self, target: Moments, rows: Rows | None = None) -> Problem:
        """Return the same problem with other rows as its target.

        Parameters
        ----------
        target : Moments
            Of these rows, in the user's units.
        rows : Rows, optional
            The rows themselves, for methods that read them.

        Returns
        -------
        Problem
            With the same sources.
        """
        exponents = [self.units.get(n, 0) for n in target.names]
        scaled = target.rescaled(np.array(exponents, dtype=np.intp))
        own = rows if rows is None or not self.units else ScaledRows(rows, self.units)
        return replace(self, target=scaled, target_rows=own)

    def _unify_units(self) -> None:
        """Hold each column in the same unit in all tables."""
        tables = (self.target, *self.sources.values())
        units = dict.fromkeys(self.target.names, 0)
        for name in units:
            if any(t.units[t.index([name])[0]] for t in tables if name in t):
                units[name] = self._unit_of(name)

        def scaled(table: Moments) -> Moments:
            return table.rescaled(np.array([units[n] for n in table.names], dtype=np.intp))

        rows = {name: ScaledRows(r, units) for name, r in self.source_rows.items()}
        target_rows = None if self.target_rows is None else ScaledRows(self.target_rows, units)
        known = {n: u + self.units.get(n, 0) for n, u in units.items()}
        for name, value in {
            "target": scaled(self.target),
            "sources": {name: scaled(source) for name, source in self.sources.items()},
            "target_rows": target_rows,
            "source_rows": rows,
            "units": {n: u for n, u in known.items() if u},
        }.items():
            object.__setattr__(self, name, value)

    def _unit_of(self, column: str) -> int:
        """Return a unit in which the numbers of all tables can be squared."""
        named = {"the target": self.target} | {f"source {n!r}": s for n, s in self.sources.items()}
        sizes = {n: size for n, t in named.items() if (size := t.sizes().get(column))}
        least, most = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
        low, high = math.frexp(sizes[least])[1], math.frexp(sizes[most])[1]
        if high - low > 2 * USUAL:
            raise UnitsApart(column, {n: sizes[n] for n in (least, most)})
        return (low + high) // 2

    def without_rows(self) -> Problem:
        """Return the same problem with moments alone."""
        slim = copy(self)  # it was checked when it was made
        object.__setattr__(slim, "target_rows", None)
        object.__setattr__(slim, "source_rows", {})
        return slim


class Method(Protocol):
    """A function from moments to a linear fit."""

    def solve(self, problem: Problem) -> LinearFit:
        """Return the fit of this method."""
        ...


@runtime_checkable
class JointMethod(Protocol):
    """A method that also knows how features depend on each other."""

    def solve_without(
        self, problem: Problem, patterns: Sequence[Sequence[str]]
    ) -> Sequence[LinearFit]:
        """Return the fits for rows that lack some features, one for each pattern."""
        ...
