"""Constructors of moments: from rows, from sums and from the moments of many tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from poolwise._typing import Array
from poolwise.errors import BadColumns, NotFinite
from poolwise.moments.merging import merged
from poolwise.numerics.chunks import LARGEST, Block, check_sizes, chunks
from poolwise.numerics.double_double import Pair
from poolwise.numerics.exact_sums import ExactRun, ExactSums
from poolwise.numerics.options import Kept, Precision, chosen
from poolwise.numerics.row_sums import RowSums, SlicedSums
from poolwise.numerics.scatter import Scatter, needed, rounding_error

if TYPE_CHECKING:
    from poolwise.moments.moments import Moments


class MomentsFactory:
    """Constructors of `Moments`: from no rows, rows, sums, and the moments of many tables."""

    def __post_init__(self: Any) -> None:
        object.__setattr__(self, "place", {n: j for j, n in enumerate(self.names)})
        if len(self.place) < len(self.names):
            raise BadColumns.repeated(self.names)
        scatter = self.scatter
        for array in (self.mean, self.mean_tail, self.low, self.high, scatter.high, scatter.low):
            if array is not None:
                array.setflags(write=False)

    @property
    def precision(self: Any) -> Kept:
        """How many digits the scatter has: ``"fast"``, ``"accurate"`` or ``"exact"``."""
        return "exact" if self.sums else "fast" if self.scatter.low is None else "accurate"

    @classmethod
    def empty(cls, names: Sequence[str]) -> Moments:
        """Return the moments of no rows."""
        p = len(names)
        none, low, high = Pair(np.zeros(p), np.zeros(p)), np.full(p, np.inf), np.full(p, -np.inf)
        return cls._of_pairs(names, 0, Pair.of(0.0), none, Scatter.zero(p), low, high)

    @classmethod
    def _of_pairs(
        cls,
        names: Sequence[str],
        rows: int,
        weight: Pair,
        mean: Pair,
        scatter: Scatter,
        low: Array,
        high: Array,
        sums: ExactSums | None = None,
    ) -> Moments:
        make: Any = cls
        w, tail = float(weight.high), float(weight.low)
        found: Moments = make(
            tuple(names), rows, w, mean.high, mean.low, scatter, low, high, tail, sums
        )
        return found

    @classmethod
    def _of_sums(
        cls, names: Sequence[str], rows: int, sums: ExactSums, low: Array, high: Array
    ) -> Moments:
        """Return moments from exact sums, each number rounded once."""
        weight, mean, scatter = sums.parts()
        return cls._of_pairs(names, rows, weight, mean, Scatter.of_pair(scatter), low, high, sums)

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
            One column per name; NaN and infinity raise an error.
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
        """Return the moments of rows that can be read more than once.

        Parameters
        ----------
        names : sequence of str
            Names of the columns.
        blocks : callable
            Starts a pass over the rows: returns an iterable of blocks.
        rows : int
            Number of rows.
        precision : {"auto", "fast", "accurate", "exact"}, default="auto"
            Digits of the scatter. ``"auto"`` is accurate while that is cheap, else fast. Where
            columns are nearly dependent it reads again, with the next better precision.
        intercept : bool, default=True
            Whether models of these moments have an intercept; without one, columns far from zero
            are more nearly dependent.
        wholes : sequence of sequence of str
            Columns that sum to one in every row, as all indicators of a text column do. One of them
            is left out beside an intercept, so their dependence does not cause a second pass.

        Returns
        -------
        Moments
            Of the last pass.
        """
        kept = chosen(precision, rows, len(names))
        found = _summed(cls, names, blocks(), kept)
        if precision != "auto":
            return found
        better = found.better_precision(wholes, intercept=intercept)
        return found if better == kept else _summed(cls, names, blocks(), better)

    @classmethod
    def of_blocks(
        cls, names: Sequence[str], blocks: Iterable[Block], *, precision: Precision = "auto"
    ) -> Moments:
        """Return the moments of rows that come in blocks, each read once.

        Parameters
        ----------
        names : sequence of str
            Names of the columns.
        blocks : iterable of (parts, weights)
            Each a tuple of arrays, side by side, and the row weights or None.
        precision : {"auto", "fast", "accurate", "exact"}, default="auto"
            Digits of the scatter. ``"auto"`` is accurate while that is cheap, and fast for longer
            tables.

        Returns
        -------
        Moments
            Of the rows of all blocks.
        """
        chosen(precision, 0, 0)  # raises an error for an unknown one
        return _summed(cls, names, blocks, precision)

    @classmethod
    def total(cls, names: Sequence[str], parts: Iterable[Moments]) -> Moments:
        """Return the moments of the rows of many tables, stacked: their sum, in less time.

        Exact moments have the bits of the sum by ``+``, in any order; others differ from it by
        rounding, and depend on the order of the tables alone. As in a sum, the result has the
        precision of the least precise table.

        Parameters
        ----------
        names : sequence of str
            Names of the columns, the same in all tables.
        parts : iterable of Moments
            The tables. Each is used once, and a few hundred are held at a time.

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

        def weighty() -> Iterator[Moments]:
            nonlocal rows
            for k, part in enumerate(parts):
                if part.names != names:
                    raise BadColumns.differ(names, part.names, f"add table {k + 1:,} of a total to")
                rows += part.rows
                if part.weight:
                    yield part

        found = merged(weighty())
        return (cls.empty(names) if found is None else found).with_rows(rows)

    def widened(
        self: Any,
        names: Sequence[str],
        values: Mapping[str, float],
        tails: Mapping[str, float] | None = None,
    ) -> Moments:
        """Moments of the columns ``names``: those that are here, the others constant.

        Parameters
        ----------
        names : sequence of str
            The columns, in this order.
        values, tails : mapping of str to float
            The constants, and the parts of them lost to rounding; zero unless named.

        Returns
        -------
        Moments
            Of the same rows.
        """
        place = {j: self.place[n] for j, n in enumerate(names) if n in self.place}
        at, own = list(place), list(place.values())
        mean = np.array([values.get(n, 0.0) for n in names], dtype=np.float64)
        tail = np.array([(tails or {}).get(n, 0.0) for n in names], dtype=np.float64)
        sums, low, high = None, mean.copy(), mean.copy()
        if self.sums is not None:
            which = [place.get(j, -1) for j in range(len(names))]
            sums = self.sums.picked(which, Pair(mean.copy(), tail.copy()))
        mean[at], tail[at] = self.mean[own], self.mean_tail[own]
        low[at], high[at] = self.low[own], self.high[own]
        scatter = self.scatter.placed(own, at, len(names))
        found: Moments = self._of_pairs(
            names, self.rows, self.weight_pair, Pair(mean, tail), scatter, low, high, sums
        )
        return found

    def needed_precision(self: Any, *, intercept: bool = True) -> Kept:
        """Return the precision that gives enough digits in regressions of any column on others."""
        return needed(self.scatter if intercept else self.about_zero())

    def rounding_error(self: Any, names: Sequence[str]) -> float:
        """Estimate the relative error of coefficients of columns due to rounding to doubles."""
        return rounding_error(self.scatter, self.index(names))

    def better_precision(
        self: Any, wholes: Sequence[Sequence[str]] = (), *, intercept: bool = True
    ) -> Kept:
        """Return the precision for a second pass over the rows.

        Parameters
        ----------
        wholes : sequence of sequence of str
            Columns that sum to one in every row, as in :meth:`read`.
        intercept : bool, default=True
            Whether models have an intercept.

        Returns
        -------
        {"fast", "accurate", "exact"}
            Better than the present one if columns are nearly dependent.
        """
        kept: Kept = self.precision
        if self.rows <= len(self.names):  # columns are dependent, whatever the digits
            return kept
        if intercept:
            varies = self.scatter.high.diagonal() > 0.0
            at = [self.index(whole) for whole in wholes]
            spare = {next((j for j in whole if varies[j]), None) for whole in at}
            better = needed(
                self.scatter, [j for j in range(len(varies)) if j not in spare] if spare else None
            )
        else:
            better = self.needed_precision(intercept=False)
        if kept == "fast":
            return "accurate" if better != "fast" else "fast"
        return "exact" if better == "exact" else kept


