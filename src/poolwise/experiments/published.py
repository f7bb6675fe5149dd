r"""The four methods with the solvers and cut-offs of the published program.

Their place is here and not among our methods: the cut-off of a pseudo-inverse acts as a hidden
regulariser where columns have very different sizes, and a fit from normal equations has half the
digits. The printed tables depend on both.

The published program makes matrices of all rows by all rows. Here weights are a vector, and the
mean difference of the feature maps is a matrix of rank one, so time and memory are linear in the
rows.

The order of summation decides the third digit of a few ill-conditioned means. Both transfers have
the order of the published program: source before target. Data pooling has not. There the target
comes first, and each table is weighted by the other's variance instead of by one over its own. This
order was kept because it agrees better with the printed digits, which is luck and no evidence:
docs/reproduction.md gives the numbers for both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from sklearn.metrics.pairwise import rbf_kernel

from poolwise.double_double import Array
from poolwise.experiments.training_rows import TrainingRows

MEAN_WEIGHT, RIDGE = 1e5, 1.0  # of the feature maps


@dataclass(frozen=True, eq=False)
class Line:
    """A linear model: ``(x - centre, 1) @ coef``.

    Parameters
    ----------
    coef : array of shape (d + 1,)
        Coefficients, the intercept last.
    centre : array of shape (d,)
        Taken from the features first.
    """

    coef: Array
    centre: Array

    def predict(self, X: Array) -> Array:
        """Return the predictions for rows of all features."""
        predictions: Array = with_one(X - self.centre) @ self.coef
        return predictions


def target_only(sample: TrainingRows) -> Line:
    """Return least squares on the target (OLS)."""
    coef = _least_squares(with_one(sample.target), sample.target_y)
    return Line(coef, np.zeros(sample.target.shape[1]))


def data_pooling(sample: TrainingRows) -> Line:
    """Return data pooling (DP): variances are RSS / n, not Algorithm 1's RSS / (n - d)."""
    centre = np.zeros(sample.target.shape[1])
    unseen = slice(sample.source.shape[1], None)
    centre[unseen] = sample.target[:, unseen].mean(axis=0)
    target = with_one(sample.target - centre)
    filled = np.zeros((len(sample.source), len(centre)))
    filled[:, : sample.source.shape[1]] = sample.source
    # Each weighted by the other's variance: precision weights but for a common factor.
    weights = np.repeat(
        (_variance(with_one(sample.source), sample.source_y), _variance(target, sample.target_y)),
        (len(target), len(filled)),
    )
    y = np.concatenate((sample.target_y, sample.source_y))
    rows = np.vstack((target, with_one(filled)))
    coef = _solution(rows.T @ (rows * weights[:, None]), rows.T @ (weights * y))
    return Line(coef, centre)


def feature_transfer(sample: TrainingRows) -> Line:
    """Return the fit to the target and a source imputed by a linear map (DSFT)."""
    return _pooled(sample, *linear_inputs(sample))


def kernel_transfer(sample: TrainingRows) -> Line:
    """Return the fit to the target and a source imputed through a radial kernel (DSFT-nl)."""
    return _pooled(sample, *kernel_inputs(sample))


PUBLISHED: dict[str, Callable[[TrainingRows], Line]] = {
    "target_only": target_only,
    "data_pooling": data_pooling,
    "feature_transfer": feature_transfer,
    "kernel_transfer": kernel_transfer,
}


def linear_inputs(sample: TrainingRows) -> tuple[Array, Array]:
    """Return what new features are imputed from linearly, in target and source."""
    return with_one(sample.shared), with_one(sample.source)


def kernel_inputs(sample: TrainingRows) -> tuple[Array, Array]:
    """Return what new features are imputed from by kernels with target rows, in both."""
    target, source = linear_inputs(sample)
    gamma = 1.0 / target.shape[1]
    return rbf_kernel(target, target, gamma), rbf_kernel(source, target, gamma)


def with_one(X: Array) -> Array:
    """Append the column of the intercept."""
    return np.column_stack((X, np.ones(len(X))))


def _pooled(sample: TrainingRows, target: Array, source: Array) -> Line:
    """Impute the new features of the source, and fit it and the target, all rows alike.

    The map minimises the error in the target, the difference of means, and its own norm. Its
    equations are inverted as they are; those of the fit have a pseudo-inverse.
    """
    mean = source.mean(axis=0)
    left = target.T @ target + MEAN_WEIGHT * np.outer(mean, mean) + RIDGE * np.eye(len(mean))
    right = sample.new.T @ target + MEAN_WEIGHT * np.outer(sample.new.mean(axis=0), mean)
    imputed = source @ (right @ np.linalg.inv(left)).T
    rows = with_one(np.vstack((sample.filled(imputed), sample.target)))
    y = np.concatenate((sample.source_y, sample.target_y))
    coef = _solution(rows.T @ rows, rows.T @ y)
    return Line(coef, np.zeros(sample.target.shape[1]))


def _solution(left: Array, right: Array) -> Array:
    coef: Array = np.linalg.pinv(left, hermitian=True) @ right
    return coef


def _variance(rows: Array, y: Array) -> float:
    return float(np.mean((y - rows @ _least_squares(rows, y)) ** 2))


def _least_squares(rows: Array, y: Array) -> Array:
    coef: Array = scipy.linalg.lstsq(rows, y)[0]
    return coef
