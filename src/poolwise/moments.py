"""Moments: what is kept of a table once its rows have been read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poolwise.adding_up import add_up, add_up_well, better_precision
from poolwise.centred import Centred
from poolwise.chunks import HEAVIEST, WEIGHTS, Block
from poolwise.double_double import Array, Pair
from poolwise.drafts import write
from poolwise.errors import (
    BadWeights,
    CannotSubtract,
    ColumnMismatch,
    DuplicateColumns,
    MissingColumns,
    NotFinite,
    ShapeMismatch,
)
from poolwise.exact_sums import ExactSums
from poolwise.merging import merged
from poolwise.moments_record import Record
from poolwise.precision import Kept, Precision
from poolwise.scatter import Scatter
from poolwise.sharing import check_shareable
from poolwise.store import read, record_of, text_of
from poolwise.strict_json import MOST_BYTES, AnyPath
from poolwise.subtraction import weight_left, without
from poolwise.wording import plural


@dataclass(frozen=True, eq=False)
class Moments:
    r"""Count, weight, mean, scatter and range of named columns.

    For rows :math:`z_i` with weights :math:`w_i`, it holds the number of rows,
    :math:`W = \sum w_i`, :math:`\bar z = \sum w_i z_i / W`,
    :math:`S = \sum w_i (z_i - \bar z)(z_i - \bar z)^\top`, and the least and the greatest value
    of each column. Three verbs: add rows (``a + b``, and :meth:`total` of many), weigh rows
    (``2.0 * a``), map columns (``a.affine(...)``). A weight counts as repetitions of a row; rows of
    weight zero are not there. Rows that were added can be taken away again (``a - b``), and moments
    can be kept in a file (``a.save(path)``, ``Moments.load(path)``).

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
        Range of each column; after a map of several columns, or after rows were taken away, bounds
        of it.
    weight_tail : float
        What rounding took from the weight.
    units : array of int of shape (p,)
        Mean and scatter of a column are in units of two to this power: zero, but for numbers so
        large or so small that their squares would leave the range of doubles.
    sums : ExactSums or None
        The sums of rows and products without any rounding, where they were asked for.

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
    units: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    sums: ExactSums | None = None

    def __post_init__(self) -> None:
        if len(set(self.names)) < len(self.names):
            raise DuplicateColumns(self.names)
        if len(self.units) != len(self.names):  # not given: ones
            object.__setattr__(self, "units", np.zeros(len(self.names), dtype=np.intp))
        for array in (self.mean, self.mean_tail, self.low, self.high, self.units):
            array.setflags(write=False)

    @classmethod
    def empty(cls, names: Sequence[str]) -> Moments:
        """Return the moments of no rows."""
        p = len(names)
        low, high = np.full(p, np.inf), np.full(p, -np.inf)
        return cls(tuple(names), 0, 0.0, np.zeros(p), np.zeros(p), Scatter.zero(p), low, high)

    @classmethod
    def _of(cls, names: Sequence[str], rows: int, held: Centred | None) -> Moments:
        """Name the columns; of no rows there is nothing else to tell."""
        if held is None:
            return replace(cls.empty(names), rows=rows)
        own = cls(
            names=tuple(names),
            rows=rows,
            weight=float(held.weight.high),
            weight_tail=float(held.weight.low),
            mean=held.mean.high,
            mean_tail=held.mean.low,
            scatter=held.scatter,
            low=held.low,
            high=held.high,
            units=held.units,
            sums=held.sums,
        )
        own.__dict__["_held"] = held  # what cached_property would find
        return own

    @cached_property
    def _held(self) -> Centred:
        """The numbers without the names."""
        weight, mean = self.weight_pair, self.mean_pair
        return Centred(weight, mean, self.scatter, self.low, self.high, self.units, self.sums)

    @property
    def precision(self) -> Kept:
        """How many digits the scatter has: ``"fast"``, ``"accurate"`` or ``"exact"``."""
        return self._held.precision

    @property
    def mean_pair(self) -> Pair:
        """The mean with all its digits."""
        return Pair(self.mean, self.mean_tail)

    @property
    def weight_pair(self) -> Pair:
        """The weight with all its digits."""
        return Pair(np.array(self.weight), np.array(self.weight_tail))

    @classmethod
    def of_rows(
        cls,
        names: Sequence[str],
        rows: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        precision: Precision = "auto",
    ) -> Moments:
        """Return the moments of a two-dimensional array.

        Parameters
        ----------
        names : sequence of str
            Names of the columns.
        rows : array-like of shape (n, p)
            One column per name; NaN and infinity are refused.
        weights : array-like of shape (n,), optional
            Row weights; one each unless given.
        precision : {"auto", "fast", "accurate", "exact"}, default="auto"
            Digits of the scatter, as in :meth:`read`.

        Returns
        -------
        Moments
            Of the rows whose weight is not zero.
        """
        count = np.shape(rows)[0] if np.ndim(rows) else 0
        return cls.read(names, lambda: [((rows,), weights)], count, precision=precision)

    @classmethod
    def read(
        cls,
        names: Sequence[str],
        blocks: Callable[[], Iterable[Block]],
        rows: int,
        *,
        precision: Precision = "auto",
        intercept: bool = True,
        wholes: Sequence[Sequence[str]] = (),
    ) -> Moments:
        """Return the moments of rows that can be read again, should their sums be too poor.

        Parameters
        ----------
        names : sequence of str
            Names of the columns.
        blocks : callable
            Begins to read: returns an iterable of blocks.
        rows : int
            Number of rows.
        precision : {"auto", "fast", "accurate", "exact"}, default="auto"
            Digits of the scatter. ``"auto"`` is accurate while that is cheap, else fast. Where
            columns nearly depend on each other it reads again, with the next better precision.
        intercept : bool, default=True
            Whether what is fitted to these moments has one: else columns far from zero depend on
            each other more nearly.
        wholes : sequence of sequence of str
            Columns that sum to one in every row, as all indicators of a text column do. Whoever
            fits them beside an intercept leaves one out: that they depend on each other is no
            reason to read again.

        Returns
        -------
        Moments
            Of the last reading.
        """
        found = add_up_well(names, blocks, rows, precision, intercept=intercept, wholes=wholes)
        return cls._of(names, *found)

    @classmethod
    def of_blocks(
        cls, names: Sequence[str], blocks: Iterable[Block], *, precision: Precision = "auto"
    ) -> Moments:
        """Return the moments of rows that come in blocks, each read once and then forgotten.

        Parameters
        ----------
        names : sequence of str
            Names of the columns.
        blocks : iterable of (parts, weights)
            Each a tuple of arrays, which stand side by side, and the row weights or None.
        precision : {"auto", "fast", "accurate", "exact"}, default="auto"
            Digits of the scatter. ``"auto"`` is accurate for as many rows as that is cheap for, and
            fast from there on.

        Returns
        -------
        Moments
            Of the rows of all blocks.
        """
        return cls._of(names, *add_up(names, blocks, precision))

    def save(self, path: AnyPath, *, overwrite: bool = False, min_rows: int = 0) -> None:
        """Write the moments to a file, as JSON, with every bit.

        The file is there whole or not at all. Name it ``something.moments.json``, and ``sources=``
        takes its path. What such a file tells of the rows is said in :doc:`/guides/moments_only`.

        Parameters
        ----------
        path : str or path
            The file to write.
        overwrite : bool, default=False
            Whether a file of that name may be replaced.
        min_rows : int, default=0
            Refuse to write moments of fewer rows, or that tell the sums over a group of fewer rows,
            by an indicator or a column of two values: they tell about single rows. Groups are
            counted by their share of the weight, which is that of the rows where rows weigh alike.
        """
        record = self._record()
        check_shareable(record, min_rows)
        write(path, text_of(record), overwrite=overwrite)

    def text(self) -> str:
        """Return the content of the file that :meth:`save` writes."""
        return text_of(self._record())

    def _record(self) -> Record:
        every = range(len(self.names))
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "scatter"}
        own["sums"] = None if self.sums is None else self.sums.reduced()
        return Record(
            scatter=self.scatter.between(every, every),
            scatter_tail=None if self.scatter.is_plain else self.scatter.pair.low,
            **own,
        )

    @classmethod
    def load(cls, path: AnyPath, *, max_bytes: int = MOST_BYTES) -> Moments:
        """Read moments from a file that :meth:`save` wrote.

        Whatever the file holds, no code is run. Its numbers are checked: nothing is returned that
        no rows can have.

        Parameters
        ----------
        path : str or path
            The file.
        max_bytes : int, default=2**28
            Refuse larger files.

        Returns
        -------
        Moments
            With the bits that were saved.
        """
        return cls.of_record(read(path, max_bytes=max_bytes))

    @classmethod
    def of_text(cls, text: str, where: str) -> Moments:
        """Return the moments of a file's content.

        Parameters
        ----------
        text : str
            What :meth:`text` returned.
        where : str
            What to call it in an error.

        Returns
        -------
        Moments
            Checked, as by :meth:`load`.
        """
        return cls.of_record(record_of(text, where))

    @classmethod
    def of_record(cls, record: Record) -> Moments:
        """Return the moments that plain numbers make."""
        scatter = Scatter.of(record.scatter, record.scatter_tail)
        if record.sums is not None:
            scatter = replace(scatter, fractions=record.sums.parts(record.units)[2])
        given = {f.name: getattr(record, f.name) for f in fields(record) if f.name[:7] != "scatter"}
        return cls(scatter=scatter, **given)

    def __add__(self, other: Moments) -> Moments:
        """Moments of the rows of both tables, stacked."""
        if other.names != self.names:
            raise ColumnMismatch(self.names, other.names)
        rows = self.rows + other.rows
        if other.weight == 0.0 or self.weight == 0.0:
            return replace(self if other.weight == 0.0 else other, rows=rows)
        return Moments._of(self.names, rows, self._held + other._held)

    @classmethod
    def total(cls, names: Sequence[str], parts: Iterable[Moments]) -> Moments:
        """Return the moments of the rows of many tables, stacked: their sum, in less time.

        Exact moments have the bits of the sum by ``+``, in any order; others differ from it by
        rounding, and depend on the sequence of the tables alone. As in a sum, the poorest table
        decides about the precision.

        Parameters
        ----------
        names : sequence of str
            Names of the columns, the same in all tables; of no tables there are no rows.
        parts : iterable of Moments
            The tables. Each is looked at once, and a few hundred are held at a time.

        Returns
        -------
        Moments
            Of all rows.

        Examples
        --------
        >>> from poolwise import Moments
        >>> hours = (Moments.of_rows(["load"], [[k], [k + 2]]) for k in range(24))
        >>> Moments.total(["load"], hours)
        Moments(48 rows, weight 48, columns ['load'])
        """
        names, rows = tuple(names), 0

        def held() -> Iterator[Centred]:
            nonlocal rows
            for k, part in enumerate(parts):
                if part.names != names:
                    raise ColumnMismatch(names, part.names, f"add table {k + 1:,} of a total to")
                rows += part.rows
                if part.weight:
                    yield part._held

        found = merged(held())
        return cls._of(names, rows, found)

    def __sub__(self, other: Moments) -> Moments:
        """Moments of the rows of this table without those of another one, which are among them.

        Exact moments lose nothing. Of others, the difference has the rounding errors of both: where
        nearly all rows are taken away, few digits are left. The range is that of all rows before,
        which bounds that of the rows that are left.

        Raises
        ------
        CannotSubtract
            More rows or weight are taken away than there are, or what is left is not what any rows
            have: a mean outside of the range, a scatter that is not positive semidefinite, beyond
            what rounding explains.
        """
        if other.names != self.names:
            raise ColumnMismatch(self.names, other.names, "subtract")
        rows, left_over = self.rows - other.rows, weight_left(self._held, other._held)
        if rows < 0 or left_over < 0.0 or (rows > 0) != (left_over > 0.0):
            raise CannotSubtract(
                f"they are {other.rows:,} rows of weight {other.weight:g}, to be taken from "
                f"{self.rows:,} of weight {self.weight:g}"
            )
        if other.weight == 0.0:
            return self if rows == self.rows else replace(self, rows=rows)
        left = without(self._held, other._held, self.names, all_of_them=not rows)
        return Moments._of(self.names, rows, left)

    def __rmul__(self, factor: float) -> Moments:
        """Moments after every row weight is multiplied by ``factor``."""
        if not 0.0 <= factor < np.inf:
            raise BadWeights(f"Rows cannot be weighed by {factor!r}.")
        if factor < WEIGHTS[0]:
            return Moments.empty(self.names)
        if factor > WEIGHTS[1] or factor * self.weight > HEAVIEST:
            raise BadWeights(f"Rows of weight {self.weight:g} cannot be weighed by {factor!r}.")
        return Moments._of(self.names, self.rows, self._held.weighed(factor))

    def affine(self, names: Sequence[str], matrix: Array, shift: Array) -> Moments:
        """Moments of the new columns ``matrix @ z + shift``.

        Parameters
        ----------
        names : sequence of str
            Names of the q new columns.
        matrix : array of shape (q, p)
            One row per new column.
        shift : array of shape (q,)
            What is added to each.

        Returns
        -------
        Moments
            As if every row had been mapped.
        """
        if matrix.shape != (len(names), len(self.names)) or shift.shape != (len(names),):
            raise ShapeMismatch(len(names), [matrix.shape, shift.shape])
        if self.weight == 0.0:
            return replace(Moments.empty(names), rows=self.rows)
        return Moments._of(names, self.rows, self._held.mapped(matrix, shift))

    def select(self, names: Sequence[str]) -> Moments:
        """Moments of some of the columns, in the order given."""
        return Moments._of(names, self.rows, self._held.picked(self.index(names)))

    def fill(self, values: Mapping[str, float]) -> Moments:
        """Moments with further columns, each constant."""
        if bad := {n: self.rows for n, v in values.items() if not np.isfinite(v)}:
            raise NotFinite(bad, self.rows, "The values to fill in")
        if self.weight == 0.0:
            return replace(Moments.empty((*self.names, *values)), rows=self.rows)
        return self.widened((*self.names, *values), values)

    def __contains__(self, name: object) -> bool:
        return name in self._place

    def widened(
        self,
        names: Sequence[str],
        values: Mapping[str, float],
        tails: Mapping[str, float] | None = None,
    ) -> Moments:
        """Moments of the columns ``names``: those that are here, the others constant.

        Parameters
        ----------
        names : sequence of str
            The columns, in this order.
        values : mapping of str to float
            What the columns that are not here are held at; zero unless named.
        tails : mapping of str to float, optional
            Added to ``values``, where one double does not hold all their digits.

        Returns
        -------
        Moments
            Of as many rows as here.
        """
        here = [j for j, n in enumerate(names) if n in self]
        at = self.index(names[j] for j in here)
        mean = np.array([values.get(n, 0.0) for n in names], dtype=np.float64)
        tail = np.array([(tails or {}).get(n, 0.0) for n in names], dtype=np.float64)
        return Moments._of(names, self.rows, self._held.placed(at, here, Pair(mean, tail)))

    def rescaled(self, exponents: NDArray[np.intp]) -> Moments:
        """Moments of the columns divided by powers of two."""
        if not exponents.any():
            return self
        return Moments._of(self.names, self.rows, self._held.rescaled(exponents))

    def unscaled(self, exponents: NDArray[np.intp]) -> Moments:
        """Moments of the columns before they were divided by powers of two."""
        if not exponents.any():
            return self
        return Moments._of(self.names, self.rows, self._held.unscaled(exponents))

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
        j = self.index([name])[0]
        return float(np.ldexp(self.mean[j], self.units[j]))

    def deviation_of(self, name: str) -> float:
        """Return the standard deviation of one column (divisor: the weight)."""
        return float(self.deviations()[self.index([name])[0]])

    def deviations(self) -> Array:
        """Return the standard deviation of each column (divisor: the weight)."""
        return np.ldexp(np.sqrt(self.scatter.diagonal() / (self.weight or 1.0)), self.units)

    def sizes(self) -> dict[str, float]:
        """Return the largest number of each column, or a bound of it, regardless of sign."""
        return dict(zip(self.names, np.maximum(-self.low, self.high).tolist(), strict=True))

    def is_constant(self, name: str) -> bool:
        """Say whether a column has the same value in every row."""
        j = self.index([name])[0]
        return bool(self.low[j] >= self.high[j])

    def scatter_between(self, rows: Iterable[str], columns: Iterable[str]) -> Array:
        """Return centred second moments of some columns with others, in their ``units``.

        Parameters
        ----------
        rows, columns : iterable of str
            Names of columns.

        Returns
        -------
        array of shape (len(rows), len(columns))
            The part of the scatter that belongs to them.
        """
        return self.scatter.between(self.index(rows), self.index(columns))

    def about_zero(self) -> Scatter:
        """Return the second moments about zero instead of about the mean."""
        return self._held.about_zero()

    def better_precision(
        self, wholes: Sequence[Sequence[str]] = (), *, intercept: bool = True
    ) -> Kept:
        """Return the precision to read the rows with again, or that which there is.

        Parameters
        ----------
        wholes : sequence of sequence of str
            Columns that sum to one in every row, as in :meth:`read`.
        intercept : bool, default=True
            Whether what is fitted has one.

        Returns
        -------
        {"fast", "accurate", "exact"}
            Better than that which there is where columns nearly depend on each other.
        """
        if not self.rows:
            return self.precision
        at = [self.index(whole) for whole in wholes]
        return better_precision(self._held, self.rows, at, intercept=intercept)

    def __reduce__(self) -> tuple[type[Moments], tuple[Any, ...]]:
        return Moments, tuple(getattr(self, f.name) for f in fields(self))  # read-only there too

    def __repr__(self) -> str:
        rows = plural(self.rows, "row")
        return f"Moments({rows}, weight {self.weight:g}, columns {list(self.names)})"
