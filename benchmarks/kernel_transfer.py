"""The time of kernel transfer, which needs rows, relative to its exponentials."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

import numpy as np

from benchmarks.answers import Answer, ratios
from benchmarks.clock import in_words, interleaved
from benchmarks.peak import peak_in_new_process
from benchmarks.tables import make_tables
from poolwise import PooledRegressor
from poolwise.moments.progress import tracked

SHARED, TARGET_ROWS, CHUNK = 10, 300, 1_000


def kernel_transfer(*, quick: bool) -> list[Answer]:
    rows, repeats = (2_000, 1) if quick else (40_000, 3)
    fit = fit_after_a_small_one(rows)
    exponents = -10.0 * np.random.default_rng(0).random((CHUNK, TARGET_ROWS))
    held = np.empty_like(exponents)

    def exponentials() -> None:
        for _ in range(rows // CHUNK):
            np.exp(exponents, out=held)

    works = {"ours": fit, "exp": exponentials}
    seconds = interleaved(works, rounds=1 if quick else 9, label="Kernel transfer")
    peaks = [
        peak_in_new_process(fit_after_a_small_one, rows)
        for _ in tracked(range(repeats), repeats, "Kernel transfer, memory")
    ]
    size = f"source {rows:,} x {SHARED}, target {TARGET_ROWS}"
    return [
        Answer(
            "kernel_transfer",
            "Fit of kernel_transfer / bare np.exp of the kernel's size",
            ratios(seconds["ours"], seconds["exp"]),
            detail=f"{in_words(median(seconds['ours']))} / {in_words(median(seconds['exp']))}; "
            f"{size}, streamed twice: twice as many exponentials",
        ),
        Answer(
            "kernel_transfer",
            "Peak extra memory of that fit, after a small one",
            tuple(p.megabytes for p in peaks),
            unit="MB",
            detail=f"{peaks[0].in_words()}; "
            f"the whole kernel would be {rows * TARGET_ROWS * 8 / 1e6:.0f} MB",
        ),
    ]


def fit_after_a_small_one(rows: int) -> Callable[[], object]:
    t = make_tables(rows, shared=SHARED, target_rows=TARGET_ROWS)

    def fit(rows: int | None = None) -> object:
        return PooledRegressor(method="kernel_transfer").fit(t.X, t.y, sources=t.sources(rows))

    fit(CHUNK)
    return fit
