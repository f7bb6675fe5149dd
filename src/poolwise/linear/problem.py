"""A target, its sources and the response; the protocol of methods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

from poolwise._typing import Array
from poolwise.errors import BadColumns, BadSource, TooFewRows
from poolwise.linear.fit import Fit
from poolwise.linear.linear_fit import LinearFit
from poolwise.linear.regress import regress
from poolwise.moments.moments import Moments


class Rows(Protocol):
    """Rows that can be read again."""

    def blocks(self, names: Sequence[str]) -> Iterator[tuple[Array, Array | None]]:
        """Yield blocks of these columns, with the rows' weights (None: all one)."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Everything a method may know. Features keep the target's order everywhere.

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
    target_rows, source_rows : Rows, mapping of str to Rows
        The rows of the target and of the sources, if available.
    target_name : str
        Name of the target in messages.
    """

    target: Moments
    sources: Mapping[str, Moments]
    response: str
    intercept: bool = True
    target_rows: Rows | None = None
    source_rows: Mapping[str, Rows] = field(default_factory=dict)
    target_name: str = "the target"

    def __post_init__(self) -> None:
        y, known = self.response, self.target.place
        if y not in known:
            raise BadColumns.missing([y], self.target.names, self.target_name)
        if not self.features:
            what = f"There is no feature beside the response {y!r} in {self.target_name}."
            raise BadColumns(what, "Give more columns: 0 feature(s), a minimum of 1 is required.")
        if self.target.weight == 0.0:
            raise TooFewRows.empty_target(self.target.rows)
        for name, source in self.sources.items():
            if y not in source.place:
                raise BadSource.no_response(name, y, source.names)
            if extra := [n for n in source.names if n not in known]:
                raise BadColumns.missing(extra, self.target.names, self.target_name)
            if len(source.names) < 2:
                raise BadSource.nothing_shared(name, source.names, self.features)
        kept = {name: source for name, source in self.sources.items() if source.weight > 0.0}
        object.__setattr__(self, "sources", kept)

    @cached_property
    def features(self) -> tuple[str, ...]:
        """Names of the target's features."""
        return tuple(n for n in self.target.names if n != self.response)

    @cached_property
    def target_fit(self) -> LinearFit:
        """Least squares on the target alone, which most methods need for its noise."""
        return regress(self.target, self.response, intercept=self.intercept, label=self.target_name)

    @property
    def pool_name(self) -> str:
        """Name of the target and its sources together in a warning."""
        return "the pooled data" if self.sources else self.target_name

    def shared(self, source: Moments) -> tuple[str, ...]:
        """Features that a source has."""
        return tuple(n for n in self.features if n in source.place)

    def unseen(self, source: Moments) -> tuple[str, ...]:
        """Features that a source lacks."""
        return tuple(n for n in self.features if n not in source.place)

    def seen_by_all(self) -> tuple[str, ...]:
        """Features that every source has."""
        return tuple(n for n in self.features if all(n in s.place for s in self.sources.values()))

    def largest_first(self) -> dict[str, Moments]:
        """Return the sources sorted by weight, then by features, whatever their given order."""
        keys = {n: (-s.weight, -len(s.names), sorted(s.names)) for n, s in self.sources.items()}
        return {n: self.sources[n] for n in sorted(keys, key=keys.__getitem__)}

    def filled(self, source: Moments, means: Mapping[str, float] | None = None) -> Moments:
        """Return a source with constants in place of the features that it lacks.

        Parameters
        ----------
        source : Moments
            One of ``sources``.
        means : mapping of str to float, optional
            The constants; the target's mean where none is given.

        Returns
        -------
        Moments
            Of all columns of the target.
        """
        target, given = self.target, means or {}
        lacks = {n: j for n, j in target.place.items() if n not in source.place}
        values = {n: given.get(n, float(target.mean[j])) for n, j in lacks.items()}
        tails = {n: float(target.mean_tail[j]) for n, j in lacks.items() if n not in given}
        return source.widened(target.names, values, tails)

    def without(self, lacking: Sequence[str]) -> Problem:
        """Return the problem without these features, sources left without any, and rows."""
        left = [n for n in self.target.names if n not in lacking]
        kept = {n: [c for c in left if c in s.place] for n, s in self.sources.items()}
        sources = {n: s.select(kept[n]) for n, s in self.sources.items() if len(kept[n]) > 1}
        return replace(self.without_rows(), target=self.target.select(left), sources=sources)

    def without_rows(self) -> Problem:
        """Return the same problem with moments alone."""
        slim = copy(self)  # already checked
        vars(slim).update(target_rows=None, source_rows={})
        return slim


class Method(Protocol):
    """A function from a problem to a fit.

    A method that always learns from rows has ``needs_rows = True``. For rows that lack features it
    solves the problem without them, unless it has ``solve_without(problem, patterns, fit)``, which
    returns a fit for each set of features that rows lack, given the fit for complete rows.
    """

    def solve(self, problem: Problem) -> Fit:
        """Return the fit of this method."""
