"""Count, weight, mean, scatter and range of the columns of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from poolwise._typing import Array
from poolwise.errors import BadColumns, BadTable, BadWeights, NotFinite
from poolwise.moments.accumulate import MomentsFactory
from poolwise.moments.merging import without
from poolwise.moments.moments_json import InFiles
from poolwise.numerics.chunks import HEAVIEST, WEIGHTS, check_sizes
from poolwise.numerics.double_double import Pair, stacked
from poolwise.numerics.exact_sums import ExactSums
from poolwise.numerics.scatter import Scatter
from poolwise.wording import plural


@dataclass(frozen=True, eq=False)
class Moments(MomentsFactory, InFiles):
    r"""Count, weight, mean, scatter and range of named columns.

    For rows :math:`z_i` with weights :math:`w_i`, it holds the number of rows,
    :math:`W = \sum w_i`, :math:`\bar z = \sum w_i z_i / W`,
    :math:`S = \sum w_i (z_i - \bar z)(z_i - \bar z)^\top`, and the least and the greatest value
    of each column. Three verbs: add rows (``a + b``, and :meth:`total` of many), weigh rows
    (``2.0 * a``), map columns (``a.affine(...)``). A weight counts as repetitions of a row; rows of
    weight zero do not count. Rows can be removed (``a - b``), and moments saved to a file
    (``a.save(path)``, ``Moments.load(path)``).

    Parameters
    ----------
    names : tuple of str
        Names of the columns, no two alike.
    rows : int
        Number of rows.
    weight, weight_tail : float
        Sum of the rows' weights, rounded to double, and the part lost to rounding.
    mean, mean_tail : array of shape (p,)
        Weighted mean of each column, and the part lost to rounding.
    scatter : Scatter
        Centred second moments, never raw.
    low, high : array of shape (p,)
        Range of each column; after a map of several columns, or after rows were removed, bounds of
        it.
    sums : ExactSums or None
        The sums of rows and products without any rounding, if ``precision`` is ``"exact"``.

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
    weight_tail: float = 0.0
    sums: ExactSums | None = None
    place: dict[str, int] = field(init=False, repr=False)  # position of each column

    @property
    def mean_pair(self) -> Pair:
        """The mean with all its digits."""
        return Pair(self.mean, self.mean_tail)

    @property
    def weight_pair(self) -> Pair:
        """The weight with all its digits."""
        return Pair(np.array(self.weight), np.array(self.weight_tail))

    def with_rows(self, rows: int) -> Moments:
        """Return the same moments with another number of rows."""
        return self if rows == self.rows else replace(self, rows=rows)

    # Add rows.

    def __add__(self, other: Moments) -> Moments:
        """Moments of the rows of both tables, stacked."""
        if other.names != self.names:
            raise BadColumns.differ(self.names, other.names)
        rows = self.rows + other.rows
        if other.weight == 0.0 or self.weight == 0.0:
            return (self if other.weight == 0.0 else other).with_rows(rows)
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        if self.sums is not None and other.sums is not None:
            return Moments._of_sums(self.names, rows, self.sums + other.sums, low, high)
        scatter = self.scatter + other.scatter
        weight, mean, step, both = stacked(
            (self.weight_pair, self.mean_pair),
            (other.weight_pair, other.mean_pair),
            plain=scatter.low is None,
        )
        scatter = scatter.plus_outer(step, both)
        return Moments._of_pairs(self.names, rows, weight, mean, scatter, low, high)

    def __sub__(self, other: Moments) -> Moments:
        """Moments without the rows of another table, all of which are in this one.

        The range does not change. Exact moments lose nothing; others have the rounding errors of
        both tables. Raises `CannotSubtract` where no rows have such moments.
        """
        return without(self, other)

    # Weigh rows.

    def __rmul__(self, factor: float) -> Moments:
        """Moments after every row weight is multiplied by ``factor``."""
        if not 0.0 <= factor < np.inf:
            raise BadWeights.of(f"Rows cannot be weighed by {factor!r}.")
        if factor < WEIGHTS[0]:
            return Moments.empty(self.names)
        if factor > WEIGHTS[1] or factor * self.weight > HEAVIEST:
            raise BadWeights.of(f"Rows of weight {self.weight:g} cannot be weighed by {factor!r}.")
        if self.sums is not None:
            sums = self.sums.weighed(factor)
            return Moments._of_sums(self.names, self.rows, sums, self.low, self.high)
        weight, scatter = self.weight_pair * Pair.of(factor), factor * self.scatter
        own = self.names, self.rows, weight, self.mean_pair, scatter, self.low, self.high
        return Moments._of_pairs(*own)

    # Map columns.

    def affine(self, names: Sequence[str], matrix: Array, shift: Array) -> Moments:
        """Moments of the new columns ``matrix @ z + shift``, as if every row had been mapped.

        Parameters
        ----------
        names : sequence of str
            Names of the q new columns.
        matrix, shift : array of shape (q, p), array of shape (q,)
            One row for each new column, and what is added to it.

        Returns
        -------
        Moments
            Of the new columns; their range is a bound.
        """
        if matrix.shape != (len(names), len(self.names)) or shift.shape != (len(names),):
            what = f"The matrix has shape {matrix.shape} and the shift {shift.shape}."
            raise BadTable(what, "Give a row and a shift per new column, an entry per old one.")
        if self.weight == 0.0:
            return Moments.empty(names).with_rows(self.rows)
        with np.errstate(over="ignore", invalid="ignore"):
            up, down = np.maximum(matrix, 0.0), np.minimum(matrix, 0.0)
            low = up @ self.low + down @ self.high + shift
            high = up @ self.high + down @ self.low + shift
            check_sizes(names, low, high)
        if self.sums is not None:
            sums = self.sums.mapped(matrix, shift)
            return Moments._of_sums(names, self.rows, sums, low, high)
        mean = Pair.of(shift) + (Pair.of(matrix) * self.mean_pair[None, :]).T.total()
        scatter = self.scatter.mapped(matrix)
        return Moments._of_pairs(names, self.rows, self.weight_pair, mean, scatter, low, high)

    def select(self, names: Sequence[str]) -> Moments:
        """Moments of some of the columns, in the order given."""
        self.index(names)  # raises an error for unknown names
        return self.widened(names, {})

    def fill(self, values: Mapping[str, float]) -> Moments:
        """Moments with further columns, each constant."""
        if bad := {n: self.rows for n, v in values.items() if not np.isfinite(v)}:
            raise NotFinite.of(bad, self.rows, "The values to fill in")
        given = np.array(list(values.values()), dtype=np.float64)
        check_sizes(list(values), given, given)
        wide = (*self.names, *values)
        filled = self.widened(wide, values) if self.weight else Moments.empty(wide)
        return filled.with_rows(self.rows)

    # Read numbers.

    def __contains__(self, name: object) -> bool:
        return name in self.place

    def index(self, names: Iterable[str]) -> list[int]:
        """Return the positions of columns."""
        wanted = list(names)
        if missing := [n for n in wanted if n not in self.place]:
            raise BadColumns.missing(missing, self.names)
        return [self.place[n] for n in wanted]

    def mean_of(self, name: str) -> float:
        """Return the mean of one column."""
        return float(self.mean[self.index([name])[0]])

    def deviation_of(self, name: str) -> float:
        """Return the standard deviation of one column (divisor: the weight)."""
        return float(self.deviations()[self.index([name])[0]])

    def deviations(self) -> Array:
        """Return the standard deviation of each column (divisor: the weight)."""
        return np.asarray(np.sqrt(self.scatter.high.diagonal() / (self.weight or 1.0)))

    def is_constant(self, name: str) -> bool:
        """Return whether a column has the same value in every row."""
        j = self.index([name])[0]
        return bool(self.low[j] >= self.high[j])

    def scatter_between(self, left: Iterable[str], right: Iterable[str]) -> Array:
        """Return the scatter of some columns with others, by name.

        Parameters
        ----------
        left, right : iterable of str
            Names of columns.

        Returns
        -------
        array of shape (len(left), len(right))
        """
        return self.scatter.between(self.index(left), self.index(right))

    def about_zero(self) -> Scatter:
        """Return the second moments about zero instead of about the mean."""
        if self.sums is not None:
            return Scatter.of_pair(self.sums.about_zero())
        return self.scatter.plus_outer(self.mean_pair, self.weight_pair)

    def __reduce__(self) -> tuple[type[Moments], tuple[Any, ...]]:
        return Moments, tuple(getattr(self, f.name) for f in fields(self) if f.init)  # frozen too

    def __repr__(self) -> str:
        rows = plural(self.rows, "row")
        return f"Moments({rows}, weight {self.weight:g}, columns {list(self.names)})"
