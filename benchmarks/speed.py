"""Speed: a fit from raw rows, beside the least it could cost and beside scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

from sklearn.linear_model import LinearRegression

from benchmarks.answers import Answer, Target, ratios
from benchmarks.clock import in_words, interleaved
from benchmarks.tables import make_tables
from poolwise import PooledRegressor


def speed(*, quick: bool) -> list[Answer]:
    rows = 20_000 if quick else 1_000_000
    t = make_tables(rows)
    X_old, y_old = t.sources()
    table = f"source {rows:,} x {X_old.shape[1]}, target {t.X.shape[0]} x {t.X.shape[1]}"

    def fit() -> object:
        return PooledRegressor().fit(t.X, t.y, sources=(X_old, y_old))

    def product() -> object:
        return X_old.T @ X_old

    def sklearn() -> object:
        return LinearRegression().fit(X_old, y_old)

    return [
        _compared(
            "Fit of data_pooling / bare X.T @ X of its source",
            (fit, product),
            Target("at most 2.5", high=2.5),
            rounds=3 if quick else 15,
            table=table,
        ),
        _compared(
            "scikit-learn's LinearRegression on the source / our fit",
            (sklearn, fit),
            Target("at least 6", low=6.0),
            rounds=3 if quick else 5,
            table=table,
        ),
    ]


def _compared(
    what: str,
    works: tuple[Callable[[], object], Callable[[], object]],
    target: Target,
    *,
    rounds: int,
    table: str,
) -> Answer:
    above, below = interleaved(dict(zip("ab", works, strict=True)), rounds, "Speed").values()
    detail = f"{in_words(median(above))} / {in_words(median(below))}; {table}"
    return Answer("speed", what, ratios(above, below), target, detail=detail)
