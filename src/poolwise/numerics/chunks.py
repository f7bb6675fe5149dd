"""Chunks of rows, as columns of doubles in one buffer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poolwise._typing import Array
from poolwise.errors import BadTable, BadWeights, NotNumeric, OutOfRange
from poolwise.wording import capital, listed

Block: TypeAlias = tuple[Sequence[ArrayLike], ArrayLike | None]
"""Arrays side by side, each with the same rows, and the weights of the rows."""

CHUNK = 2048  # rows; 32 columns of them are half a megabyte and stay in a core's cache
LONG = 2**14  # rows, for sums so quick that the cost of starting them matters
VALUES = 2**18  # most values in a long chunk, if it has more than CHUNK rows
TILE = 512  # rows turned into columns at a time
HEAD = 256  # rows whose mean is a good enough shift
# Limits of the largest number of a column: squares, and their quotients, are doubles.
SMALLEST, LARGEST = 1e-75, 1e75
WEIGHTS = (1e-100, 1e100)  # the least and the greatest weight that is not zero
HEAVIEST = 1e150  # weight of all rows: times squares it is still finite


def chunks(
    columns: int, blocks: Iterable[Block], *, long: bool = False
) -> Iterator[tuple[Array, Array | None]]:
    """Yield ``CHUNK`` rows at a time or fewer, one line per column and a line of ones last.

    There must be ``columns`` columns. If ``long``, yield more rows where columns are few.
    """
    most = CHUNK
    if long:  # the largest power of two that is not too many values
        most = max(CHUNK, min(LONG, 2 ** ((VALUES // (columns + 1)).bit_length() - 1)))
    buffer = np.empty((columns + 1, 0))
    for parts, weights in blocks:
        arrays = [_numbers(part) for part in parts]
        arrays = [a[:, None] if a.ndim == 1 else a for a in arrays]
        fit = all(a.ndim == 2 and len(a) == len(arrays[0]) for a in arrays)
        if not fit or sum(a.shape[1] for a in arrays) != columns:
            raise BadTable(
                f"{columns} columns were named, but the rows come in arrays of shapes "
                f"{[a.shape for a in arrays]}.",
                "Give arrays of equal length with one column per name between them.",
            )
        rows = len(arrays[0])
        w = None if weights is None else checked_weights(weights, rows)
        arrays = [a[:, 0] if a.shape[1] == 1 else a for a in arrays]
        if buffer.shape[1] < min(rows, most):
            buffer = np.empty((columns + 1, min(rows, most)))
        for start in range(0, rows, most):
            size = min(most, rows - start)
            z = buffer[:, :size]
            _fill(z, arrays, start)
            z[-1] = 1.0
            if w is None:
                yield z, None
                continue
            own = w[start : start + size]
            kept = np.flatnonzero(own)
            if len(kept):
                yield (z, own) if len(kept) == size else (z.take(kept, axis=1), own[kept])


def check_sizes(names: Sequence[str], low: Array, high: Array) -> None:
    """Raise an error for columns whose squares would leave the range of doubles.

    This is the only such check: rows that are read, files that are loaded, columns that are mapped
    and published models all pass it.
    """
    size = np.maximum(-low, high)  # negative without rows
    fits = (size <= LARGEST) & ((size >= SMALLEST) | (size <= 0.0))
    if not fits.all():
        wrong = [n for n, own in zip(names, fits, strict=True) if not own]
        raise OutOfRange(
            f"The largest numbers of {listed(wrong)} are above {LARGEST:g} or below {SMALLEST:g} "
            "in size. Their squares would leave the range of doubles.",
            "Multiply or divide these columns by a power of ten; the coefficients scale with it.",
        )


def _fill(z: Array, arrays: Sequence[NDArray[np.generic]], start: int) -> None:
    """Write rows of arrays, from a given row on, to the lines of their columns."""
    at, size = 0, z.shape[1]
    for a in arrays:
        part = doubles(a[start : start + size])
        if part.ndim == 1:
            z[at] = part
            at += 1
            continue
        for row in range(0, size, TILE):  # tiles of both fit the cache
            z[at : at + part.shape[1], row : row + TILE] = part[row : row + TILE].T
        at += part.shape[1]


def doubles(array: NDArray[np.generic], where: str = "the input") -> Array:
    """Return numbers as doubles; raise an error for integers that would be rounded."""
    held = np.asarray(array, dtype=np.float64)
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8 and array.size:
        largest = max(-int(array.min()), int(array.max()))
        if largest > 2**53:
            check_integers(array.ravel().tolist(), held.ravel(), where)
    return held


def doubles_of_objects(array: NDArray[np.generic], where: str = "the input") -> Array:
    """Return Python numbers as doubles; raise an error for integers that would be rounded."""
    held = array.astype(np.float64)
    integers = [int(v) if isinstance(v, int | np.integer) else None for v in array.ravel()]
    check_integers(integers, held.ravel(), where)
    return held


def check_integers(integers: Sequence[int | None], held: Array, where: str) -> None:
    """Raise an error for integers that were rounded to doubles."""
    pairs = [(i, int(d)) for i, d in zip(integers, held, strict=True) if i is not None]
    rounded = [abs(i) for i, d in pairs if i != d]
    if rounded:
        raise rounded_integers(len(rounded), max(rounded), where)


def rounded_integers(count: int, largest: int, where: str) -> NotNumeric:
    """Return the error for integers that doubles cannot hold."""
    return NotNumeric(
        f"{capital(where)} has {count:,} integers, up to {largest:,} in size, that have more than "
        "the 53 bits of a double and would be rounded.",
        "Subtract a common offset, or convert the column to float64 if the last digits do not "
        "matter.",
        count=count,
        largest=largest,
    )


def _numbers(part: ArrayLike) -> NDArray[np.generic]:
    array = np.ma.filled(part.astype(np.float64), np.nan) if np.ma.isMA(part) else np.asarray(part)
    if array.dtype.kind == "O":
        try:
            array = doubles_of_objects(array)
        except NotNumeric:
            raise
        except (TypeError, ValueError) as error:
            raise _not_real(f"objects ({error})") from error
    if array.dtype.kind not in "fiub":
        raise _not_real(str(array.dtype))
    return array


def _not_real(kind: str) -> NotNumeric:
    return NotNumeric(
        f"Moments are taken of real numbers, and the rows hold {kind}.",
        "Convert them, or use PooledRegressor.fit, which turns text and categories into "
        "indicators.",
    )


def checked_weights(weights: ArrayLike, rows: int) -> Array:
    """Return weights as doubles, one per row, finite and not negative."""
    w = weights_as_numbers(weights)
    if w.shape != (rows,):
        raise BadWeights.of(f"Weights have shape {w.shape} for {rows:,} rows.")
    if not np.isfinite(w).all():
        raise BadWeights.of(f"{np.count_nonzero(~np.isfinite(w)):,} weights are NaN or infinite.")
    if (w < 0).any():
        raise BadWeights.of(f"{np.count_nonzero(w < 0):,} weights are negative, least {w.min():g}.")
    least, greatest = WEIGHTS
    if (w > greatest).any():
        raise BadWeights.of(f"The largest weight, {w.max():g}, is above {greatest:g}.")
    if ((w > 0) & (w < least)).any():
        raise BadWeights.of(f"A weight, {w[w > 0].min():g}, is below {least:g} and not zero.")
    return w


def weights_as_numbers(weights: ArrayLike) -> Array:
    """Return weights as doubles."""
    try:
        return np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadWeights.of(f"Weights are not numbers ({error}).") from error
