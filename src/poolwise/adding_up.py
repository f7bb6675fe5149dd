"""Adding up: rows that come in blocks, in as few runs as lose no digits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from poolwise.centred import Centred
from poolwise.chunks import LARGEST, Block, chunks
from poolwise.double_double import Array
from poolwise.errors import NotFinite, TooLarge
from poolwise.exact_sums import ExactRun
from poolwise.least_squares import rounding_error
from poolwise.precision import Kept, Precision, check_precision, chosen, needed
from poolwise.row_sums import RowSums, units_of
from poolwise.sliced_sums import SlicedSums


def add_up_well(
    names: Sequence[str],
    blocks: Callable[[], Iterable[Block]],
    rows: int,
    precision: Precision,
    *,
    intercept: bool,
    wholes: Sequence[Sequence[str]] = (),
) -> tuple[int, Centred | None]:
    """Add up rows that can be read again: twice, if left to us and the first sums are too poor.

    Parameters are those of :meth:`poolwise.Moments.read`.
    """
    check_precision(precision)
    kept = chosen(precision, rows, len(names))
    read, held = add_up(names, blocks(), kept)
    if precision != "auto" or held is None:
        return read, held
    at = [[names.index(n) for n in whole] for whole in wholes]
    better = better_precision(held, read, at, intercept=intercept)
    return (read, held) if better == kept else add_up(names, blocks(), better)


def better_precision(
    held: Centred, rows: int, wholes: Sequence[Sequence[int]], *, intercept: bool
) -> Kept:
    """Return the precision to read so many rows with again, or that which there is.

    Parameters are those of :meth:`poolwise.Moments.read`, columns being named by their places.
    """
    kept = held.precision
    if rows <= len(held.low):  # too few to tell columns apart, however many digits there are
        return kept
    better = needed(_rounding_error(held, wholes, intercept=intercept))
    if kept == "fast":
        return "accurate" if better != "fast" else "fast"
    return "exact" if better == "exact" else kept


def _rounding_error(held: Centred, wholes: Sequence[Sequence[int]], *, intercept: bool) -> float:
    """Estimate the error that rounding leaves in coefficients of any column on the others."""
    if not intercept:
        return rounding_error(held.about_zero())
    varies = held.scatter.diagonal() > 0.0
    spare = {next((j for j in whole if varies[j]), None) for whole in wholes}
    return rounding_error(held.scatter, [j for j in range(len(varies)) if j not in spare])


def add_up(
    names: Sequence[str], blocks: Iterable[Block], precision: Precision
) -> tuple[int, Centred | None]:
    """Return how many rows there are, and their numbers if there are any.

    Numbers that are not finite or too large are refused at the end, when all of them are known.
    """
    check_precision(precision)
    reader, bad = _Reader(len(names)), np.zeros(len(names), dtype=np.intp)
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
    return read, reader.held()


class _Reader:
    """Adds up rows, in a new run whenever one cannot take the next chunk."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.total: Centred | None = None  # of the runs before this one
        self.run: RowSums | SlicedSums | ExactRun | None = None
        self.kind: Kept = "fast"
        self.low, self.high = np.empty(0), np.empty(0)

    def add(self, z: Array, w: Array | None, low: Array, high: Array, kind: Kept) -> None:
        """Add a chunk, which is overwritten."""
        if self.run is not None and not (kind == self.kind and self.run.takes(low, high, w)):
            self.total, self.run = self.held(), None
        if self.run is None:
            self.kind, self.low, self.high = kind, low[:-1], high[:-1]
            self.run = (
                ExactRun(self.columns)
                if kind == "exact"
                else (RowSums if kind == "fast" else SlicedSums)(z, w, low, high)
            )
        self.run.add(z, w, low, high)
        self.low, self.high = np.minimum(self.low, low[:-1]), np.maximum(self.high, high[:-1])

    def held(self) -> Centred | None:
        """Return the numbers of all rows so far."""
        if self.run is None:
            return None
        if isinstance(self.run, ExactRun):
            own = Centred.of_sums(self.run.sums(), self.low, self.high)
        else:
            units = units_of(self.low, self.high)
            parts = self.run.parts(units)
            own = Centred.of_parts(parts, self.low, self.high, units, plain=self.kind == "fast")
        return own if self.total is None else self.total + own
