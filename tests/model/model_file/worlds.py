"""Fitted models of every kind that a file or an export may meet, and rows to try them on."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from poolwise import Moments, PooledRegressor
from poolwise.errors import PoolwiseWarning
from poolwise.methods import BayesPooling, DataPooling
from tests.linear_methods import LINEAR_METHODS

# Names and texts that look like code, quotes, markup or nothing.
ODD_NAMES = ('größe "x"', "'; drop table t; --")
ODD_LEVELS = ("süd", "o'hara", 'say "hi"', "a=b", " ", "北")


class World(NamedTuple):
    """A regressor, what it is fitted with, and rows to predict."""

    options: dict[str, Any]
    fit: dict[str, Any]
    rows: Any  # complete ones
    lacking: Any  # rows without some columns, or None
    more: dict[str, Any]  # for update


def world(kind: str, seed: int = 0) -> World:
    """Return one of the kinds, with its own numbers for each seed."""
    rng = np.random.default_rng([seed, sum(map(ord, kind))])
    return WORLDS[kind](rng)


def _arrays(rng: np.random.Generator, *, scale: Any = 1.0, y_scale: float = 1.0) -> World:
    X = rng.normal(size=(200, 3)) + rng.normal(scale=10.0, size=3)
    y = (X @ rng.normal(size=3) + rng.normal(size=200)) * y_scale
    X = X * scale
    lacking = X[30:40].copy()
    lacking[::2, 2] = np.nan
    return World(
        {},
        {"X": X[:30], "y": y[:30], "sources": (X[50:, :2], y[50:])},
        X[30:40],
        lacking,
        {"X": X[40:50], "y": y[40:50]},
    )


def _weighted(rng: np.random.Generator) -> World:
    plain = _arrays(rng)
    X, y = plain.fit["sources"]
    parts = {
        "old": (X[:60], y[:60], rng.uniform(0.1, 4.0, 60)),
        "older": (X[60:, :1], y[60:], rng.uniform(0.1, 4.0, len(y) - 60)),
    }
    fit = plain.fit | {"sources": parts, "sample_weight": rng.uniform(0.1, 4.0, 30)}
    more = {"sources": {"old": (X[:9], y[:9]), "newer": (X[9:30], y[9:30])}}
    return plain._replace(fit=fit, more=more)


def _texts(rng: np.random.Generator) -> World:
    n = 260
    number, shop = ODD_NAMES
    frame = pd.DataFrame(
        {
            number: rng.normal(size=n),
            shop: rng.choice(ODD_LEVELS, size=n),
            "open": rng.random(n) < 0.5,
            "marker": rng.normal(size=n) + 5.0,
            "kind": rng.choice(["a", "b"], size=n),
        }
    )
    effect = dict(zip(ODD_LEVELS, rng.normal(size=6), strict=True))
    y = frame[number] + frame[shop].map(effect) + 2.0 * frame["marker"] + rng.normal(size=n)
    y = y.rename("wear")
    old = frame.drop(columns=["marker", "kind"])
    rows, short = frame[60:80], frame[60:80].copy()
    short.loc[short.index[::3], "marker"] = np.nan
    short.loc[short.index[::4], "kind"] = None
    return World(
        {},
        {
            "X": frame[:60],
            "y": y[:60],
            "sources": {"2019": (old[80:180], y[80:180]), "2020": (old[180:], y[180:])},
        },
        rows,
        short,
        {"X": frame[60:80], "y": y[60:80]},
    )


def _no_intercept(rng: np.random.Generator) -> World:
    return _texts(rng)._replace(options={"fit_intercept": False})


def _moments(rng: np.random.Generator) -> World:
    plain = _arrays(rng)
    X, y = plain.fit["sources"]
    target = Moments.of_rows(
        ["a", "b", "c", "y"], np.column_stack((plain.fit["X"], plain.fit["y"]))
    )
    old = Moments.of_rows(["b", "y"], np.column_stack((X[:, 1], y)))
    rows = pd.DataFrame(plain.rows, columns=["a", "b", "c"])
    return World({}, {"target": target, "sources": {"old": old}}, rows, rows[["b"]], {"X": target})


def _alone(rng: np.random.Generator) -> World:
    plain = _arrays(rng)
    fit = {"X": plain.fit["X"], "y": plain.fit["y"]}
    return plain._replace(fit=fit, lacking=None)


def _patterns(rng: np.random.Generator) -> World:
    plain = _arrays(rng)
    X = np.vstack(
        (plain.fit["X"], np.column_stack((plain.fit["sources"][0], np.full(150, np.nan))))
    )
    y = np.concatenate((plain.fit["y"], plain.fit["sources"][1]))
    return plain._replace(fit={"X": X, "y": y})


WORLDS = {
    "numbers": _arrays,
    "weights, two sources": _weighted,
    "texts": _texts,
    "texts, no intercept": _no_intercept,
    "moments": _moments,
    "no sources": _alone,
    "rows that lack columns": _patterns,
    "far from zero": lambda rng: _arrays(rng, scale=np.array([1e8, 1.0, 1e-9])),
    "large and small": lambda rng: _arrays(rng, scale=np.array([1e60, 1.0, 1e-60]), y_scale=1e-10),
}
OWN_PARAMETERS = {
    "bayes_pooling, no bounds": BayesPooling(bounds=None),
    "bayes_pooling, one bound": BayesPooling(bounds=(0.0, np.inf)),
    "data_pooling, given": DataPooling(weights={"old": 0.25}, means={"x2": 1.5}, ddof="mle"),
    "data_pooling, ridge": DataPooling(ridge=2.5, weights=1.0),
}
EVERY_METHOD = {**{name: name for name in LINEAR_METHODS}, **OWN_PARAMETERS}


def fitted(method: Any, given: World, **options: Any) -> PooledRegressor:
    """Fit a model of a world, whatever it warns of."""
    model = PooledRegressor(method, **given.options, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoolwiseWarning)
        if "target" in given.fit:
            return model.fit_moments(**given.fit)
        return model.fit(**given.fit)
