"""Moments of many small tables at once, and the least squares of all of them in one solve."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from poolwise.double_double import Array

RANK = 1e-12  # eigenvalues of correlations below this share of the largest count as zero


@dataclass(frozen=True, eq=False)
class StackedMoments:
    """Weights, means and scatters of R tables with the same columns, the response last.

    As with ``Moments`` there are three verbs: add, weigh, map.

    Parameters
    ----------
    weight : array of shape (R,)
        Total weight of each table.
    mean : array of shape (R, p)
        Means of each table.
    scatter : array of shape (R, p, p)
        Centred second moments of each table, summed.
    """

    weight: Array
    mean: Array
    scatter: Array

    @classmethod
    def of_rows(cls, rows: Array) -> StackedMoments:
        """Return the moments of tables given as an array of shape (R, n, p)."""
        first = rows[:, :1]
        shifted = rows - first  # a constant column has no scatter at all then
        mean = shifted.mean(axis=1)
        centred = shifted - mean[:, None]
        weight = np.full(len(rows), float(rows.shape[1]))
        return cls(weight, first[:, 0] + mean, centred.transpose(0, 2, 1) @ centred)

    def __add__(self, other: StackedMoments) -> StackedMoments:
        """Add the rows of two tables, pair by pair."""
        weight = self.weight + other.weight
        share = other.weight / weight
        step = other.mean - self.mean
        between = (self.weight * share)[:, None, None] * step[:, :, None] * step[:, None, :]
        mean = self.mean + share[:, None] * step
        return StackedMoments(weight, mean, self.scatter + other.scatter + between)

    def weighed(self, factors: ArrayLike) -> StackedMoments:
        """Multiply the weight of every row, with one factor per table or one for all."""
        f = np.broadcast_to(np.asarray(factors, dtype=np.float64), self.weight.shape)
        return replace(self, weight=f * self.weight, scatter=f[:, None, None] * self.scatter)

    def affine(self, matrix: Array, shift: Array) -> StackedMoments:
        """Map the columns z of each table to ``matrix @ z + shift``; shapes (R, q, p), (R, q)."""
        mean = (matrix @ self.mean[:, :, None])[:, :, 0] + shift
        return replace(self, mean=mean, scatter=matrix @ self.scatter @ matrix.transpose(0, 2, 1))


@dataclass(frozen=True, eq=False)
class StackedFit:
    """R linear models.

    Parameters
    ----------
    coef : array of shape (R, d)
        Coefficients.
    intercept : array of shape (R,)
        Predictions where all features are zero.
    residual : array of shape (R,)
        Sums of squared residuals.
    """

    coef: Array
    intercept: Array
    residual: Array

    def squared_error(self, test: StackedMoments) -> Array:
        """Return the mean squared error of each model over the rows of a test set.

        The error y - x coef - intercept is a linear map of a row, so moments of the test set are
        enough.
        """
        error = np.column_stack((-self.coef, np.ones(len(self.coef))))
        bias = (error * test.mean).sum(axis=1) - self.intercept
        spread = np.einsum("ri,rij,rj->r", error, _like(test.scatter, error), error)
        result: Array = bias**2 + spread / test.weight
        return result


def stacked_regress(moments: StackedMoments) -> StackedFit:
    """Regress the last column of each table on the others, with an intercept.

    Where columns are dependent it takes the least norm in units of standard deviations, as
    ``poolwise.fit.regress`` does.
    """
    Sxx, Sxy = moments.scatter[:, :-1, :-1], moments.scatter[:, :-1, -1]
    size = np.sqrt(np.diagonal(Sxx, axis1=1, axis2=2))
    unit = np.where(size > 0.0, size, 1.0)
    correlation = Sxx / (unit[:, :, None] * unit[:, None, :])
    inverse = np.linalg.pinv(correlation, rcond=RANK, hermitian=True)
    coef = (inverse @ (Sxy / unit)[:, :, None])[:, :, 0] / unit
    error = np.column_stack((-coef, np.ones(len(coef))))
    residual = np.einsum("ri,rij,rj->r", error, moments.scatter, error)
    intercept = moments.mean[:, -1] - (coef * moments.mean[:, :-1]).sum(axis=1)
    return StackedFit(coef, intercept, np.maximum(residual, 0.0))


def _like(stack: Array, many: Array) -> Array:
    return np.broadcast_to(stack, (len(many), *stack.shape[1:]))
