"""The time of the total of many partial moments, as a cluster returns them.

By itself: ``python -m benchmarks.merging [--quick]``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import cycle, islice
from statistics import median

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.answers import Answer, Target, ratios
from benchmarks.clock import in_words, interleaved
from benchmarks.report import as_text
from poolwise import Moments
from poolwise._typing import Array
from poolwise.numerics.options import Kept

COLUMNS = 51  # 50 features and a response
ROWS = 60  # of each part: enough for a scatter of full rank
# Different parts, which come again and again: more than caches hold, fewer than would fill memory.
DIFFERENT: dict[Kept, int] = {"fast": 2000, "accurate": 1000, "exact": 100}
# Exact ones are left out: Python adds their integers one by one, and each table has 1,378 of them.
MOST: dict[Kept, Target] = {kept: Target("at most 5 s", high=5.0) for kept in ("fast", "accurate")}


def merging(*, quick: bool) -> list[Answer]:
    count = 100 if quick else 100_000
    return [answer for kept in DIFFERENT for answer in _answers(kept, count, quick=quick)]


def _answers(kept: Kept, count: int, *, quick: bool) -> list[Answer]:
    names = [f"x{j}" for j in range(COLUMNS)]
    parts = list(_parts(names, kept, DIFFERENT[kept] // (10 if quick else 1)))
    matrices = [p.scatter.pair.high for p in parts]
    seconds = interleaved(
        {
            "total": partial(total, names, parts, count),
            "numpy": partial(plain_sum, matrices, count),
        },
        rounds=1 if quick else 3,
        label=f"Merging, {kept}",
    )
    ours, plain = seconds["total"], seconds["numpy"]
    return [
        Answer(
            "merging",
            f"Total of {count:,} {kept} moments of {COLUMNS} columns",
            tuple(ours),
            MOST.get(kept),
            unit="s",
            detail=f"{len(parts):,} different ones of {ROWS} rows, over and over",
        ),
        Answer(
            "merging",
            f"The same / numpy's sum of as many {COLUMNS} x {COLUMNS} matrices",
            ratios(ours, plain),
            detail=f"{in_words(median(ours))} / {in_words(median(plain))}",
        ),
    ]


def _parts(names: Sequence[str], kept: Kept, count: int) -> Iterator[Moments]:
    """Yield moments of columns whose means and sizes change a little from part to part."""
    rng = np.random.default_rng(0)
    for _ in range(count):
        scale, shift = rng.uniform(0.5, 2.0, (2, COLUMNS))
        rows = shift + scale * rng.normal(size=(ROWS, COLUMNS))
        yield Moments.of_rows(names, rows, precision=kept)


def total(names: Sequence[str], parts: Sequence[Moments], count: int) -> Moments:
    return Moments.total(names, islice(cycle(parts), count))


def plain_sum(matrices: Sequence[Array], count: int) -> Array:
    total = np.zeros((COLUMNS, COLUMNS))
    for matrix in islice(cycle(matrices), count):
        total += matrix
    return total


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.merging", description="Merge many moments.")
    parser.add_argument("--quick", action="store_true", help="few parts, no target judged")
    options = parser.parse_args()
    with threadpool_limits(1):
        print(as_text(merging(quick=options.quick), judged=not options.quick))


if __name__ == "__main__":
    main()
