"""The paper's four methods, on one problem or on a stack of problems of the same shape.

One implementation serves tables and figures; a ``Solver`` holds the numerical choices. Those of the
published program, ``PUBLISHED``, decide the printed digits: the cut-off of a pseudo-inverse acts as
a hidden regulariser where columns have very different sizes, and normal equations lose half the
digits. ``SCALED`` centres and scales columns, solves a whole stack at once, and agrees with the
methods of ``poolwise``, which ``library_fit`` calls. Unlike in the published program, time and
memory are linear in the rows.

The order of summation decides the third digit of a few ill-conditioned means. Both transfers put
the source first, as the published program does. Data pooling puts the target first, and weights
each table by the other's variance instead of by one over its own. This agrees better with the
printed digits, by chance: docs/reproduction.md has the numbers for both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.linalg
from sklearn.metrics.pairwise import rbf_kernel

from poolwise._typing import Array
from poolwise.linear.fit import Fit
from poolwise.linear.problem import Problem
from poolwise.methods import method_of
from poolwise.numerics.options import Precision
from poolwise.tables.encoding import Column
from poolwise.tables.memory import ArrayTable
from poolwise.tables.rows import TableRows

TRANSFERS = ("feature_transfer", "kernel_transfer")
MEAN_WEIGHT, RIDGE = 1e5, 1.0  # penalties of the feature maps
RANK = 1e-12  # eigenvalues of correlations below this share of the largest count as zero


@dataclass(frozen=True, eq=False)
class Sample:
    """The training rows of R problems."""

    source: Array  # (R, n_S, s): shared features
    source_y: Array  # (R, n_S)
    target: Array  # (R, n_T, d): shared features, new ones and, if there is one, the product
    target_y: Array  # (R, n_T)
    product: bool = False  # of the last shared and the last new feature

    def filled(self, new: Array) -> Array:
        """Return the source with imputed new features and, if there is one, their product."""
        product = [self.source[..., -1:] * new[..., -1:]] if self.product else []
        return np.concatenate((self.source, new, *product), axis=2)


@dataclass(frozen=True, eq=False)
class Lines:
    """R linear models: ``(x - centre, 1) @ coef``, with the intercept last in ``coef``."""

    coef: Array  # (R, d + 1)
    centre: Array  # (R, d)

    def predict(self, X: Array) -> Array:
        """Return predictions of shape (R, n) for rows of each problem, or the same for all."""
        return _times(with_one(X - self.centre[:, None]), self.coef)

    def squared_error(self, X: Array, y: Array) -> Array:
        """Return the mean squared error of each model over the same rows."""
        slope, level = self.coef[:, :-1], self.coef[:, -1]
        error = X @ slope.T + (level - (slope * self.centre).sum(axis=1)) - y[:, None]
        return np.einsum("nr,nr->r", error, error) / len(y)


@dataclass(frozen=True)
class Solver:
    """Numerical choices of the four methods."""

    fit: Callable[[Array, Array], Lines]  # least squares on one table: X, y
    pooled: Callable[[Array, Array, Array | None], Lines]  # on both tables: X, y, weights
    kernel: Callable[[Array, Array, float], Array]  # of rows with other rows, and gamma
    # To the new features: inputs in the target, their mean in the source, new features -> (R, p, q)
    linear_map: Callable[[Array, Array, Array], Array]


def data_pooling(
    sample: Sample,
    solver: Solver,
    *,
    ddof: str = "unbiased",
    weights: float | None = None,
    means: Mapping[str, float] | None = None,
) -> Lines:
    """Fit weighted least squares on the target and a source filled with means (DP).

    Noise variances are RSS / (n - d) as in Algorithm 1, or RSS / n as in the published program
    (``ddof="mle"``). ``weights`` is the known weight of a source row if a target row has weight
    one, and ``means`` has the known means of the unseen features.
    """
    R, _, s = sample.source.shape
    unseen = sample.target.shape[2] - s
    level = sample.target[..., s:].mean(axis=1) if means is None else [list(means.values())] * R
    centre = np.concatenate((np.zeros((R, s)), level), axis=1)
    target = sample.target - centre[:, None]
    filled = np.concatenate((sample.source, np.zeros((R, sample.source.shape[1], unseen))), axis=2)
    if weights is None:  # each by the other's variance: precisions up to a common factor
        of_target = _variance(sample.source, sample.source_y, solver, ddof)
        of_source = _variance(target, sample.target_y, solver, ddof)
    else:
        of_target, of_source = np.ones(R), np.full(R, weights)
    w = np.repeat(
        np.stack((of_target, of_source), axis=1), (target.shape[1], filled.shape[1]), axis=1
    )
    y = np.concatenate((sample.target_y, sample.source_y), axis=1)
    lines = solver.pooled(np.concatenate((target, filled), axis=1), y, w)
    return replace(lines, centre=centre + lines.centre)


def imputed(method: str, sample: Sample, solver: Solver) -> Array:
    """Return the source with new features imputed by a linear map, or by kernels with target rows.

    The map minimises the error in the target, the difference of means, and its own norm.
    """
    d, s = sample.target.shape[2], sample.source.shape[2]
    shared, new, gamma = (
        sample.target[..., :s],
        sample.target[..., s : d - sample.product],
        1.0 / (s + 1),
    )
    if method == "feature_transfer":
        target, source = with_one(shared), with_one(sample.source)
    else:
        target = solver.kernel(shared, shared, gamma)
        source = solver.kernel(sample.source, shared, gamma)
    return sample.filled(source @ solver.linear_map(target, source.mean(axis=1), new))


def transfer(method: str, sample: Sample, solver: Solver) -> Lines:
    """Fit the target and a source imputed by a linear map (DSFT) or a radial kernel (DSFT-nl)."""
    rows = np.concatenate((imputed(method, sample, solver), sample.target), axis=1)
    y = np.concatenate((sample.source_y, sample.target_y), axis=1)
    return solver.pooled(rows, y, None)


ESTIMATORS: dict[str, Callable[..., Lines]] = {
    "target_only": lambda sample, solver: solver.fit(sample.target, sample.target_y),  # OLS
    "data_pooling": data_pooling,
    **{name: partial(transfer, name) for name in TRANSFERS},
}


def _variance(X: Array, y: Array, solver: Solver, ddof: str) -> Array:
    residual = y - solver.fit(X, y).predict(X)
    coefficients = X.shape[2] + 1 if ddof == "unbiased" else 0
    return np.sum(residual**2, axis=1) / (X.shape[1] - coefficients)


# The published solver.


def _lstsq_fit(X: Array, y: Array) -> Lines:
    """Fit by LAPACK, problem by problem."""
    rows = with_one(X)
    coef = [scipy.linalg.lstsq(A, b)[0] for A, b in zip(rows, y, strict=True)]
    return Lines(np.array(coef), np.zeros((X.shape[0], X.shape[2])))


def _pinv_fit(X: Array, y: Array, weights: Array | None) -> Lines:
    """Fit by the pseudo-inverse of the normal equations of the raw columns."""
    rows = with_one(X)
    weighted, wy = (rows, y) if weights is None else (rows * weights[..., None], weights * y)
    left, right = rows.mT @ weighted, _times(rows.mT, wy)
    coef = _times(np.linalg.pinv(left, hermitian=True), right)
    return Lines(coef, np.zeros((X.shape[0], X.shape[2])))


def _rbf_kernel(rows: Array, others: Array, gamma: float) -> Array:
    """Return scikit-learn's kernel; the column of ones changes its rounding."""
    ours, theirs = with_one(rows), with_one(others)
    same = others is rows  # has exact ones on the diagonal then
    pairs = zip(ours, theirs, strict=True)
    found = [rbf_kernel(a, None if same else b, gamma) for a, b in pairs]
    return found[0][None] if len(found) == 1 else np.array(found)  # a large one is not copied