def _summed(
    make: type[MomentsFactory], names: Sequence[str], blocks: Iterable[Block], precision: Precision
) -> Moments:
    """Return the moments of rows, each read once.

    Columns of numbers that are not finite, too large or too small raise an error at the end, when
    all of them are known.
    """
    p, kept = len(names), precision
    reader, read, bad = _Reader(make, tuple(names)), 0, np.zeros(p, dtype=np.intp)
    least, most = np.full(p, np.inf), np.full(p, -np.inf)
    fits = True
    for z, w in chunks(p, blocks, long=precision == "fast"):
        read += z.shape[1]
        low, high = z.min(axis=1), z.max(axis=1)
        fits = fits and bool((low >= -LARGEST).all() and (high <= LARGEST).all())
        if fits:
            if precision == "auto":
                kept = chosen("auto", read, p)
            reader.add(z, w, low, high, kept)
        else:
            bad += np.count_nonzero(~np.isfinite(z[:-1]), axis=1)
        least, most = np.minimum(least, low[:-1]), np.maximum(most, high[:-1])
    if bad.any():
        raise NotFinite.of({n: int(b) for n, b in zip(names, bad, strict=True) if b}, read)
    check_sizes(names, least, most)
    return reader.total()


class _Reader:
    """Adds up rows, in a new run whenever one cannot take the next chunk."""

    def __init__(self, make: type[MomentsFactory], names: tuple[str, ...]) -> None:
        self.make, self.names = make, names
        self.before: Moments | None = None  # of the runs before this one
        self.run: RowSums | SlicedSums | ExactRun | None = None
        self.kind: Precision = "fast"
        self.rows = 0
        self.low, self.high = np.empty(0), np.empty(0)

    def add(self, z: Array, w: Array | None, low: Array, high: Array, kind: Precision) -> None:
        """Add a chunk, which is overwritten."""
        if self.run is not None and not (kind == self.kind and self.run.takes(low, high, w)):
            self.before, self.run = self.total(), None
        if self.run is None:
            self.kind, self.low, self.high, self.rows = kind, low[:-1], high[:-1], 0
            self.run = (
                ExactRun(len(self.names))
                if kind == "exact"
                else (RowSums if kind == "fast" else SlicedSums)(z, w, low, high)
            )
        self.rows += z.shape[1]
        self.run.add(z, w, low, high)
        self.low, self.high = np.minimum(self.low, low[:-1]), np.maximum(self.high, high[:-1])

    def total(self) -> Moments:
        """Return the moments of all rows so far."""
        if self.run is None:
            return self.make.empty(self.names)
        if isinstance(self.run, ExactRun):
            own = self.make._of_sums(self.names, self.rows, self.run.sums(), self.low, self.high)
        else:
            weight, mean, S = self.run.parts()
            scatter = Scatter(S.high, None if self.kind == "fast" else S.low)
            own = self.make._of_pairs(
                self.names, self.rows, weight, mean, scatter, self.low, self.high
            )
        return own if self.before is None else self.before + own
