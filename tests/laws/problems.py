"""Random problems that keep their rows, for laws and for definitions written the slow way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from poolwise import Moments
from poolwise.linear.problem import Problem
from poolwise.tables.intake import gather

GRID = 2.0**20  # values are multiples of 1 / GRID, so shifts by millions lose no digit


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of some features and of the response, which a method may read again."""

    names: tuple[str, ...]
    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray | None = None

    @property
    def w(self) -> np.ndarray:
        return np.ones(len(self.y)) if self.weights is None else self.weights

    @property
    def frame(self) -> pd.DataFrame:
        return pd.DataFrame(self.X, columns=list(self.names))

    def column(self, name: str) -> np.ndarray:
        return self.X[:, self.names.index(name)]

    def blocks(self, names: Sequence[str]) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        """Yield the rows in two blocks, as a reader of a file would."""
        rows = np.column_stack([self.y if n == "y" else self.column(n) for n in names])
        half = len(rows) // 2
        for part in (slice(half), slice(half, None)):
            yield rows[part], None if self.weights is None else self.weights[part]

    @property
    def moments(self) -> Moments:
        return Moments.of_rows((*self.names, "y"), np.column_stack((self.X, self.y)), self.weights)

    def having(self, names: Sequence[str]) -> np.ndarray:
        return self.X[:, [self.names.index(n) for n in names]]

    def take(self, index: Sequence[int]) -> Table:
        weights = None if self.weights is None else self.weights[index]
        return replace(self, X=self.X[index], y=self.y[index], weights=weights)

    def in_order(self, names: Sequence[str]) -> Table:
        kept = tuple(n for n in names if n in self.names)
        return replace(self, names=kept, X=self.having(kept))


@dataclass(frozen=True, eq=False)
class Tables:
    """A target and its sources."""

    target: Table
    sources: Mapping[str, Table] = field(default_factory=dict)

    def problem(self, *, intercept: bool = True) -> Problem:
        return Problem(
            self.target.moments,
            {name: source.moments for name, source in self.sources.items()},
            "y",
            intercept,
            self.target,
            self.sources,
        )

    def gathered(self) -> Problem:
        """Return the same problem from data frames, as a user gives them."""
        t = self.target
        given = {name: (s.frame, s.y, s.weights) for name, s in self.sources.items()}
        return gather(t.frame, t.y, weights=t.weights, sources=given, response="y").problem

    def each(self, change) -> Tables:
        """Change every table in the same way."""
        return Tables(change(self.target), {n: change(s) for n, s in self.sources.items()})

    def filled(self, source: Table, values: Mapping[str, float] | None = None) -> np.ndarray:
        """Return a source's rows with unseen features at their target mean, or at ``values``."""
        t = self.target
        means = dict(zip(t.names, np.average(t.X, axis=0, weights=t.w), strict=True))
        means |= values or {}
        columns = [
            source.column(n) if n in source.names else np.full(len(source.y), means[n])
            for n in t.names
        ]
        return np.column_stack(columns)


def random_tables(
    seed: int,
    *,
    target_rows: int = 24,
    features: int = 4,
    sources: Mapping[str, tuple[int, Sequence[int]]],
    weighted: bool = False,
    correlation: float = 0.3,
    noise: float = 1.0,
) -> Tables:
    """Draw tables of one linear model; ``sources`` maps names to rows and the features they have.

    Features are off centre and correlated, so that no method is right by accident.
    """
    rng = np.random.default_rng(seed)
    names = tuple(f"x{j}" for j in range(features))
    coef, centre = rng.uniform(0.5, 2.0, features), rng.uniform(-2.0, 2.0, features)
    mix = np.eye(features) + correlation * rng.normal(size=(features, features))

    def draw(rows: int, has: Sequence[int]) -> Table:
        X = _on_grid(rng.normal(size=(rows, features)) @ mix + centre)
        y = _on_grid(1.0 + X @ coef + noise * rng.normal(size=rows))
        weights = rng.integers(1, 4, rows).astype(float) if weighted else None
        return Table(tuple(names[j] for j in has), X[:, list(has)], y, weights)

    target = draw(target_rows, range(features))
    return Tables(target, {name: draw(rows, has) for name, (rows, has) in sources.items()})


KINDS = {
    "one source": {"sources": {"old": (60, (0, 1))}},
    "weighted rows": {"sources": {"old": (40, (0, 1, 3))}, "weighted": True},
    "nested sources": {
        "features": 5,
        "sources": {"older": (50, (0, 1)), "old": (40, (0, 1, 2)), "full": (15, (0, 1, 2, 3, 4))},
    },
    "overlapping sources": {"sources": {"a": (50, (0, 1, 2)), "b": (45, (0, 2, 3))}},
    "no feature in all": {"sources": {"a": (40, (0, 1)), "b": (40, (2, 3)), "c": (40, (1, 2))}},
    "history in the last columns": {"sources": {"old": (30, (3, 2))}},
}


def tables_of(kind: str, seed: int) -> Tables:
    """Return random tables of one of ``KINDS``."""
    return random_tables(seed, **KINDS[kind])


def with_one(X: np.ndarray) -> np.ndarray:
    """Return rows with a one before the features."""
    return np.column_stack((np.ones(len(X)), X))


def with_last_one(X: np.ndarray) -> np.ndarray:
    """Put a column of ones behind, as the published maps have it."""
    return np.column_stack((X, np.ones(len(X))))


def least_squares(
    X: np.ndarray, y: np.ndarray, w: np.ndarray | None = None, *, intercept: bool = True
) -> np.ndarray:
    """Return (intercept, coefficients) by an orthogonal factorisation of the rows."""
    Z = with_one(X) if intercept else X
    root = np.sqrt(np.ones(len(y)) if w is None else w)
    beta = np.linalg.lstsq(Z * root[:, None], y * root, rcond=None)[0]
    return beta if intercept else np.concatenate(([0.0], beta))


def _on_grid(values: np.ndarray) -> np.ndarray:
    return np.round(values * GRID) / GRID
