"""Moments as JSON files with every bit, checked when they are read."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from msgspec import Meta

from poolwise._typing import AnyPath, Array
from poolwise.moments.atomic_write import write
from poolwise.moments.disclosure import check_shareable
from poolwise.moments.json_format import MOST_BYTES, Format, JsonObject, check_distinct, numbers
from poolwise.moments.moment_checks import first_of, flaw_of, rounding_of
from poolwise.numerics.chunks import HEAVIEST, check_sizes
from poolwise.numerics.exact_sums import ExactSums
from poolwise.numerics.scatter import Scatter

if TYPE_CHECKING:
    from poolwise.moments.moments import Moments

SUFFIX = ".moments.json"
CLOSE = 2.0**-40  # largest tail relative to its number, and asymmetry of a matrix
EQUAL = 2.0**-90  # largest relative difference of pairs from their exact sums

Power = Annotated[int, Meta(ge=-(2**14), le=2**14)]  # of doubles, after a hundred maps
Hexadecimal = Annotated[str, Meta(pattern="^-?[0-9a-f]+$", max_length=2**14)]


class ExactSumsRecord(JsonObject):
    """The sums of w z z' over rows z, whose last entry is a one, without rounding.

    units: p + 1 powers of two
    gram: p + 1 rows of p + 1 integers in base sixteen; entry (i, j) counts units of
      2 ** (units[i] + units[j])
    """

    units: list[Power]
    gram: list[list[Hexadecimal]]

    def sums(self, columns: int) -> ExactSums:
        """Return the sums of a table with this number of columns."""
        size = columns + 1
        units = numbers("units", self.units, size).astype(np.intp)
        if len(self.gram) != size or any(len(row) != size for row in self.gram):
            raise ValueError(f"`gram` must have {size} lists of {size} entries")
        gram = np.array([[int(v, 16) for v in row] for row in self.gram], dtype=object)
        if not gram[-1, -1] > 0 or (gram != gram.T).any():
            raise ValueError("the exact sums are not sums of rows")
        return ExactSums(gram, units)


class MomentsRecord(JsonObject, dict=True):
    """Count, weight, mean, scatter and range of p named columns.

    names: p names, no two alike; the response is one of them
    rows: number of rows whose weight is not zero
    weight: W, the sum of the rows' weights; the number of rows if they are not weighted
    mean: weighted mean of each column, which lies in its range
    low, high: least and greatest value of each column, or bounds of them; null if W is 0
    scatter: sum over rows of w (z - mean)(z - mean)', p rows of p numbers, symmetric and positive
      semidefinite
    weight_tail, mean_tail, scatter_tail: the parts of these lost to rounding; 0, or null for the
      scatter, if that is not known
    sums: exact sums, from which all other numbers follow; null unless rows were read exactly
    """

    names: Annotated[list[str], Meta(extra_json_schema={"uniqueItems": True})]
    rows: Annotated[int, Meta(ge=0, le=2**53)]
    weight: Annotated[float, Meta(ge=0.0, le=HEAVIEST)]
    weight_tail: float
    mean: list[float]
    mean_tail: list[float]
    low: list[float | None]
    high: list[float | None]
    scatter: list[list[float]]
    scatter_tail: list[list[float]] | None
    sums: ExactSumsRecord | None

    def __post_init__(self) -> None:
        _ = self.moments

    @cached_property
    def moments(self) -> Moments:
        """The moments; raises ValueError where no rows have them."""
        from poolwise.moments.moments import Moments  # a subclass of `InFiles` below

        check_distinct("column", self.names)
        p = len(self.names)
        given = {key: getattr(self, key) for key in MomentsRecord.__struct_fields__}
        tail = given.pop("scatter_tail")
        given["names"], given["sums"] = tuple(self.names), None
        given["scatter"] = Scatter(
            numbers("scatter", self.scatter, p, p),
            None if tail is None else numbers("scatter_tail", tail, p, p),
        )
        for key in ("mean", "mean_tail"):
            given[key] = numbers(key, given[key], p)
        for key, of_no_rows in (("low", math.inf), ("high", -math.inf)):
            if None in given[key] and self.weight:
                raise ValueError(f"`{key}` holds null, which only moments without rows may")
            given[key] = numbers(key, [of_no_rows if v is None else v for v in given[key]], p)
        found = Moments(**given)
        with np.errstate(over="ignore", under="ignore"):
            (_check_rows if self.weight else _check_empty)(found)
            return found if self.sums is None else _exact(found, self.sums.sums(p))


class MomentsFile(MomentsRecord):
    """Moments of a table, as poolwise.Moments.save writes them.

    Numbers are doubles: read them with a parser that rounds correctly, and write them with 17
    digits or in the shortest digits that read as the same double.
    """

    format: Literal["poolwise moments"]
    version: Literal[1]


FORMAT = Format("poolwise moments", 1, MomentsFile)


def record_of(moments: Moments) -> dict[str, Any]:
    """Return the data of a `MomentsRecord`."""
    sums = None
    if moments.sums is not None:
        exact = moments.sums.reduced()
        gram = [[format(int(v), "x") for v in row] for row in exact.gram]
        sums = {"units": exact.units, "gram": gram}
    return {
        "names": [str(name) for name in moments.names],
        "rows": int(moments.rows),
        "weight": moments.weight,
        "weight_tail": moments.weight_tail,
        "mean": moments.mean,
        "mean_tail": moments.mean_tail,
        "low": [None if math.isinf(v) else v for v in moments.low.tolist()],
        "high": [None if math.isinf(v) else v for v in moments.high.tolist()],
        "scatter": moments.scatter.high,
        "scatter_tail": moments.scatter.low,
        "sums": sums,
    }


def is_moments_path(thing: object) -> bool:
    """Return whether something is a path that ends as moments files do."""
    return isinstance(thing, str | os.PathLike) and str(os.fspath(thing)).lower().endswith(SUFFIX)


def _check_empty(moments: Moments) -> None:
    pair = moments.scatter.pair
    if pair.high.any() or pair.low.any() or moments.weight_tail:
        raise ValueError("there are products of rows, but no weight")
    if (np.isinf(moments.low) != np.isinf(moments.high)).any():
        raise ValueError("a column has one end of its range but not the other")


def _check_rows(moments: Moments) -> None:
    names, weight, low, high = moments.names, moments.weight, moments.low, moments.high
    if not moments.rows:
        raise ValueError(f"there is a weight of {weight:g}, but no rows")
    check_sizes(names, low, high)
    S, tail = moments.scatter.high, moments.scatter.pair.low
    size, both = _sizes(moments)
    apart = (np.abs(S - S.T) > CLOSE * both) | (np.abs(tail - tail.T) > CLOSE**2 * both)
    if apart.any():
        raise ValueError("the scatter is not symmetric")
    rounding, rest = rounding_of(weight, low, high), np.abs(moments.mean_tail)
    if flaw := (
        flaw_of(names, weight, moments.mean, S, low, high, rounding)
        or first_of(names, rest > CLOSE * size, "the tail of the mean of {0!r} is too large")
    ):
        raise ValueError(flaw)
    if abs(moments.weight_tail) > CLOSE * weight or (np.abs(tail) > CLOSE * both).any():
        raise ValueError("the tail of the weight or of the scatter is too large")


def _sizes(moments: Moments) -> tuple[Array, Array]:
    """Return the largest number of each column, and the products of the columns' deviations."""
    size = np.maximum(np.abs(moments.low), np.abs(moments.high))
    rounding = rounding_of(moments.weight, moments.low, moments.high)
    unit = np.sqrt(np.maximum(moments.scatter.diagonal(), 0.0) + rounding)
    return size, np.outer(unit, unit)


