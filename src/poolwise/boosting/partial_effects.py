"""Partial effects: what predictions do on average as one feature moves and the others stay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from poolwise.double_double import Array

Predict: TypeAlias = Callable[[Array], Array]

SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)  # quantiles of the feature at which it is held
MOST_ROWS = 60  # of the target, spread evenly, over which predictions are averaged


@dataclass(frozen=True)
class PartialEffect:
    """The mean prediction, with one feature held at several values.

    Parameters
    ----------
    feature : str
        The feature.
    values : tuple of float
        Values from among those of the target, rising.
    means : tuple of float
        The mean prediction over target rows at each value, less its mean over the values.
    deviations : tuple of float
        Standard errors of these, by the jackknife: from models made without a tenth of the target.
        Trees on all rows are made without a fifth, so what comes from them counts too much.
    change : float
        The mean prediction at the last value, less that at the first.
    change_deviation : float
        Its standard error, the same.
    """

    feature: str
    values: tuple[float, ...]
    means: tuple[float, ...]
    deviations: tuple[float, ...]
    change: float
    change_deviation: float

    def times_units(self, feature: int, response: int) -> PartialEffect:
        """Return the effect for columns that had been divided by powers of two."""

        def times(numbers: Sequence[float], power: int) -> tuple[float, ...]:
            return tuple(float(np.ldexp(x, power)) for x in numbers)

        return PartialEffect(
            self.feature,
            times(self.values, feature),
            times(self.means, response),
            times(self.deviations, response),
            *times((self.change, self.change_deviation), response),
        )


def partial_effects(
    places: Sequence[int],
    names: Sequence[str],
    X: Array,
    weights: Array,
    predict: Predict,
    without: Sequence[Predict],
) -> tuple[PartialEffect, ...]:
    """Return the effect of some features.

    Parameters
    ----------
    places, names : sequence
        The features: their columns in ``X``, and what they are called.
    X : array of shape (n, features)
        Rows of the target.
    weights : array of shape (n,)
        Their weights.
    predict : callable
        The model.
    without : sequence of callable
        The same, made without a part of the target.
    """
    rows = np.unique(np.linspace(0, len(X) - 1, min(MOST_ROWS, len(X))).astype(np.intp))
    X, w = X[rows], weights[rows]
    effects = []
    for place, name in zip(places, names, strict=True):
        values = np.unique(np.quantile(X[:, place], SHARES, method="inverted_cdf"))
        if len(values) < 2:
            continue
        moved = np.repeat(X[None], len(values), axis=0)
        moved[:, :, place] = values[:, None]
        flat = moved.reshape(-1, X.shape[1])

        def curve(model: Predict, flat: Array = flat, count: int = len(values)) -> Array:
            means = np.average(model(flat).reshape(count, -1), axis=1, weights=w)
            centred: Array = means - means.mean()
            return centred

        own, parts = curve(predict), np.array([curve(model) for model in without])
        deviations = _jackknife(parts)
        effects.append(
            PartialEffect(
                name,
                tuple(values.tolist()),
                tuple(own.tolist()),
                tuple(deviations.tolist()),
                float(own[-1] - own[0]),
                float(_jackknife(parts[:, -1:] - parts[:, :1])[0]),
            )
        )
    return tuple(effects)


def _jackknife(parts: Array) -> Array:
    """Return standard errors of numbers, found as often as there are parts to leave out."""
    count = len(parts)
    spread = ((parts - parts.mean(axis=0)) ** 2).sum(axis=0) * (count - 1) / count
    deviations: Array = np.sqrt(spread)
    return deviations