def _inverse_map(inputs: Array, mean: Array, new: Array) -> Array:
    """Invert the penalised normal equations."""
    left, right = _normal_equations(inputs, mean, new)
    return (right @ np.linalg.inv(left)).mT


def _normal_equations(inputs: Array, mean: Array, new: Array) -> tuple[Array, Array]:
    """Return the left side, (R, p, p), and the right side transposed, (R, q, p)."""
    left = inputs.mT @ inputs + MEAN_WEIGHT * _outer(mean, mean)
    right = new.mT @ inputs + MEAN_WEIGHT * _outer(new.mean(axis=1), mean)
    return left + RIDGE * np.eye(inputs.shape[2]), right


PUBLISHED = Solver(_lstsq_fit, _pinv_fit, _rbf_kernel, _inverse_map)


# The scaled solver.


def scaled_fit(X: Array, y: Array, weights: Array | None = None) -> Lines:
    """Fit by the correlations, with the least norm in units of standard deviations."""
    rows = np.concatenate((X, y[..., None]), axis=2)
    first = rows[:, :1]
    shifted = rows - first  # a constant column has no scatter at all then
    w = np.ones(X.shape[:2]) if weights is None else weights
    mean = _times(shifted.mT, w) / w.sum(axis=1, keepdims=True)
    centred = shifted - mean[:, None]
    scatter = centred.mT @ (centred * w[..., None])
    size = np.sqrt(np.diagonal(scatter, axis1=1, axis2=2)[:, :-1])
    unit = np.where(size > 0.0, size, 1.0)
    correlation = scatter[:, :-1, :-1] / _outer(unit, unit)
    inverse = np.linalg.pinv(correlation, rcond=RANK, hermitian=True)
    coef = _times(inverse, scatter[:, :-1, -1] / unit) / unit
    level = first[:, 0] + mean
    return Lines(np.concatenate((coef, level[:, -1:]), axis=1), level[:, :-1])


