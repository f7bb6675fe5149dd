"""Growth of the time of a fit with the rows of the source, here and as published."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from statistics import median

import numpy as np

from benchmarks.answers import Answer, Target, ratios
from benchmarks.clock import in_words, interleaved
from benchmarks.published import published_data_pooling
from benchmarks.tables import Tables, make_tables
from poolwise import PooledRegressor

FEW = 100  # rows of a source whose reading time is negligible


def scaling(*, quick: bool) -> list[Answer]:
    sizes = [1_000, 10_000, 50_000] if quick else [10_000, 100_000, 1_000_000, 10_000_000]
    t = make_tables(max(sizes))
    works: dict[str, Callable[[], object]] = {
        "alone": lambda: PooledRegressor("data_pooling", precision="fast").fit(t.X, t.y),
        "few": partial(_fit, t, FEW),
    }
    works |= {f"{n:,}": partial(_fit, t, n) for n in sizes}
    seconds = interleaved(works, rounds=1 if quick else 5, label="Scaling")
    times = [seconds[f"{n:,}"] for n in sizes]
    return [
        Answer(
            "scaling",
            "Log-log slope of the time of a fit in source rows",
            slopes(sizes, times),
            Target("0.9 to 1.1", 0.9, 1.1),
            detail=f"{listed(sizes, times)} (x {t.X_old.shape[1]}); precision fast throughout: "
            "left to itself, a fit reads small tables with more digits, at a higher price a row",
        ),
        Answer(
            "scaling",
            f"The same from {sizes[-2]:,} to {sizes[-1]:,} alone",
            slopes(sizes[-2:], times[-2:]),
        ),
        Answer(
            "scaling",
            f"Fixed cost (a source of {FEW} rows) / fit of {sizes[0]:,} rows",
            ratios(seconds["few"], times[0]),
            detail=f"{in_words(median(seconds['few']))} / {in_words(median(times[0]))}; "
            f"without any source {in_words(median(seconds['alone']))}",
        ),
        _published(quick=quick),
    ]


def _fit(t: Tables, rows: int) -> PooledRegressor:
    return PooledRegressor("data_pooling", precision="fast").fit(t.X, t.y, sources=t.sources(rows))


def _published(*, quick: bool) -> Answer:
    sizes = [500, 1000] if quick else [500, 1000, 2000, 4000]
    t = make_tables(max(sizes), shared=9, target_rows=100)
    works = {
        f"{n:,}": partial(published_data_pooling, *t.sources(n - len(t.X)), t.X, t.y) for n in sizes
    }
    times = list(interleaved(works, 1 if quick else 5, "Scaling, as published").values())
    return Answer(
        "scaling",
        "Log-log slope of the published n x n algorithm",
        slopes(sizes, times),
        detail=f"{listed(sizes, times)} (source and target, x {t.X_old.shape[1]})",
    )


def slopes(sizes: Sequence[int], times: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Return the least-squares slope of log time on log size, one per round."""
    slopes = np.polyfit(np.log(sizes), np.log(np.array(times)), 1)[0]
    return tuple(float(s) for s in slopes)


def listed(sizes: Sequence[int], times: Sequence[Sequence[float]]) -> str:
    pairs = zip(sizes, times, strict=True)
    return ", ".join(f"{n:,}: {in_words(median(s))}" for n, s in pairs)
