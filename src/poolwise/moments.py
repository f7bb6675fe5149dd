"""Moments: what is kept of a table once its rows have been read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from poolwise.double_double import Array, two_product, two_sum
from poolwise.errors import (
    BadWeights,
    ColumnMismatch,
    DuplicateColumns,
    MissingColumns,
    NotFinite,
    ShapeMismatch,
    TooLarge,
    TooSmall,
)
from poolwise.row_sums import Block, RowSums, chunks
from poolwise.scatter import Scatter


@dataclass(frozen=True, eq=False)
class Moments:
    r"""Count, weight, mean, scatter and range of named columns.

    For rows :math:`z_i` with weights :math:`w_i`, it holds the number of rows,
    :math:`W = \sum w_i`, :math:`\bar z = \sum w_i z_i / W`,
    :math:`S = \sum w_i (z_i - \bar z)(z_i - \bar z)^\top`, and the least and the greatest value
    of each column. Three verbs: add rows (``a + b``), weigh rows
    (``2.0 * a``), map columns (``a.affine(...)``). A weight counts as repetitions of a row; rows of
    weight zero are not there.

    Parameters
    ----------
    names : tuple of str
        Names of the columns, no two alike.
    rows : int
        Number of rows.
    weight : float
        Sum of the rows' weights.
    mean : array of shape (p,)
        Weighted mean of each column, rounded to double.
    mean_tail : array of shape (p,)
        What rounding took from the mean: ``mean + mean_tail`` holds twice the digits.
    scatter : Scatter
        Centred second moments, never raw.
    low, high : array of shape (p,)
        Range of each column; after a map of several columns, bounds of it.

    Examples
    --------
    >>> from poolwise import Moments
    >>> a = Moments.of_rows(["age", "y"], [[30, 1.0], [50, 3.0]])
    >>> b = Moments.of_rows(["age", "y"], [[40, 2.0]])
    >>> (a + b).mean
    array([40.,  2.])
    >>> (a + b).scatter_between(["age"], ["age", "y"])
    array([[200.,  20.]])
    """

    names: tuple[str, ...]
    rows: int
    weight: float
    mean: Array
    mean_tail: Array
    scatter: Scatter
    low: Array
    high: Array

    def __post_init__(self) -> None:
        if len(set(self.names)) < len(self.names):
            raise DuplicateColumns(self.names)
        for array in (self.mean, self.mean_tail, self.low, self.high):
            array.setflags(write=False)

    @classmethod
    def empty(cls, names: Sequence[str]) -> Moments:
        """Return the moments of no rows."""
        p = len(names)
        low, high = np.full(p, np.inf), np.full(p, -np.inf)
        return cls(tuple(names), 0, 0.0, np.zeros(p), np.zeros(p), Scatter.zero(p), low, high)

    @classmethod
    def of_rows(
        cls, names: Sequence[str], rows: ArrayLike, weights: ArrayLike | None = None
    ) -> Moments:
        """Return the moments of a two-dimensional array, one column per name."""
        return cls.of_blocks(names, [((rows,), weights)])

    @classmethod
    def of_blocks(cls, names: Sequence[str], blocks: Iterable[Block]) -> Moments:
        """Return the moments of rows that come in blocks, each read once and then forgotten."""
        total, run, read, wide = None, None, 0, False
        bad = np.zeros(len(names), dtype=np.intp)
        for z, w in chunks(len(names), blocks):
            read += len(z)
            run = RowSums(z, w) if run is None else run
            if bad.any() or not run.spans(z):
                bad += np.count_nonzero(~np.isfinite(z[:, :-1]), axis=0)
                wide = True
                continue
            if not run.add(z, w):
                raise TooLarge([names[j] for j in run.overflown()])
            if run.is_far():
                total, run = cls._of_sums(names, run, total), None
        if bad.any():
            raise NotFinite({n: int(b) for n, b in zip(names, bad, strict=True) if b}, read)
        if run is None:
            return cls.empty(names) if total is None else total
        if wide:
            raise TooLarge([names[j] for j in run.overflown()])
        if too_small := run.vanished():
            raise TooSmall([names[j] for j in too_small])
        return cls._of_sums(names, run, total)

    @classmethod
    def _of_sums(cls, names: Sequence[str], sums: RowSums, before: Moments | None) -> Moments:
        weight, mean, tail, scatter = sums.parts()
        low, high = sums.low[:-1].copy(), sums.high[:-1].copy()
        own = cls(tuple(names), sums.rows, weight, mean, tail, Scatter.of(scatter), low, high)
        return own if before is None else before + own

    def __add__(self, other: Moments) -> Moments:
        """Moments of the rows of both tables, stacked."""
        if other.names != self.names:
            raise ColumnMismatch(self.names, other.names)
        rows, weight = self.rows + other.rows, self.weight + other.weight
        if other.weight == 0.0 or self.weight == 0.0:
            return replace(self if other.weight == 0.0 else other, rows=rows)
        share = other.weight / weight
        step, step_tail = two_sum(other.mean, -self.mean)
        step = step + (step_tail + (other.mean_tail - self.mean_tail))
        mean, tail = two_sum(self.mean, share * step)
        mean, tail = two_sum(mean, tail + self.mean_tail)
        scatter = (self.scatter + other.scatter).plus_outer(step, self.weight * share)
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return Moments(self.names, rows, weight, mean, tail, scatter, low, high)

    def __rmul__(self, factor: float) -> Moments:
        """Moments after every row weight is multiplied by ``factor``."""
        if not 0.0 <= factor < np.inf:
            raise BadWeights(f"Rows cannot be weighed by {factor!r}.")
        if factor == 0.0:
            return Moments.empty(self.names)
        return replace(self, weight=factor * self.weight, scatter=factor * self.scatter)

    def affine(self, names: Sequence[str], matrix: Array, shift: Array) -> Moments:
        """Moments of the new columns ``matrix @ z + shift``."""
        if matrix.shape != (len(names), len(self.names)) or shift.shape != (len(names),):
            raise ShapeMismatch(len(names), [matrix.shape, shift.shape])
        if self.weight == 0.0:
            return replace(Moments.empty(names), rows=self.rows)
        mean, tail = np.array(shift, dtype=np.float64), np.zeros(len(names))
        for column, m, m_tail in zip(matrix.T, self.mean, self.mean_tail, strict=True):
            product, product_tail = two_product(column, m)
            mean, sum_tail = two_sum(mean, product)
            tail += sum_tail + product_tail + column * m_tail
        mean, tail = two_sum(mean, tail)
        up, down = np.maximum(matrix, 0.0), np.minimum(matrix, 0.0)
        low = up @ self.low + down @ self.high + shift
        high = up @ self.high + down @ self.low + shift
        scatter = self.scatter.mapped(matrix)
        return Moments(tuple(names), self.rows, self.weight, mean, tail, scatter, low, high)

    def select(self, names: Sequence[str]) -> Moments:
        """Moments of some of the columns, in the order given."""
        at = self.index(names)
        return Moments(
            tuple(names),
            self.rows,
            self.weight,
            self.mean[at],
            self.mean_tail[at],
            self.scatter.picked(at),
            self.low[at],
            self.high[at],
        )

    def fill(self, values: Mapping[str, float]) -> Moments:
        """Moments with further columns, each constant."""
        if bad := {n: self.rows for n, v in values.items() if not np.isfinite(v)}:
            raise NotFinite(bad, self.rows, "The values to fill in")
        if self.weight == 0.0:
            return replace(Moments.empty((*self.names, *values)), rows=self.rows)
        return self.widened((*self.names, *values), values)

    def __contains__(self, name: object) -> bool:
        return name in self._place

    def widened(self, names: Sequence[str], values: Mapping[str, float]) -> Moments:
        """Moments of the columns ``names``: those that are here, the others constant."""
        here = [j for j, n in enumerate(names) if n in self]
        at = self.index(names[j] for j in here)
        mean = np.array([values.get(n, 0.0) for n in names], dtype=np.float64)
        tail, low, high = np.zeros(len(names)), mean.copy(), mean.copy()
        mean[here], tail[here] = self.mean[at], self.mean_tail[at]
        low[here], high[here] = self.low[at], self.high[at]
        scatter = self.scatter.placed(at, here, len(names))
        return Moments(tuple(names), self.rows, self.weight, mean, tail, scatter, low, high)

    def index(self, names: Iterable[str]) -> list[int]:
        """Return the positions of columns."""
        wanted = list(names)
        try:
            return [self._place[n] for n in wanted]
        except KeyError:
            missing = [n for n in wanted if n not in self._place]
            raise MissingColumns(missing, self.names) from None

    @cached_property
    def _place(self) -> dict[str, int]:
        return {n: j for j, n in enumerate(self.names)}

    def mean_of(self, name: str) -> float:
        """Return the mean of one column."""
        return float(self.mean[self.index([name])[0]])

    def deviation_of(self, name: str) -> float:
        """Return the standard deviation of one column (divisor: the weight)."""
        return float(self.deviations()[self.index([name])[0]])

    def deviations(self) -> Array:
        """Return the standard deviation of each column (divisor: the weight)."""
        return np.sqrt(self.scatter.diagonal() / (self.weight or 1.0))

    def is_constant(self, name: str) -> bool:
        """Say whether a column has the same value in every row."""
        j = self.index([name])[0]
        return bool(self.low[j] >= self.high[j])

    def scatter_between(self, rows: Iterable[str], columns: Iterable[str]) -> Array:
        """Return centred second moments of some columns with others, as doubles."""
        return self.scatter.between(self.index(rows), self.index(columns))

    def about_zero(self) -> Scatter:
        """Return the second moments about zero instead of about the mean."""
        return self.scatter.plus_outer(self.mean + self.mean_tail, self.weight)

    def __reduce__(self) -> tuple[type[Moments], tuple[Any, ...]]:
        return Moments, tuple(getattr(self, f.name) for f in fields(self))  # read-only there too

    def __repr__(self) -> str:
        return f"Moments({self.rows:,} rows, weight {self.weight:g}, columns {list(self.names)})"