def _exact(moments: Moments, sums: ExactSums) -> Moments:
    """Return moments with exact sums; raise ValueError if they contradict the rounded numbers."""
    if moments.scatter.low is None or not moments.weight:
        raise ValueError("there are exact sums, but no weight or no `scatter_tail`")
    try:
        weight, mean, scatter = sums.parts()
    except OverflowError:
        raise ValueError("the exact sums are beyond doubles") from None
    size, both = _sizes(moments)
    for found, told, unit in (
        (weight, moments.weight_pair, np.array(moments.weight)),
        (mean, moments.mean_pair, size),
        (scatter, moments.scatter.pair, both),
    ):
        if (np.abs((found - told).high) > EQUAL * unit).any():
            raise ValueError("the exact sums contradict the weight, the mean or the scatter")
    return replace(moments, sums=sums)


class InFiles:
    """Methods of `Moments` that save and load them."""

    def save(self: Any, path: AnyPath, *, overwrite: bool = False, min_rows: int = 0) -> None:
        """Write the moments to a JSON file, with every bit.

        The file is written completely or not at all. Name it ``something.moments.json``, and
        ``sources=`` takes its path. :doc:`/guides/moments_only` says what it discloses about rows.

        Parameters
        ----------
        path : str or path
            The file to write.
        overwrite : bool, default=False
            Whether to replace an existing file.
        min_rows : int, default=0
            Raise an error if the table, or a group of it whose sums follow from an indicator or a
            column of two values, has fewer rows: its moments would disclose single rows. Groups are
            counted by their share of the weight.
        """
        check_shareable(self, min_rows)
        write(path, self.text(), overwrite=overwrite)

    def text(self: Any) -> str:
        """Return the content of the file that :meth:`save` writes."""
        return FORMAT.encode(record_of(self))

    @classmethod
    def load(cls, path: AnyPath, *, max_bytes: int = MOST_BYTES) -> Moments:
        """Read moments from a file that :meth:`save` wrote.

        Loading runs no code. Numbers that no rows can have raise `BadFile`.

        Parameters
        ----------
        path : str or path
            The file.
        max_bytes : int, default=2**28
            Raise an error for larger files.

        Returns
        -------
        Moments
            With the bits that were saved.
        """
        return FORMAT.read(path, max_bytes).moments
