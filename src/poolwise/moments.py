"""Moments: what is kept of a table once its rows have been read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, TypeAlias

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
)
from poolwise.scatter import Scatter

Block: TypeAlias = tuple[Sequence[ArrayLike], ArrayLike | None]
"""Arrays that stand side by side, each with the same rows, and the weights of the rows."""

CHUNK = 2048  # rows; a chunk of 30 columns is half a megabyte and stays in a core's cache
FOLD = 64  # rows treated as one long row where columns do not matter
FAR = 100.0  # squared distance of a mean from its shift, in variances, that costs two digits
LARGEST = 1e150  # of a number or a weight: the square is finite, and so are sums of squares


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
        total, run, read = cls.empty(names), None, 0
        bad = np.zeros(len(names), dtype=np.intp)
        for z, w in _chunks(len(names), blocks):
            read += len(z)
            run = _Run(z, w) if run is None else run
            if bad.any() or not run.spans(z):
                bad += np.count_nonzero(~np.isfinite(z[:, :-1]), axis=0)
                continue
            if not run.add(z, w):
                raise TooLarge([names[j] for j in run.overflown()])
            if run.is_far():
                total, run = total + run.moments(names), None
        if bad.any():
            raise NotFinite({n: int(b) for n, b in zip(names, bad, strict=True) if b}, read)
        if run is None:
            return total
        if too_large := run.overflown():
            raise TooLarge([names[j] for j in too_large])
        return total + run.moments(names)

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
        if self.weight == 0.0:
            return replace(Moments.empty((*self.names, *values)), rows=self.rows)
        constant = np.array(list(values.values()), dtype=np.float64)
        return Moments(
            (*self.names, *values),
            self.rows,
            self.weight,
            np.concatenate((self.mean, constant)),
            np.concatenate((self.mean_tail, np.zeros(len(values)))),
            self.scatter.padded(len(values)),
            np.concatenate((self.low, constant)),
            np.concatenate((self.high, constant)),
        )

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


class _Run:
    """Sums of rows about a fixed shift near their mean; the last column is all ones."""

    def __init__(self, z: Array, w: Array | None) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            steps = z - z[0]  # exactly zero in a constant column
            mean = steps.mean(axis=0) if w is None else w @ steps / w.sum()
            self.shift = z[0] + mean
        self.shift[-1] = 0.0
        self.shifts = np.tile(self.shift, FOLD)
        self.rows, self.gram = 0, np.zeros((z.shape[1], z.shape[1]))
        self.low, self.high = np.full(z.shape[1], np.inf), np.full(z.shape[1], -np.inf)

    def spans(self, z: Array) -> bool:
        """Widen the range to hold a chunk; say whether it holds numbers that can be squared."""
        for part in _folded(z):
            low, high = part.min(axis=0), part.max(axis=0)
            np.minimum(self.low, low.reshape(-1, z.shape[1]).min(axis=0), out=self.low)
            np.maximum(self.high, high.reshape(-1, z.shape[1]).max(axis=0), out=self.high)
        return bool((self.low >= -LARGEST).all() and (self.high <= LARGEST).all())

    def add(self, z: Array, w: Array | None) -> bool:
        """Add a chunk, which is overwritten; say whether all sums are still finite."""
        self.rows += len(z)
        with np.errstate(over="ignore", invalid="ignore"):
            for part in _folded(z):
                part -= self.shifts[: part.shape[1]]
            if w is not None:
                z *= np.sqrt(w)[:, None]
            self.gram += z.T @ z
            return bool(np.isfinite(self.gram.diagonal()).all())

    def overflown(self) -> list[int]:
        """Return the columns whose squares overflow."""
        large = np.maximum(-self.low, self.high) > LARGEST
        return [int(j) for j in np.flatnonzero(large | ~np.isfinite(self.gram.diagonal()))]

    def is_far(self) -> bool:
        """Say whether the mean has moved so far from the shift that digits are being lost."""
        offset = self.gram[-1, :-1] ** 2 / self.gram[-1, -1]
        return bool((offset > FAR * (self.gram.diagonal()[:-1] - offset)).any())

    def moments(self, names: Sequence[str]) -> Moments:
        weight, sums = float(self.gram[-1, -1]), self.gram[-1, :-1]
        scatter = self.gram[:-1, :-1] - np.outer(sums, sums) / weight
        np.fill_diagonal(scatter, np.maximum(scatter.diagonal(), 0.0))
        mean, tail = two_sum(self.shift[:-1], sums / weight)
        low, high = self.low[:-1].copy(), self.high[:-1].copy()
        held = Scatter.of(scatter)
        return Moments(tuple(names), self.rows, weight, mean, tail, held, low, high)


def _folded(z: Array) -> list[Array]:
    """Return the same memory with many rows in one, so that a loop over columns is a long one."""
    rows, columns = z.shape
    whole = rows - rows % FOLD
    return [p for p in (z[:whole].reshape(-1, FOLD * columns), z[whole:]) if len(p)]


def _chunks(columns: int, blocks: Iterable[Block]) -> Iterator[tuple[Array, Array | None]]:
    """Yield chunks of at most ``CHUNK`` rows, a column of ones last, all in one buffer."""
    buffer = np.empty((CHUNK, columns + 1))
    for parts, weights in blocks:
        arrays = [np.asarray(part) for part in parts]
        arrays = [a[:, None] if a.ndim == 1 else a for a in arrays]
        fit = all(a.ndim == 2 and len(a) == len(arrays[0]) for a in arrays)
        if not fit or sum(a.shape[1] for a in arrays) != columns:
            raise ShapeMismatch(columns, [a.shape for a in arrays])
        rows = len(arrays[0])
        w = None if weights is None else checked_weights(weights, rows)
        for start in range(0, rows, CHUNK):
            size, at = min(CHUNK, rows - start), 0
            z = buffer[:size]
            for a in arrays:
                z[:, at : at + a.shape[1]] = a[start : start + size]
                at += a.shape[1]
            z[:, -1] = 1.0
            if w is None:
                yield z, None
                continue
            part = w[start : start + size]
            kept = np.flatnonzero(part)
            if len(kept):
                yield (z, part) if len(kept) == size else (z[kept], part[kept])


def checked_weights(weights: ArrayLike, rows: int) -> Array:
    """Return weights as doubles, one per row, finite and not negative."""
    w = weights_as_numbers(weights)
    if w.shape != (rows,):
        raise BadWeights(f"Weights have shape {w.shape} for {rows:,} rows.")
    if not np.isfinite(w).all():
        raise BadWeights(f"{np.count_nonzero(~np.isfinite(w)):,} weights are NaN or infinite.")
    if (w < 0).any():
        raise BadWeights(f"{np.count_nonzero(w < 0):,} weights are negative, least {w.min():g}.")
    if (w > LARGEST).any():
        raise BadWeights(f"The largest weight, {w.max():g}, is above {LARGEST:g}.")
    return w


def weights_as_numbers(weights: ArrayLike) -> Array:
    """Return weights as doubles."""
    try:
        return np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadWeights(f"Weights are not numbers ({error}).") from error
