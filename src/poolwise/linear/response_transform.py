r"""A response that is linear on another scale, such as the logarithm of a price.

Rows are transformed when they are read, so that problems, methods and moments know only the
transformed response, :math:`t`, which is named for what it is: ``log(price)``. Predictions are
brought back: the median is the inverse of the predicted :math:`t`. The mean is larger, since the
inverse of a mean is not the mean of the inverses. With the noise variance
:math:`\sigma^2` of :math:`t` it is :math:`\exp(t + \sigma^2 / 2)` for the logarithm and
:math:`t^2 + \sigma^2` for the square root. In a row with gaps, the variance of the filled values
is part of :math:`\sigma^2`. A mean is held within the bounds of the fit, like :math:`t` itself.

*Assumes* for means that the noise of :math:`t` is normal; with the tails of Student's distribution
the mean of :math:`\exp(t)` would not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from poolwise._typing import Array
from poolwise.errors import BadOption, BadSource, NotFinite, OutOfRange
from poolwise.linear.fit import Fit
from poolwise.wording import capital, listed, plural

Statistic: TypeAlias = Literal["mean", "median"]
NODES = np.polynomial.hermite_e.hermegauss(21)  # of a mean over the normal distribution
CLOSE = 1e-6  # relative error of a response that was transformed and brought back


def _square(t: Array) -> Array:
    return np.maximum(t, 0.0) ** 2


PAIRS: dict[str, tuple[Callable[[Array], Array], Callable[[Array], Array]]] = {
    "log": (np.log, np.exp),
    "sqrt": (np.sqrt, _square),
}
IMPOSSIBLE = {"log": "zero or negative", "sqrt": "negative"}
HINTS = {
    "log": 'Use "sqrt" if no value is negative, or add a constant by a pair of functions: '
    "response_transform=(np.log1p, np.expm1).",
    "sqrt": "Correct these values, or leave the rows out.",
}


@dataclass(frozen=True)
class ResponseTransform:
    """The scale of the response: as it is, its "log" or "sqrt", or a (forward, inverse) pair."""

    option: Any = None

    @classmethod
    def of(cls, option: Any) -> Self:
        """Return the transform of an option; raise an error for an unknown one."""
        is_pair = isinstance(option, tuple | list) and len(option) == 2
        if not (option is None or (is_pair and all(map(callable, option)))) and (
            not isinstance(option, str) or option not in PAIRS
        ):
            what = "None, 'log', 'sqrt' or a pair of functions, (forward, inverse)"
            raise BadOption.of("response_transform", option, what)
        return cls(tuple(option) if is_pair else option)

    @property
    def name(self) -> str:
        """Name of the function, empty where the response is taken as it is."""
        if self.option is None or isinstance(self.option, str):
            return self.option or ""
        own = getattr(self.option[0], "__name__", "")
        return own if own.isidentifier() else "transformed"

    def named(self, response: str) -> str:
        """Return the name of the transformed response."""
        return f"{self.name}({response})" if self.name else response

    def transformed(
        self, y: Array, response: str, where: str, weights: Array | None = None
    ) -> Array:
        """Return transformed responses; raise an error for those that cannot be transformed.

        Missing ones stay missing, and rows of weight zero may have any.
        """
        if not self.name:
            return y
        with np.errstate(all="ignore"):
            found = np.asarray(self._pair[0](y), dtype=np.float64)
        if found.shape != y.shape:
            what = f"functions that return one number for each of {len(y):,} responses"
            raise BadOption.of("response_transform", self.option, what)
        if count := _impossible(y, found, weights):
            raise self.refused(response, {where: (count, len(y))})
        used = np.isfinite(found)
        if self.name not in PAIRS and used.any():
            gone = np.abs(self.inverse(found[used]) - y[used]).max()
            if not gone <= CLOSE * np.abs(y[used]).max():
                what = "(forward, inverse) with inverse(forward(y)) equal to y"
                raise BadOption.of("response_transform", self.option, what)
        return found

    def impossible(self, y: Array, weights: Array | None = None) -> int:
        """Return how many responses cannot be transformed; rows of weight zero may have any."""
        with np.errstate(all="ignore"):
            return _impossible(y, np.asarray(self._pair[0](y), dtype=np.float64), weights)

    def refused(self, response: str, counts: Mapping[str, tuple[int, int]]) -> NotFinite:
        """Return the error for tables with responses that cannot be transformed.

        For each table, ``counts`` has the number of such rows and of all rows.
        """
        why = IMPOSSIBLE.get(self.name, f"such that {self.named(response)} is not finite")
        each = [f"{n:,} of {plural(rows, 'row')} of {where}" for where, (n, rows) in counts.items()]
        return NotFinite(
            f"The response {response!r} is {why} in {', '.join(each)}, so "
            f"{self.named(response)!r} is not finite there.",
            HINTS.get(self.name, "Give a function that is finite for all responses."),
            transform=self.name,
            rows=sum(count for count, _ in counts.values()),
            counts={where: count for where, (count, _) in counts.items()},
        )

    def inverse(self, t: Array) -> Array:
        """Return responses on their own scale; of predictions, these are the medians."""
        if not self.name:
            return t
        with np.errstate(all="ignore"):
            return np.asarray(self._pair[1](t), dtype=np.float64)

    def predicted(
        self, fit: Fit, rows: Array, t: Array, statistic: Statistic = "mean"
    ) -> tuple[Array, Array]:
        """Return predictions on the scale of the response, and how far means were moved to a bound.

        ``t`` are the predictions of the fit for these rows.
        """
        if not self.name:
            return t, np.zeros_like(t)
        found = free = median = self.inverse(t)
        if statistic == "mean":
            found = free = self._mean(t, noise_of(fit) + fit.gap_variance(rows))
            if (bounds := fit.parts().linear.bounds) is not None:
                low, high = self.brought_back(bounds)
                least, most = np.minimum(low, median), np.maximum(high, median)
                found = np.where(free > most, most, np.where(free < least, least, free))
        if count := int(np.count_nonzero(np.isfinite(t) & ~np.isfinite(found))):
            what = f"The predictions of {plural(count, 'row')} are beyond the range of doubles"
            hint = "Are the columns in the units of the data at fit?"
            raise OutOfRange(f"{what} or of the inverse of {self.name}.", hint)
        return found, np.abs(free - found)

    def brought_back(self, bounds: tuple[float, float]) -> tuple[float, float]:
        """Return bounds of predictions on the scale of the response."""
        low, high = sorted(self.inverse(np.array(bounds)).tolist())  # a function may be decreasing
        return low, high

    def deviation(self, t: Array, deviation: Array) -> Array:
        """Return the standard deviation of new responses, given that of transformed ones."""
        if not self.name:
            return deviation
        variance = deviation**2
        with np.errstate(all="ignore"):
            if self.name == "log":
                return np.asarray(np.exp(t + 0.5 * variance) * np.sqrt(np.expm1(variance)))
            if self.name == "sqrt":
                return np.sqrt(2.0 * variance**2 + 4.0 * _square(t) * variance)
            about = self._over(t, deviation) - self._mean(t, variance)
            return np.asarray(np.sqrt(NODES[1] @ about**2 / NODES[1].sum()))

    def ends(self, t: Array, half_width: Array) -> Array:
        """Return both ends of intervals, given those about transformed predictions."""
        ends = self.inverse(t[:, None] + np.outer(half_width, [-1.0, 1.0]))
        return np.sort(ends, axis=1) if self.name else ends  # a function may be decreasing

    def check_moments(self, names: Sequence[str], response: str, where: str) -> None:
        """Raise an error for moments of the response as it is, which cannot be transformed."""
        named = self.named(response)
        if self.name and named not in names and response in names:
            raise BadSource(
                f"{capital(where)} has moments of {response!r}, and the model is of {named!r}: "
                f"moments cannot be transformed. It has {listed(names)}.",
                f"Give rows, or moments of a column {named!r}.",
            )

    @property
    def _pair(self) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
        return PAIRS[self.option] if isinstance(self.option, str) else self.option

    def _mean(self, t: Array, noise: Array) -> Array:
        with np.errstate(all="ignore"):
            if self.name == "log":
                return np.asarray(np.exp(t + 0.5 * noise))
            if self.name == "sqrt":
                return _square(t) + noise
            found = NODES[1] @ self._over(t, np.sqrt(noise)) / NODES[1].sum()
            return np.asarray(found, dtype=np.float64)

    def _over(self, t: Array, deviation: Array) -> Array:
        """Return responses at each node of the normal distribution of each row."""
        return self.inverse(t + np.multiply.outer(NODES[0], deviation))


def _impossible(y: Array, found: Array, weights: Array | None) -> int:
    wrong = np.isfinite(y) & ~np.isfinite(found)
    if weights is not None and len(weights) == len(y):
        wrong &= weights != 0.0
    return int(np.count_nonzero(wrong))


AS_IS = ResponseTransform()


def noise_of(fit: Fit) -> float:
    """Return the variance of a response about the prediction; zero where it is not known.

    The variance of the coefficients is not part of it: with it, means would be too large on
    average, and not the same function in every row, which exports could not express.
    """
    parts = fit.parts()
    if parts.held_out is not None:
        return parts.held_out.error**2
    return parts.linear.noise or 0.0
