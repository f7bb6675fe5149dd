"""Moments of the rows behind a published linear model, from its coefficients and covariance."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from poolwise._typing import Array
from poolwise.errors import BadColumns, BadSource, DataWarning
from poolwise.moments.moments import Moments
from poolwise.numerics.chunks import check_sizes
from poolwise.numerics.scatter import Scatter
from poolwise.wording import listed

ROUNDED = 0.05  # share by which a noise, printed with a few digits, may differ from what follows
APART = 0.5  # standard deviations by which a mean may, which suffers more from few digits
LAST_DIGIT = 2.0**-52  # of a number
MOST_ROWS = 2**53  # that a double counts
SYMMETRIC = 1e-6  # share by which a matrix may differ from its transpose
INVERTIBLE = 1e-10  # least eigenvalue of a correlation matrix that leaves six digits of its inverse
ADVICE = "Give the covariance of coefficients, squares of standard errors on its diagonal"


def published_model(
    names: Sequence[str],
    coef: ArrayLike,
    covariance: ArrayLike,
    n: int,
    *,
    intercept: float | None = None,
    noise: float | None = None,
    means: Mapping[str, float] | Moments | None = None,
    response: str = "y",
) -> Moments:
    r"""Return the moments of the rows that a published linear model was fitted to.

    Least squares with an intercept on :math:`n` rows has
    :math:`\operatorname{Cov}(\hat\beta) = \sigma^2 S_{xx}^{-1}`, with :math:`S_{xx}` the centred
    second moments of the :math:`d` features, so that

    .. math:: S_{xx} = \sigma^2 \operatorname{Cov}(\hat\beta)^{-1}, \quad
       S_{xy} = S_{xx} \hat\beta, \quad
       S_{yy} = \hat\beta^\top S_{xx} \hat\beta + (n - d - 1) \sigma^2 .

    If the covariance includes the intercept,
    :math:`\operatorname{Cov}(\hat\beta, \hat\beta_0) = -\operatorname{Cov}(\hat\beta) \bar x` gives
    the means and :math:`\operatorname{Var}(\hat\beta_0) = \sigma^2 / n + \bar x^\top
    \operatorname{Cov}(\hat\beta) \bar x` the noise. Ranges are not published; the moments have
    the bounds that hold for any :math:`n` rows, :math:`\bar z \pm \sqrt{S_{zz} (n - 1) / n}`
    (Samuelson's inequality), which are wide.

    Assumes that the model was fitted by least squares with an intercept, rows of equal weight and
    no penalty, and that the covariance is the classical one: neither robust nor clustered, nor
    after a choice of features. Where means are borrowed from other moments, it assumes that the
    study had these; a warning says so. Numbers printed with few digits give moments with few
    digits.

    Parameters
    ----------
    names : sequence of str
        Names of the features.
    coef : array of shape (d,)
        Their coefficients.
    covariance : array of shape (d, d) or (d + 1, d + 1)
        Covariance of the coefficients; of (intercept, coefficients) if it is one larger. Standard
        errors alone are not enough: features are rarely uncorrelated.
    n : int
        Number of rows.
    intercept : float, optional
        The intercept. Not needed if ``means`` has the mean of the response.
    noise : float, optional
        Residual variance, with the divisor ``n - d - 1``. Not needed if the covariance has the
        intercept.
    means : mapping of str to float, or Moments, optional
        Mean of each feature, and of the response if that is known. Not needed if the covariance has
        the intercept. Moments, such as the target's, provide the means of the features.
    response : str, default="y"
        Name of the response.

    Returns
    -------
    Moments
        Of the features and the response.

    Warns
    -----
    DataWarning
        Means were borrowed, or numbers that follow from each other disagree: the noise or the means
        with the covariance of the intercept, the intercept with the means.

    Examples
    --------
    >>> from poolwise import published_model
    >>> published_model(
    ...     ["age", "bmi"],
    ...     coef=[0.1, 0.3],
    ...     covariance=[[4e-4, 0.0], [0.0, 9e-4]],
    ...     n=250,
    ...     intercept=2.0,
    ...     noise=1.5,
    ...     means={"age": 61.0, "bmi": 27.0},
    ... )
    Moments(250 rows, weight 250, columns ['age', 'bmi', 'y'])
    """
    names = tuple(names)
    b, V, d = _numbers(coef, "coef"), _numbers(covariance, "covariance"), len(names)
    if response in names or len(set(names)) < d:
        raise BadColumns.repeated((*names, response), "The model")
    if b.shape != (d,) or not d or V.shape not in ((d, d), (d + 1, d + 1)):
        raise _unusable(
            f"there are {d} names, coefficients of shape {b.shape} and a covariance of {V.shape}",
            "Give one coefficient per name, and a square covariance with one row for each, or with "
            "one more, first, for the intercept",
        )
    n = _count(n, d)
    per_noise, at = _inverse(V[-d:, -d:]), None
    if len(V) > d:
        _correlations(V)
        at = -per_noise @ V[0, 1:]
        noise = _noise(noise, float(n * (V[0, 0] + V[0, 1:] @ at)))
    noise = None if noise is None else _number(noise, "noise")
    if noise is None or not 0.0 < noise < np.inf:
        raise _unusable(
            f"its noise is {'not known' if noise is None else noise}",
            "Give the residual variance, or the covariance of (intercept, coefficients)",
        )
    with np.errstate(over="ignore"):
        deviations = np.sqrt(noise * per_noise.diagonal() / n)
    x = _means(names, means, at, deviations)
    y = _mean_of_response(means, response, intercept, float(x @ b), np.sqrt(noise))
    S = np.empty((d + 1, d + 1))
    with np.errstate(over="ignore", invalid="ignore"):
        S[:d, :d] = noise * per_noise
        S[:d, d] = S[d, :d] = S[:d, :d] @ b
        S[d, d] = b @ S[:d, d] + (n - d - 1) * noise
    return _moments((*names, response), n, np.append(x, y), S)


def _noise(given: float | None, found: float) -> float:
    """Return the noise as given, else from the covariance of the intercept."""
    if given is None and not found > 0.0:
        raise _unusable(
            f"by the covariance of its intercept, its noise would be {found:.4g}",
            "Give the covariance of (intercept, coefficients) with enough digits, the intercept "
            "first, or the covariance of the coefficients alone and the residual variance",
        )
    if given is None:
        return found
    given = _number(given, "noise")
    if abs(found - given) > ROUNDED * given:
        _warn(
            f"a noise of {given:.4g} was given, and by the covariance of the intercept it is "
            f"{found:.4g}. The first is taken.",
            "Was it fitted by weighted or robust least squares, or printed with too few digits?",
        )
    return given


def _means(
    names: Sequence[str],
    means: Mapping[str, float] | Moments | None,
    found: Array | None,
    deviations: Array,
) -> Array:
    """Return the means of the features as given, else from the covariance of the intercept."""
    if isinstance(means, Moments):
        _warn(
            "its means are taken to be those of the moments given.",
            "If the study had other means, the differences between tables are wrong by as much.",
        )
        return np.array([means.mean_of(n) for n in names])
    if means is not None and (lacking := [n for n in names if n not in means]):
        raise _unusable(
            f"means lacks {listed(lacking)}", "Give the mean of each feature by its name"
        )
    if means is not None:
        given = _numbers([means[n] for n in names], "means")
        if found is not None and (far := np.abs(given - found) > APART * deviations).any():
            j = int(np.argmax(far))
            _warn(
                f"a mean of {given[j]:.4g} was given for {names[j]!r}, and by the covariance of "
                f"the intercept it is {found[j]:.4g}. The first is taken.",
                "Is the intercept the first row of the covariance, and was it printed with enough "
                "digits?",
            )
        return given
    if found is None:
        raise _unusable(
            "the means of its features are not known",
            "Give means, the covariance of (intercept, coefficients), or means=target to assume "
            "those of other moments",
        )
    return found


def _mean_of_response(
    means: Mapping[str, float] | Moments | None,
    response: str,
    intercept: float | None,
    above: float,
    deviation: float,
) -> float:
    """Return the mean of the response as given, else from the intercept."""
    found = None if intercept is None else _number(intercept, "intercept") + above
    if isinstance(means, Mapping) and response in means:
        given = _number(means[response], "means")
        if found is not None and abs(given - found) > APART * deviation:
            _warn(
                f"a mean of {given:.4g} was given for {response!r}, and by the intercept and the "
                f"means of the features it is {found:.4g}. The first is taken.",
                "Check the intercept and the means.",
            )
        return given
    if found is None:
        raise _unusable(
            "the mean of its response is not known",
            f"Give the intercept, or the mean of {response!r} in means",
        )
    return found


def _moments(names: tuple[str, ...], n: int, mean: Array, S: Array) -> Moments:
    """Return moments in one double per entry, with ranges that hold for any rows."""
    reach = np.sqrt(S.diagonal() * ((n - 1) / n))
    low, high = mean - reach, mean + reach
    check_sizes(names, low, high)
    if (wrong := reach < LAST_DIGIT * np.maximum(-low, high)).any():
        at = int(np.argmax(wrong))
        raise _unusable(
            f"{names[at]!r} would have the mean {mean[at]:.4g} and the standard deviation "
            f"{np.sqrt(S[at, at] / n):.4g}, which doubles cannot hold",
            "Use other units, and check the means and the intercept",
        )
    return Moments(names, n, float(n), mean, np.zeros(len(names)), Scatter(S), low, high)


def _unusable(why: str, then: str) -> BadSource:
    return BadSource(f"This model cannot be turned into moments: {why}.", f"{then}.")


def _warn(what: str, hint: str) -> None:
    told = f"The published model is incomplete or inconsistent: {what}"
    warnings.warn(DataWarning(told, hint), stacklevel=4)


def _numbers(values: ArrayLike, what: str) -> Array:
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise _unusable(f"{what} is not an array of numbers ({error})", "Give numbers") from None
    if bad := int(np.count_nonzero(~np.isfinite(found))):
        why = f"{what} holds NaN or infinity in {bad} of {found.size} places"
        raise _unusable(why, "Give the numbers that were printed")
    return found


def _number(value: ArrayLike, what: str) -> float:
    found = _numbers(value, what)
    if found.shape:
        raise _unusable(f"{what} is an array of shape {found.shape}", "Give one number")
    return float(found)


def _count(n: float, features: int) -> int:
    """Return the number of rows, which may be a float such as 250.0."""
    whole = int(n) if isinstance(n, int | float | np.number) and n == n // 1 else -1
    if whole > MOST_ROWS or whole < 0:
        raise _unusable(
            f"n={n!r} is not a number of rows", f"Give a whole number up to {MOST_ROWS:g}"
        )
    if whole < features + 2:
        raise _unusable(
            f"n={n!r} rows leave nothing to estimate a noise of {features} features and an "
            "intercept from",
            f"Give the number of rows, at least {features + 2}",
        )
    return whole


def _inverse(V: Array) -> Array:
    scaled, unit = _correlations(V)
    least = float(np.linalg.eigvalsh(scaled)[0])
    if least < INVERTIBLE:
        raise _unusable(
            "its covariance is not positive definite, or hardly so: the least eigenvalue, with all "
            f"coefficients on one scale, is {least:.2g}",
            ADVICE,
        )
    root = np.linalg.inv(np.linalg.cholesky(scaled))
    with np.errstate(over="ignore"):
        inverse: Array = (root.T @ root) / unit[:, None] / unit
    return inverse


def _correlations(V: Array) -> tuple[Array, Array]:
    unit = np.sqrt(np.maximum(V.diagonal(), 0.0))
    if not unit.all():
        raise _unusable("a coefficient has no positive variance", ADVICE)
    scaled = V / unit[:, None] / unit
    if (np.abs(scaled - scaled.T) > SYMMETRIC).any():
        raise _unusable("its covariance is not symmetric", ADVICE)
    return (scaled + scaled.T) / 2.0, unit
