"""Seconds of several tasks, timed in turn so that noise affects all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from threadpoolctl import threadpool_info

from poolwise.moments.progress import tracked

SHORTEST = 0.25  # seconds; a faster task is repeated until it has taken this long
TRIAL = 0.02  # seconds; the same for a single round, which shows that the task runs


def interleaved(
    works: Mapping[str, Callable[[], object]], rounds: int, label: str
) -> dict[str, list[float]]:
    """Return the seconds of each work in each round (A, B, A, B, ...), after one unseen run.

    The cache depends on the previous task: compare two tasks in a call of their own. A single
    round is a trial, without the unseen run.
    """
    clock, shortest = the_clock(), SHORTEST if rounds > 1 else TRIAL
    for work in works.values() if rounds > 1 else ():
        work()
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for _ in tracked(range(rounds), rounds, label):
        for name, work in works.items():
            seconds[name].append(_seconds(work, clock, shortest))
    return seconds


def the_clock() -> Callable[[], float]:
    """Return CPU time where one thread does the work, so that a busy machine matters less."""
    return time.thread_time if threads() == 1 else time.perf_counter


def threads() -> int:
    """Return how many threads BLAS and OpenMP may use."""
    return max((int(pool["num_threads"]) for pool in threadpool_info()), default=1)


def in_words(seconds: float) -> str:
    """Return seconds with three digits and a unit that suits them."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:#.3g}".rstrip(".") + f" {unit}"
    return f"{seconds * 1e6:.3g} us"


def _seconds(work: Callable[[], object], clock: Callable[[], float], shortest: float) -> float:
    calls, start = 0, clock()
    while True:
        work()
        calls += 1
        passed = clock() - start
        if passed >= shortest:
            return passed / calls
