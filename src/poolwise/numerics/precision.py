"""How many digits of the second moments are kept, and whether they are enough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np

from poolwise._typing import Array
from poolwise.errors import BadOption
from poolwise.numerics.scatter import Scatter

Precision: TypeAlias = Literal["fast", "accurate", "exact", "auto"]
Kept: TypeAlias = Literal["fast", "accurate", "exact"]

PRECISIONS: tuple[Kept, ...] = ("fast", "accurate", "exact")
# Relative error of coefficients, due to rounding the scatter to doubles, that justifies a second
# pass: with two doubles, and without rounding.
POOR, HOPELESS = 1e-10, 0.1
CHEAP = 2**25  # rows times squared columns: below, reading takes hundredths of a second
EPS = float(np.finfo(np.float64).eps)
# Share of a column's variance, per feature, below which it counts as zero: in doubles because sums
# of squares are rounded.
LEFT_IN_DOUBLES = 4 * EPS


def check_precision(precision: Precision) -> None:
    """Raise an error for an unknown precision."""
    if precision not in get_args(Precision):
        raise BadOption.of("precision", precision, "'fast', 'accurate', 'exact' or 'auto'")


def chosen(precision: Precision, rows: int, columns: int) -> Kept:
    """Return the precision of a first pass; ``"auto"`` is accurate while that is cheap."""
    if precision not in PRECISIONS:
        check_precision(precision)
        return "accurate" if rows * columns**2 <= CHEAP else "fast"
    return precision


def needed(scatter: Scatter, columns: Sequence[int] | None = None) -> Kept:
    """Return the precision that gives enough digits in regressions of any column on others."""
    error = rounding_error(scatter, columns)
    return "exact" if error > HOPELESS else "accurate" if error > POOR else "fast"


def rounding_error(scatter: Scatter, columns: Sequence[int] | None = None) -> float:
    """Estimate the relative error of coefficients due to rounding to doubles.

    Of these columns, or of any column on the others.
    """
    size = scatter.high.diagonal()
    at = np.arange(len(size)) if columns is None else np.asarray(columns, dtype=np.intp)
    varies = at[size[at] > 0.0]
    A = scatter.high[varies[:, None], varies]
    unit = 1.0 / np.sqrt(A.diagonal())
    return root_in_doubles(A * unit[:, None] * unit)[1]


def root_in_doubles(A: Array) -> tuple[Array, float]:
    """Return an inverse root in doubles, and the error of its square.

    The error is infinite if the matrix seems indefinite.
    """
    try:
        root: Array = np.linalg.inv(np.linalg.cholesky(A))
    except np.linalg.LinAlgError:
        return np.zeros(A.shape), np.inf
    return root, LEFT_IN_DOUBLES * inflation(A, root)


def inflation(A: Array, root: Array) -> float:
    """Return a bound of the condition: features times the sum of their variance inflation."""
    return len(A) * float((root**2).sum(axis=0) @ A.diagonal())
