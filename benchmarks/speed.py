"""The time of a fit from raw rows in each precision, relative to X.T @ X and scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import median

from sklearn.linear_model import LinearRegression

from benchmarks.answers import Answer, Target, ratios
from benchmarks.clock import in_words, interleaved
from benchmarks.tables import make_tables
from poolwise import PooledRegressor
from poolwise.numerics.options import Precision

Works = tuple[Callable[[], object], Callable[[], object]]
KEPT: tuple[Precision, ...] = ("fast", "accurate", "exact")


def speed(*, quick: bool) -> list[Answer]:
    rows = 20_000 if quick else 1_000_000
    t = make_tables(rows)
    X_old, y_old = t.sources()
    table = f"source {rows:,} x {X_old.shape[1]}, target {t.X.shape[0]} x {t.X.shape[1]}"

    def fit(precision: Precision = "auto") -> object:
        return PooledRegressor("data_pooling", precision=precision).fit(
            t.X, t.y, sources=(X_old, y_old)
        )

    def product() -> object:
        return X_old.T @ X_old

    def sklearn() -> object:
        return LinearRegression().fit(X_old, y_old)

    fast, accurate, exact = (partial(fit, p) for p in KEPT)
    questions: list[tuple[str, Works, Target, int]] = [
        (
            "Fit of data_pooling / bare X.T @ X of its source",
            (fit, product),
            Target("at most 2.5", high=2.5),
            15,
        ),
        (
            "The same fit with precision fast / bare X.T @ X",
            (fast, product),
            Target("at most 2", high=2.0),
            15,
        ),
        (
            "The same fit with precision accurate / bare X.T @ X",
            (accurate, product),
            Target("at most 9", high=9.0),
            9,
        ),
        (
            "The same fit with precision exact / bare X.T @ X",
            (exact, product),
            Target("at most 20", high=20.0),
            9,
        ),
        (
            "scikit-learn's LinearRegression on the source / our fit",
            (sklearn, fit),
            Target("at least 6", low=6.0),
            5,
        ),
        (
            "The same / our fit with precision accurate",
            (sklearn, accurate),
            Target("at least 2", low=2.0),
            5,
        ),
    ]
    return [
        _compared(what, works, target, rounds=1 if quick else rounds, table=table)
        for what, works, target, rounds in questions
    ]


def _compared(
    what: str,
    works: Works,
    target: Target,
    *,
    rounds: int,
    table: str,
) -> Answer:
    above, below = interleaved(dict(zip("ab", works, strict=True)), rounds, "Speed").values()
    detail = f"{in_words(median(above))} / {in_words(median(below))}; {table}"
    return Answer("speed", what, ratios(above, below), target, detail=detail)