def _stacked_kernel(rows: Array, others: Array, gamma: float) -> Array:
    exponent = np.zeros((len(rows), rows.shape[1], others.shape[1]))
    for j in range(rows.shape[2]):
        exponent -= gamma * (rows[:, :, None, j] - others[:, None, :, j]) ** 2
    return np.exp(exponent, out=exponent)


def _scaled_map(inputs: Array, mean: Array, new: Array) -> Array:
    """Solve the penalised normal equations, with a unit diagonal."""
    left, right = _normal_equations(inputs, mean, new)
    unit = 1.0 / np.sqrt(np.diagonal(left, axis1=1, axis2=2))[..., None]
    scaled = left * unit * unit.mT
    return np.linalg.solve(scaled, right.mT * unit) * unit


SCALED = Solver(scaled_fit, scaled_fit, _stacked_kernel, _scaled_map)


# The methods of poolwise.


def _lstsq_map(inputs: Array, mean: Array, new: Array) -> Array:
    """Solve the penalised problem of one sample as least squares over a few more rows."""
    a, b, p = math.sqrt(MEAN_WEIGHT), math.sqrt(RIDGE), inputs.shape[2]
    (U,), (u,), (N,) = inputs, mean, new
    left = np.vstack((U, a * u, b * np.eye(p)))
    right = np.vstack((N, a * N.mean(axis=0), np.zeros((p, N.shape[1]))))
    return np.array([np.linalg.lstsq(left, right, rcond=None)[0]])


WITHOUT_NORMAL_EQUATIONS = replace(PUBLISHED, linear_map=_lstsq_map)


def library_fit(sample: Sample, method: str) -> Fit:
    """Fit a method of ``poolwise`` to a single problem.

    A product is a new feature like the others, except to the two methods that impute: they
    impute its factors and multiply, as the paper says.
    """
    if sample.product and method in TRANSFERS:
        filled = imputed(method, sample, WITHOUT_NORMAL_EQUATIONS)
        sample, method = replace(sample, source=filled), "mean_fill"
    (problem,) = problems_of(sample)
    return method_of(method).solve(problem)


def problems_of(
    sample: Sample, names: Sequence[str] | None = None, precision: Precision = "auto"
) -> list[Problem]:
    """Return the problems of a sample as ``poolwise`` takes them."""
    names = [f"x{j}" for j in range(sample.target.shape[2])] if names is None else names
    found = []
    for T, T_y, S, S_y in zip(
        sample.target, sample.target_y, sample.source, sample.source_y, strict=True
    ):
        target, source = _rows(names, T, T_y, "the target"), _rows(names, S, S_y, "the source")
        moments = (target.moments(precision), {"source": source.moments(precision)})
        rows = {"target_rows": target, "source_rows": {"source": source}}
        found.append(Problem(*moments, "y", **rows))
    return found


def _rows(names: Sequence[str], X: Array, y: Array, where: str) -> TableRows:
    own = tuple(names[: X.shape[1]])
    return TableRows(ArrayTable(X, own), tuple(map(Column, own)), "y", y, None, where)


def with_one(X: Array) -> Array:
    """Append the column of the intercept."""
    return np.concatenate((X, np.ones((*X.shape[:-1], 1))), axis=-1)


def _times(matrices: Array, vectors: Array) -> Array:
    return (matrices @ vectors[..., None])[..., 0]


def _outer(a: Array, b: Array) -> Array:
    return a[:, :, None] * b[:, None, :]
