"""Moments: what is kept of a table once its rows have been read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poolwise.chunks import HEAVIEST, LARGEST, WEIGHTS, Block, chunks
from poolwise.double_double import Array, Pair
from poolwise.errors import (
    BadWeights,
    CannotSubtract,
    ColumnMismatch,
    DuplicateColumns,
    MissingColumns,
    NotFinite,
    ShapeMismatch,
    TooFewToShare,
    TooLarge,
)
from poolwise.exact_sums import ExactRun, ExactSums
from poolwise.least_squares import rounding_error
from poolwise.plausible import flaw_of, rounding_of
from poolwise.precision import PRECISIONS, Kept, Precision, check_precision, chosen, needed
from poolwise.row_sums import RowSums, units_of
from poolwise.scatter import Scatter
from poolwise.sliced_sums import SlicedSums
from poolwise.store import MOST_BYTES, AnyPath, Record, read, record_of, text_of, write

# What rounding may have done to sums, as a share of them: to a difference of weights, and to one
# of scatters in doubles, in pairs and without rounding.
LOST_WEIGHT = 1e-9
LOST_SCATTER: dict[Kept, float] = {"fast": 1e-10, "accurate": 1e-20, "exact": 0.0}


@dataclass(frozen=True, eq=False)
class Moments:
    r"""Count, weight, mean, scatter and range of named columns.

    For rows :math:`z_i` with weights :math:`w_i`, it holds the number of rows,
    :math:`W = \sum w_i`, :math:`\bar z = \sum w_i z_i / W`,
    :math:`S = \sum w_i (z_i - \bar z)(z_i - \bar z)^\top`, and the least and the greatest value
    of each column. Three verbs: add rows (``a + b``), weigh rows
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
    def _of_sums(
        cls, names: tuple[str, ...], rows: int, sums: ExactSums, low: Array, high: Array
    ) -> Moments:
        units = units_of(low, high)
        weight, mean, fractions = sums.parts(units)
        held = Scatter.of_fractions(fractions)
        own = cls._of_pairs(names, rows, weight, mean, held, low, high, units)
        return replace(own, sums=sums)

    @classmethod
    def _of_pairs(
        cls,
        names: tuple[str, ...],
        rows: int,
        weight: Pair,
        mean: Pair,
        scatter: Scatter,
        low: Array,
        high: Array,
        units: NDArray[np.intp],
    ) -> Moments:
        w, tail = float(weight.high), float(weight.low)
        return cls(names, rows, w, mean.high, mean.low, scatter, low, high, tail, units)

    @property
    def precision(self) -> Kept:
        """How many digits the scatter has: ``"fast"``, ``"accurate"`` or ``"exact"``."""
        if self.sums is not None:
            return "exact"
        return "fast" if self.scatter.is_plain else "accurate"

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
        """Return the moments of a two-dimensional array, one column per name."""
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
        """
        check_precision(precision)
        kept = chosen(precision, rows, len(names))
        moments = cls.of_blocks(names, blocks(), precision=kept)
        if precision != "auto" or moments.rows <= len(names):  # too few to tell columns apart
            return moments
        better = needed(rounding_error(moments.scatter if intercept else moments.about_zero()))
        if kept == "fast" and better != "fast":
            return cls.of_blocks(names, blocks(), precision="accurate")
        if kept == "accurate" and better == "exact":
            return cls.of_blocks(names, blocks(), precision="exact")
        return moments

    @classmethod
    def of_blocks(
        cls, names: Sequence[str], blocks: Iterable[Block], *, precision: Precision = "auto"
    ) -> Moments:
        """Return the moments of rows that come in blocks, each read once and then forgotten.

        ``precision`` is ``"fast"``, ``"accurate"``, ``"exact"``, or ``"auto"``: accurate for as
        many rows as that is cheap for, fast from there on.
        """
        check_precision(precision)
        reader, bad = _Reader(tuple(names)), np.zeros(len(names), dtype=np.intp)
        wide = np.zeros(len(names), dtype=np.bool_)
        read = 0
        for z, w in chunks(len(names), blocks, long=precision == "fast"):
            read += z.shape[1]
            low, high = z.min(axis=1), z.max(axis=1)
            if not ((low >= -LARGEST).all() and (high <= LARGEST).all()) or bad.any():
                bad += np.count_nonzero(~np.isfinite(z[:-1]), axis=1)
                wide |= np.maximum(-low, high)[:-1] > LARGEST
            elif not wide.any():
                reader.add(z, w, low, high, chosen(precision, read, len(names)))
        if bad.any():
            raise NotFinite({n: int(b) for n, b in zip(names, bad, strict=True) if b}, read)
        if wide.any():
            raise TooLarge([n for n, is_wide in zip(names, wide, strict=True) if is_wide], LARGEST)
        return reader.moments()

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
            Refuse to write moments of fewer rows, or with a column of zeros and ones that has fewer
            rows of either: their moments tell about single rows.
        """
        if self.rows < min_rows:
            raise TooFewToShare("the table", self.rows, min_rows)
        for name, ones in self._groups().items():
            if min(ones, self.weight - ones) < min_rows:
                few = min(ones, self.weight - ones)
                raise TooFewToShare(f"a group of column {name!r}", few, min_rows)
        write(path, self.text(), overwrite=overwrite)

    def text(self) -> str:
        """Return the content of the file that :meth:`save` writes."""
        every = range(len(self.names))
        record = Record(
            names=self.names,
            rows=self.rows,
            weight=float(self.weight),
            weight_tail=float(self.weight_tail),
            mean=self.mean,
            mean_tail=self.mean_tail,
            scatter=self.scatter.between(every, every),
            scatter_tail=None if self.scatter.is_plain else self.scatter.pair.low,
            low=self.low,
            high=self.high,
            units=self.units,
            sums=self.sums,
        )
        return text_of(record)

    def _groups(self) -> dict[str, float]:
        """Return the weight of the ones of each column that holds zeros and ones alone."""
        spread = self.weight * self.mean * (1.0 - self.mean)  # the most there is between 0 and 1
        most = np.abs(self.scatter.diagonal() - spread) <= LOST_WEIGHT * self.weight
        at = np.flatnonzero((self.low == 0.0) & (self.high == 1.0) & most)
        return {self.names[j]: round(self.weight * float(self.mean[j]), 6) for j in at}

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
        """
        return cls.of_record(read(path, max_bytes=max_bytes))

    @classmethod
    def of_text(cls, text: str, where: str) -> Moments:
        """Return the moments of a file's content; ``where`` is what to call it in an error."""
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
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        if self.sums is not None and other.sums is not None:
            return Moments._of_sums(self.names, rows, self.sums + other.sums, low, high)
        units = units_of(low, high)
        left, right = self.in_units(units), other.in_units(units)
        scatter = left.scatter + right.scatter
        step = right.mean_pair - left.mean_pair
        if scatter.is_plain:
            weight = Pair.of(left.weight + right.weight)
            share = Pair.of(right.weight / weight.high)
            both = Pair.of(left.weight * share.high)
        else:
            weight = left.weight_pair + right.weight_pair
            share = right.weight_pair / weight
            both = left.weight_pair * share
        mean, scatter = left.mean_pair + share * step, scatter.plus_outer(step, both)
        return Moments._of_pairs(self.names, rows, weight, mean, scatter, low, high, units)

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
        rows, low, high = self.rows - other.rows, self.low, self.high
        left_over = self._weight_without(other)
        if rows < 0 or left_over < 0.0 or (rows > 0) != (left_over > 0.0):
            raise CannotSubtract(
                f"they are {other.rows:,} rows of weight {other.weight:g}, to be taken from "
                f"{self.rows:,} of weight {self.weight:g}"
            )
        if other.weight == 0.0:
            return self if rows == self.rows else replace(self, rows=rows)
        with np.errstate(over="ignore", invalid="ignore"):
            theirs = other.in_units(self.units)
            self._check_among(theirs, all_of_them=not rows)
            if not rows:
                return Moments.empty(self.names)
            if self.sums is not None and other.sums is not None:
                sums = self.sums - other.sums
                left = Moments._of_sums(self.names, rows, sums, low, high)
            else:
                left = self._without(theirs, rows)
            left._check_left_of(self)
        return left

    def _weight_without(self, other: Moments) -> float:
        """Return the difference of weights, zero where it is rounding alone."""
        if self.sums is not None and other.sums is not None:
            left = (self.sums - other.sums).gram[-1, -1]
            return self.weight * float((left > 0) - (left < 0))
        rest = float((self.weight_pair - other.weight_pair).high)
        return 0.0 if abs(rest) <= LOST_WEIGHT * self.weight else rest

    def _without(self, other: Moments, rows: int) -> Moments:
        """Take rows away that are held in the same units."""
        scatter = self.scatter - other.scatter
        step = other.mean_pair - self.mean_pair
        if scatter.is_plain:
            weight = Pair.of(self.weight - other.weight)
            share = Pair.of(other.weight / weight.high)
            both = Pair.of(self.weight * share.high)
        else:
            weight = self.weight_pair - other.weight_pair
            share = other.weight_pair / weight
            both = self.weight_pair * share
        mean, scatter = self.mean_pair - share * step, scatter.plus_outer(step, -both)
        return Moments._of_pairs(
            self.names, rows, weight, mean, scatter, self.low, self.high, self.units
        )

    def _check_among(self, other: Moments, *, all_of_them: bool) -> None:
        """Refuse rows that cannot be among these, by their mean, or by all if there are no more."""
        low, high = np.ldexp(self.low, -self.units), np.ldexp(self.high, -self.units)
        room = 2.0**-40 * np.maximum(-low, high)
        far = (other.mean < low - room) | (other.mean > high + room)
        if all_of_them:
            far |= np.abs(other.mean - self.mean) > room
            unit = np.sqrt(self.scatter.diagonal() + rounding_of(self.weight, low, high))
            change = np.abs((self.scatter - other.scatter).between(*2 * [range(len(far))]))
            far |= (change > LOST_WEIGHT * np.outer(unit, unit)).any(axis=1)
        if far.any():
            raise CannotSubtract(f"{self.names[int(np.argmax(far))]!r} has other numbers in them")

    def _check_left_of(self, whole: Moments) -> None:
        """Refuse what is left where no rows have such moments, and clear what rounding left."""
        units, every = self.units, range(len(self.names))
        low, high = np.ldexp(self.low, -units), np.ldexp(self.high, -units)
        before = whole.in_units(units).scatter.diagonal()
        kept = min(self.precision, whole.precision, key=PRECISIONS.index)
        rounding = LOST_SCATTER[kept] * before
        if kept != "exact":
            rounding = rounding + rounding_of(whole.weight, low, high)
        scatter = self.scatter.between(every, every)
        flaw = "its numbers are beyond doubles"
        if np.isfinite(scatter).all() and np.isfinite(self.mean).all():
            flaw = flaw_of(self.names, self.weight, self.mean, scatter, low, high, rounding) or ""
        if flaw:
            raise CannotSubtract(f"of what would be left, {flaw}")
        if self.sums is None:
            object.__setattr__(self, "scatter", self.scatter.floored())

    def __rmul__(self, factor: float) -> Moments:
        """Moments after every row weight is multiplied by ``factor``."""
        if not 0.0 <= factor < np.inf:
            raise BadWeights(f"Rows cannot be weighed by {factor!r}.")
        if factor < WEIGHTS[0]:
            return Moments.empty(self.names)
        if factor > WEIGHTS[1] or factor * self.weight > HEAVIEST:
            raise BadWeights(f"Rows of weight {self.weight:g} cannot be weighed by {factor!r}.")
        if self.sums is not None:
            sums = self.sums.weighed(factor)
            return Moments._of_sums(self.names, self.rows, sums, self.low, self.high)
        weight = self.weight_pair * Pair.of(factor)
        scatter = factor * self.scatter
        return replace(
            self, weight=float(weight.high), weight_tail=float(weight.low), scatter=scatter
        )

    def affine(self, names: Sequence[str], matrix: Array, shift: Array) -> Moments:
        """Moments of the new columns ``matrix @ z + shift``."""
        if matrix.shape != (len(names), len(self.names)) or shift.shape != (len(names),):
            raise ShapeMismatch(len(names), [matrix.shape, shift.shape])
        if self.weight == 0.0:
            return replace(Moments.empty(names), rows=self.rows)
        names = tuple(names)
        up, down = np.maximum(matrix, 0.0), np.minimum(matrix, 0.0)
        low = up @ self.low + down @ self.high + shift
        high = up @ self.high + down @ self.low + shift
        if self.sums is not None:
            sums = self.sums.mapped(matrix, shift)
            return Moments._of_sums(names, self.rows, sums, low, high)
        units = units_of(low, high)
        matrix, shift = np.ldexp(matrix, self.units - units[:, None]), np.ldexp(shift, -units)
        mean = Pair.of(shift) + (Pair.of(matrix) * self.mean_pair[None, :]).T.total()
        scatter = self.scatter.mapped(matrix)
        return Moments._of_pairs(
            names, self.rows, self.weight_pair, mean, scatter, low, high, units
        )

    def select(self, names: Sequence[str]) -> Moments:
        """Moments of some of the columns, in the order given."""
        at = self.index(names)
        return replace(
            self,
            names=tuple(names),
            mean=self.mean[at],
            mean_tail=self.mean_tail[at],
            scatter=self.scatter.picked(at),
            low=self.low[at],
            high=self.high[at],
            units=self.units[at],
            sums=None if self.sums is None else self.sums.picked(at),
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

    def widened(
        self,
        names: Sequence[str],
        values: Mapping[str, float],
        tails: Mapping[str, float] | None = None,
    ) -> Moments:
        """Moments of the columns ``names``: those that are here, the others constant.

        ``tails`` is added to ``values``, where one double does not hold all their digits.
        """
        here = [j for j, n in enumerate(names) if n in self]
        at = self.index(names[j] for j in here)
        mean = np.array([values.get(n, 0.0) for n in names], dtype=np.float64)
        tail = np.array([(tails or {}).get(n, 0.0) for n in names], dtype=np.float64)
        sums = None
        if self.sums is not None:
            place = dict(zip(here, at, strict=True))
            sums = self.sums.picked(
                [place.get(j, -1) for j in range(len(names))],
                [
                    Fraction(1) if j in place else Fraction(mean[j]) + Fraction(tail[j])
                    for j in range(len(names))
                ],
            )
        low, high = mean.copy(), mean.copy()
        low[here], high[here] = self.low[at], self.high[at]
        units = units_of(low, high)
        mean, tail = np.ldexp(mean, -units), np.ldexp(tail, -units)
        mean[here], tail[here] = self.mean[at], self.mean_tail[at]
        scatter = self.scatter.placed(at, here, len(names))
        return replace(
            self,
            names=tuple(names),
            mean=mean,
            mean_tail=tail,
            scatter=scatter,
            low=low,
            high=high,
            units=units,
            sums=sums,
        )

    def in_units(self, units: NDArray[np.intp]) -> Moments:
        """Hold the same columns in other units."""
        if (units == self.units).all():
            return self
        power = self.units - units
        return replace(
            self,
            mean=np.ldexp(self.mean, power),
            mean_tail=np.ldexp(self.mean_tail, power),
            scatter=self.scatter.times_powers(power),
            units=units,
        )

    def rescaled(self, exponents: NDArray[np.intp]) -> Moments:
        """Moments of the columns divided by powers of two."""
        if not exponents.any():
            return self
        sums = None if self.sums is None else self.sums.rescaled(exponents)
        low, high = np.ldexp(self.low, -exponents), np.ldexp(self.high, -exponents)
        held = self.in_units(exponents)
        return replace(held, units=0 * exponents, sums=sums, low=low, high=high)

    def unscaled(self, exponents: NDArray[np.intp]) -> Moments:
        """Moments of the columns before they were divided by powers of two."""
        if not exponents.any():
            return self
        sums = None if self.sums is None else self.sums.rescaled(-exponents)
        low, high = np.ldexp(self.low, exponents), np.ldexp(self.high, exponents)
        return replace(self, units=self.units + exponents, sums=sums, low=low, high=high)

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
        """Return centred second moments of some columns with others, in their ``units``."""
        return self.scatter.between(self.index(rows), self.index(columns))

    def about_zero(self) -> Scatter:
        """Return the second moments about zero instead of about the mean."""
        if self.sums is not None:
            return Scatter.of_fractions(self.sums.about_zero(self.units))
        return self.scatter.plus_outer(self.mean_pair, self.weight_pair)

    def __reduce__(self) -> tuple[type[Moments], tuple[Any, ...]]:
        return Moments, tuple(getattr(self, f.name) for f in fields(self))  # read-only there too

    def __repr__(self) -> str:
        return f"Moments({self.rows:,} rows, weight {self.weight:g}, columns {list(self.names)})"


class _Reader:
    """Adds up rows, in a new run whenever one cannot take the next chunk."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.total: Moments | None = None  # of the runs before this one
        self.run: RowSums | SlicedSums | ExactRun | None = None
        self.kind: Kept = "fast"
        self.rows, self.low, self.high = 0, np.empty(0), np.empty(0)

    def add(self, z: Array, w: Array | None, low: Array, high: Array, kind: Kept) -> None:
        """Add a chunk, which is overwritten."""
        if self.run is not None and not (kind == self.kind and self.run.takes(low, high, w)):
            self.total, self.run = self.moments(), None
        if self.run is None:
            self.kind, self.rows, self.low, self.high = kind, 0, low[:-1], high[:-1]
            self.run = (
                ExactRun(len(self.names))
                if kind == "exact"
                else (RowSums if kind == "fast" else SlicedSums)(z, w, low, high)
            )
        self.rows += z.shape[1]
        self.run.add(z, w, low, high)
        self.low, self.high = np.minimum(self.low, low[:-1]), np.maximum(self.high, high[:-1])

    def moments(self) -> Moments:
        """Return the moments of all rows so far."""
        if self.run is None:
            return Moments.empty(self.names)
        names, rows, low, high = self.names, self.rows, self.low, self.high
        if isinstance(self.run, ExactRun):
            own = Moments._of_sums(names, rows, self.run.sums(), low, high)
        else:
            units = units_of(low, high)
            weight, mean, pair = self.run.parts(units)
            scatter = Scatter.of(pair.high) if self.kind == "fast" else Scatter.of_pair(pair)
            own = Moments._of_pairs(names, rows, weight, mean, scatter, low, high, units)
        return own if self.total is None else self.total + own
